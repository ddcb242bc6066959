#include "engine/intake/active_code.hpp"

#include <gtest/gtest.h>

#include "engine/cxx/tokenizer.hpp"

namespace evo {
namespace {

/// Removes the code of `text` that the preprocessor would skip, and returns the remaining tokens,
/// separated by spaces.
std::string left(const std::string& text, const MacroTexts& macros) {
  std::string joined;
  for (const std::string& word : cpp_words(active_code({"k.cu", text, {}}, macros).text)) {
    joined += (joined.empty() ? "" : " ") + word;
  }
  return joined;
}

TEST(ActiveCode, ConditionsChoose) {
  const std::string text = "#if SOA == 0 && N > 2\na\n#elif N == 1\nb\n#else\nc\n#endif\nd\n";
  EXPECT_EQ(left(text, {{"SOA", "0"}, {"N", "4"}}), "a d");
  EXPECT_EQ(left(text, {{"SOA", "1"}, {"N", "1"}}), "b d");
  EXPECT_EQ(left(text, {{"SOA", "0"}, {"N", "2"}}), "c d");
  EXPECT_EQ(left(text, {}), "c d") << "the preprocessor replaces an unknown name by 0";
}

TEST(ActiveCode, DefinitionsCount) {
  const std::string text =
      "#ifndef T\n#define T 3\n#endif\n#define U (T + 1)\n#if U == 4 && defined(T)\na\n#endif\n"
      "#undef T\n#ifdef T\nb\n#endif\n#if !defined T || 0\nc\n#endif\n";
  EXPECT_EQ(left(text, {}), "a c");
  EXPECT_EQ(left(text, {{"T", "5"}}), "c");
}

TEST(ActiveCode, WhatCannotBeToldStaysWhole) {
  EXPECT_EQ(left("#if __CUDA_ARCH__ >= 800\na\n#else\nb\n#endif\n", {}), "a b");
  EXPECT_EQ(left("#if F(3)\na\n#elif 1\nb\n#else\nc\n#endif\n", {}), "a b");
  EXPECT_EQ(left("#ifdef __cplusplus\nextern\n#endif\n#if 0\nx\n#if 1\ny\n#endif\n#endif\n", {}),
            "extern");
  EXPECT_EQ(left("#endif\n#else\na\n#if 1\n", {}), "a");
}

}  // namespace
}  // namespace evo
