#include "engine/ptx/source_lines.hpp"

#include "engine/core/printable.hpp"

namespace evo::ptx {
namespace {

constexpr int kMostSteps = 8;  // length limit of a displayed chain of inlined functions
constexpr std::size_t kMostStatement = 200;

/// The part of `text` from the start of line number `line`, counted from 1.
std::string_view from_line(std::string_view text, int line) {
  for (int at = 1; at < line; ++at) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text;
}

std::string place(const SourceLocation& location, const std::map<int, std::string>& files) {
  const auto file = files.find(location.file);
  return (file == files.end() ? std::string("source") : file->second) + ":" +
         std::to_string(location.line);
}

}  // namespace

int CallSites::index_of(const SourcePosition& position) {
  const auto outer = last_.find(position);
  const int inlined_at = outer == last_.end() ? -1 : outer->second;
  const auto [entry, is_new] = known_.try_emplace({position.file, position.line, inlined_at},
                                                  static_cast<int>(sites_.size()));
  if (is_new) sites_.push_back({position.file, position.line, inlined_at});
  return entry->second;
}

std::string describe_source(const SourceLocation& location, const std::map<int, std::string>& files,
                            const std::vector<SourceLocation>& call_sites) {
  std::string text = place(location, files);
  int site = location.inlined_at;
  for (int step = 0; site >= 0 && step < kMostSteps; ++step) {
    const SourceLocation& outer = call_sites[static_cast<std::size_t>(site)];
    text += ", inlined at " + place(outer, files);
    site = outer.inlined_at;
  }
  return text;
}

std::string with_statement(const PtxError& error, std::string_view ptx) {
  if (error.line() == 0) return error.what();
  std::string statement;
  bool cut = false;
  for (const char c : from_line(ptx, error.line())) {
    if (c == '\n' && statement.find_first_of(";{}") != std::string::npos) break;
    const bool blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
    if (blank && (statement.empty() || statement.back() == ' ')) continue;
    if (statement.size() >= kMostStatement) {
      cut = true;
      break;
    }
    statement += blank ? ' ' : c;
  }
  while (statement.ends_with(' ')) statement.pop_back();
  if (statement.empty()) return error.what();
  return std::string(error.what()) + ": " + printable(statement) + (cut ? " …" : "");
}

}  // namespace evo::ptx
