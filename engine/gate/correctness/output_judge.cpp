#include "engine/gate/correctness/output_judge.hpp"

#include <algorithm>

#include "engine/gate/correctness/compare.hpp"

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
  if (!problem_.check_program.empty()) copy_outputs(looks, arguments);
  return looks;
}

void OutputJudge::copy_outputs(Looks& looks, const std::vector<KernelArgument>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    if (!argument.is_output() || !argument.is_compared) continue;
    const auto buffer = std::get<BufferId>(arguments[i]);
    const std::size_t bytes = work_.device().memory().spec(buffer).bytes;
    if (bytes == 0) continue;
    looks.copies.push_back({i, room_for(argument.name, bytes)});
    work_.kept().keep(*looks.copies.back().kept, buffer);
  }
}

/// Returns memory for a copy of an output; reuses memory of this size that no unfinished check
/// needs any more.
std::shared_ptr<KeptId> OutputJudge::room_for(const std::string& name, std::size_t bytes) {
  const auto [first, last] = copies_.equal_range(bytes);
  const auto unused =
      std::find_if(first, last, [](const auto& entry) { return entry.second.use_count() == 1; });
  if (unused != last) return unused->second;
  auto kept = std::make_shared<KeptId>(work_.kept().reserve("a copy of " + name, bytes));
  copies_.emplace(bytes, kept);
  return kept;
}

std::optional<std::string> OutputJudge::judge_by_program(const Looks& looks) {
  std::vector<ProgramOutput> outputs;
  for (const Looks::Copy& copy : looks.copies) {
    outputs.push_back({copy.position, work_.kept().content(*copy.kept)});
  }
  return programs_.judge(cases_.program_case(*looks.data), outputs);
}

bool OutputJudge::is_known(const Looks& looks) const {
  return std::ranges::all_of(looks.outputs, [&](const Looks::OfOutput& output) {
    return work_.is_known(output.comparison);
  });
}

OutputJudge::Verdict OutputJudge::judge(const Looks& looks) {
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
  if (!looks.copies.empty()) {
    verdict.figures.sampled = "judged by the check program";
    const auto why = judge_by_program(looks);
    if (why && !verdict.violation) verdict.violation = why;
    return verdict;
  }
  if (compared == 0) verdict.violation = "no element of any output was compared";
  return verdict;
}

}  // namespace evo
