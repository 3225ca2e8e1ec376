-- SPDX-License-Identifier: Apache-2.0
-- Since schema version 2: the interval of the median.

-- lower end of the confidence interval of the median (from order statistics, whatever the distribution); NULL for one
-- sample, and for runs measured before this column existed
ALTER TABLE statistic ADD COLUMN median_low_ns REAL;
-- upper end of that interval
ALTER TABLE statistic ADD COLUMN median_high_ns REAL;
-- confidence level of that interval: at least 0.95, or that of minimum and maximum for fewer than six samples
ALTER TABLE statistic ADD COLUMN median_confidence REAL;
