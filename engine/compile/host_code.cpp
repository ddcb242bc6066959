#include "engine/compile/host_code.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "engine/compile/host_scanner.hpp"
#include "engine/compile/standard_headers.hpp"
#include "engine/cxx/directives.hpp"

namespace evo {
namespace {

using Names = std::set<std::string>;

bool any_holds(const std::vector<TextSpan>& spans, std::size_t at) {
  return std::ranges::any_of(spans, [at](const TextSpan& span) { return span.holds(at); });
}

/// Names of the files that `text` includes. If `only` is given, ignores includes outside of the
/// spans in `only`.
Names included_in(const std::string& text, const std::vector<TextSpan>* only) {
  Names names;
  for (const Directive& directive : directives_of(text)) {
    if (!includes(directive) || (only != nullptr && !any_holds(*only, directive.begin))) continue;
    if (const auto name = included_name(directive)) names.insert(*name);
  }
  return names;
}

/// Blanks out the host declarations in `text`, except for preprocessor directives, and inserts
/// `__host__ __device__` at the positions `found.annotate`.
std::string edited(const std::string& text, HostCode found) {
  if (found.declarations.empty() && found.annotate.empty()) return text;
  std::vector<bool> is_kept(text.size(), false);
  for (const Directive& directive : directives_of(text)) {
    std::fill(is_kept.begin() + static_cast<std::ptrdiff_t>(directive.begin),
              is_kept.begin() + static_cast<std::ptrdiff_t>(std::min(directive.end, text.size())),
              true);
  }
  std::string result = text;
  for (const TextSpan& span : found.declarations) {
    for (std::size_t at = span.begin; at < span.end; ++at) {
      if (!is_kept[at] && std::isspace(static_cast<unsigned char>(text[at])) == 0) result[at] = ' ';
    }
  }
  std::sort(found.annotate.rbegin(), found.annotate.rend());
  for (const std::size_t at : found.annotate) result.insert(at, "__host__ __device__ ");
  return result;
}

/// Names of headers that are included inside of a declaration, directly or through another header.
/// A header that is included inside of a declaration contains only a part of the declaration, so
/// the scanner cannot read the header by itself.
Names parts_of_something(const KernelSource& source, const SourceMacros& macros) {
  Names parts;
  const auto add = [&](const std::string& text) {
    const HostCode found = find_host_code(text, macros);
    parts.merge(included_in(text, &found.inside));
  };
  add(source.text);
  for (const auto& [name, text] : source.headers) add(text);
  for (bool grows = true; grows;) {
    const std::size_t before = parts.size();
    for (const auto& [name, text] : source.headers) {
      if (parts.contains(name)) parts.merge(included_in(text, nullptr));
    }
    grows = parts.size() > before;
  }
  return parts;
}

}  // namespace

KernelSource without_host_code(KernelSource source) {
  SourceMacros macros;
  for (const auto& [name, text] : source.headers) macros.read(text);
  macros.read(source.text);
  const Names parts = parts_of_something(source, macros);
  for (auto& [name, text] : source.headers) {
    if (stand_in_header(name) == nullptr && !parts.contains(name)) {
      text = edited(text, find_host_code(text, macros));
    }
  }
  source.text = edited(source.text, find_host_code(source.text, macros));
  const std::string known = implied_definitions(source);
  if (!known.empty()) source.text = known + "#line 1 \"" + source.name + "\"\n" + source.text;
  return source;
}

}  // namespace evo
