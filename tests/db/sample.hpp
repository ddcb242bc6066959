#pragma once

#include <filesystem>
#include <string>

#include "db/store.hpp"

namespace evo::sample {

/// A new folder that the destructor removes with its content.
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

/// A run of a made-up problem; 2e9 FLOPs per launch.
[[nodiscard]] RunInfo run_info(TimeKind kind = TimeKind::kMeasured);

/// A successful compilation with made-up content; PTX hash "ptx-<name>", key "key-<name>".
[[nodiscard]] CompilationRecord compilation(const std::string& name);
[[nodiscard]] CompilationRecord failed_compilation(const std::string& name);

[[nodiscard]] Timing timing(double p50_us, TimeKind kind = TimeKind::kMeasured);

/// A green evaluation of configuration {"TILE": position}.
[[nodiscard]] EvaluationRecord green(int generation, int position, CompilationId compilation,
                                     double p50_us, TimeKind kind = TimeKind::kMeasured);
[[nodiscard]] EvaluationRecord rejected(int generation, int position, Rejection rejection);
[[nodiscard]] EvaluationRecord duplicate(int generation, int position, CandidateId first);

}  // namespace evo::sample
