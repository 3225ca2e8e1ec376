-- SPDX-License-Identifier: Apache-2.0
-- What the roofline of a run lacks. :database is the option that names the file.
SELECT
  CASE
    WHEN NOT EXISTS (SELECT 1 FROM step_utilization u WHERE u.run_id = :run)
      THEN
        'no roofline: the run did not record the arguments of operators; run it again with --passes time,ops '
        || '--trace-detail shapes'
    WHEN NOT EXISTS (SELECT 1 FROM operator o WHERE o.attained IS NOT NULL) THEN 'next: kymo peaks' || :database
  END AS line
