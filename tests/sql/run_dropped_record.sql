-- SPDX-License-Identifier: Apache-2.0
INSERT INTO dropped_record (run_id, rank, pass, sequence, source, count, detail) VALUES
(1, -1, '', 0, 'store', -1, 'no file'), (1, 2, 'time', 0, 'cuda', 7, 'buffer full');
SELECT * FROM run_dropped_record ORDER BY source;
