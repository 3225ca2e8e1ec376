-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory of the XXL model, by formula.
-- column part: title="part"
-- column formula: title="formula"
-- column bytes: title="memory", unit="TB", format="significant", digits=4
-- column devices: title="in units of 80 GB", format="significant", digits=3
-- note: d = 16384, f = 53248, 126 blocks of two linear layers: P = 126 · 2 · d · f parameters. TB and GB are decimal.
-- note: Saved for backward: the inputs of both layers, d + f elements of 2 bytes per token and block.
-- empty: No runs are selected.
SELECT
  part,
  formula,
  bytes / 1e12 AS bytes,
  bytes / 80e9 AS devices
FROM (
  SELECT
    1 AS position,
    'FP32 master weights' AS part,
    '4 · P' AS formula,
    4 * parameters AS bytes
  FROM model
  UNION ALL
  SELECT
    2,
    'FP32 gradients',
    '4 · P',
    4 * parameters
  FROM model
  UNION ALL
  SELECT
    3,
    'FP32 optimizer state (AdamW)',
    '8 · P',
    8 * parameters
  FROM model
  UNION ALL
  SELECT
    4,
    'all of them',
    '16 · P',
    16 * parameters
  FROM model
  UNION ALL
  SELECT
    5,
    'saved for backward in BF16, 4096 tokens',
    '126 · (d + f) · 2 · tokens',
    token_bytes * 4096
  FROM model
  UNION ALL
  SELECT
    6,
    'the same in FP32',
    '126 · (d + f) · 4 · tokens',
    2 * token_bytes * 4096
  FROM model
)
WHERE EXISTS (SELECT 1 FROM selected_run)
ORDER BY position
