#include "tools/bundle/cpp.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/core/error.hpp"
#include "engine/core/names.hpp"
#include "tools/bundle/loader_headers.hpp"

namespace evo {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// The C++ type of `dtype`; void if C++ has none.
std::string cpp_type(const std::string& dtype) {
  static const std::map<std::string, std::string> kTypes = {
      {"f32", "float"},        {"f64", "double"},        {"i8", "std::int8_t"},
      {"u8", "std::uint8_t"},  {"i16", "std::int16_t"},  {"u16", "std::uint16_t"},
      {"i32", "std::int32_t"}, {"u32", "std::uint32_t"}, {"i64", "std::int64_t"},
      {"u64", "std::uint64_t"}};
  const auto found = kTypes.find(dtype);
  return found == kTypes.end() ? "void" : found->second;
}

bool is_buffer(const OrderedJson& argument) {
  const auto direction = argument.at("direction").get<std::string>();
  return direction != "scalar" && direction != "workspace" && direction != "tensor_map";
}

std::string upper(std::string name) {
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

/// Shape variables that are not integers in some tuned shape.
std::set<std::string> fractional(const OrderedJson& index) {
  std::set<std::string> names;
  for (const OrderedJson& target : index.at("targets")) {
    for (const OrderedJson& served : target.at("serves")) {
      for (const auto& [name, value] : served.at("variables").items()) {
        if (!value.is_number_integer()) names.insert(name);
      }
    }
  }
  return names;
}

/// The tuned shapes with their times, one comment line each.
std::string served_lines(const OrderedJson& index) {
  std::string lines;
  for (const OrderedJson& target : index.at("targets")) {
    lines +=
        fmt::format("// {}, {}, {} times:\n", target.at("device").get<std::string>(),
                    target.at("arch").get<std::string>(), target.at("kind").get<std::string>());
    for (const OrderedJson& served : target.at("serves")) {
      lines += fmt::format("//   {} {}: {:.4g} us\n", served.at("shape").get<std::string>(),
                           served.at("variables").dump(), served.at("p50_us").get<double>());
    }
  }
  return lines;
}

class Function {
 public:
  explicit Function(const Bundle& bundle)
      : bundle_(bundle), taken_{"stream", "shape", bundle.name} {
    const std::set<std::string> reals = fractional(bundle.index);
    for (const OrderedJson& argument : bundle.index.at("kernels").at(0).at("arguments")) {
      if (is_buffer(argument)) add_buffer(argument);
    }
    for (const OrderedJson& variable : bundle.index.at("shape_variables")) {
      const auto name = variable.get<std::string>();
      members_.push_back((reals.contains(variable) ? "double " : "std::int64_t ") + name + ";");
      shape_.push_back(fmt::format("static_cast<double>(shape.{})", name));
    }
    parameters_.push_back(fmt::format("const {}_shape& shape", bundle.name));
  }

  [[nodiscard]] std::string text() const {
    return fmt::format(R"(// {mark}: the kernels of this bundle as one function.
//
{served}#ifndef EVO_TUNE_BUNDLE_{upper}_HPP
#define EVO_TUNE_BUNDLE_{upper}_HPP

#include <cstdint>
#include <cstdlib>

#include "evo_tune.hpp"

#ifndef {upper}_BUNDLE_DIR  // find_package() defines this macro
#define {upper}_BUNDLE_DIR ""
#endif

/// The bundle in the folder of the environment variable {upper}_BUNDLE, else of the macro
/// {upper}_BUNDLE_DIR, which find_package() defines. The first use opens the bundle.
inline evo_tune::Bundle& {name}_bundle() {{
  static evo_tune::Bundle bundle(
      [] {{
        const char* folder = std::getenv("{upper}_BUNDLE");
        if (folder == nullptr) folder = {upper}_BUNDLE_DIR;
        if (*folder != '\0') return folder;
        throw evo_tune::Error(
            "the folder of the bundle {name} is unknown: set the environment variable "
            "{upper}_BUNDLE, or compile with -D{upper}_BUNDLE_DIR='\"/its/folder\"'");
      }}(),
      {{}}, "{signature}");
  return bundle;
}}

/// The shape variables of {name}.
struct {name}_shape {{
  {members}
}};

/// Starts {name} on a stream (a CUstream or cudaStream_t) of the current context. Buffers are
/// device addresses (null if without elements):
///
{buffers}///
/// Throws evo_tune::Error.
inline void {name}(CUstream_st* stream,
    {parameters}) {{
  const double evo_tune_shape[] = {{
      {shape}}};
  void* const evo_tune_buffers[] = {{
      {addresses}}};
  {name}_bundle().launch(stream, evo_tune_shape, evo_tune_buffers);
}}

#endif
)",
                       fmt::arg("mark", kWrittenByExport),
                       fmt::arg("served", served_lines(bundle_.index)),
                       fmt::arg("upper", upper(bundle_.name)), fmt::arg("name", bundle_.name),
                       fmt::arg("buffers", buffers_),
                       fmt::arg("signature", bundle_.index.at("signature").get<std::string>()),
                       fmt::arg("parameters", fmt::join(parameters_, ",\n    ")),
                       fmt::arg("members", fmt::join(members_, "\n  ")),
                       fmt::arg("shape", fmt::join(shape_, ",\n      ")),
                       fmt::arg("addresses", fmt::join(addresses_, ",\n      ")));
  }

 private:
  void add_buffer(const OrderedJson& argument) {
    const auto direction = argument.at("direction").get<std::string>();
    const auto dtype = argument.at("dtype").get<std::string>();
    const std::string name = unused(argument.at("name").get<std::string>());
    const bool is_input = direction == "in";
    parameters_.push_back((is_input ? "const " : "") + cpp_type(dtype) + "* " + name);
    addresses_.push_back(
        is_input ? fmt::format("const_cast<void*>(static_cast<const void*>({}))", name) : name);
    buffers_ += fmt::format("///   {}: {}, {}, {} elements\n", name, direction, dtype,
                            argument.at("extent").at("expression").get<std::string>());
  }
  std::string unused(std::string name) {
    while (!taken_.insert(name).second) name += "_";
    return name;
  }

  const Bundle& bundle_;
  std::set<std::string> taken_;
  std::vector<std::string> parameters_;
  std::vector<std::string> members_;
  std::vector<std::string> shape_;
  std::vector<std::string> addresses_;
  std::string buffers_;
};

std::string cmake_config(const std::string& name) {
  return fmt::format(
      R"(# {mark}: find_package({name}) and target_link_libraries(program {name}::{name}).
if(NOT TARGET {name}::{name})
  add_library({name}::{name} INTERFACE IMPORTED)
  target_include_directories({name}::{name} INTERFACE "${{CMAKE_CURRENT_LIST_DIR}}")
  target_compile_definitions({name}::{name} INTERFACE
    "{upper}_BUNDLE_DIR=\"${{CMAKE_CURRENT_LIST_DIR}}\"")
  target_compile_features({name}::{name} INTERFACE cxx_std_17)
  target_link_libraries({name}::{name} INTERFACE ${{CMAKE_DL_LIBS}})
endif()
)",
      fmt::arg("mark", kWrittenByExport), fmt::arg("name", name), fmt::arg("upper", upper(name)));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> cpp_files(const Bundle& bundle) {
  if (const std::string why = why_no_macro(bundle.name); !why.empty()) {
    throw InputError("--cpp: the function would be named " + bundle.name + ": " + why +
                     "; --name gives the bundle another name");
  }
  std::vector<std::pair<std::string, std::string>> files = loader_headers();
  files.emplace_back(bundle.name + ".hpp", Function(bundle).text());
  files.emplace_back(bundle.name + "Config.cmake", cmake_config(bundle.name));
  return files;
}

}  // namespace evo
