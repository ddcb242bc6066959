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

/// Says whether outputs are what is expected, within the kernel's tolerance. The one place where a
/// kernel is found right.
class OutputJudge {
 public:
  /// Looks at the outputs of one launch on a complete case.
  struct Looks {
    struct OfOutput {
      std::size_t position = 0;  ///< of the argument
      Look comparison = 0;
    };
    /// Of a problem with a check program: an output as the launch left it.
    struct Copy {
      std::size_t position = 0;      ///< of the argument
      std::shared_ptr<KeptId> kept;  ///< free for the next copy when nobody has it
    };
    const CheckCase* data = nullptr;
    Tolerance tolerance = {};
    std::vector<OfOutput> outputs = {};
    std::vector<Copy> copies = {};
  };
  struct Verdict {
    CheckResult figures;
    std::optional<std::string> violation = {};  ///< why it is wrong, in one line
  };

  /// All must outlive this.
  OutputJudge(BufferWork& work, const Problem& problem, CaseSet& cases, ProblemPrograms& programs)
      : work_(work), problem_(problem), cases_(cases), programs_(programs) {}

  /// Compares all outputs of a launch, behind what was queued before.
  [[nodiscard]] Looks look(const LoadedKernel& kernel, const CheckCase& data,
                           const std::vector<KernelArgument>& arguments);

  [[nodiscard]] bool is_known(const Looks& looks) const;

  /// Once they are known. Without any element it is a violation.
  [[nodiscard]] Verdict judge(const Looks& looks);

 private:
  void copy_outputs(Looks& looks, const std::vector<KernelArgument>& arguments);
  [[nodiscard]] std::shared_ptr<KeptId> room_for(const std::string& name, std::size_t bytes);
  [[nodiscard]] std::optional<std::string> judge_by_program(const Looks& looks);

  BufferWork& work_;
  const Problem& problem_;
  CaseSet& cases_;
  ProblemPrograms& programs_;
  std::multimap<std::size_t, std::shared_ptr<KeptId>> copies_;  ///< by size
};

}  // namespace evo
