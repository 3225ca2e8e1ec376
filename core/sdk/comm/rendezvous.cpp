// SPDX-License-Identifier: Apache-2.0
#include "rendezvous.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "call.hpp"

namespace kymo::comm {
namespace {

using StorePointer = c10::intrusive_ptr<c10d::Store>;
using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

std::string address_of(const Rendezvous& where) { return where.host + ":" + std::to_string(where.port); }

Addresses resolve(const Rendezvous& where, int type) {
  addrinfo hints{};
  hints.ai_socktype = type;
  addrinfo* found = nullptr;
  if (const int code = getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(), &hints, &found); code != 0)
    throw std::runtime_error("cannot resolve the rendezvous address " + address_of(where) + ": " + gai_strerror(code));
  return {found, &freeaddrinfo};
}

/// A socket that is connected to an address and closed on destruction; -1 if the connection failed.
class Connected {
 public:
  Connected(const Rendezvous& where, int type) {
    const Addresses addresses = resolve(where, type);
    for (const addrinfo* next = addresses.get(); next && socket_ < 0; next = next->ai_next) {
      socket_ = socket(next->ai_family, type | SOCK_CLOEXEC, next->ai_protocol);
      if (socket_ >= 0 && connect(socket_, next->ai_addr, next->ai_addrlen) != 0) drop();
    }
  }
  Connected(const Connected&) = delete;
  Connected& operator=(const Connected&) = delete;
  ~Connected() { drop(); }

  explicit operator bool() const { return socket_ >= 0; }

  /// Returns the numeric local address, or an empty string if it is unknown.
  std::string own_address() const {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    char text[NI_MAXHOST] = "";
    if (socket_ < 0 || getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length) != 0) return "";
    return getnameinfo(reinterpret_cast<sockaddr*>(&address), length, text, sizeof text, nullptr, 0, NI_NUMERICHOST) ==
                   0
               ? text
               : "";
  }

 private:
  void drop() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  }

  int socket_ = -1;
};

std::string seconds(const Options& options) { return std::to_string(options.deadline.count()) + " s"; }

/// Polls until rank 0 listens. LibTorch's own client sleeps for seconds, logs between attempts and cannot be cancelled.
void await_server(const Context& ctx, const Rendezvous& where, const Options& options, Clock::time_point end) {
  for (Backoff backoff; !Connected(where, SOCK_STREAM); backoff.sleep(ctx, "rank 0"))
    if (Clock::now() > end)
      throw std::runtime_error("rank 0 of " + std::to_string(ctx.world_size()) + " is missing: no response from " +
                               address_of(where) + " within " + seconds(options));
}

StorePointer open_store(const Context& ctx, const Rendezvous& where, const Options& options, Clock::time_point end) {
  const bool is_server = ctx.rank() == 0;
  if (!is_server) await_server(ctx, where, options, end);
  c10d::TCPStoreOptions settings;
  settings.port = where.port;
  settings.isServer = is_server;
  settings.waitWorkers = false;  // join_rendezvous() waits and lists the missing ranks
  settings.multiTenant = true;   // another plugin in this process may use the same rendezvous server
  settings.timeout = std::max(std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()),
                              std::chrono::milliseconds(1000));
  return c10::make_intrusive<c10d::TCPStore>(where.host, settings);
}

/// Returns the store that all communicators of a run share. It is kept until this process uses another rendezvous
/// address and is never closed at exit: other ranks may still need the server on rank 0, and LibTorch may already be
/// unloaded.
StorePointer store_at(const Context& ctx, const Rendezvous& where, const Options& options, Clock::time_point end) {
  static std::mutex mutex;
  static auto* const kept = new std::pair<std::string, StorePointer>;
  const std::lock_guard<std::mutex> lock(mutex);
  if (kept->first != address_of(where) || !kept->second) {
    kept->second = open_store(ctx, where, options, end);
    kept->first = address_of(where);
  }
  return kept->second;
}

std::string here(int rank) { return "here/" + std::to_string(rank); }

std::string list_missing(c10d::Store& store, int size) {
  std::string names;
  int missing = 0;
  for (int rank = 0; rank < size; ++rank) {
    if (store.check({here(rank)})) continue;
    names += (missing++ ? ", " : "") + std::to_string(rank);
  }
  return (missing == 1 ? "rank " : "ranks ") + names + (missing == 1 ? " is" : " are");
}

