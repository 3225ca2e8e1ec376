-- SPDX-License-Identifier: Apache-2.0
-- The same run as a training, in a case of a suite, observed, failed, and of another family.
CREATE TEMP TABLE other_run AS SELECT * FROM run WHERE run_id = 1;
DELETE FROM run WHERE run_id <> 1;
UPDATE run SET family = 'text_training', status = 'ok', passes = 'time', suite_case = '';
UPDATE other_run SET run_id = 12, sequence = 12, family = 'text_training', status = 'ok', seed = 3;
UPDATE other_run SET repetition = 2, passes = 'time,ops', suite_case = 'observed-optimised';
INSERT INTO run SELECT * FROM other_run;
UPDATE other_run SET run_id = 13, sequence = 13, suite_case = 'sdpa', passes = 'verify,time';
INSERT INTO run SELECT * FROM other_run;
UPDATE other_run SET run_id = 14, sequence = 14, status = 'failed';
INSERT INTO run SELECT * FROM other_run;
UPDATE other_run SET run_id = 15, sequence = 15, status = 'ok', family = 'attention';
INSERT INTO run SELECT * FROM other_run;
SELECT * FROM training_run ORDER BY run_id;
