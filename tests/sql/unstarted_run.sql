-- SPDX-License-Identifier: Apache-2.0
-- Invocation 901 was killed in its second run, 902 interrupted before its only run, 903 is executing its first run, 904
-- ended with an error. 905 completed, and began a run that 904 had planned, too.
INSERT INTO invocation (invocation_id, uuid, command, started_at, ended_at, exit_code) VALUES
(901, '901', 'kymo suite run s', '2026-02-01', NULL, NULL),
(902, '902', 'kymo suite run s', '2026-02-02', '2026-02-02', 130),
(903, '903', 'kymo run w', '2026-02-03', NULL, NULL),
(904, '904', 'kymo run w', '2026-02-04', '2026-02-04', 1),
(905, '905', 'kymo run w --resume', '2026-02-05', '2026-02-05', 0);
INSERT INTO planned_run (
  invocation_id, sequence, workload, parameters, case_key, settings_key, plan_key, suite, suite_case, label, repetition,
  ranks, device_kind, warmup
) VALUES
(901, 0, 'w', '{"n":1,"x":true,"s":"a"}', 'a', 'sa', 'pa', 's', 'c', '', 0, 1, 'cpu', 2),
(901, 1, 'w', '{"n":2,"x":true,"s":"a"}', 'b', 'sb', 'pb', 's', 'c', '', 0, 1, 'cpu', 2),
(901, 2, 'w', '{"n":2,"x":false,"s":"a"}', 'c', 'sc', 'pc', 's', 'c', '', 0, 1, 'cpu', 2),
(901, 3, 'w', '{"n":1,"x":true,"s":"a"}', 'a', 'sa', 'pa', 's', 'c', '', 1, 1, 'cpu', 2),
(901, 4, 'v', '{}', 'd', 'sd', 'pd', 's', 'd', '', 0, 2, 'cuda', 0),
-- Planned again, so that the newer row stands for both.
(902, 0, 'v', '{}', 'd', 'sd', 'pd', 's', 'd', 'again', 0, 2, 'cuda', 0),
(903, 0, 'w', '{}', 'e', 'se', 'pe', '', '', '', 0, 1, 'cpu', 2),
(903, 1, 'w', '{}', 'e', 'se', 'pe', '', '', '', 1, 1, 'cpu', 2),
(904, 0, 'w', '{}', 'f', 'sf', 'pf', '', '', '', 0, 1, 'cpu', 2),
(904, 1, 'w', '{}', 'g', 'sg', 'pg', '', '', '', 0, 1, 'cpu', 2),
(905, 0, 'w', '{}', 'g', 'sg', 'pg', '', '', '', 0, 1, 'cpu', 2);
INSERT INTO run (
  run_id, invocation_id, sequence, plugin_id, workload, case_key, settings_key, plan_key, suite, suite_case, label,
  repetition, ranks, device_kind, timing, sync, warmup, steps, passes, seed, status, detail, verification, failed_pass,
  failed_phase, started_at
) VALUES
(
  901, 901, 0, 1, 'w', 'a', 'sa', 'pa', 's', 'c', '', 0, 1, 'cpu', 'sync', 'step', 2, 5, 'time', 0, 'ok', '', '', '',
  '', '2026-02-01'
),
(
  902, 901, 1, 1, 'w', 'b', 'sb', 'pb', 's', 'c', '', 0, 1, 'cpu', 'sync', 'step', 2, 5, 'time', 0, 'interrupted', '',
  '', '', '', '2026-02-01'
),
(
  903, 903, 0, 1, 'w', 'e', 'se', 'pe', '', '', '', 0, 1, 'cpu', 'sync', 'step', 2, 5, 'time', 0, 'running', '', '',
  '', '', '2026-02-03'
),
(
  905, 905, 0, 1, 'w', 'g', 'sg', 'pg', '', '', '', 0, 1, 'cpu', 'sync', 'step', 2, 5, 'time', 0, 'ok', '', '', '', '',
  '2026-02-05'
);
SELECT * FROM unstarted_run ORDER BY invocation_id, sequence;
