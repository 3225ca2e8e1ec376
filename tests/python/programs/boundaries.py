# SPDX-License-Identifier: Apache-2.0
"""Programs whose steps are not those of an optimizer that steps after calls of a module: prints the loss of each step.

boundaries.py KIND STEPS
"""

import contextlib
import sys

import light_torch  # noqa: F401
import torch
from torch import nn
from torch.nn.functional import cross_entropy


def show(loss):
    print(float(loss.detach()).hex(), flush=True)


def classifier():
    return nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))


def batch():
    return torch.randn(6, 8), torch.randint(0, 4, (6,))


def unused(steps, zeroed="before"):
    """A benchmark of forward and backward passes, with an optimizer that never steps."""
    model = classifier()
    torch.optim.AdamW(model.parameters())
    optimizer = torch.optim.SGD(model.parameters())
    for _ in range(steps):
        x, y = batch()
        if zeroed == "before":
            optimizer.zero_grad()
        loss = cross_entropy(model(x), y)
        if zeroed == "after":
            model.zero_grad()
        loss.backward()
        show(loss)


def unused_with_grad(steps):
    """Gradients are returned, not accumulated."""
    model = classifier()
    optimizer = torch.optim.SGD(model.parameters())
    for _ in range(steps):
        x, y = batch()
        loss = cross_entropy(model(x), y)
        torch.autograd.grad(loss, optimizer.param_groups[0]["params"])
        show(loss)


def unused_forward(steps):
    """A benchmark of the forward pass, which discards the results."""
    model = classifier()
    optimizer = torch.optim.SGD(model.parameters())
    for _ in range(steps + 20):
        show(model(batch()[0]).sum())
    del optimizer


def features(steps):
    """A frozen model computes features before another one is trained with them."""
    frozen = classifier().requires_grad_(False)
    with torch.no_grad():
        inputs = [frozen(batch()[0]) for _ in range(steps)]
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in inputs:
        loss = model(x).logsumexp(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        show(loss)


def episodes(steps):
    """Reinforcement learning, whose backward pass is that of the results of many calls."""
    model = classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        losses = [model(batch()[0]).logsumexp(1).mean() for _ in range(40)]
        loss = torch.stack(losses).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        show(loss)


def accumulated(steps):
    """More backward passes than the steps to observe, before the first optimizer step."""
    model = classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        for _ in range(20):
            x, y = batch()
            loss = cross_entropy(model(x), y)
            loss.backward()
        show(loss)
        optimizer.step()
        optimizer.zero_grad()


def adversarial(steps):
    """More gradients of the input than the steps before those to observe, then an update."""
    model = classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        x, y = batch()
        for _ in range(7):
            x.requires_grad_()
            (gradient,) = torch.autograd.grad(cross_entropy(model(x), y), x)
            x = (x + 0.1 * gradient.sign()).detach()
        loss = cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        show(loss)


def tensors():
    return torch.randn(8, 16, requires_grad=True), torch.randn(16, 4, requires_grad=True)


def training_loss(weights, x, y):
    return cross_entropy(torch.tanh(x @ weights[0]) @ weights[1], y)


def tensors_with_optimizer(steps, scaled=False):
    """No module is called."""
    weights = tensors()
    optimizer = torch.optim.Adam(weights, lr=0.01)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10, enabled=scaled)
    for step in range(steps):
        loss = training_loss(weights, *batch())
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        if scaled and step == 8:
            weights[0].grad.fill_(float("inf"))
        scaler.step(optimizer)
        scaler.update()
        show(loss)


def tensors_with_closure(steps):
    weights = tensors()
    optimizer = torch.optim.LBFGS(weights, max_iter=2)

    def closure():
        optimizer.zero_grad()
        loss = training_loss(weights, x, y)
        loss.backward()
        return loss

    for _ in range(steps):
        x, y = batch()
        show(optimizer.step(closure))


def tensors_with_two_optimizers(steps):
    weights = tensors()
    optimizers = [torch.optim.SGD([each], lr=0.1) for each in weights]
    for _ in range(steps):
        for optimizer in optimizers:
            optimizer.zero_grad()
            loss = training_loss(weights, *batch())
            loss.backward()
            optimizer.step()
        show(loss)


def tensors_by_hand(steps):
    weights = tensors()
    for _ in range(steps):
        loss = training_loss(weights, *batch())
        loss.backward()
        with torch.no_grad():
            for weight in weights:
                weight -= 0.1 * weight.grad
                weight.grad = None
        show(loss)


