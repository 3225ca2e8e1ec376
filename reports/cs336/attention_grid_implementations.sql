-- SPDX-License-Identifier: Apache-2.0
-- caption: The same shapes with other implementations: forward plus backward time, and memory before backward.
-- column dtype: title="dtype"
-- column head_dim: title="head dim", format="plain"
-- column seq: title="sequence length", unit="tokens", format="plain"
-- column naive: title="naive", unit="ms", format="significant", digits=4
-- column own: title="flash", unit="ms", format="significant", digits=4
-- column efficient: title="LibTorch efficient", unit="ms", format="significant", digits=4
-- column flash: title="LibTorch flash", unit="ms", format="significant", digits=4
-- column cudnn: title="LibTorch cudnn", unit="ms", format="significant", digits=4
-- column naive_bytes: title="naive memory", format="bytes"
-- column own_bytes: title="flash memory", format="bytes"
-- note: Sum of the mean forward and backward times. – means: not measured, or LibTorch has no kernel for the dtype.
-- empty: No attention measurements by sequence length: `kymo suite run cs336 --filter '^attention-memory'` adds this
--   data.
SELECT
  a.dtype,
  a.head_dim,
  a.seq,
  max(
    CASE
      WHEN a.implementation = 'naive'
        THEN CASE WHEN g.status_label <> '' THEN g.status_label ELSE g.forward_ms + g.backward_ms END
    END
  ) AS naive,
  max(
    CASE
      WHEN a.implementation IN ('flash', 'tiled')
        THEN CASE WHEN g.status_label <> '' THEN g.status_label ELSE g.forward_ms + g.backward_ms END
    END
  ) AS own,
  max(
    CASE
      WHEN a.implementation = 'LibTorch efficient'
        THEN CASE WHEN g.status_label <> '' THEN g.status_label ELSE g.forward_ms + g.backward_ms END
    END
  ) AS efficient,
  max(
    CASE
      WHEN a.implementation = 'LibTorch flash'
        THEN CASE WHEN g.status_label <> '' THEN g.status_label ELSE g.forward_ms + g.backward_ms END
    END
  ) AS flash,
  max(
    CASE
      WHEN a.implementation = 'LibTorch cudnn'
        THEN CASE WHEN g.status_label <> '' THEN g.status_label ELSE g.forward_ms + g.backward_ms END
    END
  ) AS cudnn,
  max(CASE WHEN a.implementation = 'naive' THEN g.before_backward_bytes END) AS naive_bytes,
  max(CASE WHEN a.implementation IN ('flash', 'tiled') THEN g.before_backward_bytes END) AS own_bytes
FROM selected_run s
JOIN run r
  ON r.run_id = s.run_id
  AND r.suite = 'cs336'
  AND r.suite_case LIKE 'attention-memory%'
  AND r.suite_case <> 'attention-memory-blocks'
JOIN attention_run a ON a.run_id = r.run_id
JOIN attention_grid g ON g.run_id = r.run_id AND g.status_label <> 'skipped'
GROUP BY a.dtype, a.head_dim, a.seq
ORDER BY a.dtype = 'bf16', a.dtype, a.head_dim, a.seq
