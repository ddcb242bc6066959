// Tuner: one candidate on the device, or predicted where a shortlist works.

#include <fmt/format.h>

#include "engine/coordinator/tuner.hpp"

namespace evo {

Tuner::Judged Tuner::judge(Slot slot) {
  Judged judged{std::move(slot)};
  const bool is_predicted = shortlist_ && !judged.slot.planned.is_returned;
  if (judged.slot.is_recorded) {
    // Its prediction is not stored: it is made again.
    if (is_predicted) {
      judged.predicted_us =
          harness_.predict(judged.slot.planned.candidate, judged.slot.ticket).predicted_us;
    }
    return judged;
  }
  judged.judgement = judge_new(judged.slot);
  judged.predicted_us = judged.judgement->predicted_us;
  progress_.elapsed_s = milliseconds_between(started_, harness_.clock().now()) / 1e3;
  return judged;
}

Judgement Tuner::judge_new(const Slot& slot) {
  std::vector<std::string> where = ranges(slot.place.generation);
  where.push_back(fmt::format("candidate {}.{}", slot.place.generation, slot.place.position));
  harness_.set_ranges(std::move(where));
  const Candidate& candidate = slot.planned.candidate;
  std::vector<double> give_up_us;
  for (const auto& shape : shapes_) give_up_us.push_back(shape->give_up_us());
  if (!shortlist_ || slot.planned.is_returned) {
    return harness_.judge(candidate, slot.ticket, give_up_us);
  }
  if (slot.planned.is_measured) {
    Judgement judgement = harness_.judge(candidate, slot.ticket, give_up_us);
    if (judgement.is_green()) judgement.predicted_us = harness_.forecast(slot.ticket);
    return judgement;
  }
  Judgement judgement = harness_.predict(candidate, slot.ticket);
  if (judgement.rejection || judgement.duplicate || judgement.predicted_us) return judgement;
  return harness_.judge(candidate, harness_.start(candidate), give_up_us);  // nothing to rank it by
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
