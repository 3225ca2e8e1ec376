// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "unit/comm/rank_host.hpp"

/// Runs `body` as each of `size` ranks, every one in a process of its own, forked before LibTorch or CUDA starts a
/// thread: the test program itself must not use them. What fails there (expectations too) fails the test here.
void on_ranks(int size, const std::function<void(RankHost&)>& body, std::int32_t device = KYMO_CPU);
