#include "tests/agreement/template_run.hpp"

#include "engine/core/random.hpp"
#include "tests/kernel_templates/placed_file.hpp"

namespace evo::agreement {
namespace {

std::string define(const std::string& name, const std::string& value) {
  std::string option = "-D";
  return option.append(name).append("=").append(value);
}

std::uint64_t seed_of(const std::string& shape, const std::string& argument) {
  std::uint64_t seed = 20261121;
  for (const std::string& part : {shape, argument}) {
    for (const char c : part) seed = mix_seed(seed, static_cast<unsigned char>(c));
  }
  return seed;
}

CaseArgument buffer_of(const KernelSpec& kernel, const Argument& argument, const Shape& shape,
                       const Values& values) {
  constexpr std::byte kNan{0xff};
  const std::size_t bytes = argument.bytes(values, kernel.extent_of(argument));
  switch (argument.direction) {
    case Direction::kOut:
      return {.initial = Bytes(bytes, kNan), .is_output = true, .dtype = argument.dtype};
    case Direction::kWorkspace:
      return {.initial = Bytes(bytes, std::byte{0}), .is_scratch = true};
    default:
      return {
          .initial = generate(argument.generator, argument.dtype, bytes / size_of(argument.dtype),
                              {.seed = seed_of(shape.name, argument.name)}),
          .is_output = argument.direction == Direction::kInOut,
          .dtype = argument.dtype};
  }
}

ScalarArgument scalar_of(const Argument& argument, const Values& values) {
  return {argument.scalar_bytes(values)};
}

}  // namespace

TemplateRun::TemplateRun(const std::filesystem::path& root, const std::string& space_file)
    : space_(std::make_unique<Space>(
          placed_file(root / "search_spaces" / space_file, root / "kernel_templates"))),
      problem_(Problem::load(root / "kernel_templates" / space_->definition().problem)),
      kernel_(&problem_.kernel(space_->definition().template_name)),
      source_(load_source(kernel_->source, root / "kernel_templates")) {}

bool TemplateRun::supports(const Shape& shape) const {
  return kernel_->shapes_where.evaluate(shape.variables) != 0;
}

CompileRequest TemplateRun::request(const Candidate& candidate, const Shape& shape) const {
  CompileRequest request{source_, kernel_->entries(), space_->definition().arch,
                         space_->definition().compiler_options};
  for (const auto& [name, value] : space_->macros(candidate))
    request.options.push_back(define(name, value));
  for (const auto& [name, value] : problem_.macros_for(shape))
    request.options.push_back(define(name, std::to_string(static_cast<std::int64_t>(value))));
  return request;
}

AgreementCase TemplateRun::make_case(const Candidate& candidate, const Shape& shape,
                                     int sm_count) const {
  const Values macros = space_->values(candidate);
  const Values shape_macros = problem_.macros_for(shape);
  const Values device = {{"SM_COUNT", sm_count}};
  const Values values = merged({&shape.variables, &macros, &shape_macros, &device});
  AgreementCase data{kernel_->steps.front().entry, kernel_->source.filename().string(),
                     kernel_->steps.front().launch.evaluate(values)};
  for (const Argument& argument : problem_.arguments) {
    if (argument.direction == Direction::kScalar) {
      data.arguments.push_back({.scalar = scalar_of(argument, values)});
    } else {
      data.arguments.push_back(buffer_of(*kernel_, argument, shape, values));
    }
  }
  return data;
}

}  // namespace evo::agreement
