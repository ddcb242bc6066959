#pragma once

#include <filesystem>
#include <string>

#include "db/store.hpp"

namespace evo::sample {

/// A new temporary folder, which the destructor removes with its content.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A run of a made-up problem with 2e9 FLOPs per launch.
[[nodiscard]] RunInfo run_info(TimeKind kind = TimeKind::kMeasured);

/// A successful compilation with made-up content, the PTX hash "ptx-<name>" and the key
/// "key-<name>".
[[nodiscard]] CompilationRecord compilation(const std::string& name);
[[nodiscard]] CompilationRecord failed_compilation(const std::string& name);

[[nodiscard]] Timing timing(double p50_us, TimeKind kind = TimeKind::kMeasured);

/// A green evaluation of the configuration {"SWIZZLE": "xor", "TILE": 100 * generation + position}.
[[nodiscard]] EvaluationRecord green(int generation, int position, CompilationId compilation,
                                     double p50_us, TimeKind kind = TimeKind::kMeasured);
[[nodiscard]] EvaluationRecord rejected(int generation, int position, Rejection rejection);
[[nodiscard]] EvaluationRecord duplicate(int generation, int position, CandidateId first);

}  // namespace evo::sample
