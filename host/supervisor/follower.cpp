// SPDX-License-Identifier: Apache-2.0
#include "supervisor/follower.hpp"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/installation.hpp"
#include "base/log.hpp"
#include "base/private_folder.hpp"
#include "base/tcp.hpp"
#include "base/text.hpp"
#include "supervisor/file_sender.hpp"
#include "supervisor/follower_protocol.hpp"
#include "supervisor/framed_link.hpp"
#include "supervisor/process_reaper.hpp"
#include "supervisor/scratch.hpp"
#include "supervisor/signals.hpp"
#include "supervisor/steady_seconds.hpp"
#include "supervisor/worker_process.hpp"

namespace kymo::supervisor {
namespace asio = boost::asio;
namespace fs = std::filesystem;
namespace messages = follower_protocol;
using measure::protocol::message_from;

namespace {

constexpr std::chrono::milliseconds kCheckInterval{50};
constexpr std::chrono::milliseconds kPause{100};  ///< before the next attempt to join
constexpr double kJoinReplyTimeout_s = 10;        ///< timeout for the reply to the first message

struct Worker {
  std::unique_ptr<LocalProcess> process;
  std::size_t plan_index = 0;
  std::int64_t run_id = 0;
  measure::Pass pass = measure::Pass::kTime;
  std::int64_t peak_bytes = 0;
  bool end_sent = false;
  bool memory_reported = false;
};

class Follower {
 public:
  Follower(const LauncherEnvironment& launcher_env, const std::vector<PlannedRun>& plan, const SupervisorConfig& config)
      : launcher_env_(launcher_env),
        plan_(plan),
        config_(config),
        signals_(loop_, [this](int number) { on_signal(number); }),
        timer_(loop_),
        deadline_s_(steady_seconds() + launcher_env.join_timeout_s) {}

  int serve() {
    arm_timer();
    for (;;) {
      join();
      while (!over_) loop_.run_one();
      if (code_) break;
      std::this_thread::sleep_for(kPause);
    }
    workers_.clear();
    return *code_;
  }

 private:
  std::string leader() const { return launcher_env_.rendezvous_host() + ":" + std::to_string(launcher_env_.port); }
  std::string me() const { return "rank " + std::to_string(launcher_env_.rank); }

  [[noreturn]] void never_reached(const std::string& reason) const {
    throw Error(
        me() + " could not join rank 0 at " + leader() + " within " +
        std::to_string(static_cast<int>(launcher_env_.join_timeout_s)) + " s: " + reason +
        ": check that rank 0's kymo is running and that its port is reachable (set KYMO_PORT to use another port, "
        "KYMO_JOIN_TIMEOUT to wait longer)");
  }

  int connect_to_leader() {
    static constexpr double kMaxPerAddress_s = 5;
    std::string reason = last_reason_.empty() ? "no answer" : last_reason_;
    for (;;) {
      const double left_s = deadline_s_ - steady_seconds();
      if (left_s <= 0) never_reached(reason);
      try {
        return connect_to(launcher_env_.rendezvous_host(), launcher_env_.port,
                          static_cast<int>(std::min(left_s, kMaxPerAddress_s) * 1000) + 1);
      } catch (const Error& e) {
        reason = e.what();
      }
      std::this_thread::sleep_for(kPause);
    }
  }

  void join() {
    over_ = joined_ = false;
    const int socket = connect_to_leader();
    answer_by_s_ = steady_seconds() + kJoinReplyTimeout_s;
    link_ = std::make_unique<FramedLink>(
        loop_, socket,
        LinkEvents{[this](Frame& frame) { on_message(frame); },
                   [this](const std::string& error_message) { on_closed(error_message); }});
    link_->keep_alive();
    sender_ = std::make_unique<FileSender>(*link_);
    messages::Join hello;
    hello.kymo = version();
    hello.identity = launcher_env_.identity;
    hello.token = launcher_env_.token;
    hello.rank = launcher_env_.rank;
    hello.world_size = launcher_env_.world_size;
    hello.host = host_name();
    link_->send(hello);
  }

  void on_closed(const std::string& error_message) {
    if (!rejection_.empty()) throw Error(rejection_);
    if (joined_) {
      throw Error("rank 0 at " + leader() +
                  (error_message.empty() ? " has ended or is no longer reachable" : " " + error_message) +
                  "; the workers of " + me() + " were terminated");
    }
    drop_link(error_message.empty() ? "it closed the connection" : "it " + error_message);
  }

  /// The peer is not the leader, or not ready yet: retry.
  void drop_link(const std::string& reason) {
    last_reason_ = reason;
    if (steady_seconds() >= deadline_s_) never_reached(reason);
    over_ = true;
  }

  void on_message(Frame& frame) {
    const std::string type = measure::protocol::type_of(frame.message);
    if (type == "rejected")
      throw_later("rank 0 at " + leader() + " rejected " + me() + ": " +
                  message_from<messages::Rejected>(frame).reason);
    else if (type == "joined")
      on_joined();
    else if (!joined_)
      throw Error("received a message before 'joined'");
    else if (type == "accepted")
      log::debug(me() + " has joined " + leader());
    else if (type == "start")
      start(message_from<messages::Start>(frame));
    else if (type == "begin")
      begin(message_from<messages::Begin>(frame));
    else if (type == "announce")
      announce(message_from<messages::Announce>(frame));
    else if (type == "kill" || type == "collect" || type == "forget")
      handle_request(message_from<messages::WorkerRequest>(frame));
    else if (type == "finish")
      finish(message_from<messages::Finish>(frame).code);
    else
      throw Error("a leader does not send messages of type " + quote(type));
  }

