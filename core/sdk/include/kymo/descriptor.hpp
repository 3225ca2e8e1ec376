// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Name, parameters, devices and ranks of a workload. `kymo list`, `--help` and parameter validation use this
/// description.
namespace kymo {

enum class Framework { LibTorch };
enum class Device { Cpu = KYMO_CPU, Cuda = KYMO_CUDA };
enum class Shown { UnlessDefault, Always };

/// A parameter as stored by Descriptor. Workloads declare Int, Real, Bool, Text or Choice.
struct Parameter {
  std::uint32_t type = KYMO_TEXT;
  std::string name;
  std::string unit;
  std::string documentation;
  bool boolean = false;
  std::int64_t integer = 0;
  double real = 0;
  std::string text;
  std::optional<double> minimum;
  std::optional<double> maximum;
  std::vector<std::string> choices;
  std::vector<std::string> axis;
  std::string title;
  std::uint32_t flags = 0;
};

namespace detail {

/// Setters common to all parameter types. Each returns the parameter itself, so that calls can be chained.
template <typename Self>
class Typed {
 public:
  /// Sets the unit of the value for display, for example "elements" or "bytes".
  Self& unit(std::string text) {
    parameter_.unit = std::move(text);
    return self();
  }
  /// Sets how titles of runs show the value, with {} for the value, for example "{} MiB". The braces may contain titles
  /// of choices that are spelled differently: "{cudnn=cuDNN|math=unfused}". A title that begins with a space follows
  /// the preceding part of the title without a comma.
  Self& title(std::string format, Shown shown = Shown::UnlessDefault) {
    parameter_.title = std::move(format);
    if (shown == Shown::Always) parameter_.flags |= KYMO_TITLE_AT_DEFAULT;
    return self();
  }
  /// Declares that runs are compared only if they agree on this parameter. Other parameters distinguish variants.
  Self& setting() {
    parameter_.flags |= KYMO_SETTING;
    return self();
  }
  const Parameter& parameter() const { return parameter_; }

 protected:
  Self& self() { return static_cast<Self&>(*this); }
  Parameter parameter_;
};

/// A numeric parameter with inclusive bounds and suggested sweep values.
template <typename Self, typename Number>
class Numeric : public Typed<Self> {
 public:
  Self& at_least(Number bound) {
    this->parameter_.minimum = static_cast<double>(bound);
    return this->self();
  }
  Self& at_most(Number bound) {
    this->parameter_.maximum = static_cast<double>(bound);
    return this->self();
  }
  Self& axis(const std::vector<Number>& values) {
    this->parameter_.axis.clear();
    for (Number value : values) {
      char text[32];
      this->parameter_.axis.emplace_back(text, std::to_chars(text, text + sizeof text, value).ptr);
    }
    return this->self();
  }
};

/// A string parameter with suggested sweep values.
template <typename Self>
class Textual : public Typed<Self> {
 public:
  Self& axis(std::vector<std::string> values) {
    this->parameter_.axis = std::move(values);
    return this->self();
  }
};

}  // namespace detail

/// An integer parameter, for example kymo::Int{1024}.at_least(1).
class Int : public detail::Numeric<Int, std::int64_t> {
 public:
  explicit Int(std::int64_t default_value) {
    parameter_.type = KYMO_INT;
    parameter_.integer = default_value;
  }
};

/// A floating-point parameter, for example kymo::Real{0.5}.at_least(0).at_most(1).
class Real : public detail::Numeric<Real, double> {
 public:
  explicit Real(double default_value) {
    parameter_.type = KYMO_REAL;
    parameter_.real = default_value;
  }
};

class Bool : public detail::Typed<Bool> {
 public:
  explicit Bool(bool default_value) {
    parameter_.type = KYMO_BOOL;
    parameter_.boolean = default_value;
  }
};

class Text : public detail::Textual<Text> {
 public:
  explicit Text(std::string default_value) {
    parameter_.type = KYMO_TEXT;
    parameter_.text = std::move(default_value);
  }
};

/// A parameter with a fixed set of values, for example kymo::Choice{"fp32", {"fp32", "bf16"}}.
class Choice : public detail::Textual<Choice> {
 public:
  Choice(std::string default_value, std::vector<std::string> choices) {
    parameter_.type = KYMO_CHOICE;
    parameter_.text = std::move(default_value);
    parameter_.choices = std::move(choices);
  }
};

/// Return type of a workload's describe(). Names must match [a-z][a-z0-9_]*; the host rejects other names.
class Descriptor {
 public:
  Descriptor(std::string name, std::string documentation)
      : name_(std::move(name)), documentation_(std::move(documentation)) {}

