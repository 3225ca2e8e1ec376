-- SPDX-License-Identifier: Apache-2.0
-- caption: Calls of kernels that lasted far longer than others of the same name, launch shape and part of the model.
-- column setting: title="model"
-- column kernel: title="kernel", format="code"
-- column step: title="step"
-- column place: title="where", format="code"
-- column duration_us: title="lasted", unit="µs", format="significant", digits=4
-- column sibling_median_us: title="median", unit="µs", format="significant", digits=4
-- column ratio: title="ratio", digits=1
-- column differs: title="how it differs"
-- note: Sorted by the time lost. Warm-up steps are not looked at.
-- empty: No call stood out: none was recorded, or all lasted about as long as their siblings.
WITH setting (rows_shown) AS (VALUES (15))  -- change it here for more
SELECT m.size || ', context ' || m.context || ', ' || m.mode AS setting,
       CASE WHEN length(o.short_name) > 56 THEN substr(o.short_name, 1, 55) || '…' ELSE o.short_name END AS kernel, o.step,
       coalesce(o.scope, o.phase) || CASE WHEN o.scope IS NOT NULL AND o.phase <> 'other' THEN ' (' || o.phase || ')' ELSE '' END AS place,
       o.duration_us, o.sibling_median_us, o.ratio, o.differs
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.suite = 'cs336'
JOIN transformer_run m ON m.run_id = r.run_id
JOIN outlier_call o ON o.run_id = r.run_id AND o.rank = 0
ORDER BY o.excess_us DESC, r.run_id, o.sequence
LIMIT (SELECT rows_shown FROM setting)
