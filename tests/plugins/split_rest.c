// SPDX-License-Identifier: Apache-2.0
// The other half of the plugin `split`: a library of its folder.
int split_rest(void);
int split_rest(void) { return 1; }
