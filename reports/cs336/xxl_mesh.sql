-- SPDX-License-Identifier: Apache-2.0
-- The mesh of the XXL questions: X devices for FSDP, Y for tensor parallelism, the numbers of their links M_X and M_Y,
-- the width F, the bandwidth W of a device in both directions, 2 · 9 · 10^10 B/s, and α = C / W; and the same mesh at
-- the rates of measured_rates.sql.
SELECT
  r.rates,
  m.x,
  m.y,
  m.m_x,
  m.m_y,
  m.f,
  r.w,
  r.c,
  r.c / r.w AS alpha,
  r.c / r.w / (m.y * m.m_x) AS per_device,
  r.c / r.w / (m.y * m.m_x) * m.x * m.y AS overall,
  m.y * r.c / r.w / m.m_y AS tensor_f,
  r.c / r.w * r.c / r.w / (m.m_x * m.m_y * m.f) AS best
FROM (
  SELECT
    16.0 AS x,
    4.0 AS y,
    2.0 AS m_x,
    1.0 AS m_y,
    53248.0 AS f
) m
CROSS JOIN (
  SELECT
    'given' AS rates,
    1.8e11 AS w,
    4.6e14 AS c
  UNION ALL
  SELECT
    'measured here, ' || backend,
    bytes_per_s,
    flops_per_s
  FROM measured
) r
