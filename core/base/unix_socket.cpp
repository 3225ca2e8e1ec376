// SPDX-License-Identifier: Apache-2.0
#include "base/unix_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kymo {
namespace {

/// Calls bind() or connect(); returns 0 or the error number. A path that does not fit into an address is referred to
/// through a descriptor of its folder.
int call_with_address(int (*function)(int, const sockaddr*, socklen_t), int socket, const std::filesystem::path& file) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::string path = file.string();
  int folder = -1;
  if (path.size() >= sizeof address.sun_path) {
    folder = open(file.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return errno;
    path = "/proc/self/fd/" + std::to_string(folder) + "/" + file.filename().string();
  }
  int reason = ENAMETOOLONG;
  if (path.size() < sizeof address.sun_path) {
    path.copy(address.sun_path, path.size());
    do reason = function(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
    while (reason == EINTR);
  }
  if (folder >= 0) close(folder);
  return reason;
}

int opened_at(const std::filesystem::path& file, bool to_listen) {
  const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int reason = made < 0 ? errno : 0;
  // Without a lock on the umask, this is the way to restrict the file that bind() creates.
  if (reason == 0 && to_listen) reason = fchmod(made, 0600) == 0 ? 0 : errno;
  if (reason == 0) reason = call_with_address(to_listen ? &bind : &connect, made, file);
  if (reason == 0 && to_listen) reason = listen(made, SOMAXCONN) == 0 ? 0 : errno;
  if (reason == 0) return made;
  if (made >= 0) close(made);
  throw Error(std::string("cannot ") + (to_listen ? "listen on " : "connect to ") + quote(file.string()) + ": " +
              std::strerror(reason));
}

}  // namespace

int listen_at(const std::filesystem::path& socket_file) { return opened_at(socket_file, true); }
int connect_to(const std::filesystem::path& socket_file) { return opened_at(socket_file, false); }

bool peer_is_trusted(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == geteuid() || peer.uid == 0);
}

}  // namespace kymo
