-- SPDX-License-Identifier: Apache-2.0
-- caption: Time and bandwidth of one all-reduce.
-- column backend: title="backend", format="code"
-- column machine: title="machine", once=true
-- column ranks: title="ranks", format="plain"
-- column bytes: title="message", format="bytes"
-- column mean_ms: title="time", unit="ms", format="measured", plus_minus="std_ms"
-- column median_ms: title="median", unit="ms", format="significant", digits=4
-- column spread_ms: title="between ranks", unit="ms", format="significant", digits=2
-- column algbw: title="algbw", unit="GB/s", format="significant", digits=3
-- column busbw: title="busbw", unit="GB/s", format="significant", digits=3
-- note: A call lasts as long as its slowest rank. Between ranks: the longest median time of a rank less the shortest.
-- note: algbw is the message over the median time; busbw is that times twice the ranks less two, over the ranks, as
--   nccl-tests has it: what each link must carry, whatever the number of ranks. GB are powers of ten.
-- empty: No collective was timed: `kymo suite run cs336 --filter collectives` fills this section.
SELECT
  b.backend,
  b.machine,
  b.ranks,
  b.bytes,
  CASE WHEN d.state <> '' THEN d.state ELSE b.mean_ms END AS mean_ms,
  CASE WHEN d.state = '' THEN b.std_ms END AS std_ms,
  b.median_ms,
  b.spread_ms,
  b.algbw_gb_s AS algbw,
  b.busbw_gb_s AS busbw
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.suite = 'cs336'
JOIN all_reduce_bandwidth b ON b.run_id = r.run_id
JOIN run_standing d ON d.run_id = r.run_id
ORDER BY b.backend, b.ranks, b.bytes, r.run_id
