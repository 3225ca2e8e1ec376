-- SPDX-License-Identifier: Apache-2.0
-- with: peaks
-- with: distributed
-- with: kernel_verdicts
-- Occupancy on an H100 (132 multiprocessors with 64 warps, 32 blocks, 65536 registers and 228 KiB of shared memory, of
-- which each block needs 1 KiB): registers, threads, shared memory and blocks, counted by hand.
DELETE FROM launch_config;
DELETE FROM kernel_total;
-- 64 warps / 32 = 2 blocks; 290 of 264 blocks
INSERT INTO launch_config VALUES (51, 0, 'trace', 1, 290, 1, 1, 1024, 1, 1, 0, 0, 32);
-- 255 registers: 8192 per warp, 2 warps in each quarter of 16384, 8 warps / 8 = 1 block
INSERT INTO launch_config VALUES (51, 0, 'trace', 2, 132, 1, 1, 16, 16, 1, 0, 0, 255);
-- 65 registers: 2080, rounded to 2304; 7 warps in each quarter, 28 warps / 4 = 7 blocks
INSERT INTO launch_config VALUES (51, 0, 'trace', 3, 924, 10, 1, 128, 1, 1, 0, 0, 65);
-- one warp: 32 blocks
INSERT INTO launch_config VALUES (51, 0, 'trace', 4, 4225, 1, 1, 32, 1, 1, 0, 0, 32);
-- 100 KiB + 1 KiB: 2 blocks
INSERT INTO launch_config VALUES (51, 0, 'trace', 5, 100, 1, 2, 128, 1, 1, 2048, 100352, 32);
-- 168 registers: 5376; 3 warps in each quarter, 12 warps / 12 = 1 block, as 200 KiB + 1 KiB of shared memory allow
INSERT INTO launch_config VALUES (51, 0, 'trace', 6, 132, 1, 1, 384, 1, 1, 0, 204800, 168);
-- 227 KiB + 1 KiB: 1 block
INSERT INTO launch_config VALUES (51, 0, 'trace', 7, 66, 1, 1, 64, 1, 1, 0, 232448, 40);
-- 33 threads are 2 warps; 64 warps / 2 = 32 blocks
INSERT INTO launch_config VALUES (51, 0, 'trace', 8, 4224, 1, 1, 33, 1, 1, 0, 0, 16);
INSERT INTO kernel_total
SELECT
  51,
  0,
  'trace',
  launch_config,
  'kernel',
  700,
  NULL,
  723,
  'launch',
  1,
  1,
  0,
  1000000,
  1,
  1,
  launch_config,
  NULL
FROM launch_config;
SELECT
  launch_config,
  blocks,
  threads,
  registers,
  shared_bytes,
  resident_blocks,
  limiting_resource,
  occupancy,
  active_occupancy,
  waves,
  last_wave,
  tail_loss
FROM kernel_verdict ORDER BY launch_config;
