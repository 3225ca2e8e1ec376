-- SPDX-License-Identifier: Apache-2.0
-- For cases that also have `-- with: distributed`: 20 TFLOP/s in fp32 and 40 TFLOP/s in bf16 on the GPU of the
-- all_reduce runs, so that in parallelism_limit B·W/C is 0.512 and F·W/C is 2.56.
UPDATE run SET family = 'peak', status = 'ok', ranks = 1 WHERE run_id IN (41, 43);
UPDATE rank SET device_id = (SELECT k.device_id FROM rank k WHERE k.run_id = 34 LIMIT 1) WHERE run_id IN (41, 43);
DELETE FROM param WHERE run_id IN (41, 43);
INSERT INTO param (run_id, name, position, type, title, setting, value) VALUES
(41, 'kind', 0, 'text', '', 0, 'matmul'), (41, 'dtype', 1, 'text', '', 0, 'fp32'),
(43, 'kind', 0, 'text', '', 0, 'matmul'), (43, 'dtype', 1, 'text', '', 0, 'bf16');
INSERT INTO work (run_id, rank, phase, flops, bytes) VALUES (41, 0, 'step', 8e10, 0), (43, 0, 'step', 1.2e11, 0);
