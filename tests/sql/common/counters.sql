-- SPDX-License-Identifier: Apache-2.0
-- Run 9 of roofline.sql with counters, in two sets: the metrics of tensor cores for bf16 and tf32, of DRAM and of
-- multiprocessors (of 4, as device 1 has them here) in steps 3 and 5, those for fp16 in step 4. Forward executes 1.5 %
-- more than declared, backward 7 % less, and the optimizer 0.6 % more in tf32. Step 5 has no optimizer. 0.195 GFLOP
-- were executed outside of phases.
UPDATE device SET multiprocessors = 4 WHERE device_id = 1;
INSERT INTO rank (run_id, rank, pass, pid, host, status, device_id, stdout, stderr) VALUES
(9, 0, 'counters', 1, 'h', 'ok', 1, '', '');
CREATE TEMP TABLE each_count (step INTEGER, phase TEXT, scope TEXT, name TEXT, calls INTEGER, value REAL);
INSERT INTO each_count VALUES
(3, NULL, NULL, 'dram__bytes_read.sum', 1, 60000000),
(3, NULL, NULL, 'dram__bytes_write.sum', 1, 20000000),
(3, NULL, NULL, 'sm__cycles_elapsed.max', 1, 1000),
(3, NULL, NULL, 'sm__cycles_active.sum', 1, 3000),
(3, NULL, NULL, 'sm__pipe_tensor_cycles_active.sum', 1, 1500),
(3, NULL, NULL, 'sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum', 1, 2.4e9),
(3, NULL, NULL, 'sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32_sparsity_off.sum', 1, 2e8),
(3, NULL, NULL, 'sm__ops_path_tensor_op_hgmma_src_tf32_dst_fp32_sparsity_off.sum', 1, 8.45e8),
(5, NULL, NULL, 'dram__bytes_read.sum', 1, 40000000),
(5, NULL, NULL, 'dram__bytes_write.sum', 1, 20000000),
(5, NULL, NULL, 'sm__cycles_elapsed.max', 1, 1000),
(5, NULL, NULL, 'sm__cycles_active.sum', 1, 3000),
(5, NULL, NULL, 'sm__pipe_tensor_cycles_active.sum', 1, 1500),
(5, NULL, NULL, 'sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum', 1, 2.4e9),
(5, NULL, NULL, 'sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32_sparsity_off.sum', 1, 2e8),
(5, NULL, NULL, 'sm__ops_path_tensor_op_hgmma_src_tf32_dst_fp32_sparsity_off.sum', 1, 0),
(4, NULL, NULL, 'sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32_sparsity_off.sum', 1, 1e8),
(3, 'forward', NULL, 'dram__bytes_read.sum', 1, 30000000),
(3, 'forward', NULL, 'dram__bytes_write.sum', 1, 1000000),
(5, 'forward', NULL, 'dram__bytes_read.sum', 1, 20000000),
(5, 'forward', NULL, 'dram__bytes_write.sum', 1, 3000000),
(3, 'forward', NULL, 'sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum', 1, 1.015e9),
(5, 'forward', NULL, 'sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum', 1, 1.015e9),
(3, 'forward', 'block', 'sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum', 2, 1e9),
(5, 'forward', 'block', 'sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum', 2, 1e9),
(3, 'forward', 'block', 'dram__bytes_read.sum', 2, 10000000),
(5, 'forward', 'block', 'dram__bytes_read.sum', 2, 20000000),
(3, 'backward', NULL, 'sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum', 1, 1.19e9),
(3, 'backward', NULL, 'sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32_sparsity_off.sum', 1, 2e8),
(5, 'backward', NULL, 'sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum', 1, 1.19e9),
(5, 'backward', NULL, 'sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32_sparsity_off.sum', 1, 2e8),
(4, 'backward', NULL, 'sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32_sparsity_off.sum', 1, 1e8),
(3, 'optimizer', NULL, 'sm__ops_path_tensor_op_hgmma_src_tf32_dst_fp32_sparsity_off.sum', 1, 8.45e8);
INSERT INTO string (text) SELECT DISTINCT name FROM each_count;
INSERT INTO string (text) SELECT DISTINCT scope FROM each_count WHERE scope IS NOT NULL;
INSERT INTO hardware_count
SELECT
  9,
  0,
  'counters',
  row_number() OVER (),
  c.step,
  (SELECT s.string_id FROM string s WHERE s.text = c.phase),
  (SELECT s.string_id FROM string s WHERE s.text = c.scope),
  (SELECT s.string_id FROM string s WHERE s.text = c.name),
  c.calls,
  c.value
FROM each_count c;
