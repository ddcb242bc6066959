#include "engine/gate/output_judge.hpp"

#include "engine/core/hash.hpp"
#include "engine/gate/compare.hpp"

namespace evo {
namespace {

std::string hash_of(std::span<const std::byte> output) {
  return content_key({reinterpret_cast<const char*>(output.data()), output.size()});
}

Tolerance tolerance_of(const LoadedKernel& kernel, const CheckCase& data) {
  return kernel.spec->tolerance.evaluate(merged({&kernel.macros, &data.values}));
}

}  // namespace

OutputJudge::Verdict OutputJudge::judge(const LoadedKernel& kernel, const CheckCase& data,
                                        const Outputs& outputs) {
  const Tolerance tolerance = tolerance_of(kernel, data);
  Verdict verdict{{data.shape->name, data.seed}};
  std::size_t compared = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].empty()) continue;
    const Argument& argument = problem_.arguments[i];
    const Comparison comparison = compare(outputs[i], data.expected[i], tolerance.bad_abs_error,
                                          argument.row_length(data.values));
    compared += comparison.compared;
    add_figures(verdict.figures, comparison);
    const auto why = violation(comparison, tolerance, argument.name);
    if (!why) right_[kernel.id][{&data, i}] = hash_of(outputs[i]);
    if (why && !verdict.violation) verdict.violation = why;
  }
  if (compared == 0) verdict.violation = "no element of any output was compared";
  return verdict;
}

std::optional<std::string> OutputJudge::wrong(const LoadedKernel& kernel, const CheckCase& data,
                                              std::size_t position,
                                              std::span<const std::byte> output) {
  const Argument& argument = problem_.arguments[position];
  const std::string content = hash_of(output);
  std::string& right = right_[kernel.id][{&data, position}];
  if (right == content) return std::nullopt;
  const Tolerance tolerance = tolerance_of(kernel, data);
  auto why = violation(compare(output, data.expected[position], tolerance.bad_abs_error,
                               argument.row_length(data.values)),
                       tolerance, argument.name);
  if (!why) right = content;
  return why;
}

}  // namespace evo
