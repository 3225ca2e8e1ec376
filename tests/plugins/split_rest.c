// SPDX-License-Identifier: Apache-2.0
// The second library of the plugin `split`, in the same directory.
int split_rest(void);
int split_rest(void) { return 1; }
