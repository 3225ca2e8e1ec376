-- SPDX-License-Identifier: Apache-2.0
-- caption: Time of compilation by step of the program.
-- column step: title="step", format="plain"
-- column compile_ms: title="compilation", unit="ms", prefix="auto", format="significant", digits=3
-- column inductor_ms: title="of it Inductor", unit="ms", prefix="auto", format="significant", digits=3, optional=true
-- column compilations: title="compilations", format="plain"
-- column recompilations: title="recompilations", format="plain"
-- column graph_breaks: title="graph breaks", format="plain"
-- note: Steps are those of the program, counted from 0; −1 is before the first step. Observed up to the last measured
--   step.
-- empty: The program compiled nothing with torch.compile.
SELECT
  s.program_step AS step,
  s.compile_ms,
  s.inductor_ms,
  s.compilations,
  s.recompilations,
  s.graph_breaks
FROM compilation_step s
WHERE s.run_id = (SELECT run_id FROM chosen) AND s.rank = 0 AND s.is_least_observed = 1
ORDER BY s.program_step
LIMIT 30
