-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
-- Run 21 hides nothing. Of run 22, rank 1 has a call before its steps, calls and kernels that overlap each other, and
-- kernels back to back.
SELECT * FROM trace_overlap ORDER BY run_id, rank;
