// SPDX-License-Identifier: Apache-2.0
#include "training/data_parallel.hpp"

#include <kymo/torch.hpp>
#include <optional>
#include <string>
#include <utility>

#include "training/equality.hpp"
#include "training/flat_layout.hpp"
#include "training/gradient_hooks.hpp"
#include "training/language_model.hpp"
#include "transformer/attention.hpp"

namespace kymo::training {
namespace {

/// Parameters common to all data-parallel workloads, parsed and validated.
struct DataParallelSettings {
  ModelSetting model;
  std::int64_t batch = 2;  ///< examples per rank
  UpdateRule rule;
  comm::Backend backend = comm::Backend::kGloo;
  int max_blocks = 0;  ///< maximum thread blocks of NCCL's kernels; 0 uses NCCL's default
  bool communicate = true;
  bool graph = false;  ///< replay the step as a CUDA graph
};

/// Throws std::invalid_argument for an invalid choice. Skips the run if autocast or the optimizer state has no effect,
/// or the step cannot be captured.
DataParallelSettings read_data_parallel(const Context& ctx, const std::string& other_optimizer) {
  DataParallelSettings settings;
  settings.model.name = ctx.text("model");
  settings.model.context = ctx.integer("context");
  settings.model.vocabulary = ctx.integer("vocab_size");
  settings.model.attention = ctx.text("attention");
  settings.model.tied_embedding = ctx.boolean("tied_embedding");
  settings.batch = ctx.integer("batch");
  OperatorSetting& operators = settings.model.operators;
  operators = read_operators(ctx);
  operators.fused_optimizer = other_optimizer.empty();
  skip_unless_supported(ctx, operators, other_optimizer);
  settings.rule.name = ctx.text("optimizer");
  settings.rule.adamw = operators.adamw();
  settings.backend = comm::backend_of(ctx.text("backend"), ctx);
  settings.max_blocks = static_cast<int>(ctx.integer("nccl_blocks"));
  settings.communicate = ctx.boolean("communicate");
  settings.graph = ctx.text("execution") == "graph";
  if (settings.graph && !ctx.is_cuda()) ctx.skip("execution=graph requires device=cuda");
  if (settings.graph && settings.backend != comm::Backend::kNccl)
    ctx.skip("execution=graph requires backend=nccl: calls of Gloo wait on the host, which no graph contains");
  if (settings.graph && other_optimizer.starts_with("wrapped="))
    ctx.skip("execution=graph requires wrapped=configured: optimizers of LibTorch count their steps on the host");
  return settings;
}

/// The exchange with communicate=false.
class NoExchange final : public GradientExchange {
 public:
  explicit NoExchange(std::vector<at::Tensor> parameters) : parameters_(std::move(parameters)) {}
  void begin_step() override { drop_gradients(parameters_); }
  void finish_step() override {}

 private:
  std::vector<at::Tensor> parameters_;
};

/// The exchange of make_flat_exchange().
class FlatExchange final : public GradientExchange {
 public:
  explicit FlatExchange(const Replica& replica) : communicator_(*replica.communicator) {
    for (std::vector<at::Tensor>& same_type : split_by_type(replica.parameters))
      layouts_.emplace_back(std::move(same_type));
    begin_step();  // allocates the buffers
  }

  void begin_step() override {
    for (FlatLayout& layout : layouts_) layout.zero_gradients();
  }
  void finish_step() override {
    for (const FlatLayout& layout : layouts_)
      communicator_.all_reduce(layout.gradients(), comm::Reduction::kAverage)->wait();
  }

