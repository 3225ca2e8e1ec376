-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- Runs 11 and 12 have kernels, and run 14, on a CPU, operators. Operators of GPU runs are left out.
SELECT * FROM profile_entry WHERE run_id IN (11, 12, 14) ORDER BY run_id, phase, name, ms;
