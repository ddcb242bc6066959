#include "engine/gate/output_judge.hpp"

#include <algorithm>

#include "engine/gate/compare.hpp"

namespace evo {

OutputJudge::Looks OutputJudge::look(const LoadedKernel& kernel, const CheckCase& data,
                                     const std::vector<KernelArgument>& arguments) {
  Looks looks{&data, kernel.spec->tolerance.evaluate(merged({&kernel.macros, &data.values}))};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!data.expected[i]) continue;
    const Argument& argument = problem_.arguments[i];
    if (argument.bytes(data.values) == 0) continue;
    looks.outputs.push_back(
        {i, work_.compare(std::get<BufferId>(arguments[i]), *data.expected[i], argument.dtype,
                          looks.tolerance.bad_abs_error, argument.row_length(data.values))});
  }
  return looks;
}

bool OutputJudge::is_known(const Looks& looks) const {
  return std::ranges::all_of(looks.outputs, [&](const Looks::OfOutput& output) {
    return work_.is_known(output.comparison);
  });
}

OutputJudge::Verdict OutputJudge::judge(const Looks& looks) const {
  Verdict verdict{{looks.data->shape->name, looks.data->seed}};
  std::size_t compared = 0;
  for (const Looks::OfOutput& output : looks.outputs) {
    const Comparison comparison = work_.comparison(output.comparison);
    compared += comparison.compared;
    add_figures(verdict.figures, comparison);
    const auto why =
        violation(comparison, looks.tolerance, problem_.arguments[output.position].name);
    if (why && !verdict.violation) verdict.violation = why;
  }
  if (compared == 0) verdict.violation = "no element of any output was compared";
  return verdict;
}

}  // namespace evo
