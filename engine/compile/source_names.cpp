#include "engine/compile/source_names.hpp"

#include <algorithm>

namespace evo {
namespace {

/// NVRTC's own header, which it has in no file either.
constexpr std::string_view kBuiltinHeader = "__nv_nvrtc_builtin_header.h";

bool is_name_of(std::string_view name, const KernelSource& source) {
  return name == source.name || name == kBuiltinHeader ||
         std::ranges::any_of(source.headers,
                             [&](const auto& header) { return header.first == name; });
}

}  // namespace

std::string with_source_names(std::string_view ptx, const KernelSource& source,
                              std::string_view folder) {
  const std::string before = std::string(folder) + (folder.ends_with('/') ? "" : "/");
  std::string result;
  result.reserve(ptx.size());
  while (!ptx.empty()) {
    const std::size_t end = std::min(ptx.find('\n'), ptx.size() - 1) + 1;
    const std::string_view line = ptx.substr(0, end);
    ptx.remove_prefix(end);
    const std::size_t directive = line.find_first_not_of(" \t");
    const std::size_t path = line.find('"') + 1;
    const std::size_t close = line.rfind('"');
    const bool is_file = directive != std::string_view::npos &&
                         line.substr(directive).starts_with(".file") && path != 0 && close > path &&
                         line.substr(path).starts_with(before);
    const std::size_t name = path + before.size();
    if (is_file && close >= name && is_name_of(line.substr(name, close - name), source)) {
      result.append(line.substr(0, path)).append(line.substr(name));
    } else {
      result.append(line);
    }
  }
  return result;
}

}  // namespace evo
