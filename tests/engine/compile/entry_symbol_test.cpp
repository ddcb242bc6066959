#include "engine/compile/entry_symbol.hpp"

#include <gtest/gtest.h>

namespace evo {
namespace {

using Names = std::vector<std::string>;

TEST(EntrySymbol, TravelsInTheFirstLineOfThePtx) {
  const std::string ptx = ".version 9.0\n// entry: forged\n";
  const std::string marked = with_entry_symbol(ptx, "k<4>", "_Z1kILi4EEvv");
  EXPECT_EQ(entry_symbol(marked, "k<4>"), "_Z1kILi4EEvv");
  EXPECT_EQ(marked.substr(marked.find('\n') + 1), ptx);
  EXPECT_EQ(with_entry_symbol(ptx, "k", "k"), ptx);
  EXPECT_EQ(entry_symbol(ptx, "k"), "k");
}

TEST(EntrySymbol, MangledNamesAreThoseOfFileScope) {
  const Names symbols = {"_Z3addPf",      "_Z4add2Pf",     "_ZN1a3addEPf",
                         "_Z3subIfEvPT_", "_Z3subIdEvPT_", "_ZL4quitPf"};
  EXPECT_EQ(symbols_named(symbols, "add"), Names{"_Z3addPf"});
  EXPECT_EQ(symbols_named(symbols, "quit"), Names{"_ZL4quitPf"});
  EXPECT_EQ(symbols_named(symbols, "sub").size(), 2U);
  EXPECT_TRUE(symbols_named(symbols, "ad").empty());
  EXPECT_EQ(symbols_named({"add", "_Z3addPf"}, "add"), Names{"add"});
}

TEST(EntrySymbol, OnlyTemplatesAreInstantiated) {
  EXPECT_EQ(instantiation_of("k"), "");
  EXPECT_EQ(instantiation_of("k<4>"), "template __global__ decltype(k<4>) k<4>;\n");
}

}  // namespace
}  // namespace evo
