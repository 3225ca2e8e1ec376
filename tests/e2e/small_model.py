# SPDX-License-Identifier: Apache-2.0
"""A model that trains in milliseconds on a CPU, the expected content of its step, and the options that observe it in
every pass."""

VOCABULARY, CONTEXT, BATCH, LAYERS, HEADS = 200, 64, 4, 2, 2
WARMUP, STEPS = 1, 3
CASE = [
    "transformer_lm",
    "--device",
    "cpu",
    "--set",
    "size=tiny",
    "--set",
    f"vocab_size={VOCABULARY}",
    "--set",
    f"context={CONTEXT}",
    "--set",
    f"batch={BATCH}",
]
METHOD = ["--warmup", str(WARMUP), "--steps", "4", "--observed-steps", str(STEPS)]
ALL_PASSES = ["--passes", "verify,time,memory,trace,ops"]

# Number of times a step enters each module, by phase.
MODULES = {
    "forward": {
        "embedding": 1,
        "block": LAYERS,
        "block/norm": 2 * LAYERS,
        "block/attention": LAYERS,
        "block/attention/projection": LAYERS,
        "block/attention/rotation": LAYERS,
        "block/attention/scores": LAYERS,
        "block/attention/softmax": LAYERS,
        "block/attention/values": LAYERS,
        "block/attention/output": LAYERS,
        "block/feed_forward": LAYERS,
        "norm": 1,
        "head": 1,
        "loss": 1,
    },
    "optimizer": {"adamw": 1},
}
PHASES = ("forward", "backward", "optimizer")
# Parameter tensors of the model: the embedding, six per block, the last norm and the head.
PARAMETER_TENSORS = 3 + 6 * LAYERS
