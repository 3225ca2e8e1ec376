-- SPDX-License-Identifier: Apache-2.0
-- Attention by itself: the workloads attention_naive, attention_flash and attention_sdpa side by side, against what the device could do, and what lay in memory when a run had no more of it.

-- What a GPU can do at most: multiprocessors × operations per clock and multiprocessor × highest clock, without sparsity, a multiply-add counting two. Known for A100, H100, H200 and B200 with their relatives, by the name; no row for other devices.
CREATE VIEW device_peak AS
SELECT d.device_id,        -- the device
       d.name,             -- its model
       p.dtype,            -- element type: fp32 by ordinary multiply-adds, bf16 and fp16 by tensor cores that add in fp32
       d.multiprocessors,  -- streaming multiprocessors
       p.flops_per_clock,  -- operations per clock of one of them
       d.max_sm_clock_mhz, -- highest clock; NULL if unknown, and so is the peak
       1e6 * d.multiprocessors * p.flops_per_clock * d.max_sm_clock_mhz AS flops_per_s  -- their product
FROM device d
JOIN (
  SELECT m.model, e.dtype, CASE e.dtype WHEN 'fp32' THEN m.scalar ELSE m.tensor END AS flops_per_clock
  FROM (SELECT 'A100' AS model, 128 AS scalar, 2048 AS tensor UNION ALL SELECT 'H100', 256, 4096 UNION ALL SELECT 'H200', 256, 4096
        UNION ALL SELECT 'B200', 256, 8192) m
  CROSS JOIN (SELECT 'fp32' AS dtype UNION ALL SELECT 'bf16' UNION ALL SELECT 'fp16') e
) p ON d.kind = 'cuda' AND d.name || ' ' GLOB '*' || p.model || '[^0-9]*';

-- Runs of attention with the parameters that reports sort by.
CREATE VIEW attention_run AS
SELECT p.run_id,          -- the run
       p.implementation,  -- naive; tiled or flash of kymo's own; sdpa with the name of LibTorch's backend. What the run chose, where it could choose and came so far
       CASE p.implementation WHEN 'flash' THEN 0 WHEN 'naive' THEN 1 WHEN 'sdpa cudnn' THEN 2 WHEN 'sdpa flash' THEN 3 WHEN 'sdpa efficient' THEN 4
            WHEN 'sdpa math' THEN 5 WHEN 'tiled' THEN 6 ELSE 7 END AS implementation_order,  -- place among them
       p.batch,           -- sequences
       p.heads,           -- heads of each
       p.seq,             -- tokens of each
       p.head_dim,        -- width of a head
       p.dtype,           -- element type of query, key and value
       p.causal,          -- 1 if a token sees only itself and those before it
       p.mode,            -- forward, backward or forward_backward
       p.timing,          -- sync, hot or cold
       d.device_id,       -- device it ran on; NULL if none was reached
       d.name AS device_name,  -- its model
       p.batch * p.heads * ((p.seq + 127) / 128) AS query_tiles,  -- blocks of 128 queries: what a kernel can divide among multiprocessors
       CASE WHEN d.kind = 'cuda' THEN p.batch * p.heads * ((p.seq + 127) / 128) >= d.multiprocessors END AS fills_device,  -- 1 if there is one for each multiprocessor; NULL on a CPU
       p.batch * p.heads * p.seq * p.seq * CASE p.dtype WHEN 'fp32' THEN 4 ELSE 2 END AS score_matrix_bytes,  -- size of a matrix of all scores
       p.batch * p.heads * p.seq * p.head_dim * CASE p.dtype WHEN 'fp32' THEN 4 ELSE 2 END AS tensor_bytes     -- size of query, key, value or output
