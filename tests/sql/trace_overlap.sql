-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
-- Run 21 has no overlap. In run 22, rank 1 has a call before its steps, overlapping calls and kernels, and back-to-back
-- kernels.
SELECT * FROM trace_overlap ORDER BY run_id, rank;
