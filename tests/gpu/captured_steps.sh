#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Data-parallel steps with their collectives as CUDA graphs, on two GPUs of one machine, in about five minutes.
#
# Usage: captured_steps.sh KYMO FOLDER [PART...], with the KYMO of a build tree; all parts by default: tests, verify,
# bf16, fp32, phases, channels, fsdp, peers, own (the classes of docs/own-strategies.md). Logs and databases go to
# FOLDER. Prints the results of the checks, the step times of eager execution and of graphs with and without
# communication, the phases of a replay in the time and trace passes, step times by the number of NCCL's thread blocks
# and the size of a bucket, and the step times of PyTorch's DistributedDataParallel and
# fully_shard. Ends with 1 if a command failed, and with 77 with fewer than two GPUs.
set -u
[ $# -ge 2 ] || { echo "usage: $0 KYMO FOLDER [PART...]" >&2; exit 2; }
mkdir -p "$2"
kymo=$(realpath "$1") folder=$(realpath "$2")
wanted=" ${*:3} "
here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$(dirname "$kymo")/.." && pwd)
[ "$(nvidia-smi --list-gpus 2>/dev/null | wc -l)" -ge 2 ] || { echo "fewer than two GPUs"; exit 77; }

# Test executables look for LibTorch where it was on the machine that built them.
LD_LIBRARY_PATH=$(python3 - <<'PYTHON'
from pathlib import Path

import torch

package = Path(torch.__file__).parent
print(":".join(map(str, [package / "lib", *sorted(package.parent.glob("nvidia/*/lib"))])))
PYTHON
)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

failed=0
is_wanted() { [ "$wanted" = "  " ] || [[ "$wanted" == *" $1 "* ]]; }

try() { # NAME SECONDS COMMAND...
  local begin=$SECONDS log="$folder/$1.log"
  timeout -k 5 "$2" "${@:3}" >"$log" 2>&1
  local code=$?
  echo "$1: exit code $code after $((SECONDS - begin)) s"
  [ $code -eq 0 ] && return
  failed=1
  grep -m 1 -A 30 'Traceback (most recent call last)' "$log"
  tail -n 15 "$log"
}

train() { # NAME PASSES WORD...
  try "$1" 60 "$kymo" run "${@:3}" --device cuda --ranks 2 --passes "$2" --warmup 4 --steps 15 --db "$folder/$1.db"
}

select_from() { "$kymo" sql --db "$folder/$1.db" "$2"; }

step_times() { # NAME
  select_from "$1" "SELECT r.workload, t.title AS run, r.status, round(s.median_ms, 3) AS step_ms,
    round(s.min_ms, 3) AS min_ms, r.detail FROM run r JOIN run_title t USING (run_id) LEFT JOIN phase_time s ON s.run_id = r.run_id AND s.phase = 'step'
    ORDER BY r.run_id"
}

phases() { # NAME
  select_from "$1" "SELECT t.title AS run, p.pass, p.phase, round(avg(p.device_ms), 3) AS device_ms,
    round(avg(p.host_ms), 3) AS host_ms FROM pass_step_time p JOIN run_title t USING (run_id)
    WHERE p.rank = 0 AND p.warmup = 0 GROUP BY p.run_id, p.pass, p.phase ORDER BY p.run_id, p.phase, p.pass"
  select_from "$1" "SELECT phase, round(sum(calls)) AS kernels, round(sum(total_ms), 3) AS kernel_ms
    FROM kernel_by_phase WHERE rank = 0 GROUP BY run_id, pass, phase"
}

peer() { # NAME WORD...
  try "$1" 150 python3 -m torch.distributed.run --standalone --nproc-per-node 2 "$here/bench/peers/ddp.py" \
    --size xl --batch 4 --context 512 --warmup 4 --steps 15 "${@:2}"
  grep '^python,' "$folder/$1.log"
}

if is_wanted tests; then
  try comm 60 "$build/tests/gpu_comm" --gtest_filter='*ReplaysTheCollectivesOfAGraph*'
  try phases 60 "$build/tests/gpu_collect" --gtest_filter='CudaModuleTest.Phases*'
  try workloads 60 "$build/tests/gpu_workloads" \
    --gtest_filter='*StepsWithCollectivesAreReplayed:*AGraphVerifies*:*TheFirstStepOfAGraph*'
fi
if is_wanted verify; then
  small=(--set model=tiny --set context=32 --set execution=graph)
  train verify verify ddp_bucketed "${small[@]}" --axis gradients=separate,views --axis dtype=fp32,bf16
  train verify verify ddp_overlap "${small[@]}"
  train verify verify sharded_optimizer "${small[@]}" --axis scheme=none,broadcast,zero1
  train verify verify fsdp "${small[@]}" --axis unit=weight,block --axis reshard_after_forward=true,false
  select_from verify "SELECT r.workload, t.title AS run, r.status, r.verification, r.detail
    FROM run r JOIN run_title t USING (run_id)"
fi
xl=(--set model=xl)
fast=("${xl[@]}" --set context=512 --set batch=4 --set dtype=bf16 --set attention=flash --set operators=fused)
if is_wanted bf16; then
  train bf16 time ddp_bucketed "${fast[@]}" --axis execution=eager,graph --axis communicate=true,false
  train bf16 time ddp_bucketed "${fast[@]}" --set execution=graph --set gradients=views
  train bf16 time ddp_torch "${fast[@]}"
  train bf16 time sharded_optimizer "${fast[@]}" --set scheme=zero1 --axis execution=eager,graph \
    --axis overlap=true,false
  step_times bf16
fi
if is_wanted fp32; then
  train fp32 time ddp_bucketed "${xl[@]}" --set context=128 --axis execution=eager,graph --axis communicate=true,false
  train fp32 time ddp_torch "${xl[@]}" --set context=128
  step_times fp32
fi
if is_wanted phases; then
  train phases_of_a_replay time,trace ddp_bucketed --set model=medium --set context=256 --set execution=graph
  phases phases_of_a_replay
fi
if is_wanted channels; then
  sweep() { # NAME WORD...
    try "$1" 75 "$kymo" run ddp_bucketed --set execution=graph "${@:2}" --device cuda --ranks 2 --passes time \
      --warmup 3 --steps 10 --db "$folder/channels.db"
  }
  sweep channels_alone "${fast[@]}" --set communicate=false
  sweep channels_bf16 "${fast[@]}" --axis nccl_blocks=0,4,8,16,24 --axis bucket_mb=25,100,400
  sweep channels_fp32_alone "${xl[@]}" --set context=128 --set communicate=false
  sweep channels_fp32 "${xl[@]}" --set context=128 --axis nccl_blocks=0,8,16 --axis bucket_mb=25,100
  select_from channels "SELECT l.label, t.title AS run, l.status,
    round(s.median_ms, 2) AS step_ms, round(b.median_ms, 2) AS backward_ms, round(c.median_ms, 2) AS communication_ms
    FROM run l JOIN run_title t USING (run_id)
    LEFT JOIN phase_time s ON s.run_id = l.run_id AND s.phase = 'step'
    LEFT JOIN phase_time b ON b.run_id = l.run_id AND b.phase = 'backward'
    LEFT JOIN phase_time c ON c.run_id = l.run_id AND c.phase = 'communication' ORDER BY s.median_ms"
fi
if is_wanted fsdp; then
  train fsdp time fsdp "${fast[@]}" --axis execution=eager,graph --axis unit=weight,block
  step_times fsdp
fi
if is_wanted peers; then
  peer peers_tuned --bf16-weights --tuned --strategies none,torch:25,fully_shard
  peer peers_eager --bf16-weights --strategies none,torch:25,fully_shard
fi
if is_wanted own; then
  python3 - "$here/../docs/own-strategies.md" "$folder" <<'PYTHON'
import pathlib
import re
import sys

text = pathlib.Path(sys.argv[1]).read_text()
for name, content in re.findall(r"^```python ([\w./-]+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
    (pathlib.Path(sys.argv[2]) / name).write_text(content)
PYTHON
  for file in ddp_mine sharded_mine fsdp_mine; do
    train own verify,time "$folder/$file.py" --set model=small
  done
  step_times own
fi
exit $failed
