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
#include "supervisor/steady_seconds.hpp"

namespace kymo::supervisor {
namespace messages = follower_protocol;
using measure::protocol::message_from;

namespace {

constexpr std::chrono::milliseconds kLook{50};
constexpr int kMaxReported = 32;  ///< rejected connections, so that a flood of them does not flood the terminal
constexpr std::size_t kMaxReplyBytes = 4096;  ///< memory limit for a rejected connection
constexpr std::size_t kMaxRejected = 64;      ///< rejected connections kept open to deliver the reason; the oldest is
                                              ///< closed first

/// State of one follower.
struct FollowerSlot {
  std::unique_ptr<FramedLink> link;
  std::string host;
  messages::Plan plan;
  bool ready = false;
  std::string lost;
};

std::string rank_at(int rank, const std::string& host) { return "rank " + std::to_string(rank) + " on " + quote(host); }

}  // namespace

struct FollowerHub::Impl {
  Impl(boost::asio::io_context& given_loop, const LauncherEnvironment& given, messages::Plan own,
       std::function<void(int, int)> handler)
      : loop(given_loop),
        launcher_env(given),
        plan(std::move(own)),
        signalled(std::move(handler)),
        slots(static_cast<std::size_t>(given.world_size)) {}

  FollowerSlot& slot(int rank) { return slots.at(static_cast<std::size_t>(rank)); }

  void reject(int socket, const std::string& reason) {
    if (++rejections <= kMaxReported)
      log::warning("rejected a connection: " + reason +
                   (rejections == kMaxReported ? "; further ones are not reported" : ""));
    if (rejected.size() >= kMaxRejected) rejected.pop_front();
    rejected.push_back(std::make_unique<FramedLink>(loop, socket, LinkEvents{[](Frame&) {}, nullptr}, kMaxReplyBytes));
    rejected.back()->send(messages::Rejected{reason});
  }

  /// The job cannot continue: notify all followers.
  void fail(const std::string& reason) {
    if (!failure.empty()) return;
    failure = reason;
    for (auto& each : slots)
      if (each.link) each.link->send(messages::Rejected{reason});
  }

  /// Returns why this process does not belong to the job; empty if it does.
  std::string identity_mismatch(const messages::Join& join) {
    if (join.identity != launcher_env.identity) {
      return "this port is used by job " + quote(launcher_env.identity) + ", but " + rank_at(join.rank, join.host) +
             " belongs to job " + quote(join.identity) + "; set KYMO_PORT to a different port for one of the jobs";
    }
    if (sha256(join.token) != sha256(launcher_env.token)) {
      return "KYMO_JOB_TOKEN of " + rank_at(join.rank, join.host) +
             " differs from that of rank 0; set it to the same value on every rank, or on none";
    }
    if (join.rank <= 0 || join.rank >= launcher_env.world_size)
      return rank_at(join.rank, join.host) + " cannot join: expected ranks 1 to " +
             std::to_string(launcher_env.world_size - 1);
    if (slot(join.rank).link || !slot(join.rank).lost.empty())
      return rank_at(join.rank, join.host) + " is a duplicate: this rank has already joined from " +
             quote(slot(join.rank).host);
    return "";
  }

  /// Returns why this process of the job is incompatible with the others; empty if it is compatible.
  std::string incompatibility(const messages::Join& join) const {
    if (join.version != messages::kVersion || join.kymo != version()) {
      return rank_at(join.rank, join.host) + " runs kymo " + quote(join.kymo) + " (launch protocol " +
             std::to_string(join.version) + "), but rank 0 runs kymo " + version() + " (launch protocol " +
             std::to_string(messages::kVersion) + "); install the same version on every machine";
    }
    if (join.world_size != launcher_env.world_size) {
      return rank_at(join.rank, join.host) + " was started with " + std::to_string(join.world_size) +
             " ranks, but rank 0 with " + std::to_string(launcher_env.world_size) +
             "; start all ranks with one torchrun or srun command";
    }
    return "";
  }

  void take(int socket, const Json& first) {
    messages::Join join;
    try {
      if (measure::protocol::type_of(first) != "join") throw Error("the first message is not 'join'");
      join = first.get<messages::Join>();
    } catch (const Error& e) {
      return reject(socket, std::string("invalid message: ") + e.what());
    }
    if (const std::string reason = identity_mismatch(join); !reason.empty()) return reject(socket, reason);
    if (const std::string reason = incompatibility(join); !reason.empty()) {
      reject(socket, reason);
      return fail(reason);
    }
    FollowerSlot& who = slot(join.rank);
    who.host = join.host;
    who.link = std::make_unique<FramedLink>(
        loop, socket,
        LinkEvents{[this, rank = join.rank](Frame& frame) { on_message(rank, frame); },
                   [this, rank = join.rank](const std::string& error_message) { on_closed(rank, error_message); }});
    who.link->keep_alive();
    who.link->send(failure.empty() ? messages::plain_message("joined") : Json(messages::Rejected{failure}));
  }

  void on_plan(int rank, Frame& frame) {
    FollowerSlot& who = slot(rank);
    if (who.ready) throw Error("received a second plan");
    who.plan = message_from<messages::Plan>(frame);
    if (const std::string reason = difference(plan, who.plan, rank); !reason.empty()) return fail(reason);
    who.ready = true;
    who.link->send(messages::plain_message("accepted"));
  }

  RemoteWorker* worker_of(int rank, std::int64_t id) {
    const auto found = workers.find(id);
    return found == workers.end() || found->second->rank() != rank ? nullptr : found->second;
  }

