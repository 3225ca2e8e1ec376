-- SPDX-License-Identifier: Apache-2.0
-- caption: Change points of each case, with the first commit that has the new time.
-- empty: No change point was found.
-- column title: title="case"
-- column number: format="plain"
-- column short_hash: title="commit", format="code"
-- column before_ms: title="before", unit="ms", prefix="auto", format="significant", digits=3
-- column after_ms: title="after", unit="ms", prefix="auto", format="significant", digits=3
-- column interval: title="95 % interval"
SELECT
  s.title,
  h.position AS number,
  c.short_hash,
  substr(c.committed_at, 1, 10) AS date,
  h.before_ms,
  h.after_ms,
  ratio_text(h.ratio) AS change,
  ratio_interval(h.ratio, h.ratio_low, h.ratio_high) AS interval
FROM history_change h
JOIN history_series s ON s.series_id = h.series_id
JOIN history_commit c ON c.series_id = h.series_id AND c.position = h.position
ORDER BY h.series_id, h.position
