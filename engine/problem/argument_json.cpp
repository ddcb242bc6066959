#include "engine/problem/argument_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/core/names.hpp"
#include "engine/problem/generator_json.hpp"
#include "engine/problem/tensor_map_argument.hpp"

namespace evo {
namespace {

constexpr std::size_t kMostFields = 1000;

std::string parse_name(const JsonReader& reader) {
  std::string name = reader.string("name");
  if (!is_identifier(name)) reader.fail("name", "allowed: a C identifier, such as scale");
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
      reader.one_of("direction", {"in", "out", "inout", "workspace", "scalar", "tensor_map"});
  for (const Direction direction :
       {Direction::kIn, Direction::kOut, Direction::kInOut, Direction::kWorkspace,
        Direction::kScalar, Direction::kTensorMap}) {
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
  if (fields.empty()) reader.fail("fields", "allowed: a list with at least one field");
  return fields;
}

void parse_content(const JsonReader& reader, Argument& argument) {
  if (!reader.has("generator")) {
    reader.fail("generator", "an in or inout argument needs a generator");
  }
  const JsonReader generator = reader.child("generator");
  if (generator.has("formula")) {
    argument.formula = parse_expression(generator, "formula");
  } else if (generator.has("file")) {
    argument.file = generator.string("file");
    if (argument.file.empty()) generator.fail("file", "allowed: the name of a .npy file");
    argument.file_shapes = generator.strings("shapes");
    argument.has_file_and_generator = generator.has("distribution");
    if (argument.has_file_and_generator) {
      argument.generator = parse_generator(generator, argument.dtype);
      return;
    }
    if (!argument.file_shapes.empty()) {
      generator.fail("shapes",
                     "needs a \"distribution\" beside the file, "
                     "for the shapes that \"shapes\" does not list");
    }
  } else {
    argument.generator = parse_generator(generator, argument.dtype);
    return;
  }
  generator.finish();
}

/// Reads an argument with `"kind": "constant"`, which is a __constant__ variable.
Argument parse_constant(const JsonReader& reader) {
  const std::string name = parse_name(reader);
  if (reader.has("direction")) (void)reader.one_of("direction", {"in"});
  const Dtype dtype = parse_dtype(reader);
  Argument argument{name, Direction::kIn, dtype, parse_expression(reader, "extent"), {}};
  argument.symbol = reader.string_or("symbol", name);
  if (argument.symbol.empty()) reader.fail("symbol", "allowed: the variable's name in C++");
  parse_content(reader, argument);
  return argument;
}

constexpr std::array<std::pair<Dtype, TexelType>, 8> kTexels = {{
    {Dtype::kU8, TexelType::kU8},
    {Dtype::kI8, TexelType::kS8},
    {Dtype::kU16, TexelType::kU16},
    {Dtype::kI16, TexelType::kS16},
    {Dtype::kU32, TexelType::kU32},
    {Dtype::kI32, TexelType::kS32},
    {Dtype::kF16, TexelType::kF16},
    {Dtype::kF32, TexelType::kF32},
}};

/// The enumerator in `values` whose name is the string under `key`; the first enumerator if `key`
/// is absent.
template <typename T>
T parse_word(const JsonReader& reader, const char* key, std::initializer_list<T> values) {
  if (!reader.has(key)) return *values.begin();
  std::string allowed;
  for (const T value : values) {
    if (reader.value(key) == to_string(value)) return value;
    allowed += fmt::format("{}\"{}\"", allowed.empty() ? "" : ", ", to_string(value));
  }
  reader.fail(key, "allowed: " + allowed);
}

TextureAddress parse_address(const JsonReader& reader, const char* key) {
  return parse_word(reader, key,
                    {TextureAddress::kClamp, TextureAddress::kBorder, TextureAddress::kWrap,
                     TextureAddress::kMirror});
}

/// Reads an argument with `"kind": "texture"`, an input that kernels read through a
/// cudaTextureObject_t.
Argument parse_texture(const JsonReader& reader) {
  const std::string name = parse_name(reader);
  if (reader.has("direction")) (void)reader.one_of("direction", {"in"});
  const Dtype dtype = parse_dtype(reader);
  const auto* texel = std::ranges::find(kTexels, dtype, &std::pair<Dtype, TexelType>::first);
  if (texel == kTexels.end()) {
    reader.fail("dtype", "allowed for a texture: u8, i8, u16, i16, u32, i32, f16, f32");
  }
  const std::int64_t channels = reader.integer_or("channels", 1);
  if (channels != 1 && channels != 2 && channels != 4) {
    reader.fail("channels", "allowed: 1, 2 and 4");
  }
  TextureSpec spec;
  spec.name = name;
  spec.type = texel->second;
  spec.channels = static_cast<int>(channels);
  spec.storage =
      parse_word(reader, "memory",
                 {TextureStorage::kArray, TextureStorage::kPitched, TextureStorage::kLinear});
  spec.linear_filter =
      reader.has("filter") && reader.one_of("filter", {"point", "linear"}) == "linear";
  spec.address = {parse_address(reader, "address_x"), parse_address(reader, "address_y")};
  spec.normalized_coordinates = reader.boolean_or("normalized_coordinates", false);
  spec.normalized_values = reader.boolean_or("normalized_values", false);
  TextureSetup texture{std::move(spec), parse_expression(reader, "width")};
  if (reader.has("height")) texture.height = parse_expression(reader, "height");
  const std::string texels =
      texture.height ? fmt::format("({}) * ({})", texture.width.text(), texture.height->text())
                     : texture.width.text();
  Argument argument{
      name, Direction::kIn, dtype, Expression(fmt::format("{} * ({})", channels, texels)), {}};
  argument.texture = std::move(texture);
  parse_content(reader, argument);
  return argument;
}

Argument parse_parameter(const JsonReader& reader) {
  const std::string name = parse_name(reader);
  const Direction direction = parse_direction(reader);
  if (direction == Direction::kTensorMap) return parse_tensor_map(reader, name);
  const bool scalar = direction == Direction::kScalar;
  if (scalar && reader.has("fields")) {
    Argument argument{name, direction, Dtype::kU8, Expression("0"), {}};
    argument.fields = parse_fields(reader);
    return argument;
  }
  const Dtype dtype = parse_dtype(reader);
  // A workspace argument without an "extent" is empty, except for templates that give its extent
  // under "workspace".
  const std::string nothing = direction == Direction::kWorkspace ? "0" : "";
  Argument argument{
      name, direction, dtype, parse_expression(reader, scalar ? "value" : "extent", nothing), {}};
  if (scalar && !may_be_scalar(dtype)) {
    reader.fail("dtype", "allowed for a scalar: " + dtype_names(may_be_scalar));
  }
  if (argument.is_input()) parse_content(reader, argument);
  if (argument.is_output()) {
    if (reader.has("row")) argument.row = parse_expression(reader, "row");
    argument.degenerate = reader.boolean_or("degenerate", false);
    if (reader.has("compare") && !reader.value("compare").is_boolean()) {
      argument.compared = parse_expression(reader, "compare");
    } else {
      argument.is_compared = reader.boolean_or("compare", true);
    }
    if (!argument.is_compared && argument.row) {
      reader.fail("row", "has no effect for an output with \"compare\": false");
    }
  }
  return argument;
}

}  // namespace

std::vector<Expression> parse_expressions(const JsonReader& reader, std::string_view key,
                                          std::size_t most) {
  const Json& list = reader.array(key);
  if (list.empty() || list.size() > most)
    reader.fail(key, fmt::format("allowed: a list of 1 to {} expressions", most));
  std::vector<Expression> expressions;
  for (const Json& entry : list) {
    const Json wrapped = {{std::string(key), entry}};
    JsonReader element(wrapped, reader.where());
    element.insert(reader.inserted());
    expressions.push_back(parse_expression(element, key));
  }
  return expressions;
}

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
  const std::string kind = reader.has("kind")
                               ? reader.one_of("kind", {"parameter", "constant", "texture"})
                               : "parameter";
  Argument argument = kind == "constant"  ? parse_constant(reader)
                      : kind == "texture" ? parse_texture(reader)
                                          : parse_parameter(reader);
  reader.finish();
  return argument;
}

}  // namespace evo
