#include "engine/evaluate/device_setup.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/error.hpp"
#include "engine/evaluate/static_gates.hpp"
#include "engine/gate/correctness/check_kernels.hpp"
#include "engine/problem/known_names.hpp"

namespace evo {
namespace {

/// A virtual GPU checks shapes with more floating-point operations than this limit (2^27, which
/// take about half a second) with one seed and without repeated launches.
constexpr double kFlopsForAllSeedsWhenInterpreted = 134217728.0;

/// If a shape has more floating-point operations than this limit (2^31, which take some seconds),
/// and SampledCheck or ElementSample can check it, a virtual GPU checks only a part of its work.
constexpr double kFlopsOfWholeGridsWhenInterpreted = 2147483648.0;

/// In a quick check, a virtual GPU executes at most about this number of floating-point operations
/// (2^27) on each shape, unless it cannot check a part of the shape.
constexpr double kFlopsOfQuickCheckWhenInterpreted = 134217728.0;

/// On a virtual GPU, a thread without arithmetic takes about as long as this number of
/// floating-point operations.
constexpr double kFlopsOfThreadWhenInterpreted = 256;

/// A kernel that is green on a GPU is also checked by a virtual GPU, on its smallest checked shape
/// and on the next larger checked shapes, as long as the shapes need at most this number of
/// floating-point operations in total (2^26, which take some tenths of a second).
constexpr double kFlopsOfInterpretedShapes = 67108864.0;

/// A kernel that is green on a GPU is not checked by a virtual GPU if even its smallest checked
/// shape exceeds one of these limits: 2^31 floating-point operations, or 2^28 bytes read and
/// written.
constexpr double kMostInterpretedFlops = 2147483648.0;
constexpr double kMostInterpretedBytes = 268435456.0;

void limit_interpreted_work(CorrectnessOptions& options) {
  options.flops_for_all_seeds = kFlopsForAllSeedsWhenInterpreted;
  options.flops_of_whole_grids = kFlopsOfWholeGridsWhenInterpreted;
  options.flops_of_quick_check = kFlopsOfQuickCheckWhenInterpreted;
  options.flops_of_thread = kFlopsOfThreadWhenInterpreted;
}

/// The data to compile the reference kernel.
struct ReferenceBuild {
  const KernelSpec& spec;
  /// values of the reference's macros
  Values macros;
  CompileRequest request;
};

/// The configuration of the template that the problem names as its reference.
Candidate reference_candidate(const TuningTask& task) {
  const Problem& problem = task.problem();
  const Space& space = task.space();
  try {
    const Candidate candidate =
        space.candidate_from_settings(*problem.reference.set, space.defaults());
    if (const ConstraintText* broken = space.violated(candidate)) {
      throw SpaceError("violates " + broken->expression);
    }
    return candidate;
  } catch (const SpaceError& error) {
    throw ProblemError((problem.folder / "problem.json").string() +
                       ": reference.set: " + error.what());
  }
}

ReferenceBuild reference_build(const TuningTask& task) {
  const Problem& problem = task.problem();
  const Reference& reference = problem.reference;
  if (!reference.kernel) {
    const Candidate candidate = reference_candidate(task);
    return {task.kernel(), task.space().values(candidate), task.sources().request(candidate)};
  }
  CompileRequest request = task.sources().reference_request();
  Values macros = reference.macro_values();
  require_known_names(problem, *reference.kernel, problem.values_for(task.shape(), 1, macros));
  return {*reference.kernel, std::move(macros), std::move(request)};
}

KernelImage reference_image(const TuningTask& task, const ReferenceBuild& reference,
                            const CompilationRecord& compilation) {
  const Problem& problem = task.problem();
  const std::string file = reference.spec.source.string();
  if (!compilation.ok) {
    throw ProblemError(file + ": the reference does not pass the build gate: " + compilation.error +
                       "\n" + compilation.log);
  }
  KernelImage image = image_of(problem, reference.spec, compilation);
  if (const std::string misfit = parameters_text(problem, reference.spec, image); !misfit.empty()) {
    throw ProblemError((problem.folder / "problem.json").string() + ": reference: " + misfit);
  }
  if (const std::string unset = unset_constants_text(problem, image); !unset.empty()) {
    throw ProblemError(file + ": " + unset);
  }
  const LaunchPlan launch = reference.spec.launch(
      problem.values_for(task.shape(), task.device().sm_count, reference.macros));
  if (const auto misfit = resource_gate(entries_of(reference.spec, compilation),
                                        reference.spec.entries(), launch, {}, task.device())) {
    throw ProblemError(file + ": the reference does not pass the resource gate: " + misfit->reason +
                       "\n" + misfit->detail);
  }
  return image;
}

/// The check kernels are compiled separately, so that no macro of the problem can change them, and
/// only for the element sizes of the problem's outputs, because a run waits for this compilation.
CompileRequest check_kernels_request(const TuningTask& task) {
  std::size_t sizes = 0;
  for (const Argument& argument : task.problem().arguments) {
    if (argument.is_output()) sizes |= size_of(argument.dtype);
  }
  return {{"check_kernels.cu", check_kernels_source(), {}},
          {kCheckKernelsEntry},
          task.arch(),
          {"-DEVO_ELEMENT_SIZES=" + std::to_string(sizes)}};
}

KernelImage check_kernels_image(const CompilationRecord& record, const std::string& arch) {
  if (record.ok) return {record.ptx, record.cubin, {kCheckKernelsEntry}};
  throw NvrtcError("the check kernels do not build for " + arch + ": " + record.error + "\n" +
                   record.log);
}

}  // namespace

Task<SessionSetup> device_setup(const TuningTask& task, Compilations& compilations,
                                DeviceSetupOptions options) {
  const Problem& problem = task.problem();
  std::optional<ReferenceBuild> reference;
  if (problem.reference.is_launched()) reference.emplace(reference_build(task));
  const bool has_check_kernels = takes_check_kernels(task.device());
  // All compilations run in parallel. The compilations of the reference and of the check kernels
  // start first, because the setup needs their results.
  if (reference) compilations.prefetch(reference->request);
  if (has_check_kernels) compilations.prefetch(check_kernels_request(task));
  for (const Candidate& candidate : options.initial_population) {
    compilations.prefetch(task.sources().request(candidate));
  }
  SessionSetup setup;
  if (reference) {
    const CompilationRecord built = co_await compilations.compile(reference->request);
    setup.reference = reference_image(task, *reference, built);
    setup.reference_macros = std::move(reference->macros);
  }
  if (has_check_kernels) {
    const CompilationRecord built = co_await compilations.compile(check_kernels_request(task));
    setup.check_kernels = check_kernels_image(built, task.arch());
  }
  setup.problem_text = problem.text;
  setup.problem_folder = problem.folder.string();
  setup.template_name = task.kernel().name;
  setup.check_seed = options.check_seed;
  setup.timing.cold = options.flush_l2;
  if (task.device().time_kind == TimeKind::kPredicted) limit_interpreted_work(setup.correctness);
  co_return setup;
}

SessionSetup interpreter_setup(const SessionSetup& setup) {
  SessionSetup own = setup;
  own.check_kernels = {};
  limit_interpreted_work(own.correctness);
  own.correctness.flops_of_all_shapes = kFlopsOfInterpretedShapes;
  return own;
}

std::string too_much_to_interpret(const TuningTask& task) {
  const Problem& problem = task.problem();
  const auto work_of = [&](const Shape* one) { return problem.flops.evaluate(one->variables); };
  const std::vector<const Shape*> checked = problem.checked_shapes({&task.shape()}, task.kernel());
  const Shape* smallest = *std::ranges::min_element(checked, {}, work_of);
  const double flops = work_of(smallest);
  const double bytes = problem.bytes.evaluate(smallest->variables);
  if (flops <= kMostInterpretedFlops && bytes <= kMostInterpretedBytes) return {};
  return fmt::format(
      "the smallest checked shape, {}, takes {:.2g} operations on {:.2g} bytes; the limits are "
      "{:.2g} and {:.2g}; add a small shape with \"check\": true to problem.json",
      smallest->name, flops, bytes, kMostInterpretedFlops, kMostInterpretedBytes);
}

void require_no_programs(const Problem& problem) {
  const bool is_check = !problem.check_program.empty();
  const auto& words = is_check ? problem.check_program : problem.reference.program;
  if (words.empty()) return;
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  throw ProblemError(
      (problem.folder / "problem.json").string() + ": " + (is_check ? "check" : "reference") +
      ".program: '" + text +
      "' would run on this machine with your rights; read the program, then allow it with "
      "--allow-programs");
}

}  // namespace evo
