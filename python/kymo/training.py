# SPDX-License-Identifier: Apache-2.0
"""Base classes of workloads that train with a class of one's own for data parallelism, for a sharded optimizer or for
fully sharded data parallelism, for comparison with the included workloads ddp_*, sharded_optimizer and fsdp:

    class MyDDP(kymo.training.DataParallelWorkload):
        def wrap(self, module): return DDP(module)

Importing this module does not import torch."""

from __future__ import annotations

from . import Bool, Choice, Int, Verification, Workload, tensors
from ._training_step import SIZES, Trainer, language_model
from ._training_verification import cases, expect_equal_ranks


class DataParallelWorkload(Workload):
    """A training step of a language model on each rank's part of a batch, for a class of one's own. Derive from it and
    override what your class does; the other methods have defaults. All ranks call them in the same order, after
    torch.distributed was initialized."""

    model = Choice(
        "tiny", tuple(SIZES), axis=("small", "medium", "large", "xl"), title="{}", title_at_default=True, setting=True
    )
    model.doc = "size of the Transformer"
    context = Int(128, minimum=1, unit="tokens", title="context {}", title_at_default=True, setting=True)
    context.doc = "sequence length"
    vocab_size = Int(10000, minimum=1, title="vocabulary {}", setting=True, doc="vocabulary size")
    batch = Int(2, minimum=1, unit="sequences", title="batch {}", title_at_default=True, setting=True)
    batch.doc = "sequences per rank and step"
    dtype = Choice("fp32", ("fp32",), title="{}", title_at_default=True, setting=True, doc="type of the weights")
    autocast = Bool(False, title=" autocast", setting=True, doc="run the forward pass under autocast to bf16")
    attention = Choice("naive", ("naive", "sdpa"), title="{} attention", setting=True)
    attention.doc = "naive: all scores in memory; sdpa: scaled_dot_product_attention"
    optimizer = Choice("adamw", ("adamw", "sgd"), title="{}", setting=True, doc="class of the optimizer")
    backend = Choice("auto", ("auto", "gloo", "nccl"), title="{}", title_at_default=True, setting=True)
    backend.doc = "of torch.distributed; auto selects NCCL on GPUs and Gloo on the CPU"
    # Settings of the included workloads, so that their runs are comparable.
    optimizer_state = Choice("dtype", ("dtype",), setting=True, doc="type of the optimizer's state")
    tied_embedding = Bool(False, title=" tied embedding", setting=True, doc="the head shares the embedding's weight")
    operators = Choice("library", ("library",), setting=True, doc="operators of the model: those of PyTorch")
    checkpoint = Choice("none", ("none",), setting=True, doc="activations that are computed again: none")
    checkpoint_blocks = Int(1, minimum=1, setting=True, doc="no effect")
    checkpoint_feed_forward = Int(0, minimum=0, setting=True, doc="no effect")

    phases = ("forward", "backward", "communication", "optimizer")
    ranks = (1, None)
    framework = "torch"
    family, family_order = "data_parallel", 9

    tolerances = {"fp32": 1e-5, "bf16": 5e-2, "fp16": 1e-2}
    """Tolerances of gradients and parameters by dtype, relative to the largest value of a tensor."""

    def wrap(self, module):
        """Returns the module to call in place of `module`, with the weights of rank 0. The weights of `module` differ
        between the ranks. The default averages each gradient after backward."""
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
        """Returns the unsharded parameters by their names in `module`. Default: those of the module itself. Override it
        if a rank holds only shards; gradients are then not compared."""
        return dict(module.named_parameters())

    def prepare(self, run):
        import torch

        self.run = run
        run.init_process_group(None if self.backend == "auto" else self.backend)
        run.metric("backend", torch.distributed.get_backend())
        module = language_model(self, run, self.model, self.vocab_size, self.context, run.seed + run.rank)
        run.metric("parameter_tensors", sum(parameter.requires_grad for parameter in module.parameters()))
        self.trainer = Trainer(self, module, run.phase)
        kind = {"adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}[self.optimizer]
        self.trainer.make_optimizer(kind, lr=1e-4, **({"fused": True} if run.device != "cpu" else {}))
        run.tag_module(self.trainer.wrapped, self.trainer.optimizer)
        run.mark("optimizer_ready")
        self.generator = tensors.generator(run, 1 + run.rank)  # each rank has its own part of the batch
        self.data = torch.zeros((2, self.batch, self.context), dtype=torch.int64, device=run.device)
        run.tag(self.data, "input")
        flops = module.config.forward_flops(self.batch)
        run.work("forward", flops)
        run.work("backward", 2 * flops)
        run.metric("tokens_per_step", self.batch * self.context, "tokens")

    def before_step(self, run):
        self.data.random_(self.vocab_size, generator=self.generator)

    def step(self, run):
        self.trainer.gradients(*self.data)
        run.mark("before_optimizer")
        self.trainer.update()
        run.mark("after_optimizer")

    def verify(self, run):
        """Compares training with that of one process, and the parameters of all ranks after a step of the run."""
        result = Verification()
        compares_gradients = type(self).full_parameters is DataParallelWorkload.full_parameters
        to_verify = list(cases(self, run, compares_gradients))
        if not to_verify[-1].expect_waits(result) and not compares_gradients:
            return result  # a call may write memory that was freed since, which ends the process
        for case in to_verify:
            case.verify(result)
        self.before_step(run)
        self.step(run)
        expect_equal_ranks(result, f"equal on all ranks after a step of {self.model}", run, self.trainer.parameters())
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
