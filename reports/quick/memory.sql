-- SPDX-License-Identifier: Apache-2.0
-- caption: Peak memory use by run.
-- column workload: title="workload", format="code"
-- column title: title="run"
-- column device: title="device"
-- column allocated_peak_bytes: title="allocated", format="bytes"
-- column reserved_peak_bytes: title="reserved", format="bytes"
-- column resident_peak_bytes: title="resident", format="bytes"
-- column requested_bytes: title="failed request", format="bytes"
-- note: – means: not measured. Allocator values are available only on a GPU.
-- empty: No memory measurements.
SELECT
  r.workload,
  s.title,
  r.device_kind AS device,
  m.allocated_peak_bytes,
  m.reserved_peak_bytes,
  CASE WHEN m.run_id IS NULL THEN nullif(d.status_label, '') ELSE m.resident_peak_bytes END AS resident_peak_bytes,
  (SELECT max(o.requested_bytes) FROM oom o WHERE o.run_id = r.run_id) AS requested_bytes
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN run_status d ON d.run_id = r.run_id
LEFT JOIN run_memory m ON m.run_id = r.run_id
ORDER BY r.run_id