  /// Not thrown from within a handler of the link, which treats an Error as a protocol error of the peer.
  void throw_later(const std::string& reason) {
    if (rejection_.empty()) rejection_ = reason;
    timer_.expires_after(std::chrono::milliseconds(0));
    wait_for_timer();
  }

  void on_joined() {
    if (joined_) throw Error("received 'joined' twice");
    joined_ = true;
    messages::Plan plan = messages::plan_of(plan_);
    plan.folder = folder_.path().string();
    plan.local_rank = launcher_env_.local_rank;
    plan.gpu = launcher_env_.gpu;
    link_->send(plan);
  }

  void start(const messages::Start& order) {
    if (order.plan_index >= plan_.size()) throw Error("received a run that is not in the plan");
    const PlannedRun& run = plan_[order.plan_index];
    Worker& worker = workers_[order.worker];
    worker.plan_index = order.plan_index;
    try {
      const SpawnRequest request{run, launcher_env_.rank, leader(), order.token, false};
      worker.process = std::make_unique<LocalProcess>(loop_, config_.worker_command(request), *reaper_,
                                                      LocalPlacement{launcher_env_.local_rank, launcher_env_.gpu});
    } catch (const Error& error) {
      worker.end_sent = true;
      const WorkerEnd end{
          {}, false, "", std::string("cannot start a worker on ") + quote(host_name()) + ": " + error.what()};
      link_->send(messages::Ended{order.worker, end, 0});
    }
  }

  void begin(const messages::Begin& order) {
    const auto found = workers_.find(order.worker);
    if (found == workers_.end()) return;
    Worker& worker = found->second;
    worker.run_id = order.run_id;
    worker.pass = order.pass;
    worker.peak_bytes = 0;
    worker.memory_reported = false;
    if (worker.process) worker.process->begin_pass(order.run_id, order.pass);
  }

  void announce(const messages::Announce& order) {
    const auto found = workers_.find(order.worker);
    if (found != workers_.end() && found->second.process)
      found->second.process->announce(static_cast<pid_t>(order.pid));
  }

  void handle_request(const messages::WorkerRequest& order) {
    const auto found = workers_.find(order.worker);
    if (found == workers_.end()) return;
    if (order.type == "collect") return collect(found->first, found->second);
    if (order.type == "kill" && found->second.process) found->second.process->kill();
    if (order.type == "forget") workers_.erase(found);
  }

  void collect(std::int64_t number, Worker& worker) {
    const auto output = worker.process ? worker.process->take_output() : ProcessOutput{};
    sender_->send({number, output.stdout_text, output.stderr_text, -1},
                  folder_.path() / rank_file_name(worker.run_id, launcher_env_.rank, worker.pass));
  }

  void finish(int code) {
    code_ = code;
    over_ = true;
  }

  void on_signal(int number) {
    if (number == SIGTSTP) return reaper_->suspend();
    if (++signals_seen_ == 1 && joined_) {
      link_->send(messages::Signalled{number});  // the leader finishes the current step and stores the measurements
      return;
    }
    workers_.clear();
    code_ = exit_code_of_signal(number);
    over_ = true;
  }

  void arm_timer() {
    timer_.expires_after(kCheckInterval);
    wait_for_timer();
  }

  void wait_for_timer() {
    timer_.async_wait([this](const boost::system::error_code& cancelled) {
      if (cancelled) return;
      if (!rejection_.empty()) throw Error(rejection_);
      on_tick();
      arm_timer();
    });
  }

  void on_tick() {
    for (auto& [number, worker] : workers_) watch(number, worker);
    if (link_ && !joined_ && !over_ && steady_seconds() >= answer_by_s_)
      drop_link("the peer does not answer like kymo");
  }

  void watch(std::int64_t number, Worker& worker) {
    if (!worker.process || worker.end_sent) return;
    const std::int64_t bound_bytes = plan_[worker.plan_index].method.host_memory_bytes;
    if (const auto use = worker.process->memory_use(bound_bytes)) {
      worker.peak_bytes = std::max(worker.peak_bytes, use->bytes);
      if (bound_bytes > 0 && use->bytes > bound_bytes && !std::exchange(worker.memory_reported, true))
        link_->send(messages::Memory{number, *use});
    }
    if (auto end = worker.process->poll_end()) {
      worker.end_sent = true;
      // While another worker runs, it is unknown which of them started an orphan.
      if (std::ranges::all_of(workers_, [](const auto& each) { return each.second.end_sent; }))
        end->detached = reaper_->end_detached();
      link_->send(messages::Ended{number, *end, worker.peak_bytes});
    }
  }

  const LauncherEnvironment& launcher_env_;
  const std::vector<PlannedRun>& plan_;
  const SupervisorConfig& config_;
  std::unique_ptr<ProcessReaper> reaper_ =
      std::make_unique<ProcessReaper>();  // created before signal handlers are installed
  PrivateFolder folder_{"kymo-rank-"};
  asio::io_context loop_{1};
  SignalWatch signals_;
  asio::steady_timer timer_;
  std::unique_ptr<FramedLink> link_;
  std::unique_ptr<FileSender> sender_;
  std::map<std::int64_t, Worker> workers_;
  std::optional<int> code_;
  std::string rejection_, last_reason_;
  double deadline_s_;
  double answer_by_s_ = 0;
  int signals_seen_ = 0;
  bool joined_ = false;
  bool over_ = false;  ///< this connection is closed or unusable
};

}  // namespace

int follow(const LauncherEnvironment& launcher_env, const std::vector<PlannedRun>& plan,
           const SupervisorConfig& config) {
  return Follower(launcher_env, plan, config).serve();
}

}  // namespace kymo::supervisor
