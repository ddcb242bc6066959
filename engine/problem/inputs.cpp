#include "engine/problem/inputs.hpp"

#include <cmath>

#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "engine/problem/npy.hpp"

namespace evo {
namespace {

constexpr std::string_view kIndex = "INDEX";

/// Evaluates an argument's formula, in which every name except INDEX has a fixed value.
class FormulaValues {
 public:
  FormulaValues(const Argument& argument, const Values& values) : argument_(argument) {
    for (const std::string& name : argument.formula->variables()) {
      if (name == kIndex) index_ = slots_.size();
      const auto known = values.find(name);
      if (name != kIndex && known == values.end()) {
        throw ProblemError(argument.formula->described({}) + ": unknown name '" + name +
                           "'; allowed: INDEX, shape variables and macros of the problem");
      }
      slots_.push_back(name == kIndex ? 0 : known->second);
    }
  }

  void put(std::size_t element, std::byte* target) {
    if (index_ < slots_.size()) slots_[index_] = static_cast<double>(element);
    const double value = argument_.formula->evaluate(slots_);
    encode(argument_.dtype, value, target);
    const bool fits = is_floating(argument_.dtype)
                          ? std::fabs(value) <= largest_finite(argument_.dtype)
                          : decode(argument_.dtype, target) == value;
    if (fits) return;
    throw ProblemError(argument_.formula->described({}) + ": element " + std::to_string(element) +
                       " of '" + argument_.name + "' is " + Json(value).dump() + ", which " +
                       std::string(to_string(argument_.dtype)) + " cannot hold");
  }

 private:
  const Argument& argument_;
  std::vector<double> slots_;
  std::size_t index_ = static_cast<std::size_t>(-1);
};

std::string file_key(const Argument& argument) {
  return "arguments: " + argument.name + ".generator.file";
}

}  // namespace

Draw draw_of(const Problem& problem, const Argument& argument, const Shape& shape,
             const InputCase& of) {
  std::uint64_t inputs = 0;
  std::uint64_t rank = 0;
  for (const Argument& other : problem.arguments) {
    if (other.name == argument.name) rank = inputs;
    if (other.is_drawn()) ++inputs;
  }
  return {mix_seed(of.seed, name_seed(argument.name)), of.index == 1,
          inputs > 0 && (of.index + name_seed(shape.name)) % inputs == rank};
}

void make_input(const Problem& problem, const Argument& argument, const Shape& shape,
                const Values& values, const InputCase& of, const TakePart& take) {
  const std::size_t size = size_of(argument.dtype);
  const std::size_t count = argument.bytes(values) / size;
  // If an argument has both a file and a generator, only the first case of a shape reads the file.
  if (argument.takes_file(shape.name) && (of.index == 0 || !argument.has_file_and_generator)) {
    const auto file = problem.data_file(file_key(argument), argument.file, shape);
    return read_npy_parts(file, argument.dtype, count, take);
  }
  if (!argument.formula) {
    return take(
        generate(argument.generator, argument.dtype, count, draw_of(problem, argument, shape, of)));
  }
  std::vector<std::byte> bytes(count * size);
  FormulaValues formula(argument, values);
  for (std::size_t i = 0; i < count; ++i) formula.put(i, bytes.data() + i * size);
  take(bytes);
}

void check_input(const Problem& problem, const Argument& argument, const Shape& shape,
                 const Values& values) {
  for (const std::string& name : argument.file_shapes) (void)problem.shape(name);
  if (argument.takes_file(shape.name)) {
    (void)problem.data_file(file_key(argument), argument.file, shape);
  }
  if (!argument.formula) return;
  const std::size_t count = argument.bytes(values) / size_of(argument.dtype);
  std::vector<std::byte> element(size_of(argument.dtype));
  FormulaValues formula(argument, values);
  for (const std::size_t i : {std::size_t{0}, count - 1}) {
    if (count > 0) formula.put(i, element.data());
  }
}

}  // namespace evo
