// SPDX-License-Identifier: Apache-2.0
#include "supervisor/launcher_environment.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/error.hpp"
#include "base/tcp.hpp"
#include "base/text.hpp"

namespace kymo::supervisor {
namespace {

constexpr long kMaxRanks = 4096;
constexpr long kMaxPort = 65'535;
/// Slurm uses step ids from this value on for steps that srun did not create (batch, extern, interactive).
constexpr long long kFirstSpecialStep = 0xFFFFFFF0LL;
/// Derived ports lie below kFirstOutgoingPort and are equal on all machines of a job.
constexpr long long kFirstJobPort = 20'000;
constexpr long long kJobPorts = 12'000;
constexpr const char* kEscape = "; use --ranks N to start N ranks on this machine and ignore the environment";

/// Typed access to the environment variables. All functions throw UsageError.
class Reader {
 public:
  explicit Reader(const Environment& environment) : environment_(environment) {}

  std::optional<std::string> text(const char* name) const {
    const char* value = environment_(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  }

  std::string needed_text(const char* name, const std::string& because) const {
    const auto value = text(name);
    if (!value) throw UsageError(std::string(name) + " is not set, but " + because + kEscape);
    return *value;
  }

  long long number(const char* name, const std::string& value, long long low, long long high) const {
    long long result = 0;
    const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), result);
    if (failed != std::errc() || end != value.data() + value.size() || result < low || result > high) {
      throw UsageError(std::string(name) + " is " + quote(value) + "; expected a whole number from " +
                       std::to_string(low) + " to " + std::to_string(high) + kEscape);
    }
    return result;
  }

  int needed(const char* name, long low, long high, const std::string& because) const {
    return static_cast<int>(number(name, needed_text(name, because), low, high));
  }

 private:
  const Environment& environment_;
};

void check_below(const char* name, int value, const char* bound_name, int bound) {
  if (value < bound) return;
  throw UsageError(std::string(name) + " is " + std::to_string(value) + " but " + bound_name + " is " +
                   std::to_string(bound) + "; " + name + " counts from 0 and must be smaller" + kEscape);
}

bool has_torchrun(const Reader& read) {
  for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "TORCHELASTIC_RUN_ID"})
    if (read.text(name)) return true;
  return false;
}

/// Number of tasks in the srun step of this process; 1 outside a step. SLURM_NTASKS is not used because it is also set
/// in batch scripts and in shells inside an allocation, which are not tasks of a step.
int step_tasks(const Reader& read) {
  const auto step = read.text("SLURM_STEP_ID");
  const auto tasks = read.text("SLURM_STEP_NUM_TASKS");
  if (!step || !tasks) return 1;
  long long number = 0;
  const auto [end, failed] = std::from_chars(step->data(), step->data() + step->size(), number);
  if (failed != std::errc() || end != step->data() + step->size() || number < 0 || number >= kFirstSpecialStep)
    return 1;
  return static_cast<int>(read.number("SLURM_STEP_NUM_TASKS", *tasks, 1, kMaxRanks));
}

std::uint16_t derived_port(long long job) { return static_cast<std::uint16_t>(kFirstJobPort + job % kJobPorts); }

/// The port after torchrun's, if that port was chosen by the user. The neighbor of a port chosen by the system may be
/// in use.
std::uint16_t derived_control_port(int master_port) {
  return master_port + 1 < kFirstOutgoingPort ? static_cast<std::uint16_t>(master_port + 1) : derived_port(master_port);
}

