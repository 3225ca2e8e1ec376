// SPDX-License-Identifier: Apache-2.0
extern "C" __attribute__((visibility("default"))) int another_symbol() { return 1; }
