# SPDX-License-Identifier: Apache-2.0
"""The Python baseline that users would otherwise write: a CS336-style Transformer LM, timed eagerly (and compiled) by
forward, backward and optimizer, as in the assignment.

  transformer.py [--sizes small,medium] [--ctx 256] [--dtype fp32|bf16] [--compile] [--sdpa]

Prints one CSV row per size:

  peer,size,ctx,dtype,mode,fwd_ms,fwd_std,bwd_ms,bwd_std,opt_ms,opt_std,peak_mib_fwd,peak_mib_step
"""

import argparse
import contextlib
import math
import statistics as st
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

SIZES = {
    "small": (768, 3072, 12, 12),
    "medium": (1024, 4096, 24, 16),
    "large": (1280, 5120, 36, 20),
    "xl": (1600, 6400, 48, 25),
    "2.7B": (2560, 10240, 32, 32),
}


class RMSNorm(nn.Module):
    def __init__(s, d, eps=1e-5):
        super().__init__()
        s.w = nn.Parameter(torch.ones(d))
        s.eps = eps

    def forward(s, x):
        t = x.dtype
        x = x.float()
        return (s.w * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + s.eps))).to(t)


class Rope(nn.Module):
    def __init__(s, ctx, dh, theta=10000.0):
        super().__init__()
        f = theta ** -(torch.arange(0, dh, 2) / dh)
        a = torch.outer(torch.arange(ctx), f)
        s.register_buffer("cos", a.cos(), persistent=False)
        s.register_buffer("sin", a.sin(), persistent=False)

    def forward(s, x):
        x1, x2 = x[..., 0::2], x[..., 1::2]
        c, n = s.cos[: x.shape[-2]], s.sin[: x.shape[-2]]
        return torch.stack((c * x1 - n * x2, n * x1 + c * x2), -1).flatten(-2)


class Attn(nn.Module):
    def __init__(s, d, h, rope, sdpa):
        super().__init__()
        s.q, s.k, s.v, s.o = (nn.Linear(d, d, bias=False) for _ in range(4))
        s.h = h
        s.rope = rope
        s.sdpa = sdpa

    def forward(s, x):
        b, t, d = x.shape
        q, k, v = (linear(x).view(b, t, s.h, -1).transpose(1, 2) for linear in (s.q, s.k, s.v))
        q, k = s.rope(q), s.rope(k)
        if s.sdpa:
            y = F.scaled_dot_product_attention(q.to(v.dtype), k.to(v.dtype), v, is_causal=True)
        else:
            m = torch.tril(torch.ones(t, t, device=x.device, dtype=torch.bool))
            a = torch.einsum("...qd,...kd->...qk", q, k) / math.sqrt(q.shape[-1])
            a = torch.where(m, a, float("-inf"))
            y = torch.einsum("...qk,...kd->...qd", torch.softmax(a, -1), v)
        return s.o(y.transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    def __init__(s, d, f, h, rope, sdpa):
        super().__init__()
        s.n1, s.n2, s.at = RMSNorm(d), RMSNorm(d), Attn(d, h, rope, sdpa)
        s.w1, s.w3, s.w2 = nn.Linear(d, f, bias=False), nn.Linear(d, f, bias=False), nn.Linear(f, d, bias=False)

    def forward(s, x):
        x = x + s.at(s.n1(x))
        y = s.n2(x)
        return x + s.w2(F.silu(s.w1(y)) * s.w3(y))


class LM(nn.Module):
    def __init__(s, size, ctx, vocab=10000, sdpa=False):
        super().__init__()
        d, f, L, h = SIZES[size]
        s.rope = Rope(ctx, d // h)
        s.e = nn.Embedding(vocab, d)
        s.bl = nn.ModuleList(Block(d, f, h, s.rope, sdpa) for _ in range(L))
        s.n = RMSNorm(d)
        s.out = nn.Linear(d, vocab, bias=False)

    def forward(s, x):
        x = s.e(x)
        for b in s.bl:
            x = b(x)
        return s.out(s.n(x))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--sizes", default="small,medium,large,xl,2.7B")
    p.add_argument("--ctx", type=int, default=256)
    p.add_argument("--dtype", default="fp32")
    p.add_argument("--compile", action="store_true")
    p.add_argument("--sdpa", action="store_true")
    p.add_argument("--warmup", type=int, default=5)
    p.add_argument("--iters", type=int, default=10)
    p.add_argument("--batch", type=int, default=4)
    a = p.parse_args()
    for size in a.sizes.split(","):
        torch.manual_seed(0)
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        try:
            with torch.device("cuda"):
                m = LM(size, a.ctx, sdpa=a.sdpa)
            opt = torch.optim.AdamW(m.parameters(), lr=1e-4)
            f = torch.compile(m) if a.compile else m
            x = torch.randint(0, 10000, (a.batch, a.ctx), device="cuda")
            y = torch.randint(0, 10000, (a.batch, a.ctx), device="cuda")
            cm = (lambda: torch.autocast("cuda", torch.bfloat16)) if a.dtype == "bf16" else contextlib.nullcontext
            fw, bw, op = [], [], []
            for i in range(a.warmup + a.iters):
                opt.zero_grad(set_to_none=True)
                torch.cuda.synchronize()
                t0 = time.perf_counter()
                with cm():
                    loss = F.cross_entropy(f(x).flatten(0, 1), y.flatten())
                torch.cuda.synchronize()
                t1 = time.perf_counter()
                pk = torch.cuda.max_memory_allocated()
                loss.backward()
                torch.cuda.synchronize()
                t2 = time.perf_counter()
                opt.step()
                torch.cuda.synchronize()
                t3 = time.perf_counter()
                if i >= a.warmup:
                    fw.append(1e3 * (t1 - t0))
                    bw.append(1e3 * (t2 - t1))
                    op.append(1e3 * (t3 - t2))
            r = [f"{v:.3f}" for q in (fw, bw, op) for v in (st.mean(q), st.stdev(q))]
            print(
                f"python,{size},{a.ctx},{a.dtype},{'compile' if a.compile else 'eager'}{'+sdpa' if a.sdpa else ''},"
                f"{','.join(r)},{pk >> 20},{torch.cuda.max_memory_allocated() >> 20}",
                flush=True,
            )
        except torch.cuda.OutOfMemoryError:
            print(f"python,{size},{a.ctx},{a.dtype},OOM", flush=True)
        finally:
            m = opt = f = loss = None
            torch._dynamo.reset()


if __name__ == "__main__":
    main()
