-- SPDX-License-Identifier: Apache-2.0
-- caption: Step time of each case on both sides.
-- column title: title="case"
-- column before_ms: title="before", unit="ms", format="significant", digits=4
-- column after_ms: title="after", unit="ms", format="significant", digits=4
-- column change: title="change", align="right"
-- column interval: title="95 % interval", align="right"
-- column verdict: title="verdict"
-- column runs: title="runs", align="right"
-- note: Medians over the runs of their median steps. The verdict needs a rank test over the runs and the interval of
--   the ratio; differences of at most 1 % count as none. A verdict needs five runs on each side.
-- empty: No runs.
SELECT
  title,
  before_ms,
  after_ms,
  ratio_text(ratio) AS change,
  coalesce(ratio_interval(ratio, ratio_low, ratio_high), '–') AS interval,
  verdict,
  before_runs || ' + ' || after_runs AS runs
FROM compared_case
ORDER BY case_id
