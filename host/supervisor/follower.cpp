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
#include "base/text.hpp"
#include "supervisor/file_sender.hpp"
#include "supervisor/follower_protocol.hpp"
#include "supervisor/framed_link.hpp"
#include "supervisor/guardian.hpp"
#include "supervisor/local_process.hpp"
#include "supervisor/scratch.hpp"
#include "supervisor/signals.hpp"
#include "supervisor/steady_seconds.hpp"

namespace kymo::supervisor {
namespace asio = boost::asio;
namespace fs = std::filesystem;
namespace messages = follower_protocol;

namespace {

constexpr std::chrono::milliseconds kTick{50};
constexpr std::chrono::milliseconds kPause{100};  ///< before the next attempt to join
constexpr double kWelcome_s = 10;                 ///< timeout for the reply to the first message

/// A folder that is removed with this object.
struct OwnFolder {
  fs::path path = make_private_folder("kymo-rank-");
  OwnFolder() = default;
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;
  ~OwnFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

struct Worker {
  std::unique_ptr<LocalProcess> process;
  std::size_t plan_index = 0;
  std::int64_t run_id = 0;
  measure::Pass pass = measure::Pass::kTime;
  std::int64_t peak_bytes = 0;
  bool told_end = false;
  bool told_memory = false;
};

class Follower {
 public:
  Follower(const Launch& launch, const std::vector<PlannedRun>& plan, const Conditions& setup)
      : launch_(launch),
        plan_(plan),
        setup_(setup),
        signals_(loop_, [this](int number) { on_signal(number); }),
        timer_(loop_),
        deadline_s_(steady_seconds() + launch.join_timeout_s) {}

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
  std::string leader() const { return launch_.meeting_host() + ":" + std::to_string(launch_.port); }
  std::string me() const { return "rank " + std::to_string(launch_.rank); }

  [[noreturn]] void never_reached(const std::string& reason) const {
    throw Error(
        me() + " could not join rank 0 at " + leader() + " within " +
        std::to_string(static_cast<int>(launch_.join_timeout_s)) + " s: " + reason +
        ": check that rank 0's kymo is running and that its port is reachable (set KYMO_PORT to use another port, "
        "KYMO_JOIN_TIMEOUT to wait longer)");
  }

  void join() {
    over_ = welcomed_ = false;
    std::string reason = last_reason_.empty() ? "no answer" : last_reason_;
    const int socket = connect_within(launch_.meeting_host(), launch_.port, deadline_s_ - steady_seconds(), reason);
    if (socket < 0) never_reached(reason);
    answer_by_s_ = steady_seconds() + kWelcome_s;
    link_ = std::make_unique<FramedLink>(loop_, socket,
                                         LinkEvents{[this](const Json& message) { on_message(message); },
                                                    [](std::string_view) { throw Error("unexpected binary frame"); },
                                                    [this](const std::string& mistake) { on_closed(mistake); }});
    sender_ = std::make_unique<FileSender>(*link_);
    messages::Join hello;
    hello.kymo = version();
    hello.identity = launch_.identity;
    hello.token = launch_.token;
    hello.rank = launch_.rank;
    hello.world = launch_.world;
    hello.host = host_name();
    link_->send(to_json(hello));
  }

  void on_closed(const std::string& mistake) {
    if (!refusal_.empty()) throw Error(refusal_);
    if (welcomed_) {
      throw Error("rank 0 at " + leader() + (mistake.empty() ? " has ended or is no longer reachable" : " " + mistake) +
                  "; the workers of " + me() + " were terminated");
    }
    drop_link(mistake.empty() ? "it closed the connection" : "it " + mistake);
  }

  /// The peer is not the leader, or not ready yet: retry.
  void drop_link(const std::string& reason) {
    last_reason_ = reason;
    if (steady_seconds() >= deadline_s_) never_reached(reason);
    over_ = true;
  }

  void on_message(const Json& message) {
    const std::string type = measure::protocol::type_of(message);
    if (type == "refused")
      throw_later("rank 0 at " + leader() + " rejected " + me() + ": " + messages::refused_from(message).reason);
    else if (type == "welcome")
      on_welcome();
    else if (!welcomed_)
      throw Error("received a message before 'welcome'");
    else if (type == "accepted")
      log::debug(me() + " has joined " + leader());
    else if (type == "start")
      start(messages::start_from(message));
    else if (type == "begin")
      begin(messages::begin_from(message));
    else if (type == "announce")
      announce(messages::announce_from(message));
    else if (type == "kill" || type == "collect" || type == "forget")
      concern(messages::concerning_from(message));
    else if (type == "finish")
      finish(messages::finish_from(message).code);
    else
      throw Error("a leader does not send messages of type " + quote(type));
  }

  /// Not thrown from within a handler of the link, which treats an Error as a protocol error of the peer.
  void throw_later(const std::string& reason) {
    if (refusal_.empty()) refusal_ = reason;
    timer_.expires_after(std::chrono::milliseconds(0));
    wait_for_timer();
  }

