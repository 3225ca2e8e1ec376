-- SPDX-License-Identifier: Apache-2.0
-- caption: Median time of an all-reduce.
-- pivot heading: values=["ms"], order="heading_order"
-- column backend: title="backend", format="code"
-- column bytes: title="message", format="bytes"
-- column ms: title="{}", unit="ms", format="significant", digits=3
-- note: The slowest rank determines the time.
-- empty: Not in this database: `kymo suite run cs336 --filter '^collectives'` adds this data; NCCL needs one GPU per
--   process.
SELECT
  b.backend,
  b.bytes,
  b.ranks || ' ranks' AS heading,
  b.ranks AS heading_order,
  coalesce(min(b.median_ms), max(nullif(d.status_label, ''))) AS ms
FROM selected_run s
JOIN all_reduce_bandwidth b ON b.run_id = s.run_id AND b.operation = 'all_reduce'
JOIN run_status d ON d.run_id = s.run_id
GROUP BY b.backend, b.bytes, b.ranks
ORDER BY b.backend, b.bytes, b.ranks
