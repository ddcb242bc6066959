#include "engine/compile/source.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"

namespace evo {
namespace {

/// The name in a line `#include "name"`, or nothing.
std::optional<std::string> included_name(std::string_view line) {
  const auto skip_blanks = [&] {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  };
  skip_blanks();
  if (!line.starts_with('#')) return std::nullopt;
  line.remove_prefix(1);
  skip_blanks();
  if (!line.starts_with("include")) return std::nullopt;
  line.remove_prefix(std::string_view("include").size());
  skip_blanks();
  if (!line.starts_with('"')) return std::nullopt;
  line.remove_prefix(1);
  const std::size_t end = line.find('"');
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(line.substr(0, end));
}

void for_each_line(const std::string& text, const std::function<void(const std::string&)>& visit) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) visit(line);
}

void collect(const std::string& text, const std::filesystem::path& folder,
             const std::filesystem::path& root, const std::string& includer, KernelSource& source) {
  for_each_line(text, [&](const std::string& line) {
    const std::optional<std::string> name = included_name(line);
    if (!name) return;
    const auto known = [&](const auto& header) { return header.first == *name; };
    if (std::any_of(source.headers.begin(), source.headers.end(), known)) return;
    std::filesystem::path file = folder / *name;
    if (!std::filesystem::is_regular_file(file)) file = root / *name;
    if (!std::filesystem::is_regular_file(file)) {
      throw InputError(includer + ": #include \"" + *name + "\": no such file beside it or in " +
                       root.string());
    }
    source.headers.emplace_back(*name, read_text_file(file));
    collect(std::string(source.headers.back().second), file.parent_path(), root, file.string(),
            source);
  });
}

void expand(const std::string& text, const KernelSource& source, std::set<std::string>& done,
            std::string& output) {
  for_each_line(text, [&](const std::string& line) {
    const std::optional<std::string> name = included_name(line);
    if (!name) {
      if (!line.starts_with("#pragma once")) output += line + "\n";
      return;
    }
    if (!done.insert(*name).second) return;
    const auto header = std::find_if(source.headers.begin(), source.headers.end(),
                                     [&](const auto& entry) { return entry.first == *name; });
    if (header != source.headers.end()) expand(header->second, source, done, output);
  });
}

}  // namespace

std::string KernelSource::expanded() const {
  std::string output;
  std::set<std::string> done;
  expand(text, *this, done, output);
  return output;
}

KernelSource load_source(const std::filesystem::path& file, const std::filesystem::path& root) {
  KernelSource source;
  source.name = file.filename().string();
  source.text = read_text_file(file);
  collect(source.text, file.parent_path(), root, file.string(), source);
  return source;
}

}  // namespace evo
