#include "engine/compile/source_names.hpp"

#include <algorithm>

#include "engine/ptx/lexer.hpp"

namespace evo {
namespace {

/// NVRTC's own header, which does not exist as a file.
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
  if (ptx.find(before) == std::string_view::npos) return std::string(ptx);
  std::string result;
  result.reserve(ptx.size());
  const char* copied = ptx.data();
  ptx::Lexer lexer(ptx);
  for (ptx::Token token = lexer.next(); token.kind != ptx::Token::Kind::kEnd;
       token = lexer.next()) {
    if (token.text != ".file" || lexer.next().kind != ptx::Token::Kind::kNumber) continue;
    token = lexer.next();
    if (token.kind != ptx::Token::Kind::kString) continue;
    const std::string_view path = token.text.substr(1, token.text.size() - 2);
    if (!path.starts_with(before)) continue;
    const std::string_view name = path.substr(before.size());
    if (!is_name_of(name, source)) continue;
    result.append(copied, path.data());
    copied = name.data();
  }
  return result.append(copied, ptx.data() + ptx.size());
}

}  // namespace evo
