/* SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"

#include <kymo_plugin.h>

#define VALUE(fact) fact,
const size_t kymo_layout_in_c[] = {KYMO_LAYOUT(VALUE)};
const size_t kymo_layout_count = sizeof kymo_layout_in_c / sizeof kymo_layout_in_c[0];