FROM (
  SELECT r.run_id, r.mode AS timing,
         CASE r.workload
           WHEN 'attention_naive' THEN 'naive'
           WHEN 'attention_flash' THEN coalesce(max(CASE WHEN q.name = 'implementation' THEN nullif(q.value, 'auto') END),
             (SELECT m.value FROM metric m WHERE m.run_id = r.run_id AND m.name = 'implementation' ORDER BY m.pass <> 'time', m.sequence LIMIT 1), 'auto')
           ELSE 'sdpa ' || coalesce(max(CASE WHEN q.name = 'backend' THEN nullif(q.value, 'auto') END),
             (SELECT m.value FROM metric m WHERE m.run_id = r.run_id AND m.name = 'backend' ORDER BY m.pass <> 'time', m.sequence LIMIT 1), 'auto')
         END AS implementation,
         max(CASE WHEN q.name = 'batch' THEN q.value END) AS batch,
         max(CASE WHEN q.name = 'heads' THEN q.value END) AS heads,
         max(CASE WHEN q.name = 'seq' THEN q.value END) AS seq,
         max(CASE WHEN q.name = 'head_dim' THEN q.value END) AS head_dim,
         max(CASE WHEN q.name = 'dtype' THEN q.value END) AS dtype,
         max(CASE WHEN q.name = 'causal' THEN q.value END) AS causal,
         max(CASE WHEN q.name = 'mode' THEN q.value END) AS mode
  FROM run r JOIN param q ON q.run_id = r.run_id
  WHERE r.workload IN ('attention_naive', 'attention_flash', 'attention_sdpa')
  GROUP BY r.run_id
) p
LEFT JOIN (SELECT run_id, min(device_id) AS device_id FROM rank WHERE device_id IS NOT NULL GROUP BY run_id) k ON k.run_id = p.run_id
LEFT JOIN device d ON d.device_id = k.device_id;

-- Time and rate of each pass of those runs. Rates are of the median, with operations counted as published benchmarks do: half if causal, and 2.5 times forward for backward.
CREATE VIEW attention_time AS
SELECT t.run_id,       -- the run
       t.phase,        -- forward or backward; `step` is all of a step
       t.clock,        -- host or device
       t.count,        -- samples
       t.mean_ms,      -- mean
       t.std_ms,       -- standard deviation
       t.median_ms,    -- median
       w.flops,        -- floating-point operations as declared
       w.flops / (nullif(t.median_ms, 0) / 1e3) / 1e12 AS tflop_per_s,          -- operations per second, in 10^12
       w.bytes / (nullif(t.median_ms, 0) / 1e3) / 1e9 AS gb_per_s,              -- bytes per second as declared, in 10^9
       e.flops_per_s / 1e12 AS peak_tflop_per_s,                                -- what the device can do in the element type, from device_peak; NULL if that is unknown
       w.flops / (nullif(t.median_ms, 0) / 1e3) / e.flops_per_s AS peak_share   -- of that
FROM attention_run a
JOIN phase_time t ON t.run_id = a.run_id
LEFT JOIN throughput w ON w.run_id = t.run_id AND w.phase = t.phase
LEFT JOIN device_peak e ON e.device_id = a.device_id AND e.dtype = a.dtype;

-- Runs of attention as the rows of a grid: time forward and backward, and what was in memory between them.
CREATE VIEW attention_grid AS
SELECT a.run_id,                                   -- the run
       s.state,                                    -- empty if the run ended well, `out of memory`, or another state
       CASE WHEN s.state = '' THEN f.mean_ms END AS forward_ms,       -- mean time of the forward pass; NULL if it was not measured
       CASE WHEN s.state = '' THEN f.std_ms END AS forward_std_ms,    -- its standard deviation
       CASE WHEN s.state = '' THEN b.mean_ms END AS backward_ms,      -- mean time of the backward pass; NULL if it was not measured
       CASE WHEN s.state = '' THEN b.std_ms END AS backward_std_ms,   -- its standard deviation
       coalesce((SELECT max(m.value) FROM metric m WHERE m.run_id = a.run_id AND m.name = 'memory_before_backward'),
                (SELECT max(h.begin_allocated_bytes) FROM memory_phase h WHERE h.run_id = a.run_id AND h.phase = 'backward' AND h.step >= 0))
         AS before_backward_bytes,                 -- handed out by the allocator when backward began: as a GPU run reports itself, else from the memory pass; NULL if neither was
       o.failed_phase,                             -- phase or stage that ran out of memory; NULL if none did
       o.requested_bytes,                          -- what it asked for then; NULL if unknown
       o.free_bytes                                -- free at that moment; NULL if unknown
FROM attention_run a
JOIN (SELECT run_id, CASE state WHEN 'OOM' THEN 'out of memory' ELSE state END AS state FROM run_standing) s ON s.run_id = a.run_id
LEFT JOIN phase_time f ON f.run_id = a.run_id AND f.phase = 'forward'
LEFT JOIN phase_time b ON b.run_id = a.run_id AND b.phase = 'backward'
LEFT JOIN (SELECT run_id, max(failed_phase) AS failed_phase, max(requested_bytes) AS requested_bytes, min(free_bytes) AS free_bytes
           FROM oom GROUP BY run_id) o ON o.run_id = a.run_id;

