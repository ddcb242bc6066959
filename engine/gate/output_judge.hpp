#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/measurement.hpp"
#include "engine/gate/workspace.hpp"

namespace evo {

/// What a launch left in its outputs, packed, per argument; empty unless out or inout.
using Outputs = std::vector<std::vector<std::byte>>;

/// Says whether outputs are what is expected, within the kernel's tolerance. The one place where a
/// kernel is found right.
class OutputJudge {
 public:
  struct Verdict {
    CheckResult figures;
    std::optional<std::string> violation = {};  ///< why it is wrong, in one line
  };

  /// `problem` must outlive this.
  explicit OutputJudge(const Problem& problem) : problem_(problem) {}

  /// All outputs of a launch on a complete case. Without any element it is a violation.
  [[nodiscard]] Verdict judge(const LoadedKernel& kernel, const CheckCase& data,
                              const Outputs& outputs);

  /// One output of a launch on a complete case: why it is wrong, or nothing. What was found right
  /// before, bit for bit, is right again.
  [[nodiscard]] std::optional<std::string> wrong(const LoadedKernel& kernel, const CheckCase& data,
                                                 std::size_t position,
                                                 std::span<const std::byte> output);

  /// Forgets what it found right of a kernel, whose number may come again.
  void forget(KernelId kernel) { right_.erase(kernel); }

 private:
  /// Case and argument → a hash of what was found right.
  using Right = std::map<std::pair<const CheckCase*, std::size_t>, std::string>;

  const Problem& problem_;
  std::map<KernelId, Right> right_;
};

}  // namespace evo
