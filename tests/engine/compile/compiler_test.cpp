#include "engine/compile/compiler.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace evo {
namespace {

CompileRequest request() {
  return {
      {"k.cu", "text", {{"a.cuh", "a"}, {"b.cuh", "b"}}}, {"k"}, "sm_89", {"-DTILE=1", "-DX=2"}};
}

/// The key of a stored compilation depends on the compiler, the architecture, the sources, the
/// entries and all options, because different binaries must not share a key.
TEST(CompilationKey, EverythingThatDecidesABuildChangesIt) {
  const std::vector<std::function<void(CompileRequest&)>> changes = {
      [](CompileRequest& r) { r.options[0] = "-DTILE=2"; },
      [](CompileRequest& r) { r.options[1] = "-DX=3"; },
      [](CompileRequest& r) { r.options.pop_back(); },
      [](CompileRequest& r) { r.options.emplace_back("--use_fast_math"); },
      [](CompileRequest& r) { r.options.emplace_back("-lineinfo"); },
      [](CompileRequest& r) { r.options.emplace_back("--maxrregcount=64"); },
      [](CompileRequest& r) { std::swap(r.options[0], r.options[1]); },
      [](CompileRequest& r) { r.options = {"-DTILE=1 -DX=2"}; },
      [](CompileRequest& r) { r.arch = "sm_90"; },
      [](CompileRequest& r) { r.entries = {"l"}; },
      [](CompileRequest& r) {
        r.entries = {"k", "l"};
      },
      [](CompileRequest& r) {
        r.entries = {"l", "k"};
      },
      [](CompileRequest& r) { r.source.text += " "; },
      [](CompileRequest& r) { r.source.name = "l.cu"; },
      [](CompileRequest& r) { r.source.headers[1].second = "c"; },
      [](CompileRequest& r) { r.source.headers[1].first = "c.cuh"; },
      [](CompileRequest& r) { r.source.headers.pop_back(); },
      // The key differs between a header (name and content) and two options with the same texts.
      [](CompileRequest& r) {
        r.options.insert(r.options.begin(),
                         {r.source.headers[1].first, r.source.headers[1].second});
        r.source.headers.pop_back();
      },
  };
  std::set<std::string> keys = {request().key("nvrtc 13.0"), request().key("nvrtc 12.9")};
  EXPECT_EQ(keys.size(), 2U);
  for (const auto& change : changes) {
    CompileRequest changed = request();
    change(changed);
    EXPECT_TRUE(keys.insert(changed.key("nvrtc 13.0")).second) << keys.size();
  }
  // The expected key must not change, because databases find compiled kernels by their keys.
  EXPECT_EQ(request().key("nvrtc 13.0"), "f8fcf4db8a10fd3e1ea7627c8ec1c4ea");
}

}  // namespace
}  // namespace evo