 private:
  comm::Communicator& communicator_;
  std::vector<FlatLayout> layouts_;  // one for each type
};

/// Tags the allocations of the gradients, each once even if several share one.
void tag_gradients(const Context& ctx, const std::vector<at::Tensor>& parameters) {
  const void* last = nullptr;
  for (const at::Tensor& parameter : parameters) {
    const at::Tensor& gradient = parameter.grad();
    if (!gradient.defined() || gradient.storage().data() == last) continue;
    last = gradient.storage().data();
    ctx.tag(last, gradient.storage().nbytes(), Block::Gradient);
  }
}

}  // namespace

Replica make_replica(const Context& ctx, TrainedModel& model, comm::Communicator& communicator,
                     const UpdateRule& rule) {
  Replica replica{ctx, model.trained(), &communicator, rule, model.take_master_weights(), &model};
  broadcast_parameters(communicator, model.parameters());
  broadcast_parameters(communicator, replica.master_weights);
  return replica;
}

StepDefinition make_step(TrainedModel& model, const Batch& batch, GradientExchange* exchange, ParameterUpdate& update) {
  StepDefinition step;
  step.loss = [&model, batch](const Context& ctx) { return model.loss(ctx, batch); };
  step.update = [&update] { update.step(); };
  if (!exchange) {
    step.parameters = model.parameters();
    return step;
  }
  step.before_forward = [exchange] { exchange->begin_step(); };
  step.after_backward = [exchange](const Context& ctx) {
    auto phase = libtorch::phase(ctx, "communication");
    exchange->finish_step();
  };
  return step;
}

std::unique_ptr<StepGraph> make_graph(const Context& ctx, const at::Device& device, const StepDefinition& step,
                                      const Batch& batch, ParameterUpdate& update) {
  batch.input.zero_();  // valid tokens
  batch.target.zero_();
  update.warm_up();
  auto graph = std::make_unique<StepGraph>(device, step);
  graph->warm_up(ctx);
  return graph;
}

std::unique_ptr<GradientExchange> make_flat_exchange(const Replica& replica) {
  return std::make_unique<FlatExchange>(replica);
}

struct DataParallelWorkload::State {
  explicit State(const Context& context) : ctx(context) {}

