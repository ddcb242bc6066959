#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/ptx/types.hpp"

namespace evo::ptx {

/// A source position, as given by `.loc` and `inlined_at`.
struct SourcePosition {
  int file = 0;
  int line = 0;
  int column = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): operator<=> compares its result with 0
  friend auto operator<=>(const SourcePosition&, const SourcePosition&) = default;
};

/// Collects the call sites of inlined functions. Each call site refers to the call site at which
/// the function that contains it was inlined, so call sites form chains. A `.loc` directive gives
/// one step of a chain of call sites; the next step is in the latest `.loc` for the position of the
/// call site.
class CallSites {
 public:
  /// Returns the index of the call site at `position`. Adds the call site if no call site with this
  /// position and the same chain of outer call sites exists.
  int index_of(const SourcePosition& position);
  /// Records a `.loc` directive for `position`.
  void note(const SourcePosition& position, const SourceLocation& location) {
    last_[position] = location.inlined_at;
  }
  [[nodiscard]] std::vector<SourceLocation> take() { return std::move(sites_); }

 private:
  std::map<SourcePosition, int> last_;
  std::map<std::tuple<int, int, int>, int> known_;
  std::vector<SourceLocation> sites_;
};

/// A source location and its chain of call sites as text: "inner.cuh:12, inlined at kernel.cu:34".
[[nodiscard]] std::string describe_source(const SourceLocation& location,
                                          const std::map<int, std::string>& files,
                                          const std::vector<SourceLocation>& call_sites);

/// The message of `error`, followed by the start of the PTX statement at the line that the error
/// names, if it names one.
[[nodiscard]] std::string with_statement(const PtxError& error, std::string_view ptx);

}  // namespace evo::ptx