def transformed(steps):
    """torch.func.grad differentiates a function of tensors."""
    weights = tuple(each.detach() for each in tensors())
    gradients_and_loss = torch.func.grad_and_value(training_loss)
    for _ in range(steps):
        gradients, loss = gradients_and_loss(weights, *batch())
        weights = tuple(each - 0.1 * gradient for each, gradient in zip(weights, gradients, strict=True))
        show(loss)


def criterion(steps):
    """The only module that is called computes the loss."""
    weights = tensors()
    optimizer = torch.optim.SGD(weights, lr=0.1)
    entropy = nn.CrossEntropyLoss()
    for _ in range(steps):
        x, y = batch()
        loss = entropy(torch.tanh(x @ weights[0]) @ weights[1], y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        show(loss)


class Direct(nn.Module):
    """Calls one small module, and computes the rest with parameters of its own."""

    def __init__(self):
        super().__init__()
        self.weights = nn.ParameterList(tensors())
        self.activation = nn.ReLU()

    def loss(self, x, y):
        return cross_entropy(self.activation(torch.tanh(x @ self.weights[0]) * 2 + 1) @ self.weights[1], y)


def direct(steps):
    model = Direct()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        loss = model.loss(*batch())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        show(loss)


def turns_direct(steps):
    """Calls its model in the first steps, and in every fifth one later."""
    model = classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    weights = model[0].weight.T, model[2].weight.T
    for step in range(steps):
        x, y = batch()
        loss = cross_entropy(model(x), y) if step < 8 or step % 5 == 0 else training_loss(weights, x, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        show(loss)


def train(steps, called, parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    for _ in range(steps):
        x, y = batch()
        loss = cross_entropy(called(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        show(loss)


def optimizer_anew(steps):
    """Each step has an optimizer of its own."""
    model = classifier()
    for _ in range(steps):
        train(1, model, model.parameters())


class Failing(torch.optim.SGD):
    """Every second step raises an exception."""

    calls = 0

    def step(self, closure=None):
        self.calls += 1
        if self.calls % 2:
            raise FloatingPointError
        return super().step(closure)


def failing(steps):
    model = classifier()
    optimizer = Failing(model.parameters(), lr=0.1)
    for _ in range(steps):
        x, y = batch()
        for _ in range(2):
            loss = cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            with contextlib.suppress(FloatingPointError):
                optimizer.step()
        show(loss)


def traced(steps):
    """The module of a graph, such as that of torch.export."""
    model = torch.fx.symbolic_trace(classifier())
    train(steps, model, model.parameters())


def functional(steps):
    model = classifier()
    weights = {name: each.detach().clone().requires_grad_() for name, each in model.named_parameters()}
    train(steps, lambda x: torch.func.functional_call(model, weights, (x,)), weights.values())


def loaded_tensors(steps):
    weights = tensors()
    optimizer = torch.optim.SGD(weights, lr=0.1)
    data = torch.utils.data.TensorDataset(torch.randn(6 * steps, 8), torch.randint(0, 4, (6 * steps,)))
    for x, y in torch.utils.data.DataLoader(data, batch_size=6):
        loss = training_loss(weights, x, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        show(loss)


def closure(steps):
    """An optimizer whose closure computes the loss outside of modules."""
    model = classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def loss_and_gradients():
        optimizer.zero_grad()
        loss = cross_entropy(model(x), y)
        loss.backward()
        return loss

    for step in range(steps):
        x, y = batch()
        show(optimizer.step(loss_and_gradients) if step % 2 else optimizer.step(closure=loss_and_gradients))


KINDS = {
    "direct": direct,
    "turns_direct": turns_direct,
    "optimizer_anew": optimizer_anew,
    "failing": failing,
    "traced": traced,
    "functional": functional,
    "loaded_tensors": loaded_tensors,
    "closure": closure,
    "tensors": tensors_with_optimizer,
    "tensors_scaled": lambda steps: tensors_with_optimizer(steps, scaled=True),
    "tensors_with_closure": tensors_with_closure,
    "tensors_with_two_optimizers": tensors_with_two_optimizers,
    "tensors_by_hand": tensors_by_hand,
    "transformed": transformed,
    "criterion": criterion,
    "unused": unused,
    "unused_zeroed_after": lambda steps: unused(steps, "after"),
    "unused_with_grad": unused_with_grad,
    "unused_forward": unused_forward,
    "features": features,
    "episodes": episodes,
    "accumulated": accumulated,
    "adversarial": adversarial,
}

if __name__ == "__main__":
    torch.manual_seed(0)
    KINDS[sys.argv[1]](int(sys.argv[2]))
