#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/device/device.hpp"
#include "engine/evaluate/evaluation.hpp"
#include "engine/evaluate/tuning_task.hpp"
#include "engine/gate/resource.hpp"
#include "engine/worker/session.hpp"

// The gates that need no device: whether a candidate builds, and whether its resources are within
// the policy.

namespace evo {

/// The compilations of the entries of a kernel, in the order of KernelSpec::entries().
[[nodiscard]] std::vector<CompiledEntry> entries_of(const KernelSpec& kernel,
                                                    const CompilationRecord& compilation);

/// The image of a compiled kernel, with the symbols of the problem's constants.
[[nodiscard]] KernelImage image_of(const Problem& problem, const KernelSpec& kernel,
                                   const CompilationRecord& compilation);

/// The __constant__ and __device__ variables that the kernel reads, that nothing sets, and that the
/// problem does not name as meant to be zero, as a reason for people; empty without one.
[[nodiscard]] std::string unset_constants_text(const Problem& problem, const KernelImage& image);

/// Why an entry cannot take the arguments of its launch, by the parameters of its PTX; empty when
/// all can.
[[nodiscard]] std::string parameters_text(const Problem& problem, const KernelSpec& kernel,
                                          const KernelImage& image);

/// Whether the compilation of `evaluation` is a kernel that the task can launch.
[[nodiscard]] std::optional<Rejection> build_gate(const TuningTask& task,
                                                  const Evaluation& evaluation);

/// Whether registers, shared memory and spills are within the policy, on all shapes of
/// `evaluation`. Fills in its entries, launches and kernel key.
[[nodiscard]] std::optional<Rejection> resource_gate(const TuningTask& task,
                                                     const ResourcePolicy& policy,
                                                     Evaluation& evaluation);

/// The kernel of a candidate as a device worker takes it, for these of the timed shapes.
[[nodiscard]] KernelUnderTest kernel_under_test(const TuningTask& task, const Candidate& candidate,
                                                const CompilationRecord& compilation,
                                                const std::string& kernel_key,
                                                const std::vector<std::size_t>& shapes);

/// The same of an evaluation that was built, for all its shapes.
[[nodiscard]] KernelUnderTest kernel_under_test(const TuningTask& task,
                                                const Evaluation& evaluation);

}  // namespace evo
