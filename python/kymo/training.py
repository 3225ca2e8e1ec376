# SPDX-License-Identifier: Apache-2.0
"""Base classes of workloads that train with a class of one's own for data parallelism, for a sharded optimizer or for
fully sharded data parallelism, beside the included workloads ddp_*, sharded_optimizer and fsdp:

    class MyDDP(kymo.training.DataParallelWorkload):
        def wrap(self, module): return DDP(module)

Importing this module does not import torch."""

from __future__ import annotations

import collections
import contextlib
import functools
import sys
import time
from pathlib import Path

from . import Bool, Choice, Int, Verification, Workload, tensors

SIZES = {  # d_model, d_ff, layers, heads
    "tiny": (64, 256, 2, 2),
    "small": (768, 3072, 12, 12),
    "medium": (1024, 4096, 24, 16),
    "large": (1280, 5120, 36, 20),
    "xl": (1600, 6400, 48, 25),
}
VOCABULARY = 10000
# Verification: each case is trained this often, with another rank that is late at every point where ranks may wait for
# each other, so that a result that is used before it has arrived is wrong.
REPEATS, STEPS, LATE_S = 5, 4, 0.01
COLLECTIVES = ("all_gather", "all_gather_into_tensor", "all_reduce", "all_to_all", "all_to_all_single", "broadcast")
COLLECTIVES += ("gather", "reduce", "reduce_scatter", "reduce_scatter_tensor", "scatter")


