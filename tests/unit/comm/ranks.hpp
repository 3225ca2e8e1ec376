// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "unit/comm/rank_host.hpp"

/// Runs `body` as each of `size` ranks, each in a process that is forked before LibTorch or CUDA starts a thread: the
/// test program itself must not use them. Failures there, including expectations, fail the test here.
void on_ranks(int size, const std::function<void(RankHost&)>& body, std::int32_t device = KYMO_CPU);
