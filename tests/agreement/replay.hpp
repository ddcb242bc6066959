#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/device/virtual/virtual_device.hpp"
#include "tests/agreement/comparison.hpp"
#include "tests/agreement/record.hpp"
#include "tests/agreement/template_run.hpp"

namespace evo::agreement {

/// The allowed difference between a candidate's outputs on the virtual GPU and the recorded ones.
struct CandidateBound {
  std::string kind;         ///< "P in f16", "P in e4m3", "row_softmax"
  double max_over_rms = 0;  ///< 0: no limit
  double relative_l2 = 0;   ///< 0: no limit
};

/// The result of running a recorded candidate again.
struct CandidateReplay {
  CandidateBound bound;
  bool same_ptx = false;  ///< as recorded
  std::vector<RunComparison> runs = {};
  std::string failure = {};  ///< why it could not be compared, or where the difference is too large
};

/// Runs recorded kernels on a virtual device and compares the outputs. Not thread-safe: use one
/// Replay per thread.
class Replay {
 public:
  /// `root`: the project's folder. `record` must outlive this object. `threads`: number of host
  /// threads of the virtual device.
  Replay(std::filesystem::path root, const Record& record, int threads);

  /// Runs the recorded PTX of a test kernel with the inputs of its case, and compares the outputs
  /// with the recorded outputs. Nullopt if the kernel was not recorded. Throws InputError if the
  /// inputs differ from the recorded inputs.
  [[nodiscard]] std::optional<CaseComparison> replay(const AgreementCase& data);

  /// Compiles a recorded candidate from the present source of its template, runs it on the recorded
  /// shapes, and compares the outputs.
  [[nodiscard]] CandidateReplay replay(const RecordedCandidate& candidate);

 private:
  [[nodiscard]] const TemplateRun& run_of(const std::string& space);
  [[nodiscard]] Outputs run(const AgreementCase& data, const std::string& ptx);
  void compare(const AgreementCase& data, const RecordedRun& recorded, const std::string& ptx,
               CandidateReplay& result);

  std::filesystem::path root_;
  const Record& record_;
  std::unique_ptr<VirtualDevice> device_;
  std::map<std::string, std::unique_ptr<TemplateRun>> runs_ = {};
};

/// Summary of all replayed candidates with the same CandidateBound::kind, such as "P in f16".
struct KindSummary {
  std::size_t candidates = 0;
  std::size_t same_ptx = 0;
  std::size_t failures = 0;
  std::size_t elements = 0;
  std::size_t identical = 0;
  double max_over_rms = 0;
  double relative_l2 = 0;
  double worst_steps = 0;

  void add(const CandidateReplay& replay);
  [[nodiscard]] std::string text() const;
};

}  // namespace evo::agreement
