// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>

namespace kymo {

// Stream sockets that are files. Their paths may be longer than the 108 bytes of a socket address.

/// Creates a socket and listens on it. Only this user can connect. Returns a blocking socket; throws Error.
int listen_at(const std::filesystem::path& socket_file);

/// Connects to a socket. Returns a blocking socket; throws Error with the reason.
int connect_to(const std::filesystem::path& socket_file);

/// True if the other end of a Unix socket was connected by a process of this user or of root.
bool peer_is_trusted(int socket);

}  // namespace kymo
