// SPDX-License-Identifier: Apache-2.0
#include "store/journal_blocks.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "measure/json_field.hpp"

namespace kymo::store {
namespace {

// Of the offset and the line of a frame.
constexpr std::size_t kFrameHeadBytes = sizeof(event::StackFrame::offset) + sizeof(event::StackFrame::line);

}  // namespace

LibraryOpWorkBlock block_of(const event::LibraryOpWork& work) {
  const event::CallWork& call = work.call;
  LibraryOpWorkBlock block{call.flops.value_or(0),
                           call.model_flops.value_or(0),
                           call.masked_model_flops.value_or(0),
                           call.bytes.value_or(0),
                           work.name,
                           work.arguments,
                           static_cast<std::uint32_t>(call.kind),
                           call.flops ? 1u : 0u,
                           {}};
  block.dtype.set(call.dtype);
  return block;
}

event::LibraryOpWork event_of(const LibraryOpWorkBlock& block) {
  event::LibraryOpWork work{block.name, block.arguments, {}};
  if (block.is_known == 0) return work;
  const auto kind = static_cast<event::WorkKind>(block.kind);
  static_cast<void>(event::to_string(kind));
  work.call = {kind, block.dtype.get(), block.flops, block.model_flops, block.masked_model_flops, block.bytes};
  return work;
}

std::string frame_text(const event::StackFrame& frame) {
  std::string text(kFrameHeadBytes, '\0');
  std::memcpy(text.data(), &frame.offset, sizeof(frame.offset));
  std::memcpy(text.data() + sizeof(frame.offset), &frame.line, sizeof(frame.line));
  return text.append(frame.module).append(1, '\0').append(frame.function);
}

event::StackFrame frame_from(std::string_view text) {
  event::StackFrame frame;
  const std::size_t middle = text.find('\0', kFrameHeadBytes);
  if (text.size() < kFrameHeadBytes || middle == std::string_view::npos)
    throw Error("a frame has " + std::to_string(text.size()) + " bytes, but neither an offset nor a module");
  std::memcpy(&frame.offset, text.data(), sizeof(frame.offset));
  std::memcpy(&frame.line, text.data() + sizeof(frame.offset), sizeof(frame.line));
  frame.module = text.substr(kFrameHeadBytes, middle - kFrameHeadBytes);
  frame.function = text.substr(middle + 1);
  return frame;
}

std::string metric_text(const event::Metric& metric) {
  Json json{{"level", event::to_string(metric.level)},
            {"step", metric.step},
            {"phase", metric.phase},
            {"name", metric.name},
            {"unit", metric.unit},
            {"text", metric.text}};
  if (metric.number) json["number"] = *metric.number;
  return dump_json(json);
}

event::Metric metric_from(std::string_view text) {
  const Json json = parse_json(text, "a metric");
  event::Metric metric;
  metric.level = enum_from<event::MetricLevel>(text_at(json, "level"));
  metric.step = integer_at(json, "step");
  metric.phase = text_at(json, "phase");
  metric.name = text_at(json, "name");
  metric.unit = text_at(json, "unit");
  metric.text = text_at(json, "text");
  // A number that JSON cannot express is written as null.
  if (json.contains("number") && json["number"].is_number()) metric.number = json["number"].get<double>();
  return metric;
}

std::string compilation_text(const event::Compilation& compilation) {
  Json json{{"kind", event::to_string(compilation.kind)},
            {"step", compilation.step},
            {"program_step", compilation.program_step},
            {"start_ns", compilation.start_ns},
            {"duration_ns", compilation.duration_ns},
            {"function", compilation.function},
            {"file", compilation.file},
            {"reason", compilation.reason}};
  if (compilation.inductor_ns) json["inductor_ns"] = *compilation.inductor_ns;
  if (compilation.line) json["line"] = *compilation.line;
  return dump_json(json);
}

event::Compilation compilation_from(std::string_view text) {
  const Json json = parse_json(text, "a compilation");
  event::Compilation compilation;
  compilation.kind = enum_from<event::CompilationKind>(text_at(json, "kind"));
  compilation.step = integer_at(json, "step");
  compilation.program_step = integer_at(json, "program_step");
  compilation.start_ns = integer_at(json, "start_ns");
  compilation.duration_ns = integer_at(json, "duration_ns");
  compilation.function = text_at(json, "function");
  compilation.file = text_at(json, "file");
  compilation.reason = text_at(json, "reason");
  if (json.contains("inductor_ns")) compilation.inductor_ns = integer_at(json, "inductor_ns");
  if (json.contains("line")) compilation.line = integer_at(json, "line");
  return compilation;
}

}  // namespace kymo::store