void await_ranks(const Context& ctx, c10d::Store& store, const std::string& name, const Options& options,
                 Clock::time_point end) {
  std::vector<std::string> keys;
  for (int rank = 0; rank < ctx.world_size(); ++rank) keys.push_back(here(rank));
  for (Backoff backoff; !store.check(keys); backoff.sleep(ctx, "the other ranks"))
    if (Clock::now() > end)
      throw std::runtime_error(list_missing(store, ctx.world_size()) + " missing from the " +
                               std::to_string(ctx.world_size()) + " ranks of communicator '" + name +
                               "': no connection to " + address_of(ctx.rendezvous()) + " within " + seconds(options));
}

void check_agreement(const Context& ctx, c10d::Store& store, const std::string& mine) {
  for (int rank = 0; rank < ctx.world_size(); ++rank) {
    const std::vector<std::uint8_t> value = store.get(here(rank));
    const std::string theirs(value.begin(), value.end());
    if (theirs != mine)
      throw std::invalid_argument("rank " + std::to_string(rank) + " uses " + theirs + " and rank " +
                                  std::to_string(ctx.rank()) + " " + mine +
                                  ": all ranks of a communicator must use the same backend");
  }
}

JoinedRendezvous join_others(const Context& ctx, Backend backend, const Options& options, Clock::time_point end) {
  const Rendezvous where = ctx.rendezvous();
  if (where.port == 0 || where.host.empty())
    throw std::runtime_error("a run of " + std::to_string(ctx.world_size()) + " ranks has no rendezvous address");
  const StorePointer store = store_at(ctx, where, options, end);
  // Each rank counts its own communicators. The counts agree, because all ranks create communicators in the same order.
  const std::string own = "kymo/" + options.name;
  const std::int64_t number = store->add(own + "/created by/" + std::to_string(ctx.rank()), 1);
  JoinedRendezvous rendezvous{c10::make_intrusive<c10d::PrefixStore>(own + "/" + std::to_string(number), store),
                              options.name, "", end};
  if (number > 1) rendezvous.name += "#" + std::to_string(number);
  rendezvous.store->set(here(ctx.rank()), std::string(to_string(backend)));
  await_ranks(ctx, *rendezvous.store, rendezvous.name, options, end);
  check_agreement(ctx, *rendezvous.store, to_string(backend));
  // Connecting a datagram socket sends no packet; it selects the local address that routes to rank 0.
  rendezvous.own_address = Connected(where, SOCK_DGRAM).own_address();
  return rendezvous;
}

}  // namespace

bool coordinated_shutdown(const JoinedRendezvous& rendezvous, int ranks, std::chrono::milliseconds timeout) noexcept {
  constexpr const char *kCount = "shutdown", *kAnswer = "shutdown/answer", *kYes = "all", *kNo = "timeout";
  try {
    // The last rank to arrive stores yes, a rank that times out stores no, and the first stored value wins.
    const auto answer = [&](const char* mine) { return rendezvous.store->compareSet(kAnswer, "", mine) == kYes; };
    const Clock::time_point end = Clock::now() + timeout;
    if (rendezvous.store->add(kCount, 1) == ranks) return answer(kYes);
    for (; !rendezvous.store->check({kAnswer}); std::this_thread::sleep_for(std::chrono::milliseconds(1)))
      if (Clock::now() > end) return answer(kNo);
    return answer(kNo);  // returns the stored answer
  } catch (const std::exception&) {
    return false;
  }
}

void Backoff::sleep(const Context& ctx, const char* what) {
  if (ctx.cancelled()) throw std::runtime_error(std::string("cancelled while waiting for ") + what);
  std::this_thread::sleep_for(length_);
  length_ = std::min(length_ * 2, std::chrono::milliseconds(50));
}

JoinedRendezvous join_rendezvous(const Context& ctx, Backend backend, const Options& options) {
  const Clock::time_point end = Clock::now() + options.deadline;
  if (ctx.world_size() == 1) return {c10::make_intrusive<c10d::HashStore>(), options.name, "127.0.0.1", end};
  try {
    return join_others(ctx, backend, options, end);
  } catch (const c10::Error& error) {
    throw std::runtime_error("rendezvous failed at " + address_of(ctx.rendezvous()) +
                             " (served by rank 0): " + first_line(error.what_without_backtrace()));
  }
}

}  // namespace kymo::comm
