/* SPDX-License-Identifier: Apache-2.0 */
/* One line per fact of the layout, evaluated by C and by C++. */
#ifndef KYMO_TEST_LAYOUT_H
#define KYMO_TEST_LAYOUT_H

#include <stddef.h>

#define KYMO_LAYOUT(fact)                                                                                             \
  fact(sizeof(kymo_note)) fact(offsetof(kymo_note, framework)) fact(offsetof(kymo_note, cxx_abi))                     \
      fact(sizeof(kymo_value)) fact(sizeof(kymo_parameter)) fact(offsetof(kymo_parameter, default_value))             \
          fact(offsetof(kymo_parameter, minimum)) fact(offsetof(kymo_parameter, axis))                                \
              fact(offsetof(kymo_parameter, title)) fact(sizeof(kymo_placement))                                      \
                  fact(offsetof(kymo_placement, rendezvous_host)) fact(offsetof(kymo_collective, communicator))       \
                      fact(sizeof(kymo_collective)) fact(sizeof(kymo_check)) fact(offsetof(kymo_check, tolerance))    \
                          fact(sizeof(kymo_verification)) fact(sizeof(kymo_compilation))                              \
                              fact(offsetof(kymo_compilation, reason)) fact(sizeof(kymo_host))                        \
                                  fact(offsetof(kymo_host, parameter)) fact(offsetof(kymo_host, cancelled))           \
                                      fact(sizeof(kymo_workload)) fact(offsetof(kymo_workload, create))               \
                                          fact(offsetof(kymo_workload, destroy)) fact(offsetof(kymo_workload, title)) \
                                              fact(sizeof(kymo_plugin)) fact(offsetof(kymo_plugin, workload))

#endif
