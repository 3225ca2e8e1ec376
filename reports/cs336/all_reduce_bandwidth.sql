-- SPDX-License-Identifier: Apache-2.0
-- caption: Bus bandwidth (busbw) per rank of an all-reduce by message size.
-- empty: No collectives measured: `kymo suite run cs336 --filter collectives` adds this data.
SELECT
  b.bytes / 1048576.0 AS size_mib,
  b.backend || ', ' || b.ranks || CASE b.ranks WHEN 1 THEN ' rank' ELSE ' ranks' END AS series,
  avg(nullif(b.busbw_gb_s, 0)) AS busbw_gb_s
FROM selected_run s
JOIN all_reduce_bandwidth b ON b.run_id = s.run_id
WHERE b.busbw_gb_s > 0 AND b.operation = 'all_reduce'
GROUP BY b.backend, b.ranks, b.bytes
ORDER BY b.backend, b.ranks, b.bytes
