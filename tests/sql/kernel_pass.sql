-- SPDX-License-Identifier: Apache-2.0
-- with: collected
INSERT INTO rank (run_id, rank, pass, pid, host, status, stdout, stderr) VALUES (1, 0, 'trace', 1, 'h', 'ok', '', '');
SELECT * FROM kernel_pass ORDER BY run_id, rank;
