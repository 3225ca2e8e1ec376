-- SPDX-License-Identifier: Apache-2.0
-- caption: Predicted and measured peak of the allocated memory.
-- column workload: title="workload", format="code"
-- column title: title="run"
-- column predicted_bytes: title="predicted", format="bytes"
-- column measured_bytes: title="measured", format="bytes"
-- column error: title="difference", format="percent", digits=1
-- column device_bytes: title="memory of the device", format="bytes"
-- column verdict: title="prediction"
-- note: Of rank 0. The step is run without memory and without computing it. – means: not measured.
-- empty: No predicted memory: the pass `predict` predicts it.
SELECT
  r.workload,
  s.title,
  p.predicted_bytes,
  CASE WHEN r.status = 'oom' THEN d.status_label ELSE p.measured_bytes END AS measured_bytes,
  p.error,
  p.device_bytes,
  CASE p.fits WHEN 1 THEN 'fits' WHEN 0 THEN 'does not fit' END AS verdict
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN run_status d ON d.run_id = r.run_id
JOIN memory_prediction p ON p.run_id = r.run_id AND p.rank = 0
ORDER BY r.run_id
