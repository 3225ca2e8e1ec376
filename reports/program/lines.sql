-- SPDX-License-Identifier: Apache-2.0
-- caption: Time per step by line of Python code.
-- column line: title="line", format="code"
-- column function: title="function", format="code"
-- column calls: title="calls", format="significant", digits=3
-- column ms: title="time", unit="ms", format="significant", digits=3
-- column backward_ms: title="of it backward", unit="ms", format="significant", digits=3
-- column share: title="share", unit="%", digits=1
-- column host_copies: title="values to the host", format="significant", digits=3
-- note: Kernels on a GPU; operators and their self time on a CPU. Lines of torch, kymo and Python's library count for
--   their caller, and the backward pass for the line that called the forward operator.
-- empty: No Python stacks: `--stacks python` records them with the passes `trace` and `ops`.
SELECT
  coalesce(l.location, '(unknown)') AS line,
  l.function,
  l.calls,
  l.ms,
  nullif(l.backward_ms, 0) AS backward_ms,
  100 * l.share AS share,
  nullif(l.host_copies, 0) AS host_copies
FROM chosen c
JOIN _line_summary l ON l.run_id = c.run_id
WHERE l.ms > 0 OR l.host_copies > 0
ORDER BY l.ms DESC, l.location, l.function
LIMIT 20
