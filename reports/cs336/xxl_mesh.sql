-- SPDX-License-Identifier: Apache-2.0
-- The mesh of the XXL questions: X devices for FSDP, Y for tensor parallelism, the numbers of their links M_X and M_Y,
-- the width F, the bandwidth W of a device in both directions, 2 · 9 · 10^10 B/s, and α = C / W. A report for another
-- network changes W here.
SELECT
  x,
  y,
  m_x,
  m_y,
  f,
  w,
  c / w AS alpha,
  c / w / (y * m_x) AS per_device,
  c / w / (y * m_x) * x * y AS overall,
  y * c / w / m_y AS tensor_f,
  c / w * c / w / (m_x * m_y * f) AS best
FROM (
  SELECT
    16.0 AS x,
    4.0 AS y,
    2.0 AS m_x,
    1.0 AS m_y,
    53248.0 AS f,
    1.8e11 AS w,
    4.6e14 AS c
)
