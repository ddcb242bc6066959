#include "engine/compile/compiler.hpp"

#include <sstream>

#include "engine/core/hash.hpp"

namespace evo {

std::string CompileRequest::key(const std::string& compiler_version) const {
  ContentHash hash;
  hash.add(compiler_version).add(arch).add(entry).add(source.name).add(source.text);
  for (const auto& [name, text] : source.headers) hash.add(name).add(text);
  for (const std::string& option : options) hash.add(option);
  return hash.hex();
}

std::string hash_ptx(const std::string& ptx) {
  ContentHash hash;
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t start = line.find_first_not_of(" \t\r");
    if (start == std::string::npos) continue;
    const std::string_view content = std::string_view(line).substr(start);
    if (content.starts_with("//") || content.starts_with(".loc") || content.starts_with(".file")) {
      continue;
    }
    if (content.starts_with(".section")) break;  // debug sections come last
    hash.add(content);
  }
  return hash.hex();
}

}  // namespace evo
