#include "engine/gate/correctness/chosen_elements.hpp"

namespace evo {

std::vector<std::byte> gathered(std::span<const std::byte> all,
                                std::span<const std::size_t> elements, std::size_t size) {
  std::vector<std::byte> bytes;
  bytes.reserve(elements.size() * size);
  for (const std::size_t element : elements) {
    const auto part = all.subspan(element * size, size);
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes;
}

void compare_chosen(CorrectnessResult& result, const LoadedKernel& kernel, const CheckCase& data,
                    const Argument& argument, std::span<const std::byte> output,
                    std::span<const std::size_t> elements, const Expectation& expected,
                    std::size_t row_length) {
  const Tolerance tolerance =
      kernel.spec->tolerance.evaluate(merged({&kernel.macros, &data.values}));
  Comparison comparison = compare(gathered(output, elements, size_of(argument.dtype)), expected,
                                  tolerance.bad_abs_error, row_length);
  add_figures(result.checks.back(), comparison);
  if (!elements.empty()) {
    comparison.worst_index = elements[comparison.worst_index];
    comparison.worst_row_index = elements[comparison.worst_row_index];
  }
  const auto why = violation(comparison, tolerance, argument.name);
  if (why && !result.rejection) result.rejection = Rejection{Gate::kCorrectness, *why};
}

}  // namespace evo
