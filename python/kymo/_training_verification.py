# SPDX-License-Identifier: Apache-2.0
"""Checks of classes for parallel training: small models trained by all ranks, one of them late, and by one process."""

from __future__ import annotations

import collections
import contextlib
import functools
import sys
from pathlib import Path

from . import tensors
from ._training_step import Trainer, language_model

# Each case is trained REPEATS times. In each repetition another rank is late wherever ranks may wait for each other, so
# that a result that is used before it has arrived is wrong.
REPEATS, STEPS, LATE_S = 5, 4, 0.01
COLLECTIVES = ("all_gather", "all_gather_into_tensor", "all_reduce", "all_to_all", "all_to_all_single", "broadcast")
COLLECTIVES += ("gather", "reduce", "reduce_scatter", "reduce_scatter_tensor", "scatter")


@contextlib.contextmanager
def completed_calls():
    """Completes asynchronous collectives of torch.distributed before they return. Yields the calls whose
    wait() was not called so far, each with its name and the line that called it."""
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

    def __init__(self, workload, run, compares_gradients, name, create, draw, kind, settings):
        self.workload, self.run, self.compares_gradients = workload, run, compares_gradients
        self.create, self.draw, self.kind, self.settings = create, draw, kind, settings
        self.name = f"{name}, {kind.__name__}"
        self.tolerance = workload.tolerances["bf16" if workload.autocast else workload.dtype]

    def expect_waits(self, result):
        """Adds a check that each asynchronous call before the end of the first step is waited for before the end of the
        second. Returns whether that is so on all ranks."""
        import torch

        run, random = self.run, torch.Generator(self.run.device).manual_seed(self.run.seed)
        with completed_calls() as pending:
            trainer = Trainer(self.workload, self.create(run, run.seed))
            trainer.make_optimizer(self.kind, **self.settings)
            for step in range(2):
                trainer.gradients(*self.draw(run, random))
                trainer.update()
                if step == 0:
                    of_first = list(pending)
            trainer.parameters()
        unwaited = collections.Counter(pending[work] for work in of_first if work in pending)
        detail = "; ".join(f"{call}: {count} not waited for" for call, count in unwaited.items())
        reference = "calls that are waited for within two steps"
        result.check("asynchronous calls of the first step", reference, not unwaited, detail)
        return not any(run.all_gather(len(unwaited)))

    def verify(self, result):
        self.initial = WorstDeviation(0)
        self.gradients, self.trained = (WorstDeviation(self.tolerance) for _ in range(2))
        for repeat in range(REPEATS):
            trainer = self.train(repeat)
        often = f"{STEPS} steps, {REPEATS} times"
        self.initial.expect(result, f"{self.name}: initial weights", "weights of rank 0")
        if self.compares_gradients:
            reference = "mean over the ranks in one process"
            self.gradients.expect(result, f"{self.name}: gradients, {often}", reference)
        reference = "one process, the ranks' gradients in rank order"
        self.trained.expect(result, f"{self.name}: parameters, {often}", reference)
        expect_equal_ranks(result, f"{self.name}: equal on all ranks", self.run, trainer.parameters())

    def train(self, repeat):
        import torch
        import torch.distributed as dist

        run, seed = self.run, self.run.seed + 100 * repeat
        late = run.world_size > 1 and repeat % run.world_size == run.rank
        trainer = Trainer(self.workload, self.create(run, seed + run.rank), late_s=LATE_S if late else 0.0)
        trainer.make_optimizer(self.kind, **self.settings)
        reference_model = self.create(run, seed)
        names, expected = zip(*reference_model.named_parameters(), strict=True)
        actual = trainer.parameters()
        for name, parameter in zip(names, expected, strict=True):
            self.initial.add(actual.get(name), parameter, name, "after wrap()")
        optimizer = self.kind(reference_model.parameters(), **self.settings)
        random = torch.Generator(run.device).manual_seed(seed)
        for step in range(STEPS):
            inputs = [self.draw(run, random) for _ in range(run.world_size)]
            where = f"in step {step + 1} of repetition {repeat + 1}"
            dist.barrier()
            trainer.gradients(*inputs[run.rank])
            found = {name: parameter.grad for name, parameter in trainer.module.named_parameters()}
            found = {name: None if grad is None else grad.detach().clone() for name, grad in found.items()}
            trainer.update()
            actual = {name: parameter.detach().clone() for name, parameter in trainer.parameters().items()}
            by_rank = self.gradients_of(reference_model, inputs, trainer.precision)
            for i, (name, parameter) in enumerate(zip(names, expected, strict=True)):
                parameter.grad = None
                if not parameter.requires_grad:
                    continue
                parameter.grad = sum(gradients[i] / run.world_size for gradients in by_rank)
                if self.compares_gradients:
                    own = by_rank[run.rank][i]
                    self.gradients.add(found.get(name), parameter.grad, f"the gradient of {name}", where, own)
            optimizer.step()
            for name, parameter in zip(names, expected, strict=True):
                self.trained.add(actual.get(name), parameter, name, where)
        return trainer

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


def cases(workload, run, compares_gradients):
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
        "transformer": (lambda run, seed: language_model(workload, run, "tiny", 200, 16, seed), draw_tokens),
    }
    # With a small epsilon, updates by gradients that are nearly 0 would depend on the order of sums.
    optimizers = {
        torch.optim.SGD: {"lr": 0.05, "momentum": 0.9},
        torch.optim.AdamW: {"lr": 1e-3, "eps": 1e-4, "weight_decay": 0.1},
    }
    for name, (create, draw) in models.items():
        for kind, settings in optimizers.items():
            yield Case(workload, run, compares_gradients, name, create, draw, kind, settings)


class WorstDeviation:
    """The largest deviation of several tensors, and a description of the largest one in the first step that deviates,
    because the errors of later steps follow from it."""

    def __init__(self, tolerance):
        self.tolerance, self.absolute, self.relative = tolerance, 0.0, 0.0
        self.first, self.first_relative, self.detail = "", 0.0, ""

    def add(self, actual, expected, name, where, own=None):
        """`own`: the gradient of this rank, to explain a wrong one."""
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
    """Explains a gradient that is a multiple of the mean, or of the gradient of this rank; otherwise empty."""
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
    """Adds a check that the parameters, a dict by name, are those of rank 0, bitwise. All ranks must call it."""
    mine = {each: checksum(parameter) for each, parameter in parameters.items()}
    first = run.all_gather(mine)[0]
    different = [each for each in first if mine.get(each) != first[each]]
    detail = f"{len(different)} of {len(first)} parameters differ, the first is {different[0]}" if different else ""
    result.check(name, "parameters of rank 0, bitwise", not different, detail)
