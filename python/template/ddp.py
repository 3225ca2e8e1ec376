# SPDX-License-Identifier: Apache-2.0
#
# A workload in one file: data-parallel training of a Transformer with a class of your own.
# Replace the class DDP; docs/own-strategies.md has sharded optimizers and FSDP.
#
#   kymo describe ./my_kernel.py                                       shows the parameters of the model
#   kymo run ./my_kernel.py --ranks 2 --device cpu                     verifies it, times it, and stores the results
#   kymo run ./my_kernel.py --ranks 2 --device cpu --against ddp_naive    compares it with an included strategy
#
import torch
import torch.distributed as dist
from kymo.training import DataParallelWorkload


class DDP(torch.nn.Module):
    """Starts to average a gradient over the ranks when backward has computed it."""

    def __init__(self, module):
        super().__init__()
        self.module, self.calls = module, []
        for parameter in module.parameters():
            dist.broadcast(parameter.data, src=0)
            if parameter.requires_grad:
                parameter.register_post_accumulate_grad_hook(self.exchange)

    def exchange(self, parameter):
        self.calls.append((dist.all_reduce(parameter.grad, async_op=True), parameter))

    def forward(self, *inputs):
        return self.module(*inputs)

    def finish_gradient_synchronization(self):
        for call, parameter in self.calls:
            call.wait()
            parameter.grad /= dist.get_world_size()
        self.calls.clear()


class MyKernel(DataParallelWorkload):
    """data-parallel training with my own class"""  # shown by `kymo list`

    name = "my_kernel"

    def wrap(self, module):
        """The module to call in place of `module`. Ranks begin with different weights; those of rank 0 count."""
        return DDP(module)

    def after_backward(self, wrapped, optimizer):
        """In the phase communication. Afterwards, gradients are means over the ranks."""
        wrapped.finish_gradient_synchronization()

    def make_optimizer(self, parameters, optimizer_class, **settings):
        """Return a sharded optimizer of your own here."""
        return optimizer_class(parameters, **settings)
