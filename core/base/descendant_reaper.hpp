// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace kymo {

/// Forks in a process that was just forked. The calling process becomes a reaper, which does not return: it adopts
/// the orphans among its descendants (it is a child subreaper), waits until its child ends, kills all other
/// descendants, including those with a session of their own, and ends as its child did. It kills all of them at SIGTERM
/// and if `parent`, its own parent, ends. Returns the reaper's process id in the child, or does not return if the fork
/// fails: then errno is written to `report`, which the reaper closes otherwise. Async-signal-safe.
pid_t fork_below_reaper(pid_t parent, int report);

}  // namespace kymo
