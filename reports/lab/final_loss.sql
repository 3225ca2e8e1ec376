-- SPDX-License-Identifier: Apache-2.0
-- caption: Loss on held-out text after the last step, in nat per byte, by seed.
-- pivot seed: values=["loss"], order="seed_order"
-- column variant: title="variant"
-- column position: hidden=true
-- column loss: title="seed {}", format="fixed", digits=4
-- column mean_loss: title="mean", format="fixed", digits=4
-- column spread: title="largest – smallest", format="fixed", digits=4
-- column steps_to_target: title="steps to target", format="plain"
-- note: Repetitions with one seed are averaged. Steps to target is the largest number of any run, counted from the
--   first step and rounded up to the next validation.
-- empty: No runs.
WITH reached AS (
  SELECT
    t.variant,
    t.seed,
    min(t.run_id) AS position,
    avg(m.value) AS loss,
    max(k.value) AS steps_to_target
  FROM trained t
  JOIN reported_metric m ON m.run_id = t.run_id AND m.name = 'validation_loss' AND m.level = 'run' AND m.rank = 0
  LEFT JOIN reported_metric k ON k.run_id = t.run_id AND k.name = 'steps_to_target' AND k.rank = 0
  GROUP BY t.variant, t.seed
)
SELECT
  variant,
  min(position) OVER (PARTITION BY variant) AS position,
  seed,
  seed AS seed_order,
  loss,
  avg(loss) OVER (PARTITION BY variant) AS mean_loss,
  CASE
    WHEN count(*) OVER (PARTITION BY variant) > 1
      THEN max(loss) OVER (PARTITION BY variant) - min(loss) OVER (PARTITION BY variant)
  END AS spread,
  max(CAST(steps_to_target AS INTEGER)) OVER (PARTITION BY variant) AS steps_to_target
FROM reached
ORDER BY position, seed
