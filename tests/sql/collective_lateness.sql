-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
-- Of run 44, call 0 of rank 0 is late and its other call early; the need for one of rank 1 is not known to belong to a
-- phase. The other calls are not waited for.
UPDATE collective
SET needed_ns = 1150000 + 300000 * sequence, needed_by_id = 104, needed_phase_id = 103
WHERE run_id = 44 AND rank = 0 AND sequence < 2;
UPDATE collective SET needed_ns = 1310000 WHERE run_id = 44 AND rank = 1 AND sequence = 0;
SELECT * FROM collective_lateness ORDER BY run_id, rank, sequence;
