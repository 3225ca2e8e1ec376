# SPDX-License-Identifier: Apache-2.0
"""The Python baseline for data parallelism: the strategies of the CS336 assignment, on N GPUs.

  torchrun --nproc-per-node 2 ddp.py [--size xl] [--context 128] [--batch 2] [--bf16 | --bf16-weights] [--tuned]
    [--strategies none,naive,flat,overlap,torch:25,fully_shard]

Prints one CSV row per strategy: peer,strategy,bucket,step_ms,step_std,peak_mib. The bucket size in MiB follows `torch`
after a colon. --bf16 is autocast, --bf16-weights are weights, gradients and optimizer state in bf16, for fully_shard
with fp32 master weights, optimizer state and reductions. --tuned uses scaled_dot_product_attention, compiled blocks and
the fused AdamW.
"""

import argparse
import os
import statistics as st
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors
from torch.distributed.elastic.multiprocessing.errors import record
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn.parallel import DistributedDataParallel
from transformer import LM


class Naive:
    """One all-reduce per parameter after backward."""

    def __init__(self, model):
        self.model, self.parameters = model, list(model.parameters())

    def finish(self):
        for p in self.parameters:
            dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)


class Alone(Naive):
    def finish(self):
        pass


class Flat(Naive):
    """One all-reduce of a copy of all gradients."""

    def finish(self):
        gradients = [p.grad for p in self.parameters]
        flat = _flatten_dense_tensors(gradients)
        dist.all_reduce(flat, op=dist.ReduceOp.AVG)
        for gradient, mean in zip(gradients, _unflatten_dense_tensors(flat, gradients), strict=True):
            gradient.copy_(mean)


class Overlap(Naive):
    """One all-reduce per parameter, started by a hook when its gradient is ready."""

    def __init__(self, model):
        super().__init__(model)
        self.calls = []
        for p in self.parameters:
            p.register_post_accumulate_grad_hook(self.start)

    def start(self, p):
        self.calls.append(dist.all_reduce(p.grad, op=dist.ReduceOp.AVG, async_op=True))

    def finish(self):
        for call in self.calls:
            call.wait()
        self.calls.clear()


class Torch(Naive):
    """PyTorch's DistributedDataParallel."""

    def __init__(self, model, bucket):
        super().__init__(model)
        self.model = DistributedDataParallel(model, bucket_cap_mb=bucket, gradient_as_bucket_view=True)

    def finish(self):
        pass


class FullyShard(Naive):
    """PyTorch's fully sharded data parallelism, each block a unit, of which two are gathered ahead."""

    def __init__(self, model, narrow):
        policy = MixedPrecisionPolicy()
        if narrow:
            policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
            model.rope.bfloat16()  # buffers are not cast
        for module in [*model.bl, model]:
            fully_shard(module, mp_policy=policy)
        blocks = list(model.bl)
        for i, block in enumerate(blocks):
            block.set_modules_to_forward_prefetch(blocks[i + 1 : i + 3])
            block.set_modules_to_backward_prefetch(blocks[max(i - 2, 0) : i][::-1])
        super().__init__(model)

    def finish(self):
        pass


def make(strategy, model, narrow):
    name, _, bucket = strategy.partition(":")
    if name == "fully_shard":
        return FullyShard(model, narrow)
    if narrow:
        model.bfloat16()
    if name == "torch":
        return Torch(model, float(bucket or 25))
    return {"none": Alone, "naive": Naive, "flat": Flat, "overlap": Overlap}[name](model)


def measure(a, strategy):
    torch.manual_seed(0)
    torch._dynamo.reset()  # compiled code is not shared by strategies, so that recompilation limits are not reached
    with torch.device("cuda"):
        model = LM(a.size, a.context, sdpa=a.tuned)
    if a.tuned:  # before fully_shard, whose hooks cannot be compiled
        for name, block in model.bl.named_children():
            model.bl.register_module(name, torch.compile(block))
    trained = make(strategy, model, a.bf16_weights)
    optimizer = torch.optim.AdamW(trained.parameters, lr=1e-4, fused=a.tuned)
    x, y = (torch.randint(0, 10000, (a.batch, a.context), device="cuda") for _ in range(2))
    times = []
    for i in range(a.warmup + a.steps):
        torch.cuda.synchronize()
        dist.barrier()
        torch.cuda.synchronize()
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16, enabled=a.bf16):
            loss = F.cross_entropy(trained.model(x).flatten(0, 1), y.flatten())
        loss.backward()
        trained.finish()
        optimizer.step()
        torch.cuda.synchronize()
        if i >= a.warmup:
            times.append(1e3 * (time.perf_counter() - begin))
    # The time of a step is that of its slowest rank.
    slowest = torch.tensor(times, device="cuda")
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
    return slowest.tolist()


@record  # so that torchrun prints the traceback of a rank that fails
def main():
    p = argparse.ArgumentParser()
    p.add_argument("--size", default="xl")
    p.add_argument("--context", type=int, default=128)
    p.add_argument("--batch", type=int, default=2)
    p.add_argument("--bf16", action="store_true")
    p.add_argument("--bf16-weights", action="store_true")
    p.add_argument("--tuned", action="store_true")
    p.add_argument("--warmup", type=int, default=5)
    p.add_argument("--steps", type=int, default=10)
    p.add_argument("--strategies", default="none,naive,flat,overlap,torch:1,torch:10,torch:25,torch:100,torch:1000")
    a = p.parse_args()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    for strategy in a.strategies.split(","):
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        times = measure(a, strategy)
        if dist.get_rank() == 0:
            name, _, bucket = strategy.partition(":")
            print(
                f"python,{name},{bucket},{st.mean(times):.3f},{st.stdev(times):.3f},"
                f"{torch.cuda.max_memory_allocated() >> 20}",
                flush=True,
            )
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
