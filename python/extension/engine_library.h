/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KYMO_ENGINE_LIBRARY_H
#define KYMO_ENGINE_LIBRARY_H

#include "engine/kymo_engine.h"

/* Loads libkymo_engine.so, which is never unloaded. Returns NULL with OSError or RuntimeError set if it cannot be used.
 */
const kymo_engine* load_engine(const char* file);

#endif
