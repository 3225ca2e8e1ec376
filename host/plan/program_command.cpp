// SPDX-License-Identifier: Apache-2.0
#include "plan/program_command.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "plan/option_text.hpp"

namespace kymo::plan {
namespace {

using Words = std::vector<std::string>;

std::string in_shell(Words::const_iterator begin, Words::const_iterator end) {
  Words words;
  std::transform(begin, end, std::back_inserter(words), shell_word);
  return join(words, " ");
}

bool is_python(const std::string& word) {
  const std::string name = std::filesystem::path(word).filename();
  return name.starts_with("python") || name.starts_with("pypy");
}

bool is_script(const std::string& word) { return word.ends_with(".py") && !word.starts_with('-'); }

/// The script that a program other than Python is given. What follows -c is a command of a shell, and so are, for other
/// programs that start one, several words in one that are no file.
Words::const_iterator script_among(Words::const_iterator word, Words::const_iterator end) {
  for (; word != end; ++word) {
    if (*word == "-c" && word + 1 != end)
      ++word;
    else if (is_script(*word) &&
             (word->find_first_of(" \t\n;|&<>") == std::string::npos || std::filesystem::is_regular_file(*word)))
      return word;
  }
  return end;
}

/// A script, or what Python runs of a folder.
std::filesystem::path existing_script(const std::string& word) {
  const std::filesystem::path main = std::filesystem::path(word) / "__main__.py";
  const std::filesystem::path file = std::filesystem::is_regular_file(main) ? main : std::filesystem::path(word);
  if (!std::filesystem::is_regular_file(file)) throw UsageError("there is no script " + quote(word));
  return std::filesystem::absolute(file);
}

/// The first word after the options of the interpreter; `end` if they take the place of a script.
Words::const_iterator after_options(Words::const_iterator word, Words::const_iterator end, ProgramCommand& parsed) {
  for (; word != end && word->starts_with('-') && *word != "-"; ++word) {
    const bool has_value = *word == "-W" || *word == "-X";
    if (*word != "-m" && *word != "-c") {
      if (has_value && word + 1 != end) ++word;
      continue;
    }
    if (word + 1 == end) throw UsageError("python " + *word + " needs a value");
    parsed.name = *word == "-m" ? word[1] : "python -c";
    parsed.arguments = *word == "-m" ? in_shell(word + 2, end) : in_shell(word + 1, end);
    return word + 2;
  }
  return word;
}

bool is_launcher(const std::string& module) {
  return module == "torch.distributed.run" || module == "torch.distributed.launch" ||
         module == "accelerate.commands.launch";
}

bool is_launching_program(const std::string& word) {
  const std::string name = std::filesystem::path(word).filename();
  return name == "torchrun" || name == "accelerate" || name == "deepspeed";
}

/// The number of processes that a launcher is asked to start, if it is a plain number.
std::optional<std::int64_t> ranks_of(Words::const_iterator word, Words::const_iterator end) {
  for (; word != end; ++word) {
    std::string name = word->substr(0, word->find('='));
    std::ranges::replace(name, '_', '-');
    if (name != "--nproc-per-node") continue;
    const bool has_value = word->find('=') != std::string::npos;
    if (!has_value && word + 1 == end) break;
    const auto count = parse_integer(has_value ? word->substr(word->find('=') + 1) : word[1]);
    if (count && *count > 0 && *count <= kMaxRanks) return *count;
    break;
  }
  return std::nullopt;
}

}  // namespace

bool starts_python(const std::vector<std::string>& command) {
  if (command.empty()) return false;
  if (!is_python(command.front())) return is_script(command.front()) || is_launching_program(command.front());
  ProgramCommand parsed;
  const auto script = after_options(command.begin() + 1, command.end(), parsed);
  return parsed.name.empty() ? script != command.end() && is_script(*script) : parsed.name != "python -c";
}

ProgramCommand parse_program_command(const std::vector<std::string>& command) {
  if (command.empty() || command.front().empty())
    throw UsageError("a program is required: kymo trace [OPTIONS] -- python train.py");
  if (!find_program(command.front())) throw UsageError("there is no program " + quote(command.front()));
  ProgramCommand parsed;
  auto word = command.begin() + 1;
  if (is_python(command.front())) {
    parsed.python = command.front();
    word = after_options(word, command.end(), parsed);
    if (!parsed.name.empty() && !is_launcher(parsed.name)) return parsed;
    if (parsed.name.empty()) {
      if (word == command.end())
        throw UsageError("python without a script cannot be observed; python - reads one from stdin");
      parsed.name = *word == "-" ? "python -" : (std::filesystem::path(*word) / "").parent_path().filename().string();
      if (*word != "-") parsed.file = existing_script(*word);
      parsed.arguments = in_shell(word + 1, command.end());
      return parsed;
    }
  }
  // A launcher, or a script in another language.
  if (const auto script = script_among(word, command.end()); script != command.end()) {
    parsed.name = std::filesystem::path(*script).filename();
    parsed.file = existing_script(*script);
    parsed.arguments = in_shell(script + 1, command.end());
    parsed.ranks = ranks_of(word, script);
    return parsed;
  }
  const std::filesystem::path program = find_program(command.front()).value();
  if (is_script(command.front())) parsed.file = std::filesystem::absolute(program);
  parsed.name = program.filename();
  parsed.arguments = in_shell(command.begin() + 1, command.end());
  return parsed;
}

}  // namespace kymo::plan
