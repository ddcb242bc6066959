#include "db/records.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/core/error.hpp"

namespace evo {
namespace {

template <typename Value, std::size_t kCount>
using Names = std::array<std::pair<Value, std::string_view>, kCount>;

constexpr Names<RunStatus, 4> kStatusNames = {{{RunStatus::kRunning, "running"},
                                               {RunStatus::kFinished, "finished"},
                                               {RunStatus::kInterrupted, "interrupted"},
                                               {RunStatus::kFailed, "failed"}}};
constexpr Names<Verdict, 3> kVerdictNames = {
    {{Verdict::kFaster, "faster"}, {Verdict::kSlower, "slower"}, {Verdict::kTie, "tie"}}};

template <typename Value, std::size_t kCount>
Value value_of(const Names<Value, kCount>& names, const char* kind, std::string_view text) {
  for (const auto& [value, name] : names) {
    if (name == text) return value;
  }
  throw InputError("unknown " + std::string(kind) + " '" + std::string(text) + "'");
}

}  // namespace

bool is_recording(const RunInfo& run) {
  return nlohmann::json::parse(run.options_json).value("aim", "") == "record";
}

std::string_view to_string(RunStatus status) {
  return kStatusNames.at(static_cast<std::size_t>(status)).second;
}

RunStatus run_status_from_string(std::string_view text) {
  return value_of(kStatusNames, "status", text);
}

std::string_view to_string(Verdict verdict) {
  return kVerdictNames.at(static_cast<std::size_t>(verdict)).second;
}

Verdict verdict_from_string(std::string_view text) {
  return value_of(kVerdictNames, "verdict", text);
}

}  // namespace evo
