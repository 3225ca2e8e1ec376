-- SPDX-License-Identifier: Apache-2.0
-- The largest numbers of devices at the measured rates, in words.
SELECT
  backend,
  w,
  c,
  tokens,
  d_ff,
  parallelism,
  CASE
    WHEN most < 2
      THEN printf('the formula gives %.3g, so that two devices are bound by communication already', most)
    ELSE printf('N is at most %d', CAST(most AS INTEGER))
  END AS devices
FROM (
  SELECT
    m.*,
    p.column1 AS parallelism,
    CASE p.column1
      WHEN 'data' THEN m.data_devices
      WHEN 'both' THEN m.both_devices
      ELSE m.both_shared_devices
    END AS most
  FROM measured m
  CROSS JOIN (VALUES ('data'), ('both'), ('both shared')) p
)
