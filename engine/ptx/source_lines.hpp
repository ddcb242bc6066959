#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/ptx/types.hpp"

namespace evo::ptx {

/// A place in the source as `.loc` and `inlined_at` write it.
struct SourcePosition {
  int file = 0;
  int line = 0;
  int column = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): the 0 that it compares with
  friend auto operator<=>(const SourcePosition&, const SourcePosition&) = default;
};

/// The places where functions were inlined, each with the place where the function that holds it
/// was inlined itself. `.loc` states one step; the next is that of the last `.loc` for its place.
class CallSites {
 public:
  /// The call site at `position`; a new one unless it is known with the same chain.
  int index_of(const SourcePosition& position);
  /// A `.loc` of `position` was read.
  void note(const SourcePosition& position, const SourceLocation& location) {
    last_[position] = location.inlined_at;
  }
  [[nodiscard]] std::vector<SourceLocation> take() { return std::move(sites_); }

 private:
  std::map<SourcePosition, int> last_;
  std::map<std::tuple<int, int, int>, int> known_;
  std::vector<SourceLocation> sites_;
};

/// "inner.cuh:12, inlined at kernel.cu:34".
[[nodiscard]] std::string describe_source(const SourceLocation& location,
                                          const std::map<int, std::string>& files,
                                          const std::vector<SourceLocation>& call_sites);

/// The message of the error, and the text of the PTX that it is about.
[[nodiscard]] std::string with_statement(const PtxError& error, std::string_view ptx);

}  // namespace evo::ptx
