# SPDX-License-Identifier: Apache-2.0
"""A model whose operators tell how it was called."""

import light_torch  # noqa: F401
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x, times):
        x = self.linear(x)
        for _ in range(times):
            x = x.relu()
        return x.sum()
