-- SPDX-License-Identifier: Apache-2.0
-- Since schema version 9: memory that serves communication.

-- allocated bytes of live blocks of this category: buffers of collectives, and parameters and gradients that they
-- gather or will reduce
ALTER TABLE memory_point ADD COLUMN communication_bytes INTEGER NOT NULL DEFAULT 0;

-- the same at the allocated peak
ALTER TABLE memory_phase ADD COLUMN communication_bytes INTEGER NOT NULL DEFAULT 0;
