#include "engine/study/recorded_space.hpp"

#include <algorithm>

#include "engine/core/error.hpp"

namespace evo {
namespace {

/// If the parameters have at most this number of combinations of values, a direct table (16 MB)
/// finds a candidate's entry; otherwise a hash table does.
constexpr double kLargestTable = 4'000'000;

std::string shown(const Recording& recording, const Candidate& candidate) {
  std::string text;
  for (std::size_t p = 0; p < candidate.choice.size(); ++p) {
    text += (p == 0 ? "" : ", ") + recording.parameters[p].name + "=" +
            recording.parameters[p].values[candidate.choice[p]].text;
  }
  return text;
}

}  // namespace

RecordedSpace::RecordedSpace(Recording recording) : recording_(std::move(recording)) {
  double product = 1;
  std::uint64_t stride = 1;
  for (const RecordedParameter& parameter : recording_.parameters) {
    strides_.push_back(stride);
    stride *= parameter.values.size();
    product *= static_cast<double>(parameter.values.size());
    ordered_.push_back(std::all_of(parameter.values.begin(), parameter.values.end(),
                                   [](const RecordedValue& v) { return v.number.has_value(); }));
  }
  if (product > 9e18)
    throw SpaceError(recording_.name + ": the parameters have more than 9e18 combinations");
  if (product <= kLargestTable) dense_.assign(static_cast<std::size_t>(product), 0);
  for (std::size_t i = 0; i < recording_.entries.size(); ++i) {
    const RecordedEntry& entry = recording_.entries[i];
    if (find(entry.candidate)) {
      throw SpaceError(recording_.name + ": a configuration is recorded twice: " +
                       shown(recording_, entry.candidate));
    }
    std::uint64_t key = 0;
    for (std::size_t p = 0; p < strides_.size(); ++p)
      key += strides_[p] * entry.candidate.choice[p];
    const auto position = static_cast<std::uint32_t>(i + 1);
    if (dense_.empty()) {
      sparse_[key] = position;
    } else {
      dense_[key] = position;
    }
    if (entry.time_ms) sorted_times_ms_.push_back(*entry.time_ms);
  }
  if (sorted_times_ms_.empty()) throw SpaceError(recording_.name + ": no configuration ran");
  std::sort(sorted_times_ms_.begin(), sorted_times_ms_.end());
}

std::optional<std::size_t> RecordedSpace::find(const Candidate& candidate) const {
  if (candidate.choice.size() != strides_.size()) return std::nullopt;
  std::uint64_t key = 0;
  for (std::size_t p = 0; p < strides_.size(); ++p) {
    if (candidate.choice[p] >= recording_.parameters[p].values.size()) return std::nullopt;
    key += strides_[p] * candidate.choice[p];
  }
  std::uint32_t position = 0;
  if (!dense_.empty()) {
    position = dense_[key];
  } else if (const auto found = sparse_.find(key); found != sparse_.end()) {
    position = found->second;
  }
  return position == 0 ? std::nullopt : std::optional<std::size_t>(position - 1);
}

std::size_t RecordedSpace::parameter_count() const { return recording_.parameters.size(); }

std::size_t RecordedSpace::value_count(std::size_t parameter) const {
  return recording_.parameters[parameter].values.size();
}

bool RecordedSpace::is_ordered(std::size_t parameter) const { return ordered_[parameter]; }

std::string_view RecordedSpace::parameter_name(std::size_t parameter) const {
  return recording_.parameters[parameter].name;
}

std::string RecordedSpace::value_text(std::size_t parameter, std::size_t value) const {
  return recording_.parameters[parameter].values[value].text;
}

bool RecordedSpace::is_valid(const Candidate& candidate) const {
  return find(candidate).has_value();
}

SpaceCount RecordedSpace::count() const {
  return {.value = static_cast<double>(recording_.entries.size()), .exact = true};
}

std::optional<Candidate> RecordedSpace::at_rank(std::uint64_t rank) const {
  return recording_.entries[rank].candidate;
}

const RecordedEntry& RecordedSpace::entry(const Candidate& candidate) const {
  const std::optional<std::size_t> position = find(candidate);
  if (!position) throw SpaceError(recording_.name + ": a requested candidate is not recorded");
  return recording_.entries[*position];
}

}  // namespace evo
