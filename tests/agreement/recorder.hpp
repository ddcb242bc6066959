#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>

#include "engine/compile/compiler.hpp"
#include "tests/agreement/record.hpp"
#include "tests/agreement/template_run.hpp"

namespace evo::agreement {

/// How many random candidates of a space are recorded, and on which shapes.
struct CandidatePlan {
  std::string space;
  std::size_t count = 0;
  /// Candidates use these groups in turn. The shapes of a group share one kernel, because they set
  /// the same macros.
  std::vector<std::vector<std::string>> shape_groups;
  std::vector<std::pair<std::string, std::string>> settings = {};  ///< macros that are not random
};

/// The contents of a record.
struct RecordPlan {
  bool kernels = true;  ///< all_cases()
  std::vector<CandidatePlan> candidates;
};

/// Every kernel, and candidates of all templates: attention with P in f16 (200 of the mma template,
/// 24 of wgmma, 16 of wmma) and in e4m3 (24 of mma), and row_softmax (10).
[[nodiscard]] RecordPlan default_plan();

/// Attention by wgmma: 100 candidates with P in e4m3, 40 in f16.
[[nodiscard]] RecordPlan wgmma_plan();

/// Runs all kernels and candidates on a device and records their outputs.
///
///   1. If the plan has kernels, compile each source of all_cases() once; run each of its kernels.
///   2. For each plan, draw candidates until `count` of them compile and fit the device.
///   3. Run each candidate on its group of shapes.
///
/// Record::faults lists failing kernels. If a fault destroyed the context, the record ends. Other
/// errors throw an exception.
class Recorder {
 public:
  /// Called from time to time with the record so far, so that earlier outputs are not lost if a
  /// kernel hangs.
  using Save = std::function<void(const Record&)>;

  Recorder(std::filesystem::path root, Device& device, Compiler& compiler, Save save);

  [[nodiscard]] Record record(const RecordPlan& plan, std::uint64_t seed);

 private:
  struct Chosen;
  using Kernels = std::map<std::string, Compiled>;  ///< by source file

  void record_cases();
  [[nodiscard]] Kernels compile_sources(const std::vector<AgreementCase>& cases);
  void record_plan(const CandidatePlan& plan, std::uint64_t seed);
  void run_chosen(const Chosen& chosen);
  [[nodiscard]] std::vector<Chosen> choose(const CandidatePlan& plan, std::uint64_t seed);
  /// The candidates of `drawn` that compile and fit the device.
  [[nodiscard]] std::vector<Chosen> compiled(std::vector<Chosen> drawn);
  /// Adds a fault to the record, and marks the device as lost if the context was destroyed.
  void note(const std::string& what, const Fault& fault);

  std::filesystem::path root_;
  Device& device_;
  Compiler& compiler_;
  Save save_;
  Record record_;
  std::map<std::string, std::unique_ptr<TemplateRun>> runs_ = {};  ///< by space file
  bool device_lost_ = false;
};

}  // namespace evo::agreement