  Context ctx;
  DataParallelSettings settings;
  at::Device device{at::kCPU};
  at::Generator generator;
  std::unique_ptr<comm::Communicator> communicator;  // must outlive its users
  std::unique_ptr<TrainedModel> model;
  std::optional<Replica> replica;
  std::unique_ptr<GradientExchange> exchange;
  std::unique_ptr<ParameterUpdate> update;
  StepDefinition definition;
  std::unique_ptr<StepGraph> graph;  // none in eager execution
  Batch batch, local_batch;          // of all ranks, and this rank's part of it
  at::Tensor loss;
};

DataParallelWorkload::DataParallelWorkload() = default;

DataParallelWorkload::~DataParallelWorkload() noexcept(false) {
  if (state_ && state_->loss.defined() && !state_->ctx.on_meta())
    state_->ctx.metric("loss_last", state_->loss.item<double>());
}

Descriptor DataParallelWorkload::descriptor(const char* name, std::uint32_t order, const char* documentation) {
  return Descriptor{name, documentation}
      .family("data_parallel", order)
      .param(
          "model",
          Choice{"tiny", model_names()}.axis({"small", "medium", "large", "xl"}).title("{}", Shown::Always).setting(),
          "a Transformer size, with 6 parameters per block (query, key and value are one, gate and up are one), or a "
          "perceptron: toy (three layers and a parameter that is never trained), tied (two layers share a weight), "
          "frozen (one layer is not trained)")
      .param("context",
             Int{128}.at_least(1).unit("tokens").axis({128, 256, 512}).title("context {}", Shown::Always).setting(),
             "sequence length; not used by perceptrons")
      .param("vocab_size", Int{10000}.at_least(1).title("vocabulary {}").setting(),
             "vocabulary size; not used by perceptrons")
      .param("batch",
             Int{2}.at_least(1).unit("sequences").axis({1, 2, 4, 8}).title("batch {}", Shown::Always).setting(),
             "sequences (perceptrons: examples) per rank and step")
      .param("dtype", Choice{"fp32", libtorch::dtype_names()}.title("{}", Shown::Always).setting(),
             "data type of weights, gradients and optimizer state")
      .param("optimizer_state", optimizer_state_choice().setting(), kOptimizerStateText)
      .param("autocast", Bool{false}.title(" autocast").setting(), kAutocastText)
      .param("attention", Choice{"naive", transformer::attention_names()}.title("{} attention").setting(),
             "naive: all scores in memory; sdpa: LibTorch's scaled_dot_product_attention")
      .param("tied_embedding", Bool{false}.title(" tied embedding").setting(),
             "Transformers: the head shares the weight of the embedding")
      .param("operators", operators_choice().setting(), kOperatorsText)
      .param("checkpoint", checkpoint_choice().setting(), kCheckpointText)
      .param("checkpoint_blocks", checkpoint_blocks().setting(), kCheckpointBlocksText)
      .param("checkpoint_feed_forward", checkpoint_feed_forward().setting(), kCheckpointFeedForwardText)
      .param("optimizer", Choice{"adamw", rule_names()}.title("{}").setting(), "optimizer; sgd keeps no state")
      .param("backend", Choice{"auto", comm::backend_names()}.title("{}", Shown::Always).setting(),
             "communication backend; auto selects NCCL on GPUs and Gloo on the CPU")
      .param("nccl_blocks", Int{0}.at_least(0).axis({8, 16, 24}).title("{} NCCL blocks"),
             "maximum number of thread blocks of NCCL's kernels, each of which occupies an SM; 0 uses NCCL's default")
      .param("communicate", Bool{true}.title("no exchange"),
             "false: run the same step without communication, so that the ranks train independently")
      .param("execution", Choice{"eager", {"eager", "graph"}}.axis({"eager", "graph"}).title("CUDA {}"),
             "eager, or graph: capture the whole step with its collectives into a CUDA graph and replay it "
             "(backend=nccl only). Step 0 captures in the phases of an eager step, and then replays, as all later "
             "steps do. Before it, three warm-up passes without an update leave the weights unchanged")
      .optional_phases({"forward", "backward", "recompute", "communication", "optimizer", "replay"})
      .uses(Framework::LibTorch)
      .ranks(1);
}

std::unique_ptr<ParameterUpdate> DataParallelWorkload::make_update(const Replica& replica) {
  return make_replicated_update(replica.ctx, replica.rule, replica.parameters, replica.master_weights);
}

std::string DataParallelWorkload::other_optimizer(const Context& ctx) const {
  const std::string name = ctx.text("optimizer");
  return name == "adamw" ? "" : "optimizer=" + name;
}

void DataParallelWorkload::prepare(Context& ctx) {
  state_ = std::make_unique<State>(ctx);
  State& state = *state_;
  state.settings = read_data_parallel(ctx, other_optimizer(ctx));
  state.device = libtorch::select_device(ctx);
  state.communicator = comm::make_communicator(ctx, state.settings.backend, {.max_blocks = state.settings.max_blocks});
  ctx.metric("backend", comm::to_string(state.communicator->backend()));
  make_replica();
  make_training();
  declare();
}

void DataParallelWorkload::make_replica() {
  State& state = *state_;
  const Context& ctx = state.ctx;
  // Each rank starts with different weights, like programs that do not set a seed; the broadcast makes them equal.
  state.model = make_model(state.settings.model, state.device, ctx.seed() + static_cast<std::uint64_t>(ctx.rank()));
  state.replica = training::make_replica(ctx, *state.model, *state.communicator, state.settings.rule);
  for (const at::Tensor& parameter : state.model->parameters()) libtorch::tag(ctx, parameter, Block::Parameter);
  ctx.mark("model_ready");

  state.generator = libtorch::make_generator(state.device, ctx.seed());
  state.batch = state.model->make_batch(state.settings.batch * ctx.world_size());
  state.local_batch = state.batch.part(ctx.rank(), ctx.world_size());
  for (const at::Tensor& tensor : {state.batch.input, state.batch.target}) libtorch::tag(ctx, tensor, Block::Input);
}

void DataParallelWorkload::make_training() {
  State& state = *state_;
  const Context& ctx = state.ctx;
  if (state.settings.communicate)
    state.exchange = make_exchange(*state.replica);
  else
    state.exchange = std::make_unique<NoExchange>(state.replica->parameters);
  state.update = make_update(*state.replica);
  state.replica->master_weights.clear();  // the optimizer holds them, or this rank's shard
  ctx.mark("optimizer_ready");

  state.definition = make_step(*state.model, state.local_batch, state.exchange.get(), *state.update);
  state.definition.autocast = state.settings.model.operators.autocast;
  state.definition.update = [&state] {
    state.ctx.mark("before_optimizer");
    state.update->step();
  };
  state.definition.update_scope = state.settings.rule.name;
  if (!state.settings.graph) return;
  state.graph = make_graph(ctx, state.device, state.definition, state.batch, *state.update);
  ctx.mark("graph_warm");
}

void DataParallelWorkload::declare() {
  const State& state = *state_;
  const Context& ctx = state.ctx;
  double elements = 0, gradient_bytes = 0;
  for (const at::Tensor& parameter : state.model->parameters()) elements += static_cast<double>(parameter.numel());
  for (const at::Tensor& parameter : state.replica->parameters)
    gradient_bytes += static_cast<double>(parameter.nbytes());
  const transformer::ForwardFlops forward = state.model->forward_flops(state.settings.batch);
  if (forward.total() > 0) {
    const PhaseFlops flops = phase_flops(forward, /*has_backward=*/true, state.settings.model.operators.fused.loss);
    ctx.work("forward", flops.forward, 0);
    ctx.work("backward", flops.backward, 0);
    const ModelSetting& model = state.settings.model;
    const transformer::Config config = config_of(model);
    report_recomputation(ctx, model.operators, forward, config.layers, model.attention);
    report_attention(ctx, config, state.settings.batch);
  }
  ctx.metric("parameters", elements);
  ctx.metric("parameter_tensors", static_cast<double>(state.replica->parameters.size()));
  ctx.metric("gradient_bytes", gradient_bytes, "B");
  ctx.metric("tokens_per_step", static_cast<double>(state.settings.batch * state.model->tokens_per_example()),
             "tokens");
  ctx.metric("communicator", state.communicator->description());
}

void DataParallelWorkload::before_step(Context&) { state_->model->draw(state_->batch, state_->generator); }

void DataParallelWorkload::step(Context& ctx) {
  State& state = *state_;
  // The loss stays on the device: reading it would synchronize.
  state.loss = state.graph ? state.graph->run_step(ctx) : run_step(ctx, state.definition);
  ctx.mark("after_optimizer");
  if (ctx.host()->tag) tag_gradients(ctx, state.replica->parameters);
}

Verification DataParallelWorkload::verify(Context& ctx) {
  State& state = *state_;
  if (!state.settings.communicate && ctx.world_size() > 1)
    return Verification::unavailable("with communicate=false, each rank trains on its own part of the batch only");
  Verification result;
  const Strategy strategy{ctx,
                          state.device,
                          state.communicator.get(),
                          [this](const Replica& replica) { return make_exchange(replica); },
                          [this](const Replica& replica) { return make_update(replica); },
                          state.settings.graph};
  expect_equal_to_one_process(result, strategy, state.settings.model, state.settings.batch);
  if (const ModelSetting& model = state.settings.model; is_transformer(model) && model.operators.fused.any()) {
    LanguageModelSetting small;
    static_cast<OperatorSetting&>(small) = model.operators;
    small.attention = model.attention;
    small.mode = model.operators.fused_optimizer ? Mode::kTrain : Mode::kForwardBackward;
    check_language_model(ctx, small, state.device, result);
  }
  before_step(ctx);
  step(ctx);
  if (state.exchange) state.exchange->complete_parameters();
  expect_bitwise_equal(result, "bitwise across ranks after a step of " + state.settings.model.name, ctx,
                       state.model->parameters());
  return result;
}

}  // namespace kymo::training
