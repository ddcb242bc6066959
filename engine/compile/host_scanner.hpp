#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace evo {

/// The macros that a source and its headers define.
struct SourceMacros {
  std::map<std::string, std::set<std::string>> words;  ///< name → words of all definitions of the
                                                       ///< macro

  void read(const std::string& text);

  /// Whether `word` is one of CUDA's annotations except `__host__`, or a macro that may expand to
  /// such an annotation.
  [[nodiscard]] bool annotates(const std::string& word, int depth = 0) const;
};

/// A part of a text: the characters [begin, end).
struct TextSpan {
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] bool holds(std::size_t at) const { return begin <= at && at < end; }
};

/// The result of scanning a text for host code.
struct HostCode {
  std::vector<TextSpan> declarations = {};  ///< host functions and variables
  /// positions before constexpr functions, where `__host__ __device__` is to be inserted
  std::vector<std::size_t> annotate = {};
  /// Ranges of declarations, from the first to the last word; a namespace is no declaration. A
  /// header included in such a range contains only a part of the declaration.
  std::vector<TextSpan> inside = {};
};

/// Splits a text into declarations and finds host code. If brackets are unbalanced, `declarations`
/// and `annotate` are empty.
[[nodiscard]] HostCode find_host_code(const std::string& text, const SourceMacros& macros);

}  // namespace evo
