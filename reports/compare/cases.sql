-- SPDX-License-Identifier: Apache-2.0
-- caption: Step time of each case on both sides.
-- column title: title="case"
-- column statistic: title="time"
-- column before_ms: title="before", unit="ms", format="significant", digits=4
-- column after_ms: title="after", unit="ms", format="significant", digits=4
-- column change: title="change", align="right"
-- column interval: title="95 % interval", align="right"
-- column verdict: title="verdict"
-- column runs: title="runs", align="right"
-- column other: title="other time", optional=true
-- column before_other_ms: title="other before", unit="ms", format="significant", digits=4, optional=true
-- column after_other_ms: title="other after", unit="ms", format="significant", digits=4, optional=true
-- note: Medians over the runs of their mean steps, which is the time of all steps, for programs and where steps are not
--   alike; otherwise of their median steps, or of the fastest steps of undisturbed runs if the machine was often
--   busy. The verdict needs a rank test over the runs and the interval of the ratio;
--   differences of at most 1 % count as none. A verdict needs five runs on each side.
-- empty: No runs.
SELECT
  title,
  statistic || ' step' AS statistic,
  before_ms,
  after_ms,
  ratio_text(ratio) AS change,
  coalesce(ratio_interval(ratio, ratio_low, ratio_high), '–') AS interval,
  verdict,
  before_runs || ' + ' || after_runs AS runs,
  CASE WHEN before_other_ms IS NOT NULL THEN CASE statistic WHEN 'median' THEN 'mean step' ELSE 'median step' END END
    AS other,
  before_other_ms,
  after_other_ms
FROM compared_case
ORDER BY case_id
