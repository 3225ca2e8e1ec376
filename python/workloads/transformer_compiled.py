# SPDX-License-Identifier: Apache-2.0
"""The language model of transformer_lm in PyTorch, eager and compiled by torch.compile."""

import contextlib

import kymo
from kymo import compiled, tensors

# d_model, d_ff, layers, heads
SIZES = {
    "tiny": (64, 256, 2, 2),
    "small": (768, 3072, 12, 12),
    "medium": (1024, 4096, 24, 16),
    "large": (1280, 5120, 36, 20),
    "xl": (1600, 6400, 48, 25),
    "2.7B": (2560, 10240, 32, 32),
    "10B": (4608, 12288, 50, 36),
}
MODES = ("forward", "forward_backward", "train")

# AdamW per element: decay 1, mean 3, square mean 4, denominator 3, update 3; parameter, gradient and both moments read,
# parameter and both moments written.
ADAMW_FLOPS, ADAMW_TRANSFERS = 14, 7

# Allowed deviation of a small eager model from float64, relative to the largest value of a tensor: a few times the
# rounding error. A wrong mask, rotation or gradient changes the leading digits.
EAGER_TOLERANCES = {"fp32": 2e-5, "fp16": 1e-2, "bf16": 6e-2}
# Allowed deviation of the compiled from the eager model: fused kernels add in another order, and round fewer
# intermediate results, in every layer of a model that may be deep. The loss is a mean, in which errors cancel.
COMPILED_LOSS_TOLERANCES = {"fp32": 1e-5, "fp16": 5e-3, "bf16": 1e-2}
COMPILED_TOLERANCES = {"fp32": 5e-4, "fp16": 3e-2, "bf16": 1e-1}


