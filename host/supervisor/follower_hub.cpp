// SPDX-License-Identifier: Apache-2.0
#include "supervisor/follower_hub.hpp"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <deque>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/installation.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "supervisor/framed_link.hpp"
#include "supervisor/remote_process.hpp"
#include "supervisor/steady_seconds.hpp"

namespace kymo::supervisor {
namespace messages = follower_protocol;

namespace {

constexpr std::chrono::milliseconds kLook{50};
constexpr std::size_t kMostRefused = 64;  ///< rejected connections kept open to deliver the reason; the oldest is
                                          ///< closed first

/// State of one follower.
struct Seat {
  std::unique_ptr<FramedLink> link;
  std::string host;
  messages::Plan plan;
  bool ready = false;
  std::string lost;
  std::int64_t receiving = 0;  ///< worker whose file is being received, and the remaining bytes
  std::int64_t receiving_bytes = 0;
};

std::string rank_at(int rank, const std::string& host) { return "rank " + std::to_string(rank) + " on " + quote(host); }

}  // namespace

struct FollowerHub::Impl {
  Impl(boost::asio::io_context& given_loop, const Launch& given, messages::Plan own,
       std::function<void(int, int)> handler)
      : loop(given_loop),
        launch(given),
        plan(std::move(own)),
        signalled(std::move(handler)),
        seats(static_cast<std::size_t>(given.world)) {}

  Seat& seat(int rank) { return seats.at(static_cast<std::size_t>(rank)); }

  void refuse(int socket, const std::string& reason) {
    log::warning("rejected a connection: " + reason);
    if (refused.size() >= kMostRefused) refused.pop_front();
    refused.push_back(
        std::make_unique<FramedLink>(loop, socket, LinkEvents{[](const Json&) {}, [](std::string_view) {}, nullptr}));
    refused.back()->send(to_json(messages::Refused{reason}));
  }

  /// The job cannot continue: notify all followers.
  void fail(const std::string& reason) {
    if (!failure.empty()) return;
    failure = reason;
    for (auto& each : seats)
      if (each.link) each.link->send(to_json(messages::Refused{reason}));
  }

  /// Returns why this process does not belong to the job; empty if it does.
  std::string strange(const messages::Join& join) {
    if (join.identity != launch.identity) {
      return "this port is used by job " + quote(launch.identity) + ", but " + rank_at(join.rank, join.host) +
             " belongs to job " + quote(join.identity) + "; set KYMO_PORT to a different port for one of the jobs";
    }
    if (sha256(join.token) != sha256(launch.token)) {
      return "KYMO_JOB_TOKEN of " + rank_at(join.rank, join.host) +
             " differs from that of rank 0; set it to the same value on every rank, or on none";
    }
    if (join.rank <= 0 || join.rank >= launch.world)
      return rank_at(join.rank, join.host) + " cannot join: expected ranks 1 to " + std::to_string(launch.world - 1);
    if (seat(join.rank).link || !seat(join.rank).lost.empty())
      return rank_at(join.rank, join.host) + " is a duplicate: this rank has already joined from " +
             quote(seat(join.rank).host);
    return "";
  }

  /// Returns why this process of the job is incompatible with the others; empty if it is compatible.
  std::string unfit(const messages::Join& join) const {
    if (join.version != messages::kVersion || join.kymo != version()) {
      return rank_at(join.rank, join.host) + " runs kymo " + quote(join.kymo) + " (launch protocol " +
             std::to_string(join.version) + "), but rank 0 runs kymo " + version() + " (launch protocol " +
             std::to_string(messages::kVersion) + "); install the same version on every machine";
    }
    if (join.world != launch.world) {
      return rank_at(join.rank, join.host) + " was started with " + std::to_string(join.world) +
             " ranks, but rank 0 with " + std::to_string(launch.world) +
             "; start all ranks with one torchrun or srun command";
    }
    return "";
  }

  void take(int socket, const Json& first) {
    messages::Join join;
    try {
      if (measure::protocol::type_of(first) != "join") throw Error("the first message is not 'join'");
      join = messages::join_from(first);
    } catch (const Error& e) {
      return refuse(socket, std::string("invalid message: ") + e.what());
    }
    if (const std::string reason = strange(join); !reason.empty()) return refuse(socket, reason);
    if (const std::string reason = unfit(join); !reason.empty()) {
      refuse(socket, reason);
      return fail(reason);
    }
    Seat& who = seat(join.rank);
    who.host = join.host;
    who.link = std::make_unique<FramedLink>(
        loop, socket,
        LinkEvents{[this, rank = join.rank](const Json& message) { on_message(rank, message); },
                   [this, rank = join.rank](std::string_view bytes) { on_bytes(rank, bytes); },
                   [this, rank = join.rank](const std::string& mistake) { on_closed(rank, mistake); }});
    who.link->send(failure.empty() ? messages::bare("welcome") : to_json(messages::Refused{failure}));
  }

  void on_plan(int rank, const Json& message) {
    Seat& who = seat(rank);
    if (who.ready) throw Error("received a second plan");
    who.plan = messages::plan_from(message);
    if (const std::string reason = difference(plan, who.plan, rank); !reason.empty()) return fail(reason);
    who.ready = true;
    who.link->send(messages::bare("accepted"));
  }

  RemoteProcess* process(int rank, std::int64_t worker) {
    const auto found = processes.find(worker);
    return found == processes.end() || found->second->rank() != rank ? nullptr : found->second;
  }

