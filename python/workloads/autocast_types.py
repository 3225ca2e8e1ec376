# SPDX-License-Identifier: Apache-2.0
"""The data types that autocast chooses in a small model with a layer normalization.

kymo run autocast_types --axis dtype=fp16,bf16
"""

import kymo
from kymo import tensors

# The mean square of values that fp16 can represent, but not their squares. bf16 has the range of fp32.
WIDE = 300.0


def mean_squares(run):
    """The mean square of values with a standard deviation of WIDE, in each type, as text because it may be infinite."""
    import torch

    values = WIDE * torch.randn(1000, device=run.device, generator=tensors.generator(run))
    squares = {name: values.to(tensors.dtype(name)).square() for name in ("fp32", "bf16", "fp16")}
    return {name: f"{square.mean().item():g}" for name, square in squares.items()}


def toy_model(inputs, outputs):
    """Linear layer without bias, ReLU, layer normalization, linear layer without bias."""
    import torch
    from torch import nn

    class ToyModel(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.norm = nn.Linear(inputs, 10, bias=False), nn.LayerNorm(10)
            self.second = nn.Linear(10, outputs, bias=False)

        def forward(self, x):
            hidden = self.first(x)
            normalized = self.norm(torch.relu(hidden))
            return {"first_layer": hidden, "layer_norm": normalized, "logits": self.second(normalized)}

    return ToyModel()


class AutocastTypes(kymo.Workload):
    """a forward and a backward pass of a small model under autocast, and the data types that result"""

    title = "Autocast types"
    family = "autocast_types"
    framework = "torch"

    dtype = kymo.Choice("fp16", ("fp16", "bf16", "fp32"), doc="type that autocast uses; fp32: without autocast")
    batch = kymo.Int(4, minimum=1, doc="rows of the input")

    phases = ("forward", "backward")
    ranks = 1

    def prepare(self, run):
        import torch

        self.torch, self.device = torch, run.device.partition(":")[0]
        self.autocast = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(self.dtype)
        torch.manual_seed(run.seed)
        self.model = toy_model(20, 5).to(run.device)
        self.x = torch.randn(self.batch, 20, device=run.device)
        self.labels = torch.arange(self.batch, device=run.device) % 5
        run.tag_module(self.model)
        self.forward, self.backward = run.phase("forward"), run.phase("backward")
        results = self._forward()
        results["loss"].backward()
        for name, types in self.types_of(results).items():
            run.metric(f"{name}_dtype", types)
        for name, mean in mean_squares(run).items():
            run.metric(f"mean_square_{name}", mean)
            run.metric(f"epsilon_{name}", torch.finfo(tensors.dtype(name)).eps)

    def types_of(self, results):
        """The types of everything in the forward and backward pass by name, such as "float16"."""
        tensors = {
            "parameters": list(self.model.parameters()),
            **{name: [tensor] for name, tensor in results.items()},
            "gradients": [parameter.grad for parameter in self.model.parameters()],
        }
        return {
            name: ", ".join(sorted({str(each.dtype).removeprefix("torch.") for each in group}))
            for name, group in tensors.items()
        }

    def _forward(self):
        self.model.zero_grad()
        with self.torch.autocast(self.device, dtype=self.autocast, enabled=self.autocast is not None):
            results = self.model(self.x)
            results["loss"] = self.torch.nn.functional.cross_entropy(results["logits"], self.labels)
        return results

    def step(self, run):
        with self.forward:
            results = self._forward()
        with self.backward:
            results["loss"].backward()

    def verify(self, run):
        results = self._forward()
        expected = self.model.double()(self.x.double())
        self.model.float()
        # A few rounding errors of the type; the layer normalization makes all values of order 1.
        tolerance = {"fp16": 1e-2, "bf16": 8e-2, "fp32": 1e-5}[self.dtype]
        result = kymo.Verification()
        return result.compare("logits", "the model in float64", results["logits"], expected["logits"], tolerance)