class DataParallelWorkload(Workload):
    """A training step of a language model on each rank's part of a batch, for a class of one's own. Derive from it and
    override what your class does; the other methods have defaults. All ranks call them in the same order, after
    torch.distributed was initialized."""

    model = Choice(
        "tiny", tuple(SIZES), axis=("small", "medium", "large", "xl"), title="{}", title_at_default=True, setting=True
    )
    model.doc = "size of the Transformer, with a vocabulary of 10000"
    context = Int(128, minimum=1, unit="tokens", title="context {}", title_at_default=True, setting=True)
    context.doc = "sequence length"
    batch = Int(2, minimum=1, unit="sequences", title="batch {}", title_at_default=True, setting=True)
    batch.doc = "sequences per rank and step"
    dtype = Choice("fp32", ("fp32",), title="{}", title_at_default=True, setting=True, doc="type of the weights")
    autocast = Bool(False, title=" autocast", setting=True, doc="run the forward pass under autocast to bf16")
    attention = Choice("naive", ("naive", "sdpa"), title="{} attention", setting=True)
    attention.doc = "naive: all scores in memory; sdpa: scaled_dot_product_attention"
    optimizer = Choice("adamw", ("adamw", "sgd"), title="{}", setting=True, doc="class of the optimizer")
    backend = Choice("auto", ("auto", "gloo", "nccl"), title="{}", title_at_default=True, setting=True)
    backend.doc = "of torch.distributed; auto selects NCCL on GPUs and Gloo on the CPU"
    # What runs of the included workloads agree on, so that these can be compared with them.
    optimizer_state = Choice("dtype", ("dtype",), setting=True, doc="type of the optimizer's state")
    tied_embedding = Bool(False, title=" tied embedding", setting=True, doc="the head shares the embedding's weight")
    operators = Choice("library", ("library",), setting=True, doc="operators of the model: those of PyTorch")
    checkpoint = Choice("none", ("none",), setting=True, doc="activations that are computed again: none")
    checkpoint_blocks = Int(1, minimum=1, setting=True, doc="no effect")

    phases = ("forward", "backward", "communication", "optimizer")
    ranks = (1, None)
    framework = "torch"
    family, family_order = "data_parallel", 9

    tolerances = {"fp32": 1e-5, "bf16": 5e-2, "fp16": 1e-2}
    """Of gradients and parameters, by dtype, relative to the largest value of a tensor."""

    def wrap(self, module):
        """Returns the module to call in place of `module`, whose weights differ between the ranks: afterwards, those of
        rank 0 count. The default averages each gradient after backward."""
        return each_after_backward(module)

    def after_backward(self, wrapped, optimizer):
        """Called after backward. Afterwards, gradients are means over the ranks. Default: the method
        finish_gradient_synchronization() of the module, if it has one."""
        finish = getattr(wrapped, "finish_gradient_synchronization", None)
        if finish:
            finish()

    def make_optimizer(self, parameters, optimizer_class, **settings):
        """Returns the optimizer of `wrapped.parameters()`. Verification passes several classes."""
        return optimizer_class(parameters, **settings)

    def full_parameters(self, module, wrapped):
        """Returns the whole parameters by their names in `module`. Default: those of the module itself. Override it if
        a rank holds only parts; gradients are then not compared."""
        return dict(module.named_parameters())

    def prepare(self, run):
        import torch

        self.run = run
        run.init_process_group(None if self.backend == "auto" else self.backend)
        run.metric("backend", torch.distributed.get_backend())
        module = language_model(self, run, VOCABULARY, self.context, run.seed + run.rank)
        run.metric("parameter_tensors", sum(parameter.requires_grad for parameter in module.parameters()))
        self.part = Part(self, module, run.phase)
        kind = {"adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}[self.optimizer]
        self.part.make_optimizer(kind, lr=1e-4, **({"fused": True} if run.device != "cpu" else {}))
        run.tag_module(self.part.wrapped, self.part.optimizer)
        run.mark("optimizer_ready")
        self.generator = tensors.generator(run, 1 + run.rank)  # each rank has its own part of the batch
        self.data = torch.zeros((2, self.batch, self.context), dtype=torch.int64, device=run.device)
        run.tag(self.data, "input")
        flops = module.config.forward_flops(self.batch)
        run.work("forward", flops)
        run.work("backward", 2 * flops)
        run.metric("tokens_per_step", self.batch * self.context, "tokens")

    def before_step(self, run):
        self.data.random_(VOCABULARY, generator=self.generator)

    def step(self, run):
        self.part.gradients(*self.data)
        run.mark("before_optimizer")
        self.part.update()
        run.mark("after_optimizer")

    def verify(self, run):
        """Compares training with that of one process, and what the ranks have after a step of the run."""
        result = Verification()
        to_verify = list(cases(self, run))
        if not to_verify[-1].expect_waits(result) and overrides_full_parameters(self):
            return result  # a call may write memory that was freed since, which ends the process
        for case in to_verify:
            case.verify(result)
        self.before_step(run)
        self.step(run)
        expect_equal_ranks(result, f"equal on all ranks after a step of {self.model}", run, self.part.parameters())
        return result


class ShardingWorkload(DataParallelWorkload):
    """The same for classes that shard the optimizer, or parameters, gradients and optimizer."""

    dtype = Choice("fp32", tensors.DTYPES, title="{}", title_at_default=True, setting=True)
    dtype.doc = "type in which your class computes; the weights that it is given are fp32"
    wrapped = Choice("configured", ("configured",), setting=True, doc="optimizer to shard: the one that is configured")
    family, family_order = "optimizer_sharding", 9


def each_after_backward(module):
    """Broadcasts the parameters of rank 0, and averages each gradient after backward."""
    import torch
    import torch.distributed as dist

    class EachAfterBackward(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.module = module
            for parameter in module.parameters():
                dist.broadcast(parameter.data, src=0)

        def forward(self, *inputs):
            return self.module(*inputs)

        def finish_gradient_synchronization(self):
            for parameter in self.module.parameters():
                if parameter.grad is not None:
                    dist.all_reduce(parameter.grad)
                    parameter.grad /= dist.get_world_size()

    return EachAfterBackward()


def overrides_full_parameters(workload):
    return type(workload).full_parameters is not DataParallelWorkload.full_parameters


@contextlib.contextmanager
def completed_calls():
    """Completes asynchronous collectives of torch.distributed before they return. Yields those that nobody has waited
    for so far, each with its name and the line that called it."""
    import torch.distributed as dist

    pending = {}
    illegal = dist.distributed_c10d._IllegalWork  # of calls that a manager coalesces

    def use(name):
        def method(work, *arguments, **named):
            pending.pop(work, None)
            return getattr(work.completed, name)(*arguments, **named)

        return method

    uses = {name: use(name) for name in dir(dist.Work) if not name.startswith("_")}
    completed_work = type("CompletedWork", (dist.Work,), uses)

    def completing(call):
        @functools.wraps(call)
        def complete(*arguments, **named):
            work = call(*arguments, **named)
            if not isinstance(work, dist.Work) or isinstance(work, illegal):
                return work
            work.wait()
            wrapper = completed_work()
            wrapper.completed = work
            frame = sys._getframe(1)
            pending[wrapper] = f"{call.__name__} in {Path(frame.f_code.co_filename).name}, line {frame.f_lineno}"
            return wrapper

        return complete

    originals = {name: getattr(dist, name) for name in COLLECTIVES}
    for name, call in originals.items():
        setattr(dist, name, completing(call))
    try:
        yield pending
    finally:
        for name, call in originals.items():
            setattr(dist, name, call)


class Part:
    """The training of a module on this rank, by the methods of a workload."""

    def __init__(self, workload, module, phase=lambda name: contextlib.nullcontext(), late_s=0.0):
        import torch

        self.workload, self.module, self.late_s = workload, module, late_s
        self.wrapped = workload.wrap(module)
        self.forward, self.backward, self.communication, self.optimize = map(phase, workload.phases)
        device = next(module.parameters()).device.type
        self.precision = torch.autocast(device, torch.bfloat16, enabled=workload.autocast)

    def make_optimizer(self, kind, **settings):
        self.optimizer = self.workload.make_optimizer(self.wrapped.parameters(), kind, **settings)

    def gradients(self, *inputs):
        self.optimizer.zero_grad()
        self.wait()
        with self.forward, self.precision:
            loss = self.wrapped(*inputs)
        self.wait()
        with self.backward:
            loss.backward()
        with self.communication:
            self.workload.after_backward(self.wrapped, self.optimizer)

    def update(self):
        self.wait()
        with self.optimize:
            self.optimizer.step()

    def wait(self):
        if self.late_s:
            time.sleep(self.late_s)

    def parameters(self):
        return self.workload.full_parameters(self.module, self.wrapped)


def language_model(workload, run, vocabulary, context, seed):
    import torch

    from .transformer import Config, LanguageModel

    config = Config(vocabulary, context, *SIZES[workload.model if vocabulary == VOCABULARY else "tiny"])
    random = torch.Generator(run.device).manual_seed(seed)
    module = LanguageModel.make(config, run.device, torch.float32, random, workload.attention, run.scope)
    if workload.tied_embedding:
        module.head.weight = module.embedding.weight
    return module


def perceptron(widths, tied, run, seed):
    """Layers without biases, of which `tied` has the weight of the layer two before, and a parameter that is never
    trained. Returns the mean squared error."""
    import torch
    from torch import nn

    class Perceptron(nn.Module):
        def __init__(self):
            super().__init__()
            layers = [nn.Linear(a, b, bias=False, device="meta") for a, b in zip(widths, widths[1:], strict=False)]
            self.layers = nn.ModuleList(layers).to_empty(device=run.device)
            self.fixed = nn.Parameter(torch.tensor([2.0, 2.0], device=run.device), requires_grad=False)
            random = torch.Generator(run.device).manual_seed(seed)
            for layer in self.layers:
                nn.init.normal_(layer.weight, std=0.3, generator=random)
            if tied:
                self.layers[tied].weight = self.layers[tied - 2].weight

        def forward(self, values, targets):
            for i, layer in enumerate(self.layers):
                values = layer(values.relu() if i else values)
            return nn.functional.mse_loss(values, targets)

    return Perceptron()


class Case:
    """A small model, trained by all ranks and by this process alone, which computes the gradients of the ranks one
    after another and adds them in the order of the ranks."""

    def __init__(self, workload, run, name, make, draw, kind, settings):
        self.workload, self.run, self.make, self.draw = workload, run, make, draw
        self.kind, self.settings = kind, settings
        self.name = f"{name}, {kind.__name__}"
        self.tolerance = workload.tolerances["bf16" if workload.autocast else workload.dtype]

    def expect_waits(self, result):
        """Adds a check that each asynchronous call before the end of the first step is waited for before the end of the
        second. Returns whether that is so on all ranks."""
        import torch

        run, random = self.run, torch.Generator(self.run.device).manual_seed(self.run.seed)
        with completed_calls() as pending:
            part = Part(self.workload, self.make(run, run.seed))
            part.make_optimizer(self.kind, **self.settings)
            for step in range(2):
                part.gradients(*self.draw(run, random))
                part.update()
                if step == 0:
                    of_first = list(pending)
            part.parameters()
        wrong = collections.Counter(pending[work] for work in of_first if work in pending)
        detail = "; ".join(f"{call}: {count} not waited for" for call, count in wrong.items())
        reference = "calls that are waited for within two steps"
        result.check("asynchronous calls of the first step", reference, not wrong, detail)
        return not any(run.all_gather(len(wrong)))

    def verify(self, result):
        compares_gradients = not overrides_full_parameters(self.workload)
        self.initial, self.gradients, self.trained = Worst(0), Worst(self.tolerance), Worst(self.tolerance)
        for repeat in range(REPEATS):
            part = self.train(repeat, compares_gradients)
        often = f"{STEPS} steps, {REPEATS} times"
        self.initial.expect(result, f"{self.name}: initial weights", "weights of rank 0")
        if compares_gradients:
            reference = "mean over the ranks in one process"
            self.gradients.expect(result, f"{self.name}: gradients, {often}", reference)
        reference = "one process, the ranks' gradients in rank order"
        self.trained.expect(result, f"{self.name}: parameters, {often}", reference)
        expect_equal_ranks(result, f"{self.name}: equal on all ranks", self.run, part.parameters())

    def train(self, repeat, compares_gradients):
        import torch
        import torch.distributed as dist

        run, seed = self.run, self.run.seed + 100 * repeat
        late = run.world_size > 1 and repeat % run.world_size == run.rank
        part = Part(self.workload, self.make(run, seed + run.rank), late_s=LATE_S if late else 0.0)
        part.make_optimizer(self.kind, **self.settings)
        alone = self.make(run, seed)
        names, expected = zip(*alone.named_parameters(), strict=True)
        actual = part.parameters()
        for name, parameter in zip(names, expected, strict=True):
            self.initial.add(actual.get(name), parameter, name, "after wrap()")
        optimizer = self.kind(alone.parameters(), **self.settings)
        random = torch.Generator(run.device).manual_seed(seed)
        for step in range(STEPS):
            inputs = [self.draw(run, random) for _ in range(run.world_size)]
            where = f"in step {step + 1} of repetition {repeat + 1}"
            dist.barrier()
            part.gradients(*inputs[run.rank])
            found = {name: parameter.grad for name, parameter in part.module.named_parameters()}
            found = {name: None if grad is None else grad.detach().clone() for name, grad in found.items()}
            part.update()
            actual = {name: parameter.detach().clone() for name, parameter in part.parameters().items()}
            by_rank = self.gradients_of(alone, inputs, part.precision)
            for i, (name, parameter) in enumerate(zip(names, expected, strict=True)):
                parameter.grad = None
                if not parameter.requires_grad:
                    continue
                parameter.grad = sum(gradients[i] / run.world_size for gradients in by_rank)
                if compares_gradients:
                    own = by_rank[run.rank][i]
                    self.gradients.add(found.get(name), parameter.grad, f"the gradient of {name}", where, own)
            optimizer.step()
            for name, parameter in zip(names, expected, strict=True):
                self.trained.add(actual.get(name), parameter, name, where)
        return part

    @staticmethod
    def gradients_of(module, inputs, precision):
        """The gradients of each rank, by parameter."""
        by_rank = []
        for each in inputs:
            module.zero_grad()
            with precision:
                loss = module(*each)
            loss.backward()
            by_rank.append([parameter.grad for parameter in module.parameters()])
        return by_rank


def cases(workload, run):
    import torch

    def random(run, generator, *shape):
        return torch.randn(shape, generator=generator, device=run.device)

    def draw_numbers(run, generator):
        return random(run, generator, 4, 10), random(run, generator, 4, 5)

    def draw_tokens(run, generator):
        return torch.randint(200, (2, 2, 16), generator=generator, device=run.device)

    models = {
        "toy": (lambda run, seed: perceptron((10, 10, 50, 5), 0, run, seed), draw_numbers),
        "tied": (lambda run, seed: perceptron((10, 10, 50, 10, 50, 5), 3, run, seed), draw_numbers),
        "transformer": (lambda run, seed: language_model(workload, run, 200, 16, seed), draw_tokens),
    }
    # With a small epsilon, updates by gradients that are nearly 0 would depend on the order of sums.
    optimizers = {
        torch.optim.SGD: {"lr": 0.05, "momentum": 0.9},
        torch.optim.AdamW: {"lr": 1e-3, "eps": 1e-4, "weight_decay": 0.1},
    }
    for name, (make, draw) in models.items():
        for kind, settings in optimizers.items():
            yield Case(workload, run, name, make, draw, kind, settings)


class Worst:
    """The largest deviation of several tensors, and what deviates most in the first step that is wrong: later steps
    only follow from it."""

    def __init__(self, tolerance):
        self.tolerance, self.absolute, self.relative = tolerance, 0.0, 0.0
        self.first, self.first_relative, self.detail = "", 0.0, ""

    def add(self, actual, expected, name, where, own=None):
        """`own`: the gradient of this rank, to tell what a wrong one is."""
        what = f"{name} {where}"
        if actual is None:
            absolute, relative, text = float("inf"), float("inf"), f"{what} is missing"
        elif actual.shape != expected.shape:
            absolute, relative = float("inf"), float("inf")
            text = f"{what} has the shape {tuple(actual.shape)} instead of {tuple(expected.shape)}"
        else:
            absolute, relative = tensors.distance(actual, expected)
            text = f"{what} differs by up to {absolute:.3g}, {100 * relative:.3g} % of its largest value"
            text += suspicion(actual, expected, own, relative)
        if not relative <= self.relative:
            self.absolute, self.relative = absolute, relative
        if not relative <= self.tolerance and self.first in ("", where) and not relative <= self.first_relative:
            self.first, self.first_relative, self.detail = where, relative, text

    def expect(self, result, name, reference):
        errors = {"max_abs_error": self.absolute, "max_rel_error": self.relative}
        result.check(name, reference, not self.detail, self.detail, **errors, tolerance=self.tolerance)


def suspicion(actual, expected, own, relative):
    """What a wrong gradient is, if that is known."""
    if own is None or not relative > 1e-3:
        return ""
    sources = ((expected, "mean over the ranks"), (own, "gradient of this rank alone, which is not waited for"))
    for source, name in sources:
        wide, other = actual.double(), source.double()
        factor = ((wide * other).sum() / other.square().sum()).item()
        if tensors.distance(wide, factor * other)[1] < 1e-3:
            return f"; it is {factor:.3g} times the {name}"
    return ""


def checksum(tensor, chunk=1 << 22):
    """The sum of the bit patterns, each times an odd number of its position."""
    import torch

    kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    bits = tensor.detach().contiguous().view(-1).view(kinds[tensor.element_size()])
    total = torch.zeros((), dtype=torch.int64, device=tensor.device)
    for begin in range(0, len(bits), chunk):
        part = bits[begin : begin + chunk].long()
        total += (part * (2 * torch.arange(begin, begin + len(part), device=part.device) + 1)).sum()
    return total.item()


def expect_equal_ranks(result, name, run, parameters):
    """Adds a check that the parameters, a dict by name, are those of rank 0, bitwise. All ranks call this together."""
    mine = {each: checksum(parameter) for each, parameter in parameters.items()}
    first = run.all_gather(mine)[0]
    wrong = [each for each in first if mine.get(each) != first[each]]
    detail = f"{len(wrong)} of {len(first)} parameters differ, the first is {wrong[0]}" if wrong else ""
    result.check(name, "parameters of rank 0, bitwise", not wrong, detail)