  /// Declares a parameter. `type` is an Int, Real, Bool, Text or Choice with its default value.
  template <typename Type>
  Descriptor& param(std::string name, const Type& type, std::string documentation) {
    Parameter parameter = type.parameter();
    parameter.name = std::move(name);
    parameter.documentation = std::move(documentation);
    parameters_.push_back(std::move(parameter));
    return *this;
  }
  /// Sets the beginning of titles of runs. The default is the name; if empty, titles contain only parameters.
  Descriptor& title(std::string text) {
    title_ = std::move(text);
    return *this;
  }
  /// Adds the workload to a family, whose workloads reports compare in this order. The workload with order 0 is the
  /// baseline of speedups.
  Descriptor& family(std::string name, std::uint32_t order = 0) {
    family_ = std::move(name);
    family_order_ = order;
    return *this;
  }
  /// Declares the phases that partition a step, in execution order. Time outside these phases is reported as "other".
  /// The names "step" and "other" are reserved.
  Descriptor& phases(std::vector<std::string> names) {
    phases_ = std::move(names);
    return *this;
  }
  /// Like phases(), if the parameters decide which of the phases a step enters. Otherwise phases that no step enters
  /// are reported.
  Descriptor& optional_phases(std::vector<std::string> names) {
    phases_are_optional_ = true;
    return phases(std::move(names));
  }
  /// Sets the supported devices. The default is CPU, plus CUDA if the plugin uses LibTorch.
  Descriptor& devices(const std::vector<Device>& kinds) {
    devices_ = 0;
    for (Device kind : kinds) devices_ |= static_cast<std::uint32_t>(kind);
    return *this;
  }
  /// Sets the supported number of ranks. A maximum of 0 means no limit.
  Descriptor& ranks(std::uint32_t minimum, std::uint32_t maximum = 0) {
    min_ranks_ = minimum;
    max_ranks_ = maximum;
    return *this;
  }
  /// Declares the framework. The framework recorded in the plugin's note takes precedence.
  Descriptor& uses(Framework framework) {
    framework_ = framework;
    return *this;
  }
  /// Declares that step() only queues work on the device and never waits for it. Required by timings hot and cold.
  Descriptor& asynchronous() {
    asynchronous_ = true;
    return *this;
  }

  const std::string& name() const { return name_; }
  const std::string& documentation() const { return documentation_; }
  const std::string& title() const { return title_ ? *title_ : name_; }
  const std::string& family() const { return family_; }
  std::uint32_t family_order() const { return family_order_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const std::vector<std::string>& phases() const { return phases_; }
  std::uint32_t devices() const {
    return devices_ ? devices_ : framework_ ? std::uint32_t{KYMO_CPU | KYMO_CUDA} : std::uint32_t{KYMO_CPU};
  }
  std::uint32_t min_ranks() const { return min_ranks_; }
  std::uint32_t max_ranks() const { return max_ranks_; }
  std::optional<Framework> framework() const { return framework_; }
  bool is_asynchronous() const { return asynchronous_; }
  bool phases_are_optional() const { return phases_are_optional_; }

 private:
  std::string name_;
  std::string documentation_;
  std::optional<std::string> title_;
  std::string family_;
  std::uint32_t family_order_ = 0;
  std::vector<Parameter> parameters_;
  std::vector<std::string> phases_;
  std::uint32_t devices_ = 0;
  std::uint32_t min_ranks_ = 1;
  std::uint32_t max_ranks_ = 0;
  std::optional<Framework> framework_;
  bool asynchronous_ = false;
  bool phases_are_optional_ = false;
};

}  // namespace kymo
