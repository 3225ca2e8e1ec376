// SPDX-License-Identifier: Apache-2.0
#include "worker/library_work.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstddef>

#include "analysis/operator_arguments.hpp"

namespace kymo::worker {
namespace {

/// Number of times that this process has loaded or closed a library.
std::uint64_t library_changes() {
  std::uint64_t count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* to) {
        *static_cast<std::uint64_t*>(to) = library->dlpi_adds + library->dlpi_subs;
        return 1;
      },
      &count);
  return count;
}

/// The files of all libraries; an empty name is the program itself.
std::vector<std::string> library_files() {
  std::vector<std::string> files;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* to) {
        static_cast<std::vector<std::string>*>(to)->emplace_back(library->dlpi_name);
        return 0;
      },
      &files);
  return files;
}

kymo_operator_argument argument_of(const analysis::Arguments& all, std::size_t position) {
  kymo_operator_argument argument{};
  argument.dtype = "";
  if (const auto* const tensor = all.tensor(position)) {
    argument.kind = tensor->is_list ? KYMO_TENSOR_LIST : KYMO_TENSOR;
    argument.count = static_cast<std::uint32_t>(tensor->sizes.size());
    argument.values = tensor->sizes.data();
    argument.dtype = tensor->dtype.c_str();
    argument.element_bytes = analysis::element_bytes(tensor->dtype);
    argument.elements = tensor->elements;
    argument.bytes = tensor->bytes;
  } else if (const auto* const integers = all.integers(position)) {
    argument.kind = KYMO_INTEGERS;
    argument.count = static_cast<std::uint32_t>(integers->size());
    argument.values = integers->data();
  }
  return argument;
}

event::CallWork from_library(const kymo_operator_work& stated) {
  const auto kind = stated.kind ? names_of(event::WorkKind{}).find(stated.kind) : std::nullopt;
  if (!kind) return {};
  return {*kind,       stated.dtype ? stated.dtype : "", stated.flops, stated.model_flops, stated.masked_model_flops,
          stated.bytes};
}

}  // namespace

void LibraryWork::add(const event::Texts& texts, const event::Operator& call, std::vector<event::LibraryOpWork>& to) {
  if (call.shapes == event::kNoText) return;
  if (!seen_.insert(std::uint64_t{call.name} << 32 | call.shapes).second) return;
  if (auto work = work_of(texts.text(call.name), texts.text(call.shapes)))
    to.push_back({call.name, call.shapes, std::move(*work)});
}

std::optional<event::CallWork> LibraryWork::work_of(const std::string& name, const std::string& arguments) {
  // A program may load a library between two steps.
  if (const std::uint64_t changes = library_changes(); changes != library_changes_) {
    library_changes_ = changes;
    find_functions();
  }
  if (functions_.empty()) return std::nullopt;
  const analysis::Arguments parsed = analysis::Arguments::parse(arguments).value_or(analysis::Arguments());
  std::vector<kymo_operator_argument> described;
  for (std::size_t i = 0; i < parsed.size(); ++i) described.push_back(argument_of(parsed, i));
  const kymo_operator_call call{name.c_str(), described.data(), static_cast<std::uint32_t>(described.size()), 0};
  for (const auto function : functions_) {
    kymo_operator_work stated{};
    if (function(&call, &stated)) return from_library(stated);
  }
  return std::nullopt;
}

void LibraryWork::find_functions() {
  functions_.clear();
  for (const std::string& file : library_files()) {
    void* const library = dlopen(file.empty() ? nullptr : file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (!library) continue;
    // Also finds the function of a library that this one links.
    const auto function = reinterpret_cast<kymo_operator_work_function>(dlsym(library, KYMO_OPERATOR_WORK_SYMBOL));
    if (function && std::ranges::find(functions_, function) == functions_.end()) functions_.push_back(function);
    dlclose(library);
  }
}

}  // namespace kymo::worker
