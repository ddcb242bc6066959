#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/measurement.hpp"
#include "engine/core/rejection.hpp"
#include "engine/gate/cases.hpp"
#include "engine/gate/workspace.hpp"

namespace evo {

/// Told what is about to run, so that a hang has a name.
using Progress = std::function<void(const std::string&)>;

struct CorrectnessOptions {
  std::size_t seeds = 5;  ///< per shape
  double flops_for_all_seeds =
      1e18;  ///< shapes with more work than this get one seed and no repeat
  /// On devices that sample grids, about this much work stands for shapes with more (SampledCheck).
  double flops_of_whole_grids = 1e18;
};

/// What the gate found: the figures of every comparison made, and why it stopped.
struct CorrectnessResult {
  std::vector<CheckResult> checks;
  std::optional<Rejection> rejection = {};
  bool device_lost = false;  ///< the process must be replaced
};

/// The correctness gate.
///
/// For every shape (least work first; one that is too much work for the device by SampledCheck) and
/// seed:
///   1. poison the outputs, put inout arguments in place, launch;
///   2. guard zones of every buffer intact, inputs unchanged;
///   3. every output within the tolerance of the reference;
/// and once a shape, on the first seed:
///   4. run again over another poison: the same bits (within the tolerance when the template says
///      it is not deterministic), which also finds elements that nobody writes.
class CorrectnessGate {
 public:
  CorrectnessGate(Device& device, const Problem& problem, CaseSet& cases,
                  const CorrectnessOptions& options)
      : device_(device), problem_(problem), cases_(cases), options_(options) {}

  [[nodiscard]] CorrectnessResult check(const LoadedKernel& kernel,
                                        std::vector<const Shape*> shapes, const Progress& progress);

  /// One case alone, without the repeated run: the fresh look after timing.
  [[nodiscard]] CorrectnessResult check_case(const LoadedKernel& kernel, const Shape& shape,
                                             std::size_t index, const Progress& progress);

 private:
  using Outputs = std::vector<std::vector<std::byte>>;
  struct Ran;

  [[nodiscard]] CorrectnessResult check_shape(const LoadedKernel& kernel, const Shape& shape,
                                              const Progress& progress);
  [[nodiscard]] std::size_t seeds_for(const Shape& shape) const;
  [[nodiscard]] bool is_sampled(const Shape& shape) const;
  [[nodiscard]] Ran run(const LoadedKernel& kernel, const CheckCase& data,
                        const Workspace& workspace, std::byte poison);
  [[nodiscard]] std::optional<std::string> damage(const std::vector<KernelArgument>& arguments,
                                                  const CheckCase& data);
  [[nodiscard]] CorrectnessResult judge(const LoadedKernel& kernel, const CheckCase& data,
                                        const Ran& ran) const;
  [[nodiscard]] std::optional<Rejection> repeat(const LoadedKernel& kernel, const CheckCase& data,
                                                const Workspace& workspace, const Outputs& first);

  Device& device_;
  const Problem& problem_;
  CaseSet& cases_;
  CorrectnessOptions options_;
};

}  // namespace evo
