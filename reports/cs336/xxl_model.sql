-- SPDX-License-Identifier: Apache-2.0
-- The model XXL: d_model 16384, d_ff 53248, 126 blocks. The bytes that a token leaves for backward, in BF16.
SELECT
  126.0 * 2 * 16384 * 53248 AS parameters,
  126.0 * (16384 + 53248) * 2 AS token_bytes
