#include <optional>
#include <stdexcept>
#include <string>

#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "engine/problem/problem.hpp"
#include "engine/space/space.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/fuzz/scratch_folder.hpp"

namespace evo::fuzz {
namespace {

/// A folder with an empty file for each source file that the problem files of the corpus name. The
/// fuzz target does not read the source files.
const std::filesystem::path& problem_folder() {
  static const ScratchFolder folder;
  static const bool filled = [] {
    for (const char* name : {"reference.cu", "row_softmax.cu", "mma.cu", "wmma.cu", "wgmma.cu"})
      folder.write(name, "");
    return true;
  }();
  (void)filled;
  return folder.path();
}

void use_space(const Space& space) {
  Random random(1);
  for (int i = 0; i < 3; ++i) {
    const Candidate candidate = space.sample(random);
    if (!space.is_valid(candidate) || space.violated(candidate) != nullptr)
      throw std::logic_error("a sample that is not valid");
    (void)space.macros(candidate);
    if (space.candidate_from_json(space.config_json(candidate)) != candidate)
      throw std::logic_error("a configuration changed on its way through JSON");
  }
  (void)space.content_key();
}

/// Evaluates the expressions of a problem for every shape, as a run does. `macros`: the values of
/// one candidate, or nothing.
void use_problem(const Problem& problem, const Values& macros) {
  for (const Shape& shape : problem.shapes) {
    try {
      const Values of_shape = problem.macros_for(shape);
      const Values values = merged({&shape.variables, &of_shape, &macros});
      for (const KernelSpec& kernel : problem.templates) {
        (void)kernel.tolerance.evaluate(values);
        (void)kernel.launch(values);
        for (const Argument& argument : problem.arguments)
          (void)argument.bytes(values, kernel.extent_of(argument));
      }
      for (const Argument& argument : problem.arguments) (void)argument.row_length(values);
    } catch (const InputError&) {
      continue;  // this shape does not support these values
    }
  }
}

std::optional<Problem> read_problem(const std::string& text) {
  try {
    return Problem::parse(text, problem_folder());
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace

void run_spec(std::string_view input) {
  constexpr std::string_view kBetween = "\n---\n";
  const std::size_t cut = input.find(kBetween);
  const std::string first(input.substr(0, cut));
  const std::string second(cut == std::string_view::npos ? input
                                                         : input.substr(cut + kBetween.size()));
  const std::optional<Problem> problem = read_problem(first);
  Values macros;
  try {
    const Space space(parse_space(second, "space.json"));
    use_space(space);
    macros = space.values(space.defaults());
  } catch (const InputError&) {
    macros = {};  // rejected with a message
  }
  if (problem) use_problem(*problem, macros);
}

}  // namespace evo::fuzz
