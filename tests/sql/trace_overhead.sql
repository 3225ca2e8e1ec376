-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM trace_overhead ORDER BY run_id, pass, phase;
