-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- with: compilations
-- Steps before the pass, measured steps and a step that was not recorded.
SELECT * FROM compilation_step ORDER BY run_id, rank, pass, program_step;
