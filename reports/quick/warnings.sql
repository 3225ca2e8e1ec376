-- SPDX-License-Identifier: Apache-2.0
-- caption: Warnings by run.
-- column workload: title="workload", format="code"
-- column title: title="run"
-- column kind: title="warning"
-- column location: title="location"
-- column detail: title="details"
-- empty: No warnings: all runs completed, were verified and had stable step times; no GPU was throttled, and no records
--   were dropped.
SELECT
  r.workload,
  s.title,
  CASE c.kind WHEN 'oom' THEN 'OOM' ELSE c.kind END AS kind,
  CASE
    WHEN c.kind <> r.status THEN NULL
    ELSE
      nullif(
        trim(
          r.failed_pass || CASE WHEN r.failed_phase = '' THEN '' ELSE ', ' || r.failed_phase END
          || CASE WHEN r.failed_step IS NULL THEN '' ELSE ', step ' || r.failed_step END,
          ', '
        ),
        ''
      )
  END AS location,
  c.detail
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN run_warning c ON c.run_id = r.run_id
ORDER BY r.run_id, c.kind, c.detail
