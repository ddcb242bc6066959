#include "engine/evaluate/evaluation.hpp"

#include <algorithm>

namespace evo {

const ShapeEvaluation* Evaluation::on(std::size_t shape) const {
  const auto found = std::ranges::find(shapes, shape, &ShapeEvaluation::shape);
  return found == shapes.end() ? nullptr : &*found;
}

void Evaluation::take_measurements(const Evaluation& other) {
  checks = other.checks;
  rejection = other.rejection;
  only_quick_check = other.only_quick_check;
  was_run = other.was_run;
  check_ms = other.check_ms;
  for (ShapeEvaluation& here : shapes) {
    const ShapeEvaluation* there = other.on(here.shape);
    if (there == nullptr) continue;
    here.timing = there->timing;
    here.place = there->place;
    here.gpu = there->gpu;
    here.energy = there->energy;
    here.time_ms = there->time_ms;
    here.early_stop_us = there->early_stop_us;
  }
}

void Evaluation::become_duplicate() {
  Evaluation nothing{candidate};
  for (const ShapeEvaluation& here : shapes) nothing.shapes.push_back({.shape = here.shape});
  take_measurements(nothing);
  duplicate = true;
}

}  // namespace evo
