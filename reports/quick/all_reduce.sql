-- SPDX-License-Identifier: Apache-2.0
-- caption: Time and bandwidth of collectives.
-- column backend: title="backend", format="code"
-- column machine: title="machine", once=true
-- column operation: title="operation", format="code"
-- column ranks: title="ranks", format="plain"
-- column bytes: title="message", format="bytes"
-- column mean_ms: title="time", unit="ms", format="measured", plus_minus="std_ms"
-- column median_ms: title="median", unit="ms", format="significant", digits=4
-- column spread_ms: title="rank spread", unit="ms", format="significant", digits=2
-- column algbw: title="algbw", unit="GB/s", format="significant", digits=3
-- column busbw: title="busbw", unit="GB/s", format="significant", digits=3
-- note: The slowest rank determines the time of a call. Rank spread: highest minus lowest median time of a rank.
-- note: Bandwidths are per rank, as in nccl-tests. algbw is the message size, that of the larger of input and output,
--   over the median time. busbw is algbw times 2(n−1)/n for an all_reduce of n ranks, (n−1)/n for reduce_scatter and
--   all_gather, and 1 for a broadcast: it is comparable across operations and numbers of ranks, and with the bandwidth
--   of a link in one direction. GB are 10^9 bytes.
-- empty: No collectives measured: `kymo suite run quick` adds this data.
SELECT
  b.backend,
  b.machine,
  b.operation,
  b.ranks,
  b.bytes,
  CASE WHEN d.status_label <> '' THEN d.status_label ELSE b.mean_ms END AS mean_ms,
  CASE WHEN d.status_label = '' THEN b.std_ms END AS std_ms,
  b.median_ms,
  b.spread_ms,
  b.algbw_gb_s AS algbw,
  b.busbw_gb_s AS busbw
FROM selected_run s
JOIN all_reduce_bandwidth b ON b.run_id = s.run_id
JOIN run_status d ON d.run_id = s.run_id
ORDER BY b.backend, b.operation <> 'all_reduce', b.operation, b.ranks, b.bytes, s.run_id
