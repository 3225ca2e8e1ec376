-- SPDX-License-Identifier: Apache-2.0
-- The run of autocast that sentences are about, since devices differ: preferably in fp16, and on a GPU.
SELECT
  r.run_id,
  r.device_kind
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.family = 'autocast_types' AND r.status = 'ok'
JOIN run_parameter p ON p.run_id = r.run_id AND p.name = 'dtype'
ORDER BY p.value = 'fp16' DESC, r.device_kind = 'cuda' DESC, r.run_id DESC
LIMIT 1
