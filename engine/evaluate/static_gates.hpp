#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/device/device.hpp"
#include "engine/evaluate/evaluation.hpp"
#include "engine/evaluate/tuning_task.hpp"
#include "engine/gate/resource.hpp"
#include "engine/worker/session.hpp"

// The gates that need no device, which decide whether a candidate builds, and whether its resources
// respect the policy.

namespace evo {

/// The compiled entries of a kernel, in the order of KernelSpec::entries().
[[nodiscard]] std::vector<CompiledEntry> entries_of(const KernelSpec& kernel,
                                                    const CompilationRecord& compilation);

/// The image of a compiled kernel, with the symbols of the problem's constants.
[[nodiscard]] KernelImage image_of(const Problem& problem, const KernelSpec& kernel,
                                   const CompilationRecord& compilation);

/// A message that names the __constant__ and __device__ variables that the kernel reads, that
/// nothing sets, and that the problem does not declare as zero; empty if there are none.
[[nodiscard]] std::string unset_constants_text(const Problem& problem, const KernelImage& image);

/// Says why the parameters of an entry's PTX do not match its launch arguments; empty if all match.
/// Does not examine steps that run only under a condition (KernelStep::when).
[[nodiscard]] std::string parameters_text(const Problem& problem, const KernelSpec& kernel,
                                          const KernelImage& image);

/// Rejects a candidate that does not compile, whose parameters do not match the launch arguments,
/// or that reads a variable that nothing sets.
[[nodiscard]] std::optional<Rejection> build_gate(const TuningTask& task,
                                                  const Evaluation& evaluation);

/// Rejects a candidate whose registers, shared memory or spills exceed the policy or a limit of the
/// device on any of its shapes, or for which an expression of the problem has no valid value. Sets
/// the entries, launches and kernel key of `evaluation`.
[[nodiscard]] std::optional<Rejection> resource_gate(const TuningTask& task,
                                                     const ResourcePolicy& policy,
                                                     Evaluation& evaluation);

/// Converts a candidate's kernel to the form in which device workers receive kernels. `shapes`: the
/// indices of the timed shapes.
[[nodiscard]] KernelUnderTest kernel_under_test(const TuningTask& task, const Candidate& candidate,
                                                const CompilationRecord& compilation,
                                                const std::string& kernel_key,
                                                const std::vector<std::size_t>& shapes);

/// The same for the kernel of `evaluation`, which must have been built. The timed shapes are all
/// shapes of the evaluation.
[[nodiscard]] KernelUnderTest kernel_under_test(const TuningTask& task,
                                                const Evaluation& evaluation);

}  // namespace evo
