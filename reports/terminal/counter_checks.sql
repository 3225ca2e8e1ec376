-- SPDX-License-Identifier: Apache-2.0
-- What was executed against what is declared, in sentences.
SELECT
  c.phase,
  c.sentence,
  c.bytes_sentence
FROM counter_check c
WHERE c.run_id = :run
ORDER BY c.phase <> 'step', c.counted_flops DESC, c.phase
