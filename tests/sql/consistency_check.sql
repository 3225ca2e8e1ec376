-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
-- Run 23 exceeds the bandwidth of all_reduce on the same machine, and its trace is slower than its step.
SELECT * FROM consistency_check;
DELETE FROM step_activity WHERE run_id = 23;
DELETE FROM collective WHERE run_id = 23;
SELECT count(*) AS violations FROM consistency_check;
-- The same case in two cases of the suite: outside the noise, within it, by less than a tenth, without warm-up, under
-- another label.
UPDATE run SET
  case_key = 'same',
  label = '',
  warmup = 2,
  plan_key = 'plan ' || run_id,
  settings_key = 'settings ' || run_id
WHERE run_id IN (22, 23);
UPDATE statistic SET median_low_ns = median_ns - 1e5, median_high_ns = median_ns + 1e5;
SELECT * FROM consistency_check;
UPDATE statistic SET median_low_ns = median_ns - 4e6 WHERE run_id = 22;
SELECT count(*) AS within_the_noise FROM consistency_check;
UPDATE statistic SET median_low_ns = 14.6e6, median_ns = 14.7e6 WHERE run_id = 22;
SELECT count(*) AS less_than_a_tenth FROM consistency_check;
UPDATE statistic SET median_low_ns = 15.9e6, median_ns = 16e6 WHERE run_id = 22;
UPDATE run SET warmup = 0 WHERE run_id = 22;
SELECT count(*) AS without_warmup FROM consistency_check;
UPDATE run SET warmup = 2, label = 'after' WHERE run_id = 22;
SELECT count(*) AS under_another_label FROM consistency_check;
-- Phases that do not fill the step.
UPDATE sample SET device_ns = device_ns / 2 WHERE run_id = 21 AND rank = 1 AND phase = 'step';
SELECT * FROM consistency_check;
DELETE FROM sample WHERE run_id = 21;
-- Each of two ranks moves 5 MB in 1 ms, and their devices copy 2 GB/s. With half of the bytes, and 3 GB/s, they could.
UPDATE run SET family = 'peak', ranks = 1 WHERE run_id = 41;
UPDATE rank SET device_id = (SELECT k.device_id FROM rank k WHERE k.run_id = 24 LIMIT 1) WHERE run_id = 41;
INSERT INTO param (run_id, name, position, type, title, setting, value) VALUES
(41, 'kind', 30, 'text', '', 0, 'copy');
INSERT INTO work (run_id, rank, phase, flops, bytes) VALUES
(41, 0, 'step', 0, 8e6), (24, 0, 'forward', 0, 5e6), (24, 1, 'forward', 0, 5e6);
INSERT INTO statistic (
  run_id, phase, clock, count, excluded, all_throttled, mean_ns, std_ns, median_ns, min_ns, max_ns
) VALUES (24, 'forward', 'device', 2, 0, 0, 1e6, 0, 1e6, 1e6, 1e6);
SELECT * FROM consistency_check;
UPDATE work SET bytes = CASE run_id WHEN 41 THEN 1.2e7 ELSE 2.5e6 END;
SELECT count(*) AS possible FROM consistency_check;
