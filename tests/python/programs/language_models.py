# SPDX-License-Identifier: Apache-2.0
"""Training steps of language models as users write them: prints the loss of the last step.

language_models.py nanogpt|llama [compiled] [STEPS]

nanogpt is a GPT-2 of 6 layers under bf16 autocast, with a fused AdamW, as in Karpathy's nanoGPT; llama is the class of
transformers (which must be installed), in bf16.
"""

import sys

import torch
from torch import nn
from torch.nn import functional

VOCABULARY, CONTEXT, BATCH = 50304, 1024, 8
WIDTH, LAYERS, HEADS = 768, 6, 12


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.c_attn, self.c_proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        heads = (x.shape[0], x.shape[1], HEADS, WIDTH // HEADS)
        q, k, v = (part.view(heads).transpose(1, 2) for part in self.c_attn(self.ln_1(x)).split(WIDTH, dim=2))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.c_proj(y.transpose(1, 2).reshape(x.shape))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.h = nn.ModuleList(Block() for _ in range(LAYERS))
        self.ln_f = nn.LayerNorm(WIDTH)
        self.lm_head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.wte.weight = self.lm_head.weight

    def forward(self, words):
        x = self.wte(words) + self.wpe(torch.arange(words.shape[1], device=words.device))
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=32000,
        hidden_size=1024,
        intermediate_size=2816,
        num_hidden_layers=6,
        num_attention_heads=16,
        num_key_value_heads=8,
        max_position_embeddings=CONTEXT,
        use_cache=False,
    )
    return LlamaForCausalLM(config).cuda().bfloat16()


kind, *options = sys.argv[1:]
steps = int(options[-1]) if options and options[-1].isdigit() else 16
torch.manual_seed(0)
model = llama() if kind == "llama" else GPT().cuda()
called = torch.compile(model) if "compiled" in options else model
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
words = torch.randint(0, 32000, (BATCH, CONTEXT), device="cuda")
for _ in range(steps):
    with torch.autocast("cuda", torch.bfloat16, enabled=kind == "nanogpt"):
        found = called(words)
        logits = found if kind == "nanogpt" else found.logits
        loss = functional.cross_entropy(logits[:, :-1].flatten(0, 1), words[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
print(loss.item())
