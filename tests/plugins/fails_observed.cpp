// SPDX-License-Identifier: Apache-2.0
// Works in the time and verify passes and fails in the passes that record events, which are the only ones with scopes.
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <kymo/workload.hpp>
#include <new>
#include <stdexcept>
#include <string>

namespace {

class FailsObserved final : public kymo::Workload {
 public:
  static kymo::Descriptor describe() {
    return kymo::Descriptor{KYMO_PLUGIN_NAME, "goes wrong in observed passes"}
        .param("how", kymo::Choice{"not", {"not", "segv", "kill", "throw", "oom", "hang"}}, "what happens")
        .param("at", kymo::Int{1}.at_least(0), "the step of an observed pass in which it happens, counted from 0")
        .param("pid_file", kymo::Text{"none"}, "where the hanging process writes its number")
        .param("scopes", kymo::Int{1}.at_least(0), "number of scopes per step of an observed pass")
        .param("file_limit", kymo::Int{0}.at_least(0).unit("bytes"),
               "file size limit of an observed pass; 0 for no limit")
        .phases({"compute"});
  }

  void prepare(kymo::Context& ctx) override {
    observed_ = ctx.host()->scope_begin != nullptr;
    how_ = ctx.text("how");
    at_ = ctx.integer("at");
    pid_file_ = ctx.text("pid_file");
    scopes_ = ctx.integer("scopes");
    if (observed_ && ctx.integer("file_limit") > 0) bound_files(static_cast<rlim_t>(ctx.integer("file_limit")));
  }

  void step(kymo::Context& ctx) override {
    auto phase = ctx.phase("compute");
    const std::int64_t step = steps_++;
    if (!observed_) return;
    for (std::int64_t i = 0; i < scopes_; ++i) auto scope = ctx.scope("part");
    auto scope = ctx.scope("last");
    if (step == at_) go_wrong(ctx);
  }

 private:
  /// Simulates a full disk for this process only.
  static void bound_files(rlim_t bytes) {
    const rlimit limit{bytes, bytes};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) throw std::runtime_error("setrlimit failed");
  }

  void go_wrong(const kymo::Context& ctx) const {
    if (how_ == "segv") std::raise(SIGSEGV);
    if (how_ == "kill") std::raise(SIGKILL);
    if (how_ == "throw") throw std::runtime_error("thrown on purpose while observed");
    if (how_ == "oom") throw std::bad_alloc();
    if (how_ != "hang") return;
    std::ofstream(pid_file_) << getpid() << std::endl;
    while (!ctx.cancelled()) usleep(1000);
  }

  bool observed_ = false;
  std::string how_, pid_file_;
  std::int64_t at_ = 0;
  std::int64_t scopes_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace

KYMO_EXPORT_WORKLOADS(FailsObserved)
