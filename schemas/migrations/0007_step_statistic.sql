-- SPDX-License-Identifier: Apache-2.0
-- Since schema version 7: which statistic represents a run, and the steps that are not like the median. All columns are
-- NULL in runs measured before.

-- number of consecutive steps in a block of the interval of the mean (ci_low_ns, ci_high_ns); NULL: the interval is
-- Student's t of single steps
ALTER TABLE statistic ADD COLUMN block_steps INTEGER;
-- mean or median: what represents the run, in comparisons and where one step time is shown
ALTER TABLE statistic ADD COLUMN represented_by TEXT;
-- number of slow samples: more than 1.5 times the median
ALTER TABLE statistic ADD COLUMN slow_count INTEGER;
-- sum of these samples
ALTER TABLE statistic ADD COLUMN slow_ns REAL;
-- number of fast samples: less than the median divided by 1.5
ALTER TABLE statistic ADD COLUMN fast_count INTEGER;
-- sum of these samples
ALTER TABLE statistic ADD COLUMN fast_ns REAL;
