# SPDX-License-Identifier: Apache-2.0
"""Kernels that are constructed to have one reason each for their time. The phases are named after the reasons."""

import kymo
import torch

EXPECTED = {
    "memory_bound": "memory-bound",
    "compute_bound": "compute-bound",
    "wrong_precision": "wrong precision",
    "launch_bound": "launch-bound",
    "tail_effect": "tail effect",
    "few_blocks": "latency-bound",
    "low_occupancy": "latency-bound",
    "persistent": "cannot be determined from these passes",
}
EXPECTED_OF_RANKS = {
    "waiting": "waiting for communication",
    "transfer": "communication-bound",
}

SPIN = 'extern "C" __global__ void spin(int cycles) { long long end = clock64() + cycles; while (clock64() < end) {} }'


def spin_kernel(run):
    """A kernel whose blocks all take the given number of clock cycles, however many of them run at a time."""
    if not run.device.startswith("cuda"):
        run.skip("the kernels need a GPU")
    torch.backends.cuda.matmul.allow_tf32 = False
    spin = torch.cuda._compile_kernel(SPIN, "spin")
    return lambda blocks, threads, cycles, shared=0: spin((blocks, 1, 1), (threads, 1, 1), [cycles], shared)


@kymo.workload(phases=tuple(EXPECTED))
def verdicts(run, n: kymo.Int(minimum=256) = 8192, elements: kymo.Int(minimum=1024) = 1 << 28):
    """One kind of kernel per phase: products of n × n matrices, a vector times a number, and spinning kernels"""
    spin = spin_kernel(run)
    device = torch.cuda.get_device_properties(run.device_index)
    wave = device.multi_processor_count * (device.max_threads_per_multi_processor // 1024)
    vector = torch.ones(elements, device=run.device)
    tiny = torch.ones(16, device=run.device)
    single = torch.randn(n, n, device=run.device)
    half = single.bfloat16()

    def launch_bound():
        for _ in range(200):
            torch.add(tiny, 1)

    bodies = {
        "memory_bound": lambda: torch.mul(vector, 2),
        "compute_bound": lambda: torch.mm(half, half),
        "wrong_precision": lambda: torch.mm(single, single),
        "launch_bound": launch_bound,
        "tail_effect": lambda: spin(wave + wave // 10, 1024, 100_000),
        "few_blocks": lambda: spin(8, 128, 200_000),
        "low_occupancy": lambda: spin(100 * device.multi_processor_count, 64, 20_000, 40 << 10),
        "persistent": lambda: spin(wave, 1024, 200_000),
    }
    phases = {name: run.phase(name) for name in bodies}

    def step():
        for name, body in bodies.items():
            torch.cuda.synchronize()  # otherwise the launches of a phase hide behind the kernels of the previous one
            with phases[name]:
                body()

    return step


@kymo.workload(ranks=(2, 8), phases=tuple(EXPECTED_OF_RANKS))
def collectives(run, elements: kymo.Int(minimum=1024) = 1 << 27):
    """A collective for which rank 1 is late, and one that all ranks start at the same time"""
    import torch.distributed as dist

    spin = spin_kernel(run)
    run.init_process_group()
    small, large = torch.ones(1024, device=run.device), torch.ones(elements, device=run.device)
    waiting, transfer = run.phase("waiting"), run.phase("transfer")
    calls = {each: run.collective("all_reduce", each) for each in (small, large)}

    def step():
        with waiting:
            if run.rank == 1:
                spin(1, 32, 10_000_000)
            with calls[small]:
                dist.all_reduce(small)
        with transfer, calls[large]:
            dist.all_reduce(large)
        small.fill_(1)
        large.fill_(1)

    return step
