#include "engine/problem/argument_json.hpp"

#include "engine/core/error.hpp"
#include "engine/core/names.hpp"
#include "engine/problem/generator_json.hpp"

namespace evo {
namespace {

constexpr std::size_t kMostFields = 1000;

std::string parse_name(const JsonReader& reader) {
  std::string name = reader.string("name");
  if (!is_identifier(name)) reader.fail("name", "allowed is a C identifier, such as scale");
  return name;
}

Dtype parse_dtype(const JsonReader& reader) {
  try {
    return dtype_from_string(reader.string("dtype"));
  } catch (const InputError& error) {
    reader.fail("dtype", error.what());
  }
}

Direction parse_direction(const JsonReader& reader) {
  const std::string text =
      reader.one_of("direction", {"in", "out", "inout", "workspace", "scalar"});
  for (const Direction direction : {Direction::kIn, Direction::kOut, Direction::kInOut,
                                    Direction::kWorkspace, Direction::kScalar}) {
    if (to_string(direction) == text) return direction;
  }
  return Direction::kIn;
}

std::vector<Field> parse_fields(const JsonReader& reader) {
  std::vector<Field> fields;
  for (const JsonReader& entry : reader.children("fields", kMostFields)) {
    fields.push_back({parse_name(entry), parse_dtype(entry), parse_expression(entry, "value")});
    entry.finish();
  }
  if (fields.empty()) reader.fail("fields", "allowed is a list with at least one field");
  return fields;
}

void parse_content(const JsonReader& reader, Argument& argument) {
  if (!reader.has("generator")) {
    reader.fail("generator", "an argument that is read needs a generator");
  }
  const JsonReader generator = reader.child("generator");
  if (generator.has("formula")) {
    argument.formula = parse_expression(generator, "formula");
  } else if (generator.has("file")) {
    argument.file = generator.string("file");
    if (argument.file.empty()) generator.fail("file", "allowed is the name of a .npy file");
  } else {
    argument.generator = parse_generator(generator, argument.dtype);
    return;
  }
  generator.finish();
}

/// `"kind": "constant"`: a __constant__ variable.
Argument parse_constant(const JsonReader& reader) {
  const std::string name = parse_name(reader);
  if (reader.has("direction")) (void)reader.one_of("direction", {"in"});
  const Dtype dtype = parse_dtype(reader);
  Argument argument{name, Direction::kIn, dtype, parse_expression(reader, "extent"), {}};
  argument.symbol = reader.string_or("symbol", name);
  if (argument.symbol.empty()) reader.fail("symbol", "allowed is the variable's name in C++");
  parse_content(reader, argument);
  return argument;
}

Argument parse_parameter(const JsonReader& reader) {
  const std::string name = parse_name(reader);
  const Direction direction = parse_direction(reader);
  const bool scalar = direction == Direction::kScalar;
  if (scalar && reader.has("fields")) {
    Argument argument{name, direction, Dtype::kU8, Expression("0"), {}};
    argument.fields = parse_fields(reader);
    return argument;
  }
  const Dtype dtype = parse_dtype(reader);
  // A workspace that no template asks for is empty.
  const std::string nothing = direction == Direction::kWorkspace ? "0" : "";
  Argument argument{
      name, direction, dtype, parse_expression(reader, scalar ? "value" : "extent", nothing), {}};
  const bool is_half = dtype == Dtype::kF16 || dtype == Dtype::kBf16;
  if (scalar && size_of(dtype) < 4 && !is_half) {
    reader.fail("dtype", "allowed for a scalar: f16, bf16, f32, f64, i32, u32, i64, u64");
  }
  if (argument.is_input()) parse_content(reader, argument);
  if (argument.is_output()) {
    if (reader.has("row")) argument.row = parse_expression(reader, "row");
    argument.degenerate = reader.boolean_or("degenerate", false);
  }
  return argument;
}

}  // namespace

Expression parse_expression(const JsonReader& reader, std::string_view key,
                            const std::string& fallback) {
  const std::string text =
      fallback.empty() ? reader.expression(key) : reader.expression_or(key, fallback);
  try {
    return Expression(text, {}, reader.where(key));
  } catch (const InputError& error) {
    reader.fail(key, error.what());
  }
}

Argument parse_argument(const JsonReader& reader) {
  const bool is_constant =
      reader.has("kind") && reader.one_of("kind", {"parameter", "constant"}) == "constant";
  Argument argument = is_constant ? parse_constant(reader) : parse_parameter(reader);
  reader.finish();
  return argument;
}

}  // namespace evo
