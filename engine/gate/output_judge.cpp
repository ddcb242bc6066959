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
  if (kernel.id != kernel_) right_.clear();
  kernel_ = kernel.id;
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
    if (!why) right_[{&data, i}] = hash_of(outputs[i]);
    if (why && !verdict.violation) verdict.violation = why;
  }
  if (compared == 0) verdict.violation = "no element of any output was compared";
  return verdict;
}

std::optional<std::string> OutputJudge::wrong(const LoadedKernel& kernel, const CheckCase& data,
                                              std::size_t position,
                                              std::span<const std::byte> output) {
  const Argument& argument = problem_.arguments[position];
  const auto known = right_.find({&data, position});
  if (kernel.id == kernel_ && known != right_.end() && known->second == hash_of(output)) {
    return std::nullopt;
  }
  const Tolerance tolerance = tolerance_of(kernel, data);
  return violation(compare(output, data.expected[position], tolerance.bad_abs_error,
                           argument.row_length(data.values)),
                   tolerance, argument.name);
}

}  // namespace evo
