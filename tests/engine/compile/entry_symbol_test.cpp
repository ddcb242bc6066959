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

TEST(EntrySymbol, OfSeveralEntriesEachHasALineWithItsResources) {
  const std::string ptx = ".version 9.0\n// entry: forged registers=1\n";
  const Names names = {"k<4>", "last"};
  const std::vector<CompiledEntry> entries = {{"_Z1kILi4EEvv", {40, 1024, 8, 16, 24, 256}},
                                              {"last", {90, 0, 0, 0, 0, 0}}};
  const std::string marked = with_entries(ptx, names, entries);
  EXPECT_TRUE(marked.ends_with(ptx));
  const auto found = compiled_entries(marked, names, {});
  ASSERT_EQ(found.size(), 2U);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].symbol, entries[i].symbol);
    EXPECT_EQ(found[i].resources, entries[i].resources);
  }
  EXPECT_EQ(largest_of(entries), (Resources{90, 1024, 8, 16, 24, 256}));
}

TEST(EntrySymbol, TheOnlyEntryHasWhatTheCompilationHas) {
  const Resources used = {40, 0, 0, 0, 0, 0};
  EXPECT_EQ(with_entries("x", {"k"}, {{"k", used}}), "x");
  const auto found = compiled_entries(with_entries("x", {"k"}, {{"_Z1kv", used}}), {"k"}, used);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().symbol, "_Z1kv");
  EXPECT_EQ(found.front().resources, used);
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