  void on_message(int rank, const Json& message) {
    const std::string type = measure::protocol::type_of(message);
    if (type == "plan") return on_plan(rank, message);
    if (!seat(rank).ready) throw Error("received a message before the plan was accepted");
    if (type == "signalled") return signalled(rank, messages::signalled_from(message).number);
    if (type == "left") return on_left(rank, messages::left_from(message));
    if (type == "ended") {
      const auto ended = messages::ended_from(message);
      if (auto* who = process(rank, ended.worker)) who->ended(ended);
    } else if (type == "memory") {
      const auto memory = messages::memory_from(message);
      if (auto* who = process(rank, memory.worker)) who->memory(memory);
    } else {
      throw Error("a follower does not send messages of type " + quote(type));
    }
  }

  void on_left(int rank, const messages::Left& left) {
    if (seat(rank).receiving_bytes > 0) throw Error("a file was announced before the previous one was complete");
    seat(rank).receiving = left.worker;
    seat(rank).receiving_bytes = left.file_bytes;
    if (auto* who = process(rank, left.worker)) who->left(left);
  }

  void on_bytes(int rank, std::string_view bytes) {
    Seat& who = seat(rank);
    if (static_cast<std::int64_t>(bytes.size()) > who.receiving_bytes)
      throw Error("received more bytes than announced");
    who.receiving_bytes -= static_cast<std::int64_t>(bytes.size());
    if (auto* receiver = process(rank, who.receiving)) receiver->received(bytes);
  }

  void on_closed(int rank, const std::string& mistake) {
    Seat& who = seat(rank);
    who.link.reset();
    if (finishing) return;
    if (!who.ready && failure.empty() && mistake.empty()) {  // it may reconnect until all ranks have joined
      who = Seat{};
      return;
    }
    who.lost = mistake.empty() ? "its kymo process on " + quote(who.host) + " has ended or is no longer reachable"
                               : "its kymo process on " + quote(who.host) + " " + mistake;
    for (const auto& [worker, process] : std::map(processes))
      if (process->rank() == rank) process->lost(who.lost);
  }

  std::vector<std::string> missing() const {
    std::vector<std::string> ranks;
    for (int rank = 1; rank < launch.world; ++rank)
      if (!seats[static_cast<std::size_t>(rank)].ready) ranks.push_back(std::to_string(rank));
    return ranks;
  }

  std::string missing_ranks() const {
    static constexpr std::size_t kMostNamed = 16;
    std::vector<std::string> names = missing();
    const std::size_t count = names.size();
    if (count > kMostNamed) names.resize(kMostNamed);
    return std::string(count == 1 ? "rank " : "ranks ") + join(names, ", ") + (count > kMostNamed ? " and more" : "") +
           " of " + std::to_string(launch.world) + " did not join within " +
           std::to_string(static_cast<int>(launch.join_timeout_s)) + " s on port " + std::to_string(launch.port) +
           "; every rank must run the same kymo command and be able to reach this port (set KYMO_JOIN_TIMEOUT to wait "
           "longer)";
  }

  /// Runs the loop long enough to deliver the failure reason before the links are closed.
  void say_farewell() {
    static constexpr std::chrono::milliseconds kFarewell{500};
    finishing = true;
    loop.run_for(kFarewell);
  }

  boost::asio::io_context& loop;
  const Launch launch;
  const messages::Plan plan;
  std::function<void(int, int)> signalled;
  std::string failure;  ///< why the job cannot continue
  std::vector<Seat> seats;
  std::deque<std::unique_ptr<FramedLink>> refused;
  std::map<std::int64_t, RemoteProcess*> processes;
  std::int64_t last_worker = 0;
  bool finishing = false;
};

FollowerHub::FollowerHub(boost::asio::io_context& loop, const Launch& launch, messages::Plan plan,
                         std::function<void(int, int)> signalled)
    : impl_(std::make_unique<Impl>(loop, launch, std::move(plan), std::move(signalled))) {}
FollowerHub::~FollowerHub() = default;

void FollowerHub::take(int socket, const Json& first) { impl_->take(socket, first); }

void FollowerHub::gather(const std::function<bool()>& stop) {
  const double deadline_s = steady_seconds() + impl_->launch.join_timeout_s;
  while (!stop() && !impl_->missing().empty()) {
    if (!impl_->failure.empty()) {
      impl_->say_farewell();
      throw Error(impl_->failure);
    }
    if (steady_seconds() >= deadline_s) throw Error(impl_->missing_ranks());
    impl_->loop.run_one_for(kLook);
  }
}

const std::string& FollowerHub::lost(int rank) const { return impl_->seat(rank).lost; }

bool FollowerHub::intact() const {
  return std::all_of(impl_->seats.begin(), impl_->seats.end(), [](const Seat& seat) { return seat.lost.empty(); });
}

void FollowerHub::finish(int code, double seconds) {
  impl_->finishing = true;
  for (auto& seat : impl_->seats)
    if (seat.link) seat.link->send(to_json(messages::Finish{code}));
  const double deadline_s = steady_seconds() + seconds;
  const auto linked = [](const Seat& seat) { return seat.link != nullptr; };
  while (std::any_of(impl_->seats.begin(), impl_->seats.end(), linked) && steady_seconds() < deadline_s)
    impl_->loop.run_one_for(kLook);
}

std::int64_t FollowerHub::attach(RemoteProcess& process) {
  impl_->processes[++impl_->last_worker] = &process;
  return impl_->last_worker;
}

void FollowerHub::detach(std::int64_t worker) { impl_->processes.erase(worker); }

void FollowerHub::send(int rank, const Json& message) {
  if (auto& link = impl_->seat(rank).link) link->send(message);
}

const messages::Plan& FollowerHub::plan_of_rank(int rank) const { return impl_->seat(rank).plan; }
const std::string& FollowerHub::host_of_rank(int rank) const { return impl_->seat(rank).host; }

ListenAt listening_place(const Launch& launch) { return {launch.meeting_host(), launch.port, !launch.one_machine()}; }

}  // namespace kymo::supervisor