-- The blocks that were alive when a memory pass ran out of memory: after its last allocation that went well. What was given back between that and the request that failed is among them.
CREATE VIEW oom_block AS
SELECT l.run_id,            -- the run
       l.rank,              -- rank that ran out
       l.device,            -- cuda or cpu
       l.sequence,          -- as in allocation
       l.requested_bytes,   -- size that was asked for
       l.allocated_bytes,   -- size that the allocator took for it
       l.category,          -- parameter, gradient, optimizer_state, activation, workspace, input or unknown
       l.step,              -- step of its birth; −1 outside of steps
       l.phase,             -- phase of its birth; `other` outside of phases, `outside` outside of steps
       l.module,            -- path of scopes of its birth without the numbers of repeated parts; NULL if none is known
       l.operator           -- innermost operator that asked for it; NULL if there was none
FROM (
  SELECT a.run_id, a.rank, a.pass, a.device, max(a.sequence) AS last
  FROM out_of_memory o
  JOIN allocation a ON a.run_id = o.run_id AND a.rank = o.rank AND a.pass = o.pass AND a.device = CASE o.place WHEN 'device' THEN 'cuda' ELSE 'cpu' END
  WHERE o.pass = 'memory'
  GROUP BY a.run_id, a.rank, a.pass, a.device
) t
JOIN allocation a ON a.run_id = t.run_id AND a.rank = t.rank AND a.pass = t.pass AND a.device = t.device AND a.sequence <= t.last
 AND coalesce(a.free_sequence > t.last, 1)
JOIN memory_largest l ON l.run_id = a.run_id AND l.rank = a.rank AND l.pass = a.pass AND l.sequence = a.sequence;

-- The latency of attention forward, backward and both, one row per shape and implementation: of runs that time both, and of runs of mode forward with the newest run of mode backward that is like it in all else.
CREATE VIEW attention_latency AS
WITH backward AS (
  SELECT *
  FROM (
    SELECT a.*, r.suite, r.suite_case, r.label,
           row_number() OVER (PARTITION BY a.implementation, a.batch, a.heads, a.seq, a.head_dim, a.dtype, a.causal, a.timing, a.device_id, r.suite,
                              r.suite_case, r.label ORDER BY a.run_id DESC) AS place
    FROM attention_run a JOIN run r ON r.run_id = a.run_id AND r.status = 'ok'
    WHERE a.mode = 'backward'
  ) WHERE place = 1
)
SELECT p.run_id,                 -- the run that timed forward
       p.backward_run_id,        -- the run that timed backward: the same one, or another; NULL if there is none
       p.implementation,         -- as in attention_run
       p.implementation_order,   -- the same
       p.batch,                  -- the same
       p.heads,                  -- the same
       p.seq,                    -- the same
       p.head_dim,               -- the same
       p.dtype,                  -- the same
       p.causal,                 -- the same
       p.timing,                 -- the same
       p.fills_device,           -- the same
       f.median_ms AS forward_ms,    -- median time of the forward pass
       b.median_ms AS backward_ms,   -- median time of the backward pass; NULL without
       CASE WHEN p.run_id = p.backward_run_id THEN w.median_ms ELSE f.median_ms + b.median_ms END AS both_ms,  -- median time of both in one step, or the sum of the two medians if they are of two runs
       f.tflop_per_s AS forward_tflop_per_s,    -- rate of the forward pass, in 10^12 operations per second
       b.tflop_per_s AS backward_tflop_per_s,   -- of the backward pass
       f.peak_tflop_per_s        -- what the device can do, from device_peak; NULL if that is unknown
FROM (
  SELECT a.*, CASE a.mode WHEN 'forward_backward' THEN a.run_id ELSE b.run_id END AS backward_run_id
  FROM attention_run a
  JOIN run r ON r.run_id = a.run_id AND r.status = 'ok'
  LEFT JOIN backward b ON a.mode = 'forward' AND b.implementation = a.implementation AND b.batch = a.batch AND b.heads = a.heads AND b.seq = a.seq
   AND b.head_dim = a.head_dim AND b.dtype = a.dtype AND b.causal = a.causal AND b.timing = a.timing AND b.device_id IS a.device_id AND b.suite = r.suite
   AND b.suite_case = r.suite_case AND b.label = r.label
  WHERE a.mode <> 'backward'
) p
JOIN attention_time f ON f.run_id = p.run_id AND f.phase = 'forward'
LEFT JOIN attention_time b ON b.run_id = p.backward_run_id AND b.phase = 'backward'
LEFT JOIN attention_time w ON w.run_id = p.backward_run_id AND w.phase = 'step';