LauncherEnvironment torchrun_environment(const Reader& read) {
  const std::string because =
      "other torchrun variables are (torchrun sets RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and "
      "MASTER_PORT together)";
  LauncherEnvironment launcher_env;
  launcher_env.launcher = "torchrun";
  launcher_env.rank = read.needed("RANK", 0, kMaxRanks - 1, because);
  launcher_env.world_size = read.needed("WORLD_SIZE", 1, kMaxRanks, because);
  launcher_env.local_rank = read.needed("LOCAL_RANK", 0, kMaxRanks - 1, because);
  launcher_env.local_world_size = read.needed("LOCAL_WORLD_SIZE", 1, kMaxRanks, because);
  check_below("RANK", launcher_env.rank, "WORLD_SIZE", launcher_env.world_size);
  check_below("LOCAL_RANK", launcher_env.local_rank, "LOCAL_WORLD_SIZE", launcher_env.local_world_size);
  if (launcher_env.local_world_size > launcher_env.world_size) {
    throw UsageError("LOCAL_WORLD_SIZE is " + std::to_string(launcher_env.local_world_size) + " but WORLD_SIZE is " +
                     std::to_string(launcher_env.world_size) + "; LOCAL_WORLD_SIZE must not exceed WORLD_SIZE" +
                     kEscape);
  }
  launcher_env.leader_host = read.needed_text("MASTER_ADDR", because);
  const int master_port = read.needed("MASTER_PORT", 1, kMaxPort, because);
  launcher_env.port = derived_control_port(master_port);
  launcher_env.identity = "torchrun " + read.text("TORCHELASTIC_RUN_ID").value_or("none") + " at " +
                          launcher_env.leader_host + ":" + std::to_string(master_port);
  launcher_env.gpu = launcher_env.local_rank;
  launcher_env.gpus_needed = launcher_env.local_world_size;
  return launcher_env;
}

int local_tasks(const Reader& read, int world_size, std::size_t nodes, int local_rank) {
  if (nodes == 1) return world_size;
  const auto list = read.text("SLURM_STEP_TASKS_PER_NODE");
  const auto node = read.text("SLURM_NODEID");
  if (!list || !node) return local_rank + 1;
  const std::vector<int> tasks = expand_tasks(*list, "SLURM_STEP_TASKS_PER_NODE");
  const auto index = static_cast<std::size_t>(read.number("SLURM_NODEID", *node, 0, kMaxRanks - 1));
  if (index >= tasks.size()) {
    throw UsageError("SLURM_NODEID is " + *node + " but SLURM_STEP_TASKS_PER_NODE, " + quote(*list) + ", has " +
                     std::to_string(tasks.size()) + " nodes; SLURM_NODEID counts from 0 and must be smaller" + kEscape);
  }
  return tasks[index];
}

LauncherEnvironment slurm_environment(const Reader& read, int tasks) {
  const std::string because =
      "according to SLURM_STEP_NUM_TASKS this is one of " + std::to_string(tasks) + " tasks of an srun step";
  LauncherEnvironment launcher_env;
  launcher_env.launcher = "srun";
  launcher_env.world_size = tasks;
  launcher_env.rank = read.needed("SLURM_PROCID", 0, kMaxRanks - 1, because);
  check_below("SLURM_PROCID", launcher_env.rank, "SLURM_STEP_NUM_TASKS", tasks);
  launcher_env.local_rank = read.needed("SLURM_LOCALID", 0, kMaxRanks - 1, because);
  const std::vector<std::string> nodes =
      expand_nodes(read.needed_text("SLURM_STEP_NODELIST", because), "SLURM_STEP_NODELIST");
  launcher_env.local_world_size = local_tasks(read, tasks, nodes.size(), launcher_env.local_rank);
  check_below("SLURM_LOCALID", launcher_env.local_rank, "the number of tasks on this node",
              launcher_env.local_world_size);
  launcher_env.leader_host = nodes.front();
  const std::string job = read.needed_text("SLURM_JOB_ID", because);
  const std::string step = read.needed_text("SLURM_STEP_ID", because);
  launcher_env.identity = "srun " + job + "." + step;
  const long long job_number = read.number("SLURM_JOB_ID", job, 0, 0xFFFFFFFFLL);
  const long long step_number = read.number("SLURM_STEP_ID", step, 0, kFirstSpecialStep - 1);
  launcher_env.port = derived_port(job_number * 31 + step_number);
  // With SLURM_GPUS_PER_TASK, each process sees only its own GPUs.
  const bool own_gpu = read.text("SLURM_GPUS_PER_TASK").has_value();
  launcher_env.gpu = own_gpu ? 0 : launcher_env.local_rank;
  launcher_env.gpus_needed = own_gpu ? 1 : launcher_env.local_world_size;
  return launcher_env;
}

