-- SPDX-License-Identifier: Apache-2.0
-- caption: Tokens per device at which the XXL model is compute-bound on a mesh of 16 × 4 devices, by formula.
-- column rates: title="rates"
-- column c: title="C", unit="FLOP/s", format="significant", digits=2
-- column w: title="W", unit="B/s", format="significant", digits=2
-- column alpha: title="α = C / W", format="significant", digits=4
-- column per_device: title="per device, α / (Y · M_X)", unit="tokens", format="significant", digits=3
-- column overall: title="overall, × 64", unit="tokens", format="significant", digits=4
-- column tensor: title="tensor parallelism needs F above Y · α / M_Y", format="significant", digits=4
-- column met: title="met with F = 53248"
-- column best: title="per device on the best mesh, α² / (M_X · M_Y · F)", unit="tokens", format="significant", digits=3
-- note: X = 16 (FSDP), Y = 4 (tensor parallelism), M_X = 2, M_Y = 1. Given: W = 2 · 9 · 10^10 B/s. Communication
--   overlaps with computation.
-- empty: No runs are selected.
SELECT
  rates,
  c,
  w,
  alpha,
  per_device,
  overall,
  tensor_f AS tensor,
  CASE WHEN f > tensor_f THEN 'yes' ELSE 'no' END AS met,
  best
FROM mesh
WHERE EXISTS (SELECT 1 FROM selected_run)
