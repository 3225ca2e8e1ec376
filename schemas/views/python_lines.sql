-- SPDX-License-Identifier: Apache-2.0
-- What lines of Python code do, recorded with --stacks python.

-- What the innermost line of the user's code does per step, by phase: the operators that it calls, with those within
-- them, and the kernels and copies that it launches. Lines of torch, Triton, kymo and Python's library count for their
-- caller. Work of the backward pass belongs to the line that called the forward operator. Sums over the lines, with
-- those that are unknown, are those of all operators, kernels, copies and memsets.
CREATE VIEW line_time AS
SELECT
  -- run
  t.run_id,
  -- rank that executes it
  t.rank,
  -- pass in which it was recorded
  t.pass,
  -- path of the file; NULL if the line is unknown, because nothing says which operator created the backward node, or
  -- because the calling thread has no frame of the user's code, or did not hold the GIL at a launch
  f.text AS file,
  -- line in the file; NULL if it is unknown
  t.line,
  -- function that contains it, with its class; NULL if it is unknown
  n.text AS function,
  -- file name and line, such as train.py:12; NULL if it is unknown
  replace(f.text, rtrim(f.text, replace(f.text, '/', '')), '') || ':' || t.line AS location,
  -- phase; `other` outside of phases
  coalesce(p.text, 'other') AS phase,
  -- 1: work of the backward pass that follows from the line
  t.of_forward,
  -- operators, forward and backward
  1.0 * sum(CASE WHEN t.kind IN ('operator', 'host read') THEN t.calls ELSE 0 END) / max(t.steps) AS operators,
  -- their time on the host, without that of called operators
  sum(CASE WHEN t.kind IN ('operator', 'host read') THEN t.total_ns ELSE 0 END) / 1e6 / max(t.steps) AS operator_ms,
  -- operators that copy a value to the host, for which .item() and float() wait
  1.0 * sum(CASE t.kind WHEN 'host read' THEN t.calls ELSE 0 END) / max(t.steps) AS host_reads,
  -- kernels
  1.0 * sum(CASE t.kind WHEN 'kernel' THEN t.calls ELSE 0 END) / max(t.steps) AS kernels,
  -- their time on the GPU
  sum(CASE t.kind WHEN 'kernel' THEN t.total_ns ELSE 0 END) / 1e6 / max(t.steps) AS kernel_ms,
  -- copies from the GPU to the host
  1.0 * sum(CASE t.kind WHEN 'copy to host' THEN t.calls ELSE 0 END) / max(t.steps) AS host_copies,
  -- their time on the GPU
  sum(CASE t.kind WHEN 'copy to host' THEN t.total_ns ELSE 0 END) / 1e6 / max(t.steps) AS host_copy_ms
FROM line_total t
LEFT JOIN string f ON f.string_id = t.file_id
LEFT JOIN string n ON n.string_id = t.function_id
LEFT JOIN string p ON p.string_id = t.phase_id
GROUP BY t.run_id, t.rank, t.pass, t.file_id, t.line, t.function_id, t.phase_id, t.of_forward;

-- The lines of each run, from its first available pass of trace and ops, with all phases together; for rank 0. Time is
-- that of kernels on a GPU, and otherwise that of operators.
CREATE VIEW _line_summary AS
SELECT
  -- run
  l.run_id,
  -- file name and line; NULL if it is unknown
  l.location,
  -- function that contains it
  l.function,
  -- kernels, or on a CPU operators, per step
  sum(l.calls) AS calls,
  -- time per step
  sum(l.ms) AS ms,
  -- part of it in the backward pass that follows from the line
  sum(CASE l.of_forward WHEN 1 THEN l.ms ELSE 0 END) AS backward_ms,
  -- share of the time of all lines
  sum(l.ms) / nullif(sum(sum(l.ms)) OVER (PARTITION BY l.run_id), 0) AS share,
  -- values that are copied to the host, per step
  sum(l.host_values) AS host_copies
FROM (
  SELECT
    w.*,
    CASE r.device_kind WHEN 'cuda' THEN w.kernels ELSE w.operators END AS calls,
    CASE r.device_kind WHEN 'cuda' THEN w.kernel_ms ELSE w.operator_ms END AS ms,
    CASE r.device_kind WHEN 'cuda' THEN w.host_copies ELSE w.host_reads END AS host_values
  FROM line_time w
  JOIN run r ON r.run_id = w.run_id
  WHERE
    w.rank = 0
    AND (
      w.pass = 'trace'
      OR NOT EXISTS (SELECT 1 FROM line_total t WHERE t.run_id = w.run_id AND t.rank = 0 AND t.pass = 'trace')
    )
) l
GROUP BY l.run_id, l.file, l.line, l.function;

-- The Python stacks of operators and launches as text. Filter by run, rank and pass.
CREATE VIEW python_stack AS
SELECT
  -- run
  t.run_id,
  -- rank on which it was recorded
  t.rank,
  -- pass in which it was recorded
  t.pass,
  -- number of the stack, as in op_call and kernel_call
  t.stack,
  -- function, file and line of each frame, innermost first, each in a line of its own; with those of torch and kymo
  (
    SELECT group_concat(g.frame, char(10))
    FROM (
      SELECT printf('%s (%s:%d)', coalesce(x.text, ''), f.module, f.line) AS frame
      FROM stack k
      JOIN stack_frame f ON f.run_id = k.run_id AND f.rank = k.rank AND f.pass = k.pass AND f.frame = k.frame
      LEFT JOIN string x ON x.string_id = f.function_id
      WHERE k.run_id = t.run_id AND k.rank = t.rank AND k.pass = t.pass AND k.stack = t.stack
      ORDER BY k.depth
    ) g
  ) AS frames
FROM stack t
WHERE t.depth = 0 AND t.pass IN ('trace', 'ops');
