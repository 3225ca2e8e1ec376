# SPDX-License-Identifier: Apache-2.0
"""The LibTorch calls of a step of attention_sdpa, made from Python"""

import kymo


class PythonSdpa(kymo.Workload):
    """Fused attention, forward and backward: 8 × 1 × 256 × 64, causal"""

    name = "python_sdpa"
    framework = "torch"
    phases = ("forward", "backward")

    def prepare(self, run):
        import torch

        self.attend = torch.nn.functional.scaled_dot_product_attention
        torch.manual_seed(run.seed)
        shape = (8, 1, 256, 64)
        self.inputs = [torch.randn(shape, requires_grad=True) for _ in range(3)]
        self.gradient = torch.randn(shape)
        self.forward, self.backward = run.phase("forward"), run.phase("backward")

    def step(self, run):
        for tensor in self.inputs:
            tensor.grad = None
        with self.forward:
            output = self.attend(*self.inputs, is_causal=True)
        with self.backward:
            output.backward(self.gradient)
