-- SPDX-License-Identifier: Apache-2.0
-- caption: Cases in which mean and median differ by more than 5 %, because not all steps are alike.
-- column title: title="case", once=true
-- column side: title="side"
-- column unlike_steps: title="steps"
-- empty: Mean and median agree in all cases.
SELECT
  title,
  side,
  unlike_steps
FROM (
  SELECT
    case_id,
    0 AS is_after,
    title,
    "before" AS side,
    before_unlike_steps AS unlike_steps
  FROM compared_case
  UNION ALL
  SELECT
    case_id,
    1,
    title,
    "after",
    after_unlike_steps
  FROM compared_case
) s
WHERE unlike_steps <> ''
ORDER BY case_id, is_after
