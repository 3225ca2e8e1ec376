# SPDX-License-Identifier: Apache-2.0
"""The language model of the C++ workload transformer_lm as a PyTorch module: pre-norm blocks of causal attention with
rotary embeddings and of SwiGLU, without biases. Importing this module imports torch."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional


@dataclass(frozen=True)
class Config:
    """Dimensions of the model. Raises ValueError, naming the wrong dimension and what would be right."""

    vocab_size: int
    context: int
    d_model: int
    d_ff: int
    layers: int
    heads: int
    rope_theta: float = 10000.0
    norm_epsilon: float = 1e-5

    def __post_init__(self):
        for name in ("vocab_size", "context", "d_model", "d_ff", "layers", "heads"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if self.d_model % self.heads:
            raise ValueError(
                f"d_model {self.d_model} is not divisible by heads {self.heads}; all heads have the same dimension"
            )
        if self.head_dim % 2:
            raise ValueError(f"d_model / heads is {self.head_dim}; it must be even for rotary embeddings")

    @property
    def head_dim(self):
        return self.d_model // self.heads

    def forward_flops(self, batch):
        """Operations of the matrix multiplications of a forward pass, a multiply-add counting as two; attention as the
        full square of scores."""
        tokens, d = batch * self.context, self.d_model
        per_token = self.layers * (8 * d * d + 4 * self.context * d + 6 * d * self.d_ff) + 2 * d * self.vocab_size
        return tokens * per_token


def no_scope(name):
    """Replaces run.scope where nothing is recorded."""
    return contextlib.nullcontext()


def open_scope(scope, name):
    """A scope in eager code; nothing in compiled code, whose kernels cover several scopes."""
    return contextlib.nullcontext() if torch.compiler.is_compiling() else scope(name)


def rotation(config, device, dtype):
    """cos and sin of the angles of the rotary embedding, [context, head_dim / 2]."""
    exponents = torch.arange(0, config.head_dim, 2, dtype=torch.float64) / config.head_dim
    angles = torch.arange(config.context, dtype=torch.float64)[:, None] * config.rope_theta**-exponents
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    return angles.cos().to(device, wide), angles.sin().to(device, wide)


def rotate(heads, cos, sin):
    """Rotates each pair of neighbors of the last dimension by the angle of its position, in at least fp32."""
    even, odd = heads.to(cos.dtype).unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2).to(heads.dtype)


class Attention(nn.Module):
    def __init__(self, config, kind, scope):
        super().__init__()
        self.heads, self.kind, self.scope = config.heads, kind, scope
        self.query_key_value = nn.Linear(config.d_model, 3 * config.d_model, bias=False)
        self.output = nn.Linear(config.d_model, config.d_model, bias=False)

    def forward(self, stream, batch, cos, sin, mask):
        with open_scope(self.scope, "projection"):
            projected = self.query_key_value(stream)
        with open_scope(self.scope, "rotation"):
            parts = projected.view(batch, -1, 3, self.heads, projected.shape[-1] // (3 * self.heads))
            query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
            query, key = rotate(query, cos, sin), rotate(key, cos, sin)
        mixed = self.mix(query, key, value, mask)
        with open_scope(self.scope, "output"):
            return self.output(mixed.transpose(1, 2).reshape(stream.shape))

    def mix(self, query, key, value, mask):
        if self.kind == "sdpa":
            with open_scope(self.scope, "sdpa"):
                return functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        with open_scope(self.scope, "scores"):
            scores = (query * query.shape[-1] ** -0.5) @ key.transpose(-2, -1)
            scores.add_(mask)  # in place: no memory, and nothing in the backward pass
        with open_scope(self.scope, "softmax"):
            weights = scores.softmax(-1)
        del scores  # autograd saves the weights alone
        with open_scope(self.scope, "values"):
            return weights @ value


class Norm(nn.Module):
    def __init__(self, config, scope):
        super().__init__()
        self.epsilon, self.scope = config.norm_epsilon, scope
        self.weight = nn.Parameter(torch.ones(config.d_model))

    def forward(self, stream):
        with open_scope(self.scope, "norm"):
            return functional.rms_norm(stream, self.weight.shape, self.weight, self.epsilon)


class FeedForward(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate_and_up = nn.Linear(config.d_model, 2 * config.d_ff, bias=False)
        self.down = nn.Linear(config.d_ff, config.d_model, bias=False)

    def forward(self, stream):
        gate, up = self.gate_and_up(stream).chunk(2, -1)
        return self.down(functional.silu(gate) * up)


class Block(nn.Module):
    def __init__(self, config, name, kind, scope):
        super().__init__()
        self.name, self.scope = name, scope
        self.attention_norm, self.attention = Norm(config, scope), Attention(config, kind, scope)
        self.feed_forward_norm, self.feed_forward = Norm(config, scope), FeedForward(config)

    def forward(self, stream, batch, cos, sin, mask):
        with open_scope(self.scope, self.name):
            normed = self.attention_norm(stream)
            with open_scope(self.scope, "attention"):
                stream = stream + self.attention(normed, batch, cos, sin, mask)
            normed = self.feed_forward_norm(stream)
            with open_scope(self.scope, "feed_forward"):
                return stream + self.feed_forward(normed)


class LanguageModel(nn.Module):
    """Returns the mean cross entropy of `targets` given `tokens`, both int64 [batch, context]. `attention` is naive or
    sdpa; `scope` opens a named scope, as run.scope does."""

    def __init__(self, config, attention="naive", scope=no_scope):
        super().__init__()
        self.config, self.scope = config, scope
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.blocks = nn.ModuleList(Block(config, f"block_{i}", attention, scope) for i in range(config.layers))
        self.norm = Norm(config, scope)
        self.head = nn.Linear(config.d_model, config.vocab_size, bias=False)

    @classmethod
    def make(cls, config, device, dtype, generator, attention="naive", scope=no_scope):
        """A model with random weights, normal with variance 2 / (inputs + outputs); weights that share memory have the
        variance of their own shape, norms are 1, and the embedding has variance 1."""
        with torch.device("meta"):
            model = cls(config, attention, scope)
        model = model.to(dtype).to_empty(device=device)
        with torch.no_grad():
            for name, weight in model.named_parameters():
                if weight.dim() == 1:
                    weight.fill_(1)
                    continue
                outputs, inputs = weight.shape
                outputs //= {"query_key_value": 3, "gate_and_up": 2}.get(name.split(".")[-2], 1)
                deviation = 1.0 if name == "embedding.weight" else math.sqrt(2 / (inputs + outputs))
                weight.normal_(0, deviation, generator=generator)
        cos, sin = rotation(config, device, dtype)
        model.register_buffer("cos", cos, persistent=False)
        model.register_buffer("sin", sin, persistent=False)
        mask = None
        if attention == "naive":
            mask = torch.full((config.context, config.context), -torch.inf, dtype=dtype, device=device).triu_(1)
        model.register_buffer("mask", mask, persistent=False)
        return model

    def forward(self, tokens, targets):
        batch = tokens.shape[0]
        with open_scope(self.scope, "embedding"):
            stream = self.embedding(tokens.reshape(-1))
        for block in self.blocks:
            stream = block(stream, batch, self.cos, self.sin, self.mask)
        normed = self.norm(stream)
        with open_scope(self.scope, "head"):
            logits = self.head(normed)
        with open_scope(self.scope, "loss"):
            return functional.cross_entropy(logits, targets.reshape(-1))


def reference_loss(config, weights, tokens, targets):
    """A second implementation of the loss: float64, one sequence and one head at a time, rotation by complex numbers.
    `weights` is a dict of float64 tensors by parameter name; differentiable with respect to them. Slow; for small
    sizes."""

    def norm(stream, name):
        scale = torch.rsqrt(stream.square().mean(-1, keepdim=True) + config.norm_epsilon)
        return stream * scale * weights[name + ".weight"]

    d = config.head_dim
    exponents = torch.arange(d // 2, dtype=torch.float64) * 2 / d
    angles = torch.outer(torch.arange(tokens.shape[1], dtype=torch.float64), config.rope_theta**-exponents)
    rotations = torch.polar(torch.ones_like(angles), angles).to(tokens.device)
    visible = torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool, device=tokens.device).tril()

    def rotated(head):
        pairs = torch.view_as_complex(head.reshape(len(head), -1, 2).contiguous())
        return torch.view_as_real(pairs * rotations).flatten(1)

    losses = []
    for sequence, target in zip(tokens, targets, strict=True):
        stream = weights["embedding.weight"][sequence]
        for layer in range(config.layers):
            block = f"blocks.{layer}."
            joint = norm(stream, block + "attention_norm") @ weights[block + "attention.query_key_value.weight"].T
            queries, keys, values = (part.split(d, -1) for part in joint.split(config.d_model, -1))
            mixed = []
            for query, key, value in zip(queries, keys, values, strict=True):
                scores = torch.where(visible, rotated(query) @ rotated(key).T / math.sqrt(d), -torch.inf)
                mixed.append(torch.softmax(scores, -1) @ value)
            stream = stream + torch.cat(mixed, -1) @ weights[block + "attention.output.weight"].T
            both = norm(stream, block + "feed_forward_norm") @ weights[block + "feed_forward.gate_and_up.weight"].T
            gate, up = both.split(config.d_ff, -1)
            stream = stream + (gate * torch.sigmoid(gate) * up) @ weights[block + "feed_forward.down.weight"].T
        scores = torch.log_softmax(norm(stream, "norm") @ weights["head.weight"].T, -1)
        losses.append(-scores.gather(1, target[:, None]))
    return torch.cat(losses).mean()
