// Tuner: one candidate on the device, or predicted where a shortlist works.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/coordinator/tuner.hpp"

namespace evo {

Tuner::Judged Tuner::judge(Slot& slot) {
  Judged judged{{slot.place, slot.planned, slot.is_recorded, slot.ticket}};
  if (slot.is_recorded) {
    // Its prediction is not stored: it is made again.
    if (shortlist_ && !slot.planned.is_returned) {
      judged.predicted_us = harness_.predict(slot.planned.candidate, slot.ticket).predicted_us;
    }
    return judged;
  }
  judged.judgement = judge_new(slot);
  judged.predicted_us = judged.judgement->predicted_us;
  progress_.elapsed_s = milliseconds_between(started_, harness_.clock().now()) / 1e3;
  return judged;
}

Judgement Tuner::judge_new(Slot& slot) {
  set_range(slot);
  if (!shortlist_ || slot.planned.is_returned) return judge_in_turn(slot);
  const Candidate& candidate = slot.planned.candidate;
  if (slot.planned.is_measured) {
    Judgement judgement = harness_.judge(candidate, slot.ticket, give_up_us());
    if (judgement.is_green()) judgement.predicted_us = harness_.forecast(slot.ticket);
    return judgement;
  }
  Judgement judgement = harness_.predict(candidate, slot.ticket);
  if (judgement.rejection || judgement.duplicate || judgement.predicted_us) return judgement;
  // Nothing to rank it by.
  return harness_.judge(candidate, harness_.start(candidate), give_up_us());
}

Judgement Tuner::judge_in_turn(Slot& slot) {
  const Candidate& candidate = slot.planned.candidate;
  const bool is_built = slot.ahead.has_value();
  Judgement judgement =
      is_built ? *std::exchange(slot.ahead, std::nullopt) : harness_.build(candidate, slot.ticket);
  if (judgement.rejection && !slot.is_measured) return judgement;
  if (!harness_.has_device() || !harness_.enter(judgement)) return judgement;
  if (!slot.is_measured) {
    harness_.measure(candidate, judgement, give_up_us());
  } else if (!judgement.rejection && must_be_timed_again(slot, judgement)) {
    harness_.time_anew(candidate, judgement, give_up_us());
  }
  return judgement;
}

/// Whether the elite has changed so since it was measured that its turn may end otherwise: who is
/// no match for the elite is given up and challenges nobody. How soon compilers are done must not
/// decide that.
bool Tuner::must_be_timed_again(const Slot& slot, const Judgement& judgement) const {
  if (harness_.device().time_kind != TimeKind::kMeasured) return false;
  const std::vector<double> now = give_up_us();
  return std::ranges::any_of(judgement.shapes, [&](const ShapeJudgement& on) {
    const double then_us = slot.give_up_us.at(on.shape);
    const double now_us = now.at(on.shape);
    if (!on.timing) return false;
    return on.timing->complete ? now_us < then_us && now_us < on.timing->p50_us : now_us > then_us;
  });
}

/// Of what waits for its turn.
bool Tuner::can_build(const Slot& slot) const {
  return !slot.is_recorded && !slot.ahead && harness_.is_compiled(slot.ticket);
}

void Tuner::build_ahead() {
  constexpr std::size_t kNext = 2;
  if (shortlist_ || !harness_.has_device()) return;
  const std::size_t end = std::min(slots_.size(), 1 + kNext);  // the oldest is on the device
  for (std::size_t i = 1; i < end; ++i) {
    Slot& slot = slots_[i];
    if (can_build(slot)) slot.ahead = harness_.build(slot.planned.candidate, slot.ticket);
  }
}

void Tuner::measure_ahead() {
  if (shortlist_ || !harness_.has_device()) return;
  const auto is_ready = [this](const Slot& slot) {
    return can_build(slot) || (slot.ahead && !slot.is_measured && !slot.waits);
  };
  const Slot& oldest = slots_.front();
  while (!oldest.is_recorded && !oldest.ahead && !harness_.is_compiled(oldest.ticket)) {
    harness_.collect_compiled();
    if (harness_.is_compiled(oldest.ticket)) return;
    const auto next = std::ranges::find_if(slots_, is_ready);
    if (next == slots_.end()) {
      harness_.wait_for_compilers();
    } else {
      measure_ahead(*next);
    }
  }
}

void Tuner::measure_ahead(Slot& slot) {
  set_range(slot);
  if (!slot.ahead) slot.ahead = harness_.build(slot.planned.candidate, slot.ticket);
  const Judgement& built = *slot.ahead;
  slot.waits =
      built.rejection || harness_.knows(built.kernel_key) || is_measured_ahead(built.kernel_key);
  if (slot.waits) return;
  slot.give_up_us = give_up_us();
  harness_.measure(slot.planned.candidate, *slot.ahead, slot.give_up_us);
  slot.is_measured = true;
}

bool Tuner::is_measured_ahead(const std::string& kernel_key) const {
  return std::ranges::any_of(slots_, [&](const Slot& slot) {
    return slot.is_measured && slot.ahead && slot.ahead->kernel_key == kernel_key;
  });
}

std::vector<double> Tuner::give_up_us() const {
  std::vector<double> times_us;
  for (const auto& shape : shapes_) times_us.push_back(shape->give_up_us());
  return times_us;
}

void Tuner::set_range(const Slot& slot) {
  std::vector<std::string> where = ranges(slot.place.generation);
  where.push_back(fmt::format("candidate {}.{}", slot.place.generation, slot.place.position));
  harness_.set_ranges(std::move(where));
}

Planned Tuner::returned(Candidate candidate) {
  Planned planned{std::move(candidate), "shortlist"};
  planned.is_returned = true;
  return planned;
}

void Tuner::tell_shortlist(const Judged& judged, const EvaluationRecord& record) {
  const Planned& planned = judged.slot.planned;
  const bool was_trusted = shortlist_->is_on();
  const bool is_green = record.timing && !record.rejection && !record.duplicate_of;
  if (planned.is_returned) {
    if (is_green) shortlist_->learn_returned(planned.candidate, record.timing->p50_us);
  } else if (judged.predicted_us && is_green) {
    shortlist_->learn(planned.candidate, *judged.predicted_us, record.timing->p50_us);
  } else if (judged.predicted_us && !planned.is_measured) {
    shortlist_->wait(planned.candidate, *judged.predicted_us);
  }
  if (shortlist_->is_on() == was_trusted || !judged.judgement) return;
  store_.record_event(shapes_.front()->run(), "shortlist",
                      fmt::format("predicted times {}: rank correlation {:.2f}",
                                  was_trusted ? "do not rank, all proposals are measured"
                                              : "rank again, a shortlist is measured",
                                  shortlist_->rank_correlation().value_or(0)));
}

}  // namespace evo
