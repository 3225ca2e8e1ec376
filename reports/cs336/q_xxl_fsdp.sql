-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory per device of the XXL model under fully sharded data parallelism, by formula.
-- column tokens: title="tokens per device", format="plain"
-- column activations: title="activations A", unit="GB", format="significant", digits=3
-- column fixed: title="not sharded, A / 2", unit="GB", format="significant", digits=3
-- column shared: title="sharded, 16 · P + A / 2", unit="GB", format="significant", digits=4
-- column devices: title="least N below 95 GB", format="plain"
-- column per_device: title="per device at that N", unit="GB", format="significant", digits=5
-- note: Per device: (16 · P + A / 2) / N + A / 2, with A = 126 · (d + f) · 2 bytes · tokens. – means: activations alone
--   exceed 95 GB.
-- empty: No runs are selected.
WITH loaded AS (
  SELECT
    t.value AS tokens,
    token_bytes * t.value / 1e9 AS activations,
    (16 * parameters + token_bytes * t.value / 2) / 1e9 AS shared
  FROM model
  JOIN json_each('[0, 512, 1024, 2048, 4096, 8192, 16384]') t
),
sized AS (
  SELECT
    *,
    CASE WHEN activations / 2 < 95 THEN CAST(shared / (95 - activations / 2) AS INTEGER) + 1 END AS devices
  FROM loaded
)
SELECT
  tokens,
  activations,
  activations / 2 AS fixed,
  shared,
  devices,
  shared / devices + activations / 2 AS per_device
FROM sized
WHERE EXISTS (SELECT 1 FROM selected_run)
ORDER BY tokens
