#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/measurement.hpp"
#include "engine/gate/workspace.hpp"

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
    const CheckCase* data = nullptr;
    Tolerance tolerance = {};
    std::vector<OfOutput> outputs = {};
  };
  struct Verdict {
    CheckResult figures;
    std::optional<std::string> violation = {};  ///< why it is wrong, in one line
  };

  /// Both must outlive this.
  OutputJudge(BufferWork& work, const Problem& problem) : work_(work), problem_(problem) {}

  /// Compares all outputs of a launch, behind what was queued before.
  [[nodiscard]] Looks look(const LoadedKernel& kernel, const CheckCase& data,
                           const std::vector<KernelArgument>& arguments);

  [[nodiscard]] bool is_known(const Looks& looks) const;

  /// Once they are known. Without any element it is a violation.
  [[nodiscard]] Verdict judge(const Looks& looks) const;

 private:
  BufferWork& work_;
  const Problem& problem_;
};

}  // namespace evo