class TransformerCompiled(kymo.Workload):
    """training step of a decoder-only Transformer language model (RMSNorm, rotary embeddings, SwiGLU) with AdamW in
    PyTorch, eager or compiled by torch.compile, on random weights and tokens. The optimizer is not compiled"""

    title = "PyTorch"
    family = "transformer"
    family_order = 1
    framework = "torch"

    size = kymo.Choice(
        "tiny",
        (*SIZES, "custom"),
        axis=("small", "medium", "large", "xl", "2.7B"),
        doc="preset for d_model, d_ff, layers and heads; custom requires setting them individually",
    )
    vocab_size = kymo.Int(10000, minimum=1, doc="vocabulary size")
    context = kymo.Int(256, minimum=1, unit="tokens", axis=(128, 256, 512, 1024), doc="sequence length")
    d_model = kymo.Int(0, minimum=0, doc="model dimension; 0 uses the preset's")
    d_ff = kymo.Int(0, minimum=0, doc="feed-forward dimension; 0 uses the preset's")
    layers = kymo.Int(0, minimum=0, doc="number of blocks; 0 uses the preset's")
    heads = kymo.Int(0, minimum=0, doc="number of attention heads, must divide d_model; 0 uses the preset's")
    batch = kymo.Int(4, minimum=1, unit="sequences", axis=(1, 2, 4, 8, 16), doc="batch size")
    dtype = kymo.Choice("fp32", tensors.DTYPES, doc="data type of weights, gradients and optimizer state")
    autocast = kymo.Bool(
        False, doc="run the forward pass in mixed precision: bf16 matrix multiplications, fp32 weights"
    )
    mode = kymo.Choice("train", MODES, axis=MODES, doc="passes of a step; forward records no gradients")
    attention = kymo.Choice(
        "naive",
        ("naive", "sdpa"),
        axis=("naive", "sdpa"),
        doc="naive: all scores in memory; sdpa: scaled_dot_product_attention, which selects its kernel",
    )
    compile = compiled.mode_parameter()
    cached = compiled.cached_parameter()

    phases = ("forward", "backward", "optimizer")
    optional_phases = True
    ranks = 1
    asynchronous = True

    def prepare(self, run):
        if self.autocast and self.dtype != "fp32":
            run.skip(f"autocast requires fp32 weights: dtype={self.dtype} is not supported")
        import torch
        from kymo.transformer import LanguageModel

        self.torch = torch
        self.config = self._read_config()
        self.forward_phase, self.backward_phase = run.phase("forward"), run.phase("backward")
        self.optimizer_phase, self.optimizer_scope = run.phase("optimizer"), run.scope("adamw")
        self.generator = tensors.generator(run)
        self.model = LanguageModel.make(
            self.config, run.device, tensors.dtype(self.dtype), self.generator, self.attention, run.scope
        )
        self.weights = list(self.model.parameters())
        self.function = compiled.compile(run, self.model, self.compile)
        self.replays = self.compile == "reduce-overhead"
        self.steps, self.loss = 0, None
        run.mark("model_ready")
        self._make_batch(run)
        self.check = compiled.warm_up(run, self.compile, self.cached, lambda: self._gradients(self.function))
        self._clear_gradients()
        self.optimizer = self._make_optimizer() if self.mode == "train" else None
        run.tag_module(self.model, self.optimizer)
        self._declare(run)

    def _read_config(self):
        from kymo.transformer import Config

        names = ("d_model", "d_ff", "layers", "heads")
        preset = SIZES.get(self.size, (0, 0, 0, 0))
        values = {name: getattr(self, name) or default for name, default in zip(names, preset, strict=True)}
        missing = [name for name, value in values.items() if value == 0]
        if missing:
            raise ValueError(f"{missing[0]} is 0; size=custom needs d_model, d_ff, layers and heads")
        return Config(vocab_size=self.vocab_size, context=self.context, **values)

    def _make_batch(self, run):
        shape = (self.batch, self.context + 1)
        self.drawn = self.torch.empty(shape, dtype=self.torch.int64, device=run.device)
        self.tokens, self.targets = (self.drawn.new_zeros(self.batch, self.context) for _ in range(2))
        for tensor in (self.drawn, self.tokens, self.targets):
            run.tag(tensor, "input")
        self._draw()

    def _draw(self):
        self.drawn.random_(0, self.vocab_size, generator=self.generator)
        self.tokens.copy_(self.drawn[:, :-1])
        self.targets.copy_(self.drawn[:, 1:])

    def _make_optimizer(self):
        """AdamW with its state and loaded kernels; parameters are unchanged."""
        optimizer = self.torch.optim.AdamW(self.weights, lr=0.0, weight_decay=1e-2, fused=True)
        for parameter in self.weights:
            parameter.grad = self.torch.zeros_like(parameter)
        optimizer.step()
        for state in optimizer.state.values():
            state["step"].zero_()
        optimizer.param_groups[0]["lr"] = 1e-4
        self._clear_gradients()
        return optimizer

    def _clear_gradients(self):
        for parameter in self.weights:
            parameter.grad = None

    def _precision(self):
        if not self.autocast:
            return contextlib.nullcontext()
        return self.torch.autocast(self.tokens.device.type, self.torch.bfloat16)

    def _gradients(self, function):
        """Runs `function` and, unless mode is forward, its gradient as a step does; returns the loss."""
        self._begin()
        if self.mode == "forward":
            with self.torch.no_grad(), self._precision():
                return function(self.tokens, self.targets)
        with self._precision():
            loss = function(self.tokens, self.targets)
        loss.backward()
        return loss.detach()

    def _begin(self):
        self._clear_gradients()
        if self.replays:
            self.torch.compiler.cudagraph_mark_step_begin()  # results of the last replay may be overwritten

    def _declare(self, run):
        config = self.config
        forward = config.forward_flops(self.batch)
        elements = sum(parameter.numel() for parameter in self.weights)
        run.work("forward", forward, 0)
        if self.mode != "forward":
            run.work("backward", 2 * forward, 0)
        if self.mode == "train":
            element_bytes = self.weights[0].element_size()
            run.work("optimizer", ADAMW_FLOPS * elements, ADAMW_TRANSFERS * elements * element_bytes)
        run.metric("parameters", elements)
        for name in ("d_model", "d_ff", "layers", "heads"):
            run.metric(name, getattr(config, name))
        run.metric("tokens_per_step", self.batch * self.context, "tokens")
        scores = config.layers * config.heads * self.batch * self.context**2
        for part, flops in (("scores", 2 * config.head_dim), ("softmax", 5), ("values", 2 * config.head_dim)):
            run.metric(f"attention_{part}_flops", flops * scores, "FLOP")

    def before_step(self, run):
        self.check()
        if self.steps == 1 and run.has_values:
            run.metric("loss_first", self.loss.item(), "nat")
        self._draw()

    def step(self, run):
        self._begin()
        if self.mode == "forward":
            with self.torch.no_grad(), self.forward_phase, self._precision():
                self.loss = self.function(self.tokens, self.targets)
            self.steps += 1
            return
        with self.forward_phase, self._precision():
            loss = self.function(self.tokens, self.targets)
        with self.backward_phase:
            loss.backward()
        if self.optimizer:
            with self.optimizer_phase, self.optimizer_scope:
                self.optimizer.step()
        self.loss = loss.detach()
        self.steps += 1

    def verify(self, run):
        result = kymo.Verification()
        self._check_eager(run, result)
        if self.compile != "none":
            self._check_compiled(result)
        return result

    def _check_eager(self, run, result):
        """Compares a small eager model of the same type and attention with float64."""
        from kymo.transformer import Config, LanguageModel, reference_loss

        config = Config(vocab_size=61, context=24, d_model=64, d_ff=96, layers=2, heads=4)
        generator = tensors.generator(run, 1)
        dtype = tensors.dtype(self.dtype)
        model = LanguageModel.make(config, run.device, dtype, generator, self.attention, run.scope)
        tokens, targets = self.torch.randint(
            config.vocab_size, (2, 2, config.context), generator=generator, device=run.device
        )
        with self._precision():
            loss = model(tokens, targets)
        loss.backward()
        weights = {name: weight.detach().double().requires_grad_() for name, weight in model.named_parameters()}
        expected = reference_loss(config, weights, tokens, targets)
        expected.backward()
        tolerance = EAGER_TOLERANCES["bf16" if self.autocast else self.dtype]
        reference = "float64 model of 2 blocks, computed per head"
        gradients = [(weight.grad, weights[name].grad) for name, weight in model.named_parameters()]
        tensors.expect_close(result, "loss", reference, [(loss, expected)], tolerance)
        tensors.expect_close(result, "gradients", reference, gradients, tolerance)

    def _check_compiled(self, result):
        """Compares the compiled model with the eager one, on the run's own shape, weights and batch."""
        precision = "bf16" if self.autocast else self.dtype
        reference = "the same module, eager"
        actual = self._gradients(self.function).cpu()
        # In host memory: two sets of gradients of a large model do not fit on the device.
        gradients = [parameter.grad.cpu() for parameter in self.weights if parameter.grad is not None]
        expected = self._gradients(self.model)
        tolerance = COMPILED_LOSS_TOLERANCES[precision]
        tensors.expect_close(result, "compiled loss", reference, [(actual, expected)], tolerance)
        if self.mode != "forward":
            pairs = zip(gradients, (parameter.grad for parameter in self.weights), strict=True)
            tensors.expect_close(result, "compiled gradients", reference, pairs, COMPILED_TOLERANCES[precision])
        self._clear_gradients()
