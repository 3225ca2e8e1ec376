-- SPDX-License-Identifier: Apache-2.0
-- Since schema version 4: the work of operators, from their arguments.

-- Work of the operators in the measured steps, by phase, scope, name, arguments and dtype. Derived when a pass that
-- recorded the arguments of operators (--trace-detail shapes) ends. Each part of a step is in one row only: what an
-- operator with a known amount of work calls belongs to it.
CREATE TABLE op_work (
  -- run the operators belong to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that called them
  rank INTEGER NOT NULL,
  -- pass in which they ran
  pass TEXT NOT NULL,
  -- row number without meaning
  sequence INTEGER NOT NULL,
  -- as in kernel
  phase_id INTEGER,
  -- as in kernel
  scope_id INTEGER,
  -- as in op
  name_id INTEGER NOT NULL,
  -- as in op; NULL for overhead
  shapes_id INTEGER,
  -- 1 for operators of the forward pass that ran again in the backward pass (activation checkpointing)
  recomputed INTEGER NOT NULL,
  -- matmul, attention, convolution, normalization, softmax, elementwise, reduction, copy, indexing, optimizer,
  -- collective, declared (by the workload), unknown, or overhead: operators that do no work themselves (views,
  -- allocations, nodes of the backward pass, operators that only call others)
  kind TEXT NOT NULL,
  -- data type of the operands: f32, bf16, f16, f8, f64, i64 ...; empty if there is none or it is not recorded
  dtype TEXT NOT NULL,
  -- number of measured steps in the totals
  steps INTEGER NOT NULL,
  -- number of calls
  calls INTEGER NOT NULL,
  -- floating-point operations that one call executes: what a fused kernel skips because of its causal mask does not
  -- count; NULL if unknown
  flops REAL,
  -- floating-point operations of one call that the model needs: recomputation does not count, and all scores do, masked
  -- or not; NULL if unknown
  model_flops REAL,
  -- as model_flops, without the scores that a fused kernel skips because of its causal mask
  masked_model_flops REAL,
  -- minimum bytes of one call: each operand read once, each result written once; NULL if unknown
  bytes REAL,
  -- total host time: whole calls, for overhead without the operators that they called
  host_ns INTEGER NOT NULL,
  -- kernels, copies and memsets launched by these operators, and by those that they called
  kernels INTEGER NOT NULL,
  -- sum of the durations of these
  device_ns INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;

-- Work of one call of an operator, as declared by the workload. It takes precedence over kymo's own rules.
CREATE TABLE declared_op_work (
  -- run the declaration belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that declared it
  rank INTEGER NOT NULL,
  -- pass in which it was declared
  pass TEXT NOT NULL,
  -- order
  sequence INTEGER NOT NULL,
  -- operator name such as mylib::scale
  name TEXT NOT NULL,
  -- arguments of the calls, as in op; empty for all calls
  arguments TEXT NOT NULL,
  -- floating-point operations of one call
  flops REAL NOT NULL,
  -- bytes moved by one call
  bytes REAL NOT NULL,
  PRIMARY KEY (run_id, rank, pass, sequence)
) WITHOUT ROWID;