  void on_welcome() {
    if (welcomed_) throw Error("received 'welcome' twice");
    welcomed_ = true;
    messages::Plan plan = messages::plan_of(plan_);
    plan.folder = folder_.path.string();
    plan.local_rank = launch_.local_rank;
    plan.gpu = launch_.gpu;
    link_->send(to_json(plan));
  }

  void start(const messages::Start& order) {
    if (order.plan_index >= plan_.size()) throw Error("received a run that is not in the plan");
    const PlannedRun& run = plan_[order.plan_index];
    Worker& worker = workers_[order.worker];
    worker.plan_index = order.plan_index;
    try {
      const LaunchRequest request{run, launch_.rank, launch_.port, order.token, launch_.meeting_host(), false};
      worker.process = std::make_unique<LocalProcess>(loop_, setup_.launcher(request), *guardian_,
                                                      LocalPlacement{launch_.local_rank, launch_.gpu});
    } catch (const Error& error) {
      worker.told_end = true;
      const WorkerEnd end{
          {}, false, "", std::string("cannot start a worker on ") + quote(host_name()) + ": " + error.what()};
      link_->send(to_json(messages::Ended{order.worker, end, 0}));
    }
  }

  void begin(const messages::Begin& order) {
    const auto found = workers_.find(order.worker);
    if (found == workers_.end()) return;
    Worker& worker = found->second;
    worker.run_id = order.run_id;
    worker.pass = order.pass;
    worker.peak_bytes = 0;
    worker.told_memory = false;
    if (worker.process) worker.process->begin_pass(order.run_id, order.pass);
  }

  void announce(const messages::Announce& order) {
    const auto found = workers_.find(order.worker);
    if (found != workers_.end() && found->second.process)
      found->second.process->announce(static_cast<pid_t>(order.pid));
  }

  void concern(const messages::Concerning& order) {
    const auto found = workers_.find(order.worker);
    if (found == workers_.end()) return;
    if (order.type == "collect") return collect(found->first, found->second);
    if (order.type == "kill" && found->second.process) found->second.process->kill();
    if (order.type == "forget") workers_.erase(found);
  }

  void collect(std::int64_t number, Worker& worker) {
    const auto output = worker.process ? worker.process->take_output() : ProcessOutput{};
    sender_->send({number, output.stdout_text, output.stderr_text, -1},
                  folder_.path / rank_file_name(worker.run_id, launch_.rank, worker.pass));
  }

  void finish(int code) {
    code_ = code;
    over_ = true;
  }

  void on_signal(int number) {
    if (++signals_seen_ == 1 && welcomed_) {
      link_->send(
          to_json(messages::Signalled{number}));  // the leader finishes the current step and stores the measurements
      return;
    }
    workers_.clear();
    code_ = static_cast<int>(number == SIGTERM ? ExitCode::kTerminated : ExitCode::kInterrupted);
    over_ = true;
  }

  void arm_timer() {
    timer_.expires_after(kTick);
    wait_for_timer();
  }

  void wait_for_timer() {
    timer_.async_wait([this](const boost::system::error_code& cancelled) {
      if (cancelled) return;
      if (!refusal_.empty()) throw Error(refusal_);
      on_tick();
      arm_timer();
    });
  }

  void on_tick() {
    for (auto& [number, worker] : workers_) watch(number, worker);
    if (link_ && !welcomed_ && !over_ && steady_seconds() >= answer_by_s_)
      drop_link("the peer does not answer like kymo");
  }

  void watch(std::int64_t number, Worker& worker) {
    if (!worker.process || worker.told_end) return;
    const std::int64_t bound_bytes = plan_[worker.plan_index].how.host_memory_bytes;
    if (const auto use = worker.process->memory_use(bound_bytes)) {
      worker.peak_bytes = std::max(worker.peak_bytes, use->bytes);
      if (bound_bytes > 0 && use->bytes > bound_bytes && !std::exchange(worker.told_memory, true))
        link_->send(to_json(messages::Memory{number, *use}));
    }
    if (const auto end = worker.process->poll_end()) {
      worker.told_end = true;
      link_->send(to_json(messages::Ended{number, *end, worker.peak_bytes}));
    }
  }

  const Launch& launch_;
  const std::vector<PlannedRun>& plan_;
  const Conditions& setup_;
  std::unique_ptr<Guardian> guardian_ = std::make_unique<Guardian>();  // created before signal handlers are installed
  OwnFolder folder_;
  asio::io_context loop_{1};
  SignalWatch signals_;
  asio::steady_timer timer_;
  std::unique_ptr<FramedLink> link_;
  std::unique_ptr<FileSender> sender_;
  std::map<std::int64_t, Worker> workers_;
  std::optional<int> code_;
  std::string refusal_, last_reason_;
  double deadline_s_;
  double answer_by_s_ = 0;
  int signals_seen_ = 0;
  bool welcomed_ = false;
  bool over_ = false;  ///< this connection is closed or unusable
};

}  // namespace

int follow(const Launch& launch, const std::vector<PlannedRun>& plan, const Conditions& setup) {
  return Follower(launch, plan, setup).serve();
}

}  // namespace kymo::supervisor
