-- SPDX-License-Identifier: Apache-2.0
-- Since schema version 13: when the results of collectives were needed.

-- when the result was needed on this rank, on the clock of start_ns: without a stream, when a thread first waited for
-- it; on a stream, when the next kernel that the waiting thread launched could otherwise have started, which is after
-- its launch and after the work before it on its stream. NULL if nothing waited, or unknown
ALTER TABLE collective ADD COLUMN needed_ns INTEGER;

-- what waited: a layer or a scope path, in table string; NULL if unknown
ALTER TABLE collective ADD COLUMN needed_by_id INTEGER;

-- phase in which it waited, in table string; NULL if unknown
ALTER TABLE collective ADD COLUMN needed_phase_id INTEGER;
