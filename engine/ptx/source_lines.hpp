#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/ptx/types.hpp"

namespace evo::ptx {

/// A source position as `.loc` and `inlined_at` give it.
struct SourcePosition {
  int file = 0;
  int line = 0;
  int column = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): the 0 that it compares with
  friend auto operator<=>(const SourcePosition&, const SourcePosition&) = default;
};

/// The call sites of inlined functions. Each refers to the call site at which its own containing
/// function was inlined. A `.loc` gives one step of this chain; the last `.loc` for the call site's
/// position gives the next.
class CallSites {
 public:
  /// The call site at `position`. Adds a new one unless it is known with the same chain.
  int index_of(const SourcePosition& position);
  /// Records a `.loc` for `position`.
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

/// The error's message, followed by the line of PTX that it refers to.
[[nodiscard]] std::string with_statement(const PtxError& error, std::string_view ptx);

}  // namespace evo::ptx
