// SPDX-License-Identifier: Apache-2.0
#include "worker/phase_recorder.hpp"

#include <exception>

#include "base/clock.hpp"
#include "base/text.hpp"

namespace kymo::worker {

PhaseRecorder::PhaseRecorder(const char* const* names, std::size_t count)
    : names_(names, names + count), times_(count) {}

void PhaseRecorder::observe(std::vector<collect::Collector*> observers, collect::DeviceTimer* boundary,
                            RangeRecorder* ranges) {
  observers_ = std::move(observers);
  boundary_ = boundary;
  ranges_ = ranges;
}

void PhaseRecorder::before_entry(collect::DeviceTimer* device, bool flush, bool hold) {
  prepares_ = device;
  flush_ = flush;
  hold_ = hold;
}

void PhaseRecorder::begin_step() {
  for (PhaseTime& time : times_) time = PhaseTime{};
  set_open(kNone);
  unwound_ = kNone;
  next_ = 0;
  entered_ = kNone;
  in_step_ = true;
}

int PhaseRecorder::find(const char* name) const {
  // Compared by content: a plugin may pass different names at the same address.
  const int count = static_cast<int>(names_.size());
  for (int i = 0; i < count; ++i) {
    const int index = next_ + i < count ? next_ + i : next_ + i - count;
    if (names_[static_cast<std::size_t>(index)] == name) return index;
  }
  return kNone;
}

void PhaseRecorder::set_open(int index) noexcept {
  open_.store(index, std::memory_order_relaxed);
  if (status_page_) status_page_->set_phase(index);
}

bool PhaseRecorder::is_second(int index) const { return one_phase_ && entered_ != kNone && entered_ != index; }

void PhaseRecorder::wait_at_boundary() {
  if (boundary_ && !boundary_->is_capturing(stream_)) boundary_->synchronize();
}

void PhaseRecorder::prepare_stream() {
  // Work captured into a graph does not run now.
  if (prepares_->is_capturing(stream_)) return;
  if (flush_) prepares_->flush(stream_);
  if (hold_) prepares_->block(stream_);
}

kymo_status PhaseRecorder::begin(const char* name, void* stream) noexcept {
  try {
    const int index = name && in_step_ && open() == kNone ? find(name) : kNone;
    if (index == kNone) return reject_begin(name ? name : "");
    if (is_second(index)) {
      return reject("timings hot and cold support one phase, but the step enters phase " + quote(name) + " after " +
                    quote(names_[static_cast<std::size_t>(entered_)]) +
                    "; choose parameters with a single phase or use --timing sync");
    }
    if (entered_ == kNone) entered_ = index;
    stream_ = stream;
    wait_at_boundary();
    PhaseTime& time = times_[static_cast<std::size_t>(index)];
    if (prepares_ && time.calls == 0) prepare_stream();
    for (collect::Collector* observer : observers_) observer->phase_begin(static_cast<std::size_t>(index), stream);
    set_open(index);
    next_ = index + 1 < static_cast<int>(names_.size()) ? index + 1 : 0;
    if (ranges_) ranges_->begin_phase(index, names_[static_cast<std::size_t>(index)]);
    begun_ns_ = now_ns();
    if (time.calls++ == 0) time.start_ns = begun_ns_;
    return KYMO_OK;
  } catch (const std::exception& error) {
    return reject(error.what());
  }
}

kymo_status PhaseRecorder::end() noexcept {
  try {
    const int index = open();
    if (index == kNone) return reject("a phase ends although no phase is open");
    if (!boundary_) times_[static_cast<std::size_t>(index)].host_ns += now_ns() - begun_ns_;
    if (ranges_) ranges_->end_phase();
    for (collect::Collector* observer : observers_) observer->phase_end();
    if (boundary_) {
      wait_at_boundary();
      times_[static_cast<std::size_t>(index)].host_ns += now_ns() - begun_ns_;
    }
    if (std::uncaught_exceptions() == 0)
      unwound_ = kNone;
    else if (unwound_ == kNone)
      unwound_ = index;
    set_open(kNone);
    return KYMO_OK;
  } catch (const std::exception& error) {
    return reject(error.what());
  }
}

void PhaseRecorder::end_step(bool succeeded) {
  in_step_ = false;
  if (succeeded && open() != kNone)
    reject("phase " + quote(current()) + " is still open at the end of the step; end it before step() returns");
}

std::string PhaseRecorder::current() const {
  const int index = open() != kNone ? open() : unwound_;
  return index == kNone ? "" : names_[static_cast<std::size_t>(index)];
}

kymo_status PhaseRecorder::reject(std::string violation) {
  if (violation_.empty()) violation_ = std::move(violation);
  return KYMO_FAILED;
}

kymo_status PhaseRecorder::reject_begin(const char* name) {
  if (!in_step_) return reject("phase " + quote(name) + " begins outside a step; phases are only allowed in step()");
  if (open() != kNone)
    return reject("phase " + quote(name) + " begins inside phase " + quote(current()) + "; phases cannot be nested");
  return reject("phase " + quote(name) + " was not declared" + suggestion(name, names_));
}

}  // namespace kymo::worker
