#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Predicted and measured peaks of the largest model with each choice of checkpoints, on an H200:
#   checkpoint_sweep.sh KYMO FOLDER
# KYMO is the program of an installed package. Takes five minutes, leaves checkpoints.db and a report in FOLDER, and
# fails if a prediction is off by more than 3 %, or a loss differs from that without checkpoints.
set -uo pipefail
kymo=$1
cd "$2" || exit 2
db=(--db checkpoints.db)
largest=(transformer_lm --device cuda --set size=2.7B --set batch=4 --set dtype=bf16 --warmup 1 --steps 3
  --passes predict,time,memory "${db[@]}")
small=(transformer_lm --device cuda --set size=small --set batch=4 --set context=512 --warmup 1 --steps 2
  --passes predict,memory "${db[@]}")

"$kymo" run "${largest[@]}" --set context=2048 --set checkpoint=blocks --axis checkpoint_blocks=1,2,4,8,16
"$kymo" run "${largest[@]}" --set context=2048 --axis checkpoint=none,nested,selective
"$kymo" run "${largest[@]}" --set context=512 --set checkpoint=blocks --axis checkpoint_blocks=1,4,16
"$kymo" run "${largest[@]}" --set context=512 --set checkpoint=none
# Other kernels and types, on a model that starts quickly.
"$kymo" run "${small[@]}" --set autocast=true --axis attention=naive,sdpa
"$kymo" run "${small[@]}" --set dtype=fp32 --set attention=naive
"$kymo" run "${small[@]}" --set dtype=bf16 --set attention=flash --set operators=fused
# Fused layers, whose values alone are restored, with and without a CUDA graph.
fused=(transformer_lm --device cuda --set size=small --set batch=4 --set context=512 --set dtype=bf16
  --set operators=fused --warmup 1 --steps 5 "${db[@]}")
for execution in '--set execution=eager --passes predict,time,memory' '--set execution=graph --passes time'; do
  # shellcheck disable=SC2086  # words of the method
  "$kymo" run "${fused[@]}" $execution --set checkpoint=none
  # shellcheck disable=SC2086
  "$kymo" run "${fused[@]}" $execution --set checkpoint=selective --axis checkpoint_feed_forward=0,4,12
done

"$kymo" sql "${db[@]}" "SELECT t.title, r.status, round(p.predicted_bytes / 1073741824.0, 3) AS predicted_gib,
  round(p.measured_bytes / 1073741824.0, 3) AS measured_gib, round(100 * p.error, 2) AS error_percent, p.fits
  FROM memory_prediction p JOIN run r ON r.run_id = p.run_id JOIN run_title t ON t.run_id = p.run_id" --wide
"$kymo" sql "${db[@]}" "SELECT run_id, part, round(predicted_bytes / 1048576.0, 1) AS predicted_mib,
  round(measured_bytes / 1048576.0, 1) AS measured_mib FROM memory_prediction_part
  WHERE abs(coalesce(measured_bytes, predicted_bytes) - predicted_bytes) > 16777216 ORDER BY run_id, part_order" --wide
"$kymo" sql "${db[@]}" "SELECT run_id, choice, round(step_ms, 1) AS step_ms, round(recompute_ms, 1) AS recompute_ms, loss,
  has_equal_loss FROM checkpoint_run" --wide
"$kymo" report cs336-2026 "${db[@]}" --suite '' --out report || true
wrong=$("$kymo" sql "${db[@]}" --json "SELECT (SELECT count(*) FROM memory_prediction WHERE abs(error) > 0.03) + (SELECT count(*)
  FROM checkpoint_run WHERE has_equal_loss = 0) + (SELECT count(*) FROM run WHERE status NOT IN ('ok', 'oom')) AS wrong")
echo "wrong: $wrong"
[[ $wrong =~ \"wrong\":\ *0 ]]
