#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace evo {

/// Macros that sources define.
struct SourceMacros {
  std::map<std::string, std::set<std::string>> words;  ///< name → words of all its replacements

  void read(const std::string& text);

  /// Whether `word` is one of CUDA's annotations but `__host__`, or a macro that may stand for one.
  [[nodiscard]] bool annotates(const std::string& word, int depth = 0) const;
};

/// A part of a text, from `begin` to before `end`.
struct TextSpan {
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] bool holds(std::size_t at) const { return begin <= at && at < end; }
};

/// What without_host_code() finds in a text.
struct HostCode {
  std::vector<TextSpan> declarations = {};  ///< of the host
  std::vector<std::size_t> annotate = {};   ///< where a function is to become one of the device too
  /// Declarations, from the first to the last word, and brackets but those of namespaces. What
  /// stands in them is a part of something, and says nothing by itself.
  std::vector<TextSpan> inside = {};
};

/// Splits a text into declarations and finds those of the host: none when its brackets do not
/// match.
[[nodiscard]] HostCode find_host_code(const std::string& text, const SourceMacros& macros);

}  // namespace evo
