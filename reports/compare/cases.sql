-- SPDX-License-Identifier: Apache-2.0
-- caption: Step time of each case on both sides.
-- column title: title="case"
-- column before_ms: title="before", unit="ms", format="significant", digits=4
-- column after_ms: title="after", unit="ms", format="significant", digits=4
-- column ratio: title="after / before", format="fixed", digits=3
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
  ratio,
  CASE WHEN ratio_low IS NULL THEN '–' ELSE printf('%.3f – %.3f', ratio_low, ratio_high) END AS interval,
  verdict,
  before_runs || ' + ' || after_runs AS runs
FROM compared_case
ORDER BY case_id
