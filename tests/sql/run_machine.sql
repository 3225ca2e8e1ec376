-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
INSERT INTO rank (run_id, rank, pass, pid, host, status, stdout, stderr) VALUES
(31, 2, 'time', 1, 'i', 'ok', '', ''), (1, 0, 'time', 1, '', 'ok', '', '');
SELECT * FROM run_machine WHERE run_id IN (1, 2, 21, 31, 36) ORDER BY run_id;
