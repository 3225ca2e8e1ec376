-- SPDX-License-Identifier: Apache-2.0
SELECT
  r.value ->> 'run_id' AS run_id,
  r.value ->> 'workload' AS workload,
  r.value ->> 'status' AS status,
  (
    SELECT group_concat(p.key || '=' || iif(p.type IN ('true', 'false'), p.type, p.value), ' ')
    FROM json_each(r.value, '$.parameters') p
  ) AS parameters,
  r.value ->> 'label' AS label,
  r.value ->> 'suite' AS suite,
  r.value ->> 'suite_case' AS suite_case,
  r.value ->> 'device' AS device,
  r.value ->> 'ranks' || iif(r.value ->> 'ranks' = 1, ' rank', ' ranks') AS ranks,
  r.value ->> 'timing' AS timing,
  r.value ->> 'warmup' || ' warm-up ' || iif(r.value ->> 'warmup' = 1, 'step', 'steps') AS warmup,
  iif(r.value ->> 'timing' = 'free', 'up to ', '') || nullif(r.value ->> 'steps', 0)
  || iif(r.value ->> 'steps' = 1, ' measured step', ' measured steps') AS steps,
  r.value ->> 'passes' AS passes,
  r.value ->> 'started_at' AS started_at,
  r.value ->> 'invocation_id' AS invocation_id,
  r.value ->> 'plugin_file' AS plugin_file,
  substr(r.value ->> 'plugin_sha256', 1, 8) AS plugin_sha256,
  iif(r.value ->> 'status' = 'skipped', r.value ->> 'detail', NULL) AS skipped
FROM json_each(:runs) r
