#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/device/device.hpp"
#include "engine/evaluate/evaluation.hpp"
#include "engine/evaluate/tuning_task.hpp"
#include "engine/gate/resource.hpp"
#include "engine/worker/session.hpp"

// The gates that need no device: whether a candidate builds, and whether its resources respect the
// policy.

namespace evo {

/// The compiled entries of a kernel, in the order of KernelSpec::entries().
[[nodiscard]] std::vector<CompiledEntry> entries_of(const KernelSpec& kernel,
                                                    const CompilationRecord& compilation);

/// The image of a compiled kernel, with the symbols of the problem's constants.
[[nodiscard]] KernelImage image_of(const Problem& problem, const KernelSpec& kernel,
                                   const CompilationRecord& compilation);

/// A reason that names the __constant__ and __device__ variables which the kernel reads, which
/// nothing sets, and which the problem does not declare as zero; empty if there are none.
[[nodiscard]] std::string unset_constants_text(const Problem& problem, const KernelImage& image);

/// Why the parameters of an entry's PTX do not match its launch arguments; empty if all match.
[[nodiscard]] std::string parameters_text(const Problem& problem, const KernelSpec& kernel,
                                          const KernelImage& image);

/// Whether the compilation in `evaluation` is a kernel that the task can launch.
[[nodiscard]] std::optional<Rejection> build_gate(const TuningTask& task,
                                                  const Evaluation& evaluation);

/// Whether registers, shared memory and spills respect the policy on all shapes of `evaluation`.
/// Sets its entries, launches and kernel key.
[[nodiscard]] std::optional<Rejection> resource_gate(const TuningTask& task,
                                                     const ResourcePolicy& policy,
                                                     Evaluation& evaluation);

/// A candidate's kernel in the form for device workers, for these timed shapes.
[[nodiscard]] KernelUnderTest kernel_under_test(const TuningTask& task, const Candidate& candidate,
                                                const CompilationRecord& compilation,
                                                const std::string& kernel_key,
                                                const std::vector<std::size_t>& shapes);

/// The same for a built evaluation, for all its shapes.
[[nodiscard]] KernelUnderTest kernel_under_test(const TuningTask& task,
                                                const Evaluation& evaluation);

}  // namespace evo
