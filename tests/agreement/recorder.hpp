#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>

#include "engine/compile/compiler.hpp"
#include "tests/agreement/record.hpp"
#include "tests/agreement/template_run.hpp"

namespace evo::agreement {

/// Says how many random candidates of a space to record, and on which shapes.
struct CandidatePlan {
  std::string space;
  std::size_t count = 0;
  /// The groups of shapes, which successive candidates use in turn. The shapes of a group set the
  /// same macros, so that one kernel serves them all.
  std::vector<std::vector<std::string>> shape_groups;
  std::vector<std::pair<std::string, std::string>> settings = {};  ///< macros that are not random
};

/// Says what to record: the test kernels, and candidates of spaces.
struct RecordPlan {
  bool kernels = true;  ///< all_cases()
  std::vector<CandidatePlan> candidates;
};

/// All test kernels, and candidates of all templates: attention with P in f16 (200 candidates of
/// the mma template, 24 of wgmma, 16 of wmma) and in e4m3 (24 of mma), and row_softmax (10).
[[nodiscard]] RecordPlan default_plan();

/// Candidates of attention by wgmma: 100 with P in e4m3, 40 with P in f16.
[[nodiscard]] RecordPlan wgmma_plan();

/// Runs the kernels and candidates of a plan on a device, and records their outputs.
///
///   1. If the plan includes the test kernels, compile each source of all_cases() once, and run
///      each of its kernels.
///   2. For each CandidatePlan, draw random candidates until `count` of them compile and fit the
///      device.
///   3. Run each candidate on its group of shapes.
///
/// Record::faults lists failing kernels. If a fault destroys the CUDA context, the record ends with
/// this fault. Errors other than faults of a kernel throw an exception.
class Recorder {
 public:
  /// A function that saves the record so far, which Recorder calls from time to time so that
  /// earlier outputs are not lost if a kernel hangs.
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
