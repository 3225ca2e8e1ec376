// SPDX-License-Identifier: Apache-2.0
#include "unit/store/event_record.hpp"

#include "unit/store/fixture.hpp"

namespace kymo::store::testing {
namespace {

using namespace event;

Activity activity(ActivityKind kind, TextId name, std::int32_t step, std::int64_t start_ns) {
  Activity made;
  made.kind = kind;
  made.name = name;
  made.step = step;
  made.start_ns = start_ns;
  made.end_ns = start_ns + 50;
  made.correlation_id = 4'000'000'000;
  made.stream = 7;
  return made;
}

void add_activities(Trace& trace) {
  const TextId block = trace.texts.intern("block_0/attention");
  Activity first = activity(ActivityKind::kKernel, trace.texts.intern(kHostileName), 2, 10'100);
  first.phase = 0;
  first.scope = block;
  first.attribution = Attribution::kLaunch;
  first.op = 0;
  Activity copy = activity(ActivityKind::kMemcpy, trace.texts.intern("memcpy host to device"), 2, 10'200);
  copy.bytes = 1 << 20;
  copy.attribution = Attribution::kPhase;
  copy.phase = 1;
  Activity set = activity(ActivityKind::kMemset, trace.texts.intern("memset"), -1, 10'300);
  set.bytes = 64;
  Activity second = activity(ActivityKind::kKernel, kNoText, 3, 15'100);
  second.graph_node = (1ull << 40) + 3;
  second.attribution = Attribution::kGraph;
  second.shape = 1;
  trace.activities = {first, copy, set, second};
  trace.shapes = {{{4, 2, 1}, {256, 1, 1}, 1024, 2048, 168}, {{1, 1, 1}, {32, 1, 1}, 0, 0, 16}};
}

void add_ranges(Trace& trace) {
  Range phase;
  phase.is_phase = true;
  phase.name = trace.texts.intern("forward");
  phase.step = 2;
  phase.phase = 0;
  phase.start_ns = 10'010;
  phase.end_ns = 10'500;
  Range scope = phase;
  scope.is_phase = false;
  scope.parent = 0;
  scope.name = trace.texts.intern("attention");
  scope.path = trace.texts.intern("block_0/attention");
  scope.thread = 1;
  scope.end_ns = -1;
  Range outside;
  outside.name = outside.path = trace.texts.intern("load");
  outside.start_ns = 5;
  outside.end_ns = 6;
  trace.ranges = {phase, scope, outside};
}

void add_calls(Trace& trace) {
  trace.api_calls = {{10'020, 10'030, trace.texts.intern("cudaLaunchKernel"), 4'000'000'000, 77},
                     {20, 30, kNoText, 1, 77}};
  trace.synchronizations = {{"stream", 10'400, 10'450, 7, 12}, {"context", 40, 45, -1, 13}};
  trace.overhead_records = {{"buffer flush", 10'460, 10'470}, {"lazy loading", 50, 51}};
  trace.clock_syncs = {{"device", 1, 1'000, 50}};
  Operator outer;
  outer.start_ns = 10'015;
  outer.end_ns = 10'090;
  outer.name = trace.texts.intern("aten::mm");
  outer.shapes = trace.texts.intern("[4, 256] [256]");
  outer.position.step = 2;
  outer.position.phase = 0;
  outer.position.thread = 1;
  outer.sequence = 9;
  outer.attribution = Attribution::kLaunch;
  outer.scope = trace.texts.intern("block_0/attention");
  outer.self_ns = 60;
  Operator inner;
  inner.start_ns = 10'020;
  inner.parent = 0;
  inner.name = trace.texts.intern("MmBackward0");
  inner.backward = true;
  trace.operators = {outer, inner};
}

void add_collectives(Trace& trace) {
  Collective reduced;
  reduced.communicator = trace.texts.intern(kHostileName);
  reduced.sequence = 17;
  reduced.bytes = std::int64_t{1} << 40;
  reduced.on_device = true;
  reduced.enqueue_ns = 10'040;
  reduced.returned_ns = 10'060;
  reduced.start_ns = 10'100;
  reduced.end_ns = 10'150;
  reduced.kernels = 1;
  reduced.position.step = 2;
  reduced.position.phase = 1;
  reduced.scope = trace.texts.intern("block_0/attention");
  reduced.attribution = Attribution::kAutograd;
  Collective open;
  open.operation = CollectiveOperation::kBarrier;
  open.enqueue_ns = open.start_ns = 40;
  trace.collectives = {reduced, open};
}

void add_derived(PassRecord& record) {
  Texts& texts = record.trace.texts;
  Derived& derived = record.derived;
  derived.kernel_classes = {{texts.intern(kHostileName), "kernel", "matmul"}};
  derived.scope_paths = {{texts.intern("block_0/attention"), "block/attention", 2}};
  derived.kernel_totals = {{ActivityKind::kKernel, 0, texts.intern("block_0/attention"), texts.intern(kHostileName),
                            Attribution::kLaunch, 2, 1, 0, 50, 50, 50, 3, 7},
                           {ActivityKind::kMemcpy, 1, kNoText, texts.intern("memcpy host to device"),
                            Attribution::kPhase, 2, 1, 1 << 20, 50, 50, 50}};
  derived.op_totals = {{0, texts.intern("block_0/attention"), texts.intern("aten::mm"), false, 2, 1, 75, 60, 1, 50}};
  derived.step_activity = {{2, "forward", false, 10'100, 10'250, 2, 50, 50, 0, 0, 0, 50, 50, 50, 1, 50}};
  derived.idle_totals = {{1, texts.intern("block_0/attention"), event::HostWork::kOperator, 2, 3, 400, 100},
                         {-1, kNoText, event::HostWork::kHostCode, 2, 0, 1, 0}};
  derived.outliers = {{0, 8, 10, 40.5, true, 0, 90, 1980}, {99, 8, 10, 40.5, true, 0, 90, std::nullopt}};
}

void add_memory(PassRecord& record) {
  Memory& memory = record.memory_trace;
  memory.frames = {{"libx.so", 64, "void f<'>()"}, {"liby.so", 128, ""}, {"libz.so", 1, "never called"}};
  memory.stacks = {{0, 1}, {2}};
  memory.device = {{1, "before cuda", -1, 100, std::nullopt}, {10'200, "", 2, 300, 200}, {15'200, "", 3, 400, 200}};
  Derived& derived = record.derived;
  Allocation early;  // alive in step 2
  early.sequence = 0;
  early.device = MemoryDevice::kCuda;
  early.address = 0xFFFF'FFFF'FFFF'FE00;
  early.requested_bytes = 500;
  early.allocated_bytes = 512;
  early.alloc_ns = 10;
  early.category = MemoryCategory::kParameter;
  early.category_source = "tag";
  early.stack = 0;
  Allocation brief = early;  // freed before step 2
  brief.sequence = 1;
  brief.free_ns = 20;
  brief.reusable_ns = 25;
  brief.free_sequence = 2;
  brief.reusable_sequence = 3;
  brief.step = 0;
  brief.phase = 0;
  brief.scope = record.trace.texts.intern("block_0/attention");
  brief.free_step = 0;
  brief.free_phase = 1;
  brief.op = record.trace.texts.intern("aten::mm");
  brief.category = MemoryCategory::kUnknown;
  brief.category_source = "";
  brief.stack = 1;
  derived.allocations = {early, brief};
  derived.segments = {{4, 0x1000, 2 << 20, 0, 9, std::nullopt, std::nullopt}, {5, 0x2000, 2 << 20, 0, 9, 12, 6}};
  derived.memory_points = {{0, MemoryDevice::kCuda, 10, -1, -1, {500, 512, 512, 2 << 20}},
                           {7, MemoryDevice::kCpu, 10'200, 2, 1, {1, 2, 3, 4}}};
  derived.memory_phases = {
      {MemoryDevice::kCuda, 2, "forward", false, 512, 600, {1, 2, 3, 4}, 10'300, {1, 2, 3, 4, 5, 6}}};
  derived.memory_phases[0].category_bytes[static_cast<std::size_t>(MemoryCategory::kUnknown)] = 7;
  derived.memory_parts = {{MemoryDevice::kCuda, MemoryCategory::kParameter, "outside", "", 512},
                          {MemoryDevice::kCuda, MemoryCategory::kUnknown, "backward", "block_*", 7}};
  Texts& texts = record.trace.texts;
  record.hardware_counts = {{2, -1, kNoText, texts.intern("dram__bytes_read.sum"), 1, 2.5},
                            {2, 1, texts.intern("block_0/attention"), texts.intern("dram__bytes_read.sum"), 2, 1.5}};
  record.kernel_counts = {{0, -1, texts.intern(kHostileName), texts.intern("dram__bytes_read.sum"), 2, 2.5},
                          {0, 1, texts.intern(kHostileName), texts.intern("dram__bytes_write.sum"), 1, 1.5}};
  derived.line_totals = {{texts.intern(kHostileName), 7, texts.intern("Model.forward"), 1, true, "operator", 2, 4, 60},
                         {kNoText, -1, kNoText, -1, false, "kernel", 2, 2, 50}};
  derived.kept_tensors = {
      {2, false, texts.intern("MulBackward0"), texts.intern("block_0/attention"), texts.intern("f32[4]"), 16, 0, 64, 64,
       KeptMemory::kActivation},
      {2, true, texts.intern("MulBackward0"), kNoText, texts.intern("f32[4]"), 16, 1, 64, 0, KeptMemory::kOther}};
}

/// The text for a numbered value in column `column`; empty for NULL.
std::string text(const std::string& column) {
  return "coalesce((SELECT text FROM string WHERE string_id = t." + column + "), '')";
}

}  // namespace

event::PassRecord make_event_record(const std::vector<std::string>& first_texts) {
  PassRecord record = make_record(4);
  for (const std::string& each : first_texts) record.trace.texts.intern(each);
  record.trace.phases = {"forward", "backward"};
  record.trace.texts.intern("a text that nothing refers to");
  record.trace_status = "events only";
  add_ranges(record.trace);
  add_activities(record.trace);
  add_calls(record.trace);
  add_collectives(record.trace);
  add_derived(record);
  add_memory(record);
  return record;
}

std::vector<TableContent> event_contents() {
  const std::string h = kHostileName;
  const std::string of_activity = text("name_id") + ", start_ns, end_ns, stream, correlation_id, step, " +
                                  text("phase_id") + ", " + text("scope_id") + ", attribution, graph_node, op";
  return {
      {"range",
       "parent, kind, " + text("name_id") + ", " + text("scope_id") + ", step, " + text("phase_id") +
           ", thread, start_ns, end_ns",
       "NULL|phase|forward||2|forward|0|10010|10500;0|scope|attention|block_0/"
       "attention|2|forward|1|10010|NULL;NULL|scope|load|load|-1||0|5|6"},
      {"launch_config",
       "launch_config, grid_x, grid_y, grid_z, block_x, block_y, block_z, static_shared_bytes, dynamic_shared_bytes, "
       "registers",
       "0|4|2|1|256|1|1|1024|2048|168;1|1|1|1|32|1|1|0|0|16"},
      {"gpu_activity", "sequence, launch_config, bytes", "0|0|NULL;1|NULL|1048576;2|NULL|64;3|1|NULL"},
      {"kernel", "sequence, launch_config, " + of_activity,
       "0|0|" + h +
           "|10100|10150|7|4000000000|2|forward|block_0/attention|launch|NULL|0;"
           "3|1|(unnamed)|15100|15150|7|4000000000|3|||graph|1099511627779|NULL"},
      {"memcpy", "sequence, bytes, " + of_activity,
       "1|1048576|memcpy host to device|10200|10250|7|4000000000|2|backward||phase|NULL|NULL"},
      {"memset", "sequence, bytes, " + of_activity, "2|64|memset|10300|10350|7|4000000000|-1|||none|NULL|NULL"},
      {"api_call", text("name_id") + ", start_ns, end_ns, thread, correlation_id",
       "cudaLaunchKernel|10020|10030|77|4000000000;(unnamed)|20|30|77|1"},
      {"synchronization", "kind, start_ns, end_ns, stream, correlation_id",
       "stream|10400|10450|7|12;context|40|45|NULL|13"},
      {"cupti_overhead", "kind, start_ns, end_ns", "buffer flush|10460|10470;lazy loading|50|51"},
      {"clock_sync", "clock, host_ns, clock_ns, error_ns", "device|1|1000|50"},
      {"op",
       "parent, " + text("name_id") + ", " + text("shapes_id") +
           ", backward, start_ns, end_ns, self_ns, thread, autograd_sequence, step, " + text("phase_id") + ", " +
           text("scope_id") + ", attribution",
       "NULL|aten::mm|[4, 256] "
       "[256]|0|10015|10090|60|1|9|2|forward|block_0/attention|launch;0|MmBackward0||1|10020|NULL|0|0|NULL|-1|||none"},
      {"collective",
       "sequence, " + text("communicator_id") +
           ", call_number, operation, bytes, on_device, enqueue_ns, returned_ns, start_ns, end_ns, kernels, step, " +
           text("phase_id") + ", " + text("scope_id") + ", attribution",
       "0|" + h +
           "|17|all_reduce|1099511627776|1|10040|10060|10100|10150|1|2|backward|block_0/attention|autograd;"
           "1|(unnamed)|0|barrier|0|0|40|NULL|40|NULL|0|-1|||none"},
      {"kernel_total",
       "kind, " + text("phase_id") + ", " + text("scope_id") + ", " + text("name_id") +
           ", attribution, steps, calls, bytes, total_ns, min_ns, max_ns",
       "kernel|forward|block_0/attention|" + h +
           "|launch|2|1|0|50|50|50;memcpy|backward||memcpy host to device|phase|2|1|1048576|50|50|50"},
      {"kernel_count",
       "launch, " + text("phase_id") + ", " + text("kernel_id") + ", " + text("name_id") + ", steps, value",
       "0||" + h + "|dram__bytes_read.sum|2|2.5;0|backward|" + h + "|dram__bytes_write.sum|1|1.5"},
      {"line_total",
       text("file_id") + ", line, " + text("function_id") + ", " + text("phase_id") +
           ", of_forward, kind, steps, calls, total_ns",
       h + "|7|Model.forward|backward|1|operator|2|4|60;|NULL|||0|kernel|2|2|50"},
      {"op_total",
       text("phase_id") + ", " + text("scope_id") + ", " + text("name_id") +
           ", backward, steps, calls, host_ns, self_host_ns, kernels, device_ns",
       "forward|block_0/attention|aten::mm|0|2|1|75|60|1|50"},
      {"step_activity",
       "step, phase, warmup, start_ns, end_ns, kernels, kernel_ns, compute_ns, comm_ns, overlap_ns, exposed_comm_ns, "
       "copy_ns, "
       "exposed_copy_ns, "
       "idle_ns, gaps, longest_gap_ns",
       "2|forward|0|10100|10250|2|50|50|0|0|0|50|50|50|1|50"},
      {"idle_total",
       "sequence, " + text("phase_id") + ", " + text("scope_id") + ", activity, steps, gaps, total_ns, after_copy_ns",
       "0|backward|block_0/attention|operator|2|3|400|100;1|||host code|2|0|1|0"},
      {"kernel_outlier",
       "sequence, " + text("name_id") + ", step, " + text("phase_id") + ", " + text("scope_id") +
           ", duration_ns, group_size, group_median_ns, deviation, first_use, concurrent, gap_before_ns, sm_clock_mhz",
       "0|" + h + "|2|forward|block_0/attention|50|8|10|40.5|1|0|90|1980"},
      {"allocation",
       "device, address, requested_bytes, allocated_bytes, alloc_ns, free_ns, reusable_ns, free_sequence, "
       "reusable_sequence, stream, "
       "thread, "
       "step, " +
           text("phase_id") + ", " + text("scope_id") + ", free_step, " + text("free_phase_id") + ", " + text("op_id") +
           ", category, category_source, stack",
       "cuda|-512|500|512|10|NULL|NULL|NULL|NULL|0|0|-1|||NULL|||parameter|tag|0;"
       "cuda|-512|500|512|10|20|25|2|3|0|0|0|forward|block_0/attention|0|backward|aten::mm|unknown||1"},
      {"segment", "sequence, address, bytes, stream, alloc_ns, free_ns, free_sequence",
       "4|4096|2097152|0|9|NULL|NULL;5|8192|2097152|0|9|12|6"},
      {"memory_point",
       "device, time_ns, step, " + text("phase_id") +
           ", requested_bytes, allocated_bytes, active_bytes, reserved_bytes",
       "cuda|10|-1||500|512|512|2097152;cpu|10200|2|backward|1|2|3|4"},
      {"memory_phase",
       "device, step, phase, warmup, begin_allocated_bytes, end_allocated_bytes, peak_requested_bytes, "
       "peak_allocated_bytes, "
       "peak_active_bytes, peak_reserved_bytes, peak_ns",
       "cuda|2|forward|0|512|600|1|2|3|4|10300"},
      {"memory_phase_category", "device, step, phase, category, bytes",
       "cuda|2|forward|activation|4;cuda|2|forward|gradient|2;cuda|2|forward|input|6;cuda|2|forward|optimizer_state|3;"
       "cuda|2|forward|parameter|1;cuda|2|forward|unknown|7;cuda|2|forward|workspace|5"},
      {"memory_part", "device, category, phase, scope, bytes",
       "cuda|parameter|outside||512;cuda|unknown|backward|block_*|7"},
      {"device_memory", "time_ns, stage, step, used_bytes, process_bytes",
       "1|before cuda|-1|100|NULL;10200||2|300|200;15200||3|400|200"},
      {"saved_tensor",
       "sequence, step, nested, " + text("node_id") + ", " + text("scope_id") + ", " + text("type_id") +
           ", bytes, storage, storage_bytes, counted_bytes, memory",
       "0|2|0|MulBackward0|block_0/attention|f32[4]|16|0|64|64|activation;"
       "1|2|1|MulBackward0||f32[4]|16|1|64|0|other"},
      {"stack", "stack, depth, frame", "0|0|0;0|1|1;1|0|2"},
      {"stack_frame", "frame, module, offset, " + text("function_id"),
       "0|libx.so|64|void f<'>();1|liby.so|128|;2|libz.so|1|never called"},
  };
}

}  // namespace kymo::store::testing
