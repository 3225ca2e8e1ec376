-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- with: compilations
-- Compilations of two passes, with and without a path and a line.
SELECT * FROM compilation_event ORDER BY run_id, rank, pass, sequence;
