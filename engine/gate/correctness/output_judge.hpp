#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/measurement.hpp"
#include "engine/gate/correctness/workspace.hpp"

namespace evo {

/// Decides whether the outputs of a launch of the whole grid are right: whether they match the
/// expected outputs within the kernel's tolerance, and whether the problem's check program accepts
/// them.
class OutputJudge {
 public:
  /// The checks of the outputs of one launch, which the device may not have finished yet.
  struct Looks {
    struct OfOutput {
      std::size_t position = 0;  ///< index of the argument
      Look comparison = 0;
    };
    /// The copy of an output after the launch, which the problem's check program judges.
    struct Copy {
      std::size_t position = 0;      ///< index of the argument
      std::shared_ptr<KeptId> kept;  ///< its memory, which later copies may reuse
    };
    const CheckCase* data = nullptr;
    Tolerance tolerance = {};
    std::vector<OfOutput> outputs = {};
    std::vector<Copy> copies = {};
  };
  struct Verdict {
    CheckResult figures;
    std::optional<std::string> violation = {};  ///< why an output is wrong, in one line
  };

  /// All objects passed by reference must outlive this object.
  OutputJudge(BufferWork& work, const Problem& problem, CaseSet& cases, ProblemPrograms& programs)
      : work_(work), problem_(problem), cases_(cases), programs_(programs) {}

  /// Queues the comparisons of the outputs of a launch with the expected outputs, and the copies
  /// for the check program.
  [[nodiscard]] Looks look(const LoadedKernel& kernel, const CheckCase& data,
                           const std::vector<KernelArgument>& arguments);

  /// Whether the comparisons have finished.
  [[nodiscard]] bool is_known(const Looks& looks) const;

  /// The verdict on a launch whose checks have finished. If no element of any output was compared,
  /// and no check program judges the outputs, the launch is judged wrong.
  [[nodiscard]] Verdict judge(const Looks& looks);

 private:
  void copy_outputs(Looks& looks, const std::vector<KernelArgument>& arguments);
  [[nodiscard]] std::shared_ptr<KeptId> room_for(const std::string& name, std::size_t bytes);
  [[nodiscard]] std::optional<std::string> judge_by_program(const Looks& looks);

  BufferWork& work_;
  const Problem& problem_;
  CaseSet& cases_;
  ProblemPrograms& programs_;
  std::multimap<std::size_t, std::shared_ptr<KeptId>> copies_;  ///< by size in bytes
};

}  // namespace evo
