#include "engine/core/measurement.hpp"

#include "engine/core/error.hpp"

namespace evo {

std::string_view to_string(TimeKind kind) {
  return kind == TimeKind::kMeasured ? "measured" : "predicted";
}

TimeKind time_kind_from_string(std::string_view text) {
  if (text == "measured") return TimeKind::kMeasured;
  if (text == "predicted") return TimeKind::kPredicted;
  throw InputError("unknown kind of time '" + std::string(text) +
                   "'; allowed: measured, predicted");
}

}  // namespace evo
