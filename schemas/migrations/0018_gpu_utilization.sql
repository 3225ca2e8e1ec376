-- SPDX-License-Identifier: Apache-2.0
-- Since schema version 18: utilization of GPUs.

-- How much of a whole GPU, by all processes, was in use in an interval of the trace, ops or memory pass. From Hopper on
-- by NVML's GPM; otherwise only the time with kernels. Columns without a value are not available on the GPU.
CREATE TABLE gpu_utilization (
  -- run the interval belongs to
  run_id INTEGER NOT NULL REFERENCES run,
  -- rank that uses the GPU
  rank INTEGER NOT NULL,
  -- pass in which it was measured
  pass TEXT NOT NULL,
  -- start of the interval: host clock, relative to the start of the run
  start_ns INTEGER NOT NULL,
  -- end of the interval
  end_ns INTEGER NOT NULL,
  -- fraction of the multiprocessors that were busy, as a mean over the interval
  sm_utilization REAL,
  -- fraction of the warps that the multiprocessors can hold
  sm_occupancy REAL,
  -- fraction of the peak of the tensor pipes
  tensor_utilization REAL,
  -- fraction of the peak bandwidth of the device memory
  dram_utilization REAL,
  -- fraction of the time with at least one kernel
  kernel_time REAL,
  -- PCIe traffic from this GPU
  pcie_sent_bytes_per_s REAL,
  -- PCIe traffic to this GPU
  pcie_received_bytes_per_s REAL,
  -- NVLink traffic from this GPU, all links
  nvlink_sent_bytes_per_s REAL,
  -- NVLink traffic to this GPU, all links
  nvlink_received_bytes_per_s REAL,
  PRIMARY KEY (run_id, rank, pass, start_ns)
) WITHOUT ROWID;
