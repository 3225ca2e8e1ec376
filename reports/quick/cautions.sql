-- SPDX-License-Identifier: Apache-2.0
-- caption: What limits the trust in single runs.
-- column workload: title="workload", format="code"
-- column title: title="case"
-- column kind: title="what"
-- column place: title="where"
-- column detail: title="why"
-- empty: Nothing: every run ended well and was verified, its steps were steady, no GPU slowed down, and no record was
--   lost.
SELECT
  r.workload,
  i.title,
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
  END AS place,
  c.detail
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN run_title i ON i.run_id = r.run_id
JOIN run_caution c ON c.run_id = r.run_id
ORDER BY r.run_id, c.kind, c.detail