  void on_message(int rank, Frame& frame) {
    const std::string type = measure::protocol::type_of(frame.message);
    if (type == "plan") return on_plan(rank, frame);
    if (!slot(rank).ready) throw Error("received a message before the plan was accepted");
    if (type == "signalled") return signalled(rank, message_from<messages::Signalled>(frame).number);
    if (type == "worker_output") {
      const auto output = message_from<messages::WorkerOutput>(frame);
      if (auto* who = worker_of(rank, output.worker)) who->output(output);
    } else if (type == "file_part") {
      const auto part = message_from<messages::FilePart>(frame);
      if (auto* who = worker_of(rank, part.worker)) who->received(part);
    } else if (type == "ended") {
      const auto ended = message_from<messages::Ended>(frame);
      if (auto* who = worker_of(rank, ended.worker)) who->ended(ended);
    } else if (type == "memory") {
      const auto memory = message_from<messages::Memory>(frame);
      if (auto* who = worker_of(rank, memory.worker)) who->memory(memory);
    } else {
      throw Error("a follower does not send messages of type " + quote(type));
    }
  }

  void on_closed(int rank, const std::string& error_message) {
    FollowerSlot& who = slot(rank);
    who.link.reset();
    if (finishing) return;
    if (!who.ready && failure.empty() && error_message.empty()) {  // it may reconnect until all ranks have joined
      who = FollowerSlot{};
      return;
    }
    who.lost = error_message.empty() ? "its kymo process on " + quote(who.host) + " has ended or is no longer reachable"
                                     : "its kymo process on " + quote(who.host) + " " + error_message;
    for (const auto& [id, worker] : std::map(workers))
      if (worker->rank() == rank) worker->lost(who.lost);
  }

  std::vector<std::string> missing() const {
    std::vector<std::string> ranks;
    for (int rank = 1; rank < launcher_env.world_size; ++rank)
      if (!slots[static_cast<std::size_t>(rank)].ready) ranks.push_back(std::to_string(rank));
    return ranks;
  }

  std::string missing_ranks() const {
    static constexpr std::size_t kMaxNamed = 16;
    std::vector<std::string> names = missing();
    const std::size_t count = names.size();
    if (count > kMaxNamed) names.resize(kMaxNamed);
    return std::string(count == 1 ? "rank " : "ranks ") + join(names, ", ") + (count > kMaxNamed ? " and more" : "") +
           " of " + std::to_string(launcher_env.world_size) + " did not join within " +
           std::to_string(static_cast<int>(launcher_env.join_timeout_s)) + " s on port " +
           std::to_string(launcher_env.port) +
           "; every rank must run the same kymo command and be able to reach this port (set KYMO_JOIN_TIMEOUT to wait "
           "longer)";
  }

  /// Runs the loop long enough to deliver the failure reason before the links are closed.
  void flush_links() {
    static constexpr std::chrono::milliseconds kFlushTime{500};
    finishing = true;
    loop.run_for(kFlushTime);
  }

  boost::asio::io_context& loop;
  const LauncherEnvironment launcher_env;
  const messages::Plan plan;
  std::function<void(int, int)> signalled;
  std::string failure;  ///< why the job cannot continue
  std::vector<FollowerSlot> slots;
  std::deque<std::unique_ptr<FramedLink>> rejected;
  int rejections = 0;
  std::map<std::int64_t, RemoteWorker*> workers;
  std::int64_t last_worker = 0;
  bool finishing = false;
};

FollowerHub::FollowerHub(boost::asio::io_context& loop, const LauncherEnvironment& launcher_env, messages::Plan plan,
                         std::function<void(int, int)> signalled)
    : impl_(std::make_unique<Impl>(loop, launcher_env, std::move(plan), std::move(signalled))) {}
FollowerHub::~FollowerHub() = default;

void FollowerHub::take(int socket, const Json& first) { impl_->take(socket, first); }

void FollowerHub::gather(const std::function<bool()>& stop) {
  const double deadline_s = steady_seconds() + impl_->launcher_env.join_timeout_s;
  while (!stop() && !impl_->missing().empty()) {
    if (!impl_->failure.empty()) {
      impl_->flush_links();
      throw Error(impl_->failure);
    }
    if (steady_seconds() >= deadline_s) throw Error(impl_->missing_ranks());
    impl_->loop.run_one_for(kLook);
  }
}

const std::string& FollowerHub::lost(int rank) const { return impl_->slot(rank).lost; }

bool FollowerHub::intact() const {
  return std::all_of(impl_->slots.begin(), impl_->slots.end(),
                     [](const FollowerSlot& slot) { return slot.lost.empty(); });
}

void FollowerHub::finish(int code, double seconds) {
  impl_->finishing = true;
  for (auto& slot : impl_->slots)
    if (slot.link) slot.link->send(messages::Finish{code});
  const double deadline_s = steady_seconds() + seconds;
  const auto linked = [](const FollowerSlot& slot) { return slot.link != nullptr; };
  while (std::any_of(impl_->slots.begin(), impl_->slots.end(), linked) && steady_seconds() < deadline_s)
    impl_->loop.run_one_for(kLook);
}

std::int64_t FollowerHub::attach(RemoteWorker& worker) {
  impl_->workers[++impl_->last_worker] = &worker;
  return impl_->last_worker;
}

void FollowerHub::detach(std::int64_t worker) { impl_->workers.erase(worker); }

void FollowerHub::send(int rank, const Json& message) {
  if (auto& link = impl_->slot(rank).link) link->send(message);
}

const messages::Plan& FollowerHub::plan_of_rank(int rank) const { return impl_->slot(rank).plan; }
const std::string& FollowerHub::host_of_rank(int rank) const { return impl_->slot(rank).host; }

ListenAt listen_address(const LauncherEnvironment& launcher_env) {
  return {{}, launcher_env.rendezvous_host(), launcher_env.port, !launcher_env.one_machine()};
}

}  // namespace kymo::supervisor
