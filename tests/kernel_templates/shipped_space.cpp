#include "tests/kernel_templates/shipped_space.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "engine/compile/nvrtc.hpp"
#include "engine/core/error.hpp"
#include "engine/device/arch_limits.hpp"
#include "tests/kernel_templates/placed_file.hpp"

namespace evo {
namespace {

const std::filesystem::path kRoot = EVO_SOURCE_DIR;

std::string define(const std::string& name, const std::string& value) {
  std::string option = "-D";
  return option.append(name).append("=").append(value);
}

/// True if the template has the constant `name`.
bool states(const KernelSource& source, const std::string& name) {
  const std::string text = "constexpr int " + name + " =";
  return source.text.find(text) != std::string::npos ||
         std::ranges::any_of(source.headers, [&](const auto& header) {
           return header.second.find(text) != std::string::npos;
         });
}

}  // namespace

ShippedSpace::ShippedSpace(const std::filesystem::path& file, const std::string& shape)
    : space_(placed_file(file, kRoot / "kernel_templates", shape)),
      problem_(Problem::load(kRoot / "kernel_templates" / space_.definition().problem)),
      kernel_(problem_.kernel(space_.definition().template_name)),
      source_(load_source(kernel_.source, kRoot / "kernel_templates")) {}

const Shape& ShippedSpace::timed_shape() const { return problem_.shape(space_.definition().shape); }

std::vector<const Shape*> ShippedSpace::compiled_shapes() const {
  std::vector<const Shape*> shapes = {&timed_shape()};
  std::set<Values> seen = {problem_.macros_for(timed_shape())};
  for (const Shape& shape : problem_.shapes) {
    if (kernel_.shapes_where.evaluate(shape.variables) == 0) continue;
    if (seen.insert(problem_.macros_for(shape)).second) shapes.push_back(&shape);
  }
  return shapes;
}

CompileRequest ShippedSpace::request(const Candidate& candidate, const Shape& shape) const {
  CompileRequest request{source_, kernel_.entries(), space_.definition().arch,
                         space_.definition().compiler_options};
  for (const auto& [name, value] : space_.macros(candidate)) {
    request.options.push_back(define(name, value));
  }
  for (const auto& [name, value] : problem_.macros_for(shape)) {
    request.options.push_back(define(name, std::to_string(static_cast<std::int64_t>(value))));
  }
  return request;
}

CompileOutcome ShippedSpace::compile(const Candidate& candidate, const Shape& shape) const {
  return outcome_of(nvrtc().compile(request(candidate, shape)));
}

CompileOutcome ShippedSpace::compile_checked(const Candidate& candidate, const Shape& shape) const {
  const LaunchConfig launch = this->launch(candidate, shape);
  CompileRequest checked = request(candidate, shape);
  const auto expect = [&](const std::string& name, unsigned value) {
    if (!states(source_, name)) return;
    checked.source.text += "\nstatic_assert(" + name + " == " + std::to_string(value) +
                           ", \"a size in the problem file\");\n";
  };
  expect("kSharedBytes", launch.dynamic_shared_bytes);
  expect("kThreads", launch.block[0] * launch.block[1] * launch.block[2]);
  return outcome_of(nvrtc().compile(checked));
}

LaunchConfig ShippedSpace::launch(const Candidate& candidate, const Shape& shape) const {
  const Values macros = space_.values(candidate);
  const Values device = {{"SM_COUNT", 58}};  // of an L4; only the grid depends on SM_COUNT
  return kernel_.steps.front().launch.evaluate(merged({&shape.variables, &macros, &device}));
}

Compiler& nvrtc() {
  static const std::unique_ptr<Compiler> compiler = open_nvrtc();
  return *compiler;
}

std::vector<std::filesystem::path> shipped_space_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(kRoot / "search_spaces")) {
    const std::filesystem::path& file = entry.path();
    if (file.extension() == ".json" && file.filename() != "default.json") files.push_back(file);
  }
  std::sort(files.begin(), files.end());
  return files;
}

int candidates_per_space(int usual) {
  const char* text = std::getenv("EVO_TEMPLATE_CANDIDATES");
  if (text == nullptr) return usual;
  char* end = nullptr;
  const long count = std::strtol(text, &end, 10);
  if (end == text || *end != '\0' || count < 1 || count > 1000000) {
    throw InputError("EVO_TEMPLATE_CANDIDATES is '" + std::string(text) +
                     "'; allowed: a number from 1 to 1000000");
  }
  return static_cast<int>(count);
}

std::string failure_of(const CompileOutcome& outcome) {
  const auto* rejection = std::get_if<Rejection>(&outcome);
  return rejection == nullptr ? "" : rejection->reason + "\n" + rejection->detail;
}

}  // namespace evo
