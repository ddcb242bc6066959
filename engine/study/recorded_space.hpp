#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/space/candidate_space.hpp"

namespace evo {

/// A value of a recorded parameter.
struct RecordedValue {
  std::string text;
  std::optional<double> number = {};  ///< nullopt if the value is a name
};

struct RecordedParameter {
  std::string name;
  std::vector<RecordedValue> values;  ///< numbers in ascending order, then names
};

/// The recorded result of one configuration.
struct RecordedEntry {
  Candidate candidate;
  std::optional<double> time_ms = {};  ///< nullopt if the configuration failed
  std::string failure = {};            ///< for example "CompilationFailedConfig"
};

/// A recorded search space as read from its file (read_recording()).
struct Recording {
  std::string name;  ///< file name without its extensions
  std::string device;
  bool is_predicted = false;  ///< the times are predictions of a virtual GPU
  std::string kernel;
  std::vector<RecordedParameter> parameters;
  std::vector<RecordedEntry> entries;
};

/// A space whose valid candidates are exactly the recorded configurations. Objects are immutable
/// and thread-safe.
class RecordedSpace final : public CandidateSpace {
 public:
  /// Throws SpaceError if no configuration is recorded, if none ran successfully, or if a
  /// configuration occurs twice.
  explicit RecordedSpace(Recording recording);

  // CandidateSpace
  [[nodiscard]] std::size_t parameter_count() const override;
  [[nodiscard]] std::size_t value_count(std::size_t parameter) const override;
  [[nodiscard]] bool is_ordered(std::size_t parameter) const override;
  [[nodiscard]] std::string_view parameter_name(std::size_t parameter) const override;
  [[nodiscard]] std::string value_text(std::size_t parameter, std::size_t value) const override;
  [[nodiscard]] bool is_valid(const Candidate& candidate) const override;
  [[nodiscard]] SpaceCount count() const override;
  [[nodiscard]] std::uint64_t rank_count() const override { return recording_.entries.size(); }
  [[nodiscard]] std::optional<Candidate> at_rank(std::uint64_t rank) const override;

  [[nodiscard]] const std::string& name() const { return recording_.name; }
  [[nodiscard]] const Recording& recording() const { return recording_; }

  /// The recorded result of a valid candidate. Throws SpaceError if the candidate is not recorded.
  [[nodiscard]] const RecordedEntry& entry(const Candidate& candidate) const;

  /// The times in ms of all configurations that ran successfully, in ascending order.
  [[nodiscard]] std::span<const double> sorted_times_ms() const { return sorted_times_ms_; }

 private:
  /// Index of the candidate in recording_.entries, or nullopt.
  [[nodiscard]] std::optional<std::size_t> find(const Candidate& candidate) const;

  Recording recording_;
  std::vector<std::uint64_t> strides_;
  std::vector<std::uint32_t> dense_;  ///< mixed-radix key → index + 1; empty for a large space
  std::unordered_map<std::uint64_t, std::uint32_t> sparse_;
  std::vector<bool> ordered_;
  std::vector<double> sorted_times_ms_;
};

/// Reads a recorded search space from a Kernel Tuner cache or a T4 results file, uncompressed or
/// compressed by gzip. A cache is also read if its writer stopped before it closed the braces. A
/// configuration counts as failed if its time is no number, not positive, or huge (such as 1e20),
/// or if it has Kernel Tuner's "__error__" or a T4 "invalidity" other than "correct". T4 results
/// with the "invalidity" "constraints" are left out. Throws SpaceError or InputError, whose message
/// names the file and its fault.
[[nodiscard]] Recording read_recording(const std::filesystem::path& file);

}  // namespace evo
