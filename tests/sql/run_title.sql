-- SPDX-License-Identifier: Apache-2.0
-- Runs 1 and 2 differ in n alone; runs 3 and 4 are other workloads, each with one case.
UPDATE run SET workload = 'w' || run_id WHERE run_id > 2;
INSERT INTO param (run_id, name, type, value) VALUES (1, 'n', 'int', 1), (2, 'n', 'int', 2), (1, 'dtype', 'text', 'fp32'), (2, 'dtype', 'text', 'fp32'), (3, 'n', 'int', 9);
SELECT * FROM run_title ORDER BY run_id;
