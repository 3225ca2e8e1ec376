# SPDX-License-Identifier: Apache-2.0
#
# A workload in one file: a layer and its gradient in PyTorch.
# It shows everything that a workload usually needs; remove what yours does not.
#
#   kymo describe ./my_kernel.py                shows what the class below declares
#   kymo run ./my_kernel.py --set width=1024    verifies it, times it, and stores the results
#
import kymo
import torch


class MyKernel(kymo.Workload):
    """linear layer with a GELU, and its gradients"""  # shown by `kymo list`

    name = "my_kernel"

    # Parameters are set with --set and swept with --axis; a step reads their values as self.rows ...
    rows = kymo.Int(1024, minimum=1, unit="rows", doc="rows of the input")
    width = kymo.Int(512, minimum=1, axis=(256, 512, 1024), doc="features of input and output")
    dtype = kymo.Choice("fp32", ("fp32", "bf16"), doc="data type of weights and input")

    phases = ("forward", "backward")  # parts of a step that are timed separately
    devices = ("cpu", "cuda")
    asynchronous = True  # step() does not wait for the device: it can be timed with --timing hot and cold

    def prepare(self, run):
        """Never timed. Allocate, initialize, and declare the work of a step."""
        torch.manual_seed(run.seed)  # the same on every rank; add run.rank if ranks need different data
        dtype = {"fp32": torch.float32, "bf16": torch.bfloat16}[self.dtype]
        self.layer = torch.nn.Sequential(torch.nn.Linear(self.width, self.width), torch.nn.GELU())
        self.layer.to(run.device, dtype)
        self.x = torch.randn(self.rows, self.width, device=run.device, dtype=dtype)
        self.gradient = torch.randn_like(self.x)
        run.tag_module(self.layer)  # categories on the memory timeline
        run.mark("layer_ready")  # a named point on the memory timeline
        self.forward, self.backward = run.phase("forward"), run.phase("backward")
        self.scope = run.scope("layer")
        flops = 2 * self.rows * self.width**2  # a multiply-add counts as two
        run.work("forward", flops=flops, bytes=2 * self.x.nbytes + self.layer[0].weight.nbytes)
        run.work("backward", flops=flops)  # the gradient of the weight; the input needs none
        run.metric("parameters", sum(p.numel() for p in self.layer.parameters()))  # custom metric

    def step(self, run):
        """Timed repeatedly. Phases are timed separately and never nest; scopes name regions within them."""
        self.layer.zero_grad(set_to_none=True)
        with self.forward, self.scope:
            out = self.layer(self.x)
        with self.backward:
            out.backward(self.gradient)

    def verify(self, run):
        """Never timed. If verification fails, the run fails. If there is no reference, return
        kymo.Verification.unavailable("why")."""
        actual = self.layer(self.x)
        linear = self.layer[0]
        z = self.x.double() @ linear.weight.double().T + linear.bias.double()
        expected = 0.5 * z * (1 + torch.erf(z / 2**0.5))
        tolerance = {"fp32": 1e-5, "bf16": 2e-2}[self.dtype]  # a few rounding errors of the type
        return kymo.Verification().compare("out", "formula in float64", actual, expected, tolerance)