/// Scripts that start `python` with srun often derive RANK and the related variables from Slurm's; both must then
/// agree. With an actual torchrun inside a step (one agent per task) the counts legitimately differ, and torchrun's are
/// used.
void check_agreement(const LauncherEnvironment& launcher_env, const Reader& read, int tasks) {
  if (tasks <= 1 || read.text("TORCHELASTIC_RUN_ID")) return;
  const auto differ = [&](const char* ours, int value, const char* theirs, long long other) {
    throw UsageError(std::string(ours) + " is " + std::to_string(value) + " but " + theirs + " is " +
                     std::to_string(other) +
                     "; unset the variables of torchrun or of the srun step, or make them agree" + kEscape);
  };
  if (launcher_env.world_size != tasks) differ("WORLD_SIZE", launcher_env.world_size, "SLURM_STEP_NUM_TASKS", tasks);
  const auto rank =
      read.number("SLURM_PROCID", read.needed_text("SLURM_PROCID", "SLURM_STEP_NUM_TASKS is"), 0, kMaxRanks - 1);
  if (launcher_env.rank != rank) differ("RANK", launcher_env.rank, "SLURM_PROCID", rank);
}

/// Settings that apply to both torchrun and srun.
void add_settings(LauncherEnvironment& launcher_env, const Reader& read) {
  if (const auto port = read.text("KYMO_PORT"))
    launcher_env.port = static_cast<std::uint16_t>(read.number("KYMO_PORT", *port, 1, kMaxPort));
  launcher_env.token = read.text("KYMO_JOB_TOKEN").value_or("");
  if (launcher_env.token.size() > 256)
    throw UsageError("KYMO_JOB_TOKEN has " + std::to_string(launcher_env.token.size()) + " bytes; the maximum is 256");
  if (const auto wait = read.text("KYMO_JOIN_TIMEOUT"))
    launcher_env.join_timeout_s = static_cast<double>(read.number("KYMO_JOIN_TIMEOUT", *wait, 1, 86'400));
}

bool has_address(const std::string& host) {
  try {
    return resolve(host, 0) != nullptr;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::optional<LauncherEnvironment> read_launcher_environment(const Environment& environment, const Resolver& resolves) {
  const Reader read(environment);
  const int tasks = step_tasks(read);
  const bool torchrun = has_torchrun(read);
  if (!torchrun && tasks <= 1) return std::nullopt;
  LauncherEnvironment launcher_env = torchrun ? torchrun_environment(read) : slurm_environment(read, tasks);
  if (torchrun) check_agreement(launcher_env, read, tasks);
  if (launcher_env.identity.size() > 512)
    throw UsageError("TORCHELASTIC_RUN_ID and MASTER_ADDR together exceed 512 bytes");
  if (!resolves(launcher_env.leader_host)) {
    throw UsageError((torchrun ? "MASTER_ADDR is " : "the first host of SLURM_STEP_NODELIST is ") +
                     quote(launcher_env.leader_host) +
                     ", which cannot be resolved; it must be the name or address of rank 0's machine" + kEscape);
  }
  add_settings(launcher_env, read);
  if (launcher_env.world_size == 1) return std::nullopt;
  return launcher_env;
}

std::optional<LauncherEnvironment> read_launcher_environment() {
  return read_launcher_environment([](const char* name) { return std::getenv(name); }, has_address);
}

}  // namespace kymo::supervisor
