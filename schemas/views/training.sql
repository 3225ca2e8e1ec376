-- SPDX-License-Identifier: Apache-2.0
-- Trainings to a target loss.

-- Successful runs of the family text_training.
CREATE VIEW training_run AS
SELECT
  -- run
  r.run_id,
  -- random seed
  r.seed,
  -- index of the repetition (--repeat), from 0
  r.repetition,
  -- variant of the workload, as in run_series; `baseline` if it has none
  coalesce(nullif(x.variant, ''), 'baseline') AS variant,
  -- for cases of a suite whose names begin with `observed-`, the rest of the name; otherwise the name of the case, or
  -- the variant without one
  coalesce(nullif(replace(r.suite_case, 'observed-', ''), ''), nullif(x.variant, ''), 'baseline') AS case_title,
  -- cpu or cuda
  r.device_kind,
  -- 1 if the pass ops was requested: such runs train for a few steps only
  r.passes LIKE '%ops%' AS is_observed
FROM run r
JOIN run_series x ON x.run_id = r.run_id
WHERE r.family = 'text_training' AND r.status = 'ok';
