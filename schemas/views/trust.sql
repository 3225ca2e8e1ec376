-- SPDX-License-Identifier: Apache-2.0
-- How far the figures can be trusted.

-- Each comparison of a workload's result with a reference.
CREATE VIEW verification_result AS
SELECT v.run_id,         -- the run
       r.workload,       -- its workload
       r.suite_case,     -- name of the case within the suite
       v.rank,           -- rank that compared
       v.name,           -- what was compared
       v.outcome,        -- passed, failed or unavailable
       v.max_abs_error,  -- largest absolute difference; NULL if unknown
       v.max_rel_error,  -- largest relative difference; NULL if unknown
       v.tolerance,      -- what is admitted; NULL if the workload did not say
       v.reference,      -- what it was compared with
       v.detail          -- why it failed or was not possible
FROM verification v
JOIN run r ON r.run_id = v.run_id;

-- State of the GPUs during the steps of the time pass, warm-up left out: medians over ranks and steps, of an even number the lower middle one.
CREATE VIEW device_clock AS
SELECT r.run_id,                                   -- the run
       r.workload,                                 -- its workload
       r.suite_case,                               -- name of the case within the suite
       c.readings,                                 -- readings
       (SELECT m.reading FROM (
          SELECT g.sm_clock_mhz AS reading, row_number() OVER (ORDER BY g.sm_clock_mhz) AS place FROM gpu_sample g
          WHERE g.run_id = r.run_id AND g.pass = 'time' AND g.step >= r.warmup AND g.sm_clock_mhz IS NOT NULL) m
        WHERE m.place = (c.sm_clocks + 1) / 2) AS sm_clock_mhz,  -- median clock of the multiprocessors
       c.min_sm_clock_mhz,                         -- lowest clock of the multiprocessors
       c.max_sm_clock_mhz,                         -- highest clock of the multiprocessors
       (SELECT m.reading FROM (
          SELECT g.memory_clock_mhz AS reading, row_number() OVER (ORDER BY g.memory_clock_mhz) AS place FROM gpu_sample g
          WHERE g.run_id = r.run_id AND g.pass = 'time' AND g.step >= r.warmup AND g.memory_clock_mhz IS NOT NULL) m
        WHERE m.place = (c.memory_clocks + 1) / 2) AS memory_clock_mhz,  -- median clock of the memory
       (SELECT m.reading FROM (
          SELECT g.power_mw / 1e3 AS reading, row_number() OVER (ORDER BY g.power_mw) AS place FROM gpu_sample g
          WHERE g.run_id = r.run_id AND g.pass = 'time' AND g.step >= r.warmup AND g.power_mw IS NOT NULL) m
        WHERE m.place = (c.powers + 1) / 2) AS power_w,  -- median power draw of one GPU
       (SELECT m.reading FROM (
          SELECT g.temperature_c AS reading, row_number() OVER (ORDER BY g.temperature_c) AS place FROM gpu_sample g
          WHERE g.run_id = r.run_id AND g.pass = 'time' AND g.step >= r.warmup AND g.temperature_c IS NOT NULL) m
        WHERE m.place = (c.temperatures + 1) / 2) AS temperature_c,  -- median temperature of the chip
       c.max_temperature_c,                        -- highest temperature of the chip
       c.power_capped,                             -- readings under the software power cap, which is flagged and kept
       c.thermal_slowdown,                         -- readings slowed down by heat
       c.hardware_slowdown                         -- readings slowed down by the board (its power brake included)
FROM run r
JOIN (
  SELECT s.run_id, count(*) AS readings, count(s.sm_clock_mhz) AS sm_clocks, count(s.memory_clock_mhz) AS memory_clocks,
         count(s.power_mw) AS powers, count(s.temperature_c) AS temperatures, min(s.sm_clock_mhz) AS min_sm_clock_mhz, max(s.sm_clock_mhz) AS max_sm_clock_mhz,
         max(s.temperature_c) AS max_temperature_c,
         sum((s.throttle_reasons & 4) <> 0) AS power_capped, sum((s.throttle_reasons & 96) <> 0) AS thermal_slowdown,
         sum((s.throttle_reasons & 136) <> 0) AS hardware_slowdown
  FROM gpu_sample s
  JOIN run w ON w.run_id = s.run_id
  WHERE s.pass = 'time' AND s.step >= w.warmup
  GROUP BY s.run_id
) c ON c.run_id = r.run_id;

-- What is known to be missing from each run.
CREATE VIEW run_loss AS
SELECT l.run_id,    -- the run
       l.rank,      -- rank it is missing of; NULL for the whole run
       l.pass,      -- pass it is missing of, or empty
       l.source,    -- collector or part of the tool that lost it
       l.count,     -- how many; NULL if unknown
       l.detail     -- what and why
FROM (SELECT run_id, nullif(rank, -1) AS rank, pass, source, nullif(count, -1) AS count, detail FROM loss) l;
