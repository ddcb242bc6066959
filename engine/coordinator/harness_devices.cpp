// Harness: what the device, and the virtual GPUs beside it, are told before the first kernel.

#include <fmt/format.h>

#include <algorithm>

#include "engine/coordinator/harness.hpp"
#include "engine/gate/correctness/check_kernels.hpp"

namespace evo {
namespace {

/// Shapes with more work than this (2^27 operations, about half a second) are checked with one seed
/// and not repeated on a device that interprets.
constexpr double kFlopsForAllSeedsWhenInterpreted = 134217728.0;

/// Shapes with more work than this (2^31 operations, about two seconds) are checked by a part of
/// their CTAs there.
constexpr double kFlopsOfWholeGridsWhenInterpreted = 2147483648.0;

/// A screening there spends about this much work (2^27 operations) on each shape.
constexpr double kFlopsOfScreeningWhenInterpreted = 134217728.0;

/// A kernel that is judged on a GPU is interpreted as well: on its smallest checked shapes, up to
/// this much work in all (2^26 operations, some tenths of a second).
constexpr double kFlopsOfInterpretedShapes = 67108864.0;

/// Kernels whose smallest checked shape takes more work (2^31 operations) or more memory than this
/// are not interpreted as well.
constexpr double kMostInterpretedFlops = 2147483648.0;
constexpr double kMostInterpretedBytes = 268435456.0;

void limit_interpreted_work(CorrectnessOptions& options) {
  options.flops_for_all_seeds = kFlopsForAllSeedsWhenInterpreted;
  options.flops_of_whole_grids = kFlopsOfWholeGridsWhenInterpreted;
  options.flops_of_screening = kFlopsOfScreeningWhenInterpreted;
}

}  // namespace

void Harness::set_up_device(const HarnessOptions& options) {
  SessionSetup& setup = setup_;
  // The reference and the check kernels start to compile first. Their results are awaited last.
  std::optional<StartedReference> reference;
  if (problem_.reference.is_launched()) reference.emplace(start_reference());
  std::optional<Compilations::Ticket> check_kernels;
  if (takes_check_kernels(device_info_)) check_kernels = start_check_kernels();
  if (options.compiles_opening) start_opening();
  if (reference) {
    BuiltReference built = wait_for(std::move(*reference));
    setup.reference = std::move(built.image);
    setup.reference_macros = std::move(built.macros);
  }
  if (check_kernels) setup.check_kernels = wait_for_check_kernels(*check_kernels);
  setup.problem_text = problem_.text;
  setup.problem_folder = problem_.folder.string();
  setup.template_name = kernel_.name;
  setup.check_seed = options.check_seed;
  setup.timing.cold = options.cold;
  if (device_info_.time_kind == TimeKind::kPredicted) limit_interpreted_work(setup.correctness);
  services_.device->set_up(setup, [this] { workers_.collect(); });
  set_up_predictors();
  set_up_interpreter();
}

void Harness::set_up_predictors() {
  if (!forecasts_.has_predictors()) return;
  SessionSetup setup = setup_;
  setup.check_kernels = {};
  forecasts_.set_up(setup);
  workers_.when_compiled([this] { ask_forecasts(); });
}

void Harness::set_up_interpreter() {
  if (!has_interpreter()) return;
  SessionSetup setup = setup_;
  setup.check_kernels = {};
  limit_interpreted_work(setup.correctness);
  setup.correctness.flops_of_all_shapes = kFlopsOfInterpretedShapes;
  interpreted_.set_up(setup);
  const std::string too_much = too_much_to_interpret();
  if (!too_much.empty()) interpreted_.leave_out(too_much);
}

/// Why even the smallest checked shape is too much work for an interpreter; empty where it is not.
std::string Harness::too_much_to_interpret() const {
  const auto work_of = [&](const Shape* one) { return problem_.flops.evaluate(one->variables); };
  const std::vector<const Shape*> checked = problem_.checked_shapes({&shape()}, kernel_);
  const Shape* smallest = *std::ranges::min_element(checked, {}, work_of);
  const double flops = work_of(smallest);
  const double bytes = problem_.bytes.evaluate(smallest->variables);
  if (flops <= kMostInterpretedFlops && bytes <= kMostInterpretedBytes) return {};
  return fmt::format(
      "its smallest checked shape, {}, takes {:.2g} operations on {:.2g} bytes; allowed are {:.2g} "
      "and {:.2g}: a small shape with \"check\": true in problem.json makes it possible",
      smallest->name, flops, bytes, kMostInterpretedFlops, kMostInterpretedBytes);
}

void Harness::use_check_seed(std::uint64_t seed) {
  if (!has_device()) return;
  setup_.check_seed = seed;
  services_.device->set_up(setup_, {});
  set_up_predictors();
  set_up_interpreter();
}

}  // namespace evo
