# SPDX-License-Identifier: Apache-2.0
"""Programs whose model, optimizer, parameters or gradients are wrapped or replaced while they train, as libraries for
training do: prints the loss of each step and, at the end, the bytes of the parameters and buffers, the gradients and
the optimizer state after the last backward pass.

wrapped.py KIND STEPS
"""

import sys
import types

import light_torch  # noqa: F401
import torch
from torch import nn
from torch.nn.functional import cross_entropy


class Model(nn.Module):
    """With frozen parameters and a buffer, which no optimizer has."""

    def __init__(self):
        super().__init__()
        self.frozen = nn.Linear(24, 40).requires_grad_(False)
        self.norm = nn.BatchNorm1d(40)
        self.head = nn.Linear(40, 12)

    def forward(self, x):
        return self.head(torch.tanh(self.norm(self.frozen(x))))


class Delegate:
    """Has the attributes of another object."""

    def __init__(self, wrapped):
        self.wrapped = wrapped

    def __getattr__(self, name):
        return getattr(self.wrapped, name)

    def __call__(self, *inputs):
        return self.wrapped(*inputs)


class DelegatingOptimizer(torch.optim.Optimizer):
    """Is an optimizer without having been initialized as one."""

    def __init__(self, optimizer):
        self.optimizer = optimizer

    param_groups = property(lambda self: self.optimizer.param_groups)
    state = property(lambda self: self.optimizer.state)
    defaults = property(lambda self: self.optimizer.defaults)

    def step(self, closure=None):
        self.optimizer.step(closure)

    def zero_grad(self, set_to_none=True):
        self.optimizer.zero_grad(set_to_none=set_to_none)


def adam(model):
    return torch.optim.Adam([each for each in model.parameters() if each.requires_grad], lr=0.01)


def size(tensors):
    return sum({each.data_ptr(): each.untyped_storage().nbytes() for each in tensors if each is not None}.values())


def counted(model, optimizer):
    tensors = [*model.parameters(), *model.buffers()]
    states = [value for state in optimizer.state.values() for value in state.values()]
    return size(tensors), size(each.grad for each in tensors), size(states)


def train(steps, model, optimizer=None, accumulated=1, called=None, before_update=None, change=None):
    """`change(step)` may replace the model's tensors, and returns the optimizer of the step."""
    sizes = None
    for step in range(steps):
        optimizer = change(step) if change else optimizer
        for _ in range(accumulated):
            x = torch.randn(6, 24, dtype=model.head.weight.dtype)
            loss = cross_entropy((called or model)(x), torch.randint(0, 12, (6,)))
            loss.backward()
        if before_update:
            before_update()
        optimizer.step()
        sizes = counted(model, optimizer)
        optimizer.zero_grad()
        print(float(loss.detach()).hex(), flush=True)
    print("bytes", *sizes)


def delegates(steps):
    model = Model()
    train(steps, Delegate(model), DelegatingOptimizer(adam(model)))


def optimizer_of_delegate(steps):
    """The optimizer is created last, and delegates to one that another object has."""
    model = Delegate(Delegate(Model()))
    train(steps, model, DelegatingOptimizer(Delegate(adam(model))))


def replaced_forward(steps):
    model = Model()
    forward = model.forward.__func__
    autocast = torch.autocast("cpu", torch.bfloat16)
    model.forward = types.MethodType(lambda self, *inputs: autocast(forward)(self, *inputs).float(), model)
    train(steps, model, adam(model))


def accumulated(steps):
    model = Model()
    train(steps, model, DelegatingOptimizer(adam(model)), accumulated=3)


def converted(steps):
    """Other types of the parameters, and of the state of the optimizer, which existed before."""
    model = Model()
    optimizer = adam(model)

    def change(step):
        if step in (1, 6):
            model.to(torch.float64 if step == 6 else torch.bfloat16)
            optimizer.load_state_dict(optimizer.state_dict())
        return optimizer

    train(steps, model, change=change)


def swapped(steps):
    torch.__future__.set_swap_module_params_on_conversion(True)
    converted(steps)


def assigned(steps):
    """Other parameters, and an optimizer for them, after the first steps."""
    model = Model()
    optimizer = adam(model)

    def change(step):
        nonlocal optimizer
        if step in (1, 6):
            model.load_state_dict({name: each.clone() for name, each in model.state_dict().items()}, assign=True)
            optimizer = adam(model)
        return optimizer

    train(steps, model, change=change)


def lazy(steps):
    """Parameters without memory before the first call."""
    model = Model()
    model.frozen, model.head = nn.LazyLinear(40), nn.LazyLinear(12)
    model(torch.randn(6, 24))
    model.frozen.requires_grad_(False)
    train(steps, model, adam(model))


def replaced_gradients(steps):
    model = Model()

    def average():
        for each in model.parameters():
            if each.grad is not None:
                each.grad = each.grad / 2

    train(steps, model, adam(model), before_update=average)


def tied(steps):
    """Two parameters in the memory of one."""
    model = Model()
    model.other = nn.Linear(40, 12, bias=False)
    model.other.weight = nn.Parameter(model.head.weight.detach(), requires_grad=False)
    train(steps, model, adam(model))


def module_of_delegate(steps):
    """Calls the function forward of the model, and not the model."""
    model = Model()
    train(steps, model, adam(model), called=model.forward)


KINDS = {
    function.__name__: function
    for function in (
        delegates,
        optimizer_of_delegate,
        replaced_forward,
        accumulated,
        converted,
        swapped,
        assigned,
        lazy,
        replaced_gradients,
        tied,
        module_of_delegate,
    )
}

if __name__ == "__main__":
    torch.manual_seed(0)
    KINDS[sys.argv[1]](int(sys.argv[2]))
