// Tests input that the loader of bundles rejects: sizes, files, buffers and indexes that differ
// from those of the checked kernel.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "engine/core/json_reader.hpp"
#include "tests/tools/loader/loader_fixture.hpp"

namespace evo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(Loader, ServesWhatWasCheckedOrWhatIsAllowedByName) {
  for (Json& its : index_["kernels"]) {
    its["valid"].push_back({{"expression", "64 <= S <= 4096 && S % 1 == 0"},
                            {"why", "the kernel was checked with S = 64, 4096"},
                            {"variables", {"S"}}});
    const Json uses = its["plan"]["chosen_for"];
    its["plan"] = Json(kernel_plan(its, {"S", "F"}));
    its["plan"]["chosen_for"] = uses;
  }
  const evo_tune::Bundle strict = open();
  EXPECT_THAT(choice(strict, 96), HasSubstr("small: tuned for the nearest"));
  EXPECT_THAT(error_of([&] { (void)choice(strict, 32); }),
              HasSubstr("not small: S = 32 was not checked: '64 <= S <= 4096 && S % 1 == 0' does "
                        "not hold: the kernel was checked with S = 64, 4096; "
                        "allow_unchecked(\"S\") lets it be launched all the same"));
  evo_tune::Bundle bundle(folder_.path(), EVO_FAKE_DRIVER);
  EXPECT_THAT(error_of([&] { bundle.allow_unchecked("T"); }),
              HasSubstr("'T' is neither a shape variable nor a buffer"));
  bundle.allow_unchecked("F");
  EXPECT_THAT(error_of([&] { (void)choice(bundle, 32); }), HasSubstr("S = 32 was not checked"));
  bundle.allow_unchecked("S", 32, 63);
  EXPECT_THAT(choice(bundle, 32), HasSubstr("small: tuned for the nearest"));
  EXPECT_THAT(error_of([&] { (void)choice(bundle, 31); }), HasSubstr("S = 31 was not checked"));
  EXPECT_THAT(error_of([&] { (void)choice(bundle, 4160); }), HasSubstr("S = 4160 was not checked"));
  bundle.allow_unchecked("S");
  EXPECT_THAT(choice(bundle, 8192), HasSubstr("large: tuned for the nearest"));
}

TEST_F(Loader, AFileThatIsNotTheOneThatWasCheckedIsRefused) {
  const std::array<double, 2> shape = {64, 0};
  const evo_tune::Bundle bundle = open();
  for (const char* code : {"code large", "", "code smalm"}) {
    write_file(folder_.path() / "small.cubin", code);
    EXPECT_THAT(
        error_of([&] { bundle.prepare(nullptr, shape); }),
        HasSubstr("small.cubin: is not the file that was checked: export the bundle again"));
  }
  EXPECT_THAT(log(), ElementsAre());
  write_file(folder_.path() / "small.cubin", "code small");
  bundle.prepare(nullptr, shape);
}

TEST_F(Loader, BuffersAreApartAndAlignedAsTheyWereWhenItWasChecked) {
  const std::array<double, 2> shape = {64, 0};
  evo_tune::Bundle bundle = open();
  const auto launching = [&](std::ptrdiff_t x, std::ptrdiff_t y) {
    const std::array<void*, 3> buffers = {x_.data() + x, x_.data() + y, nullptr};
    return error_of([&] { bundle.launch(nullptr, shape, buffers.data()); });
  };
  EXPECT_EQ(launching(0, 64), "no error");
  EXPECT_EQ(launching(64, 0), "no error");
  EXPECT_THAT(launching(0, 0), HasSubstr("argument 'y' is written and overlaps 'x'; "
                                         "allow_unchecked(\"y\")"));
  EXPECT_THAT(launching(0, 1), HasSubstr("argument 'y' is aligned to 4 bytes; it was checked "
                                         "aligned to 256; allow_unchecked(\"y\")"));
  EXPECT_THAT(launching(32, 128), HasSubstr("argument 'x' is aligned to 128 bytes"));
  const std::array<double, 2> longer = {128, 0};  // 512 bytes, twice the alignment
  for (const auto& [x, y] : {std::pair{0, 64}, {64, 0}}) {
    const std::array<void*, 3> buffers = {x_.data() + x, x_.data() + y, nullptr};
    EXPECT_THAT(error_of([&] { bundle.launch(nullptr, longer, buffers.data()); }),
                HasSubstr("overlaps 'x'"));
  }
  bundle.forget();
  bundle.allow_unchecked("y");
  EXPECT_EQ(launching(0, 1), "no error");
  EXPECT_EQ(launching(0, 0), "no error");
  EXPECT_THAT(launching(1, 64), HasSubstr("argument 'x' is aligned to 4 bytes"));
}

TEST_F(Loader, SizesThatNoLaunchHasAreRefusedBeforeTheyAreCast) {
  for (const auto& [size, tree] : std::vector<std::pair<int, Json>>{
           {0, 0x1p32}, {0, -1}, {0, 0.5}, {3, 0}, {6, 0x1p40}, {6, -4}}) {
    Json sizes = plan(2)["steps"][0]["sizes"];
    plan(2)["steps"][0]["sizes"][static_cast<std::size_t>(size)]["tree"] = tree;
    const evo_tune::Bundle bundle = open();
    EXPECT_THAT(error_of([&] { (void)choice(bundle, 33); }), HasSubstr("not plain: ")) << tree;
    plan(2)["steps"][0]["sizes"] = sizes;
  }
  Json& sizes = plan(2)["steps"][0]["sizes"];
  sizes.push_back(sizes[0]);
  EXPECT_THAT(error_of([&] { (void)choice(open(), 33); }),
              HasSubstr("'sizes' must be 7 expressions"));
  sizes.erase(7);
  plan(2)["arguments"][4]["bytes"]["tree"] = -8;
  EXPECT_THAT(error_of([&] { (void)choice(open(), 33); }), HasSubstr("bytes of w is -8"));
}

TEST_F(Loader, ACallerOfAnotherSignatureIsRefused) {
  index_["signature"] = "in f32 x, S";
  (void)open();
  EXPECT_THAT(error_of([&] { evo_tune::Bundle(folder_.path(), EVO_FAKE_DRIVER, "in f16 x, S"); }),
              HasSubstr("takes in f32 x, S, but the program was compiled for in f16 x, S"));
  evo_tune::Bundle(folder_.path(), EVO_FAKE_DRIVER, "in f32 x, S");
}

TEST(LoaderHash, IsSha256) {
  // The hash of an empty text, and the examples of FIPS 180-2. With padding, the text
  // of 56 letters needs two blocks of 64 bytes.
  EXPECT_EQ(evo_tune::detail::sha256(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(evo_tune::detail::sha256("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(evo_tune::detail::sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(evo_tune::detail::sha256(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/// Changes or removes some bytes of a text.
std::string damaged(std::string text, std::mt19937_64& random) {
  for (std::uint64_t flips = 1 + random() % 3; flips > 0; --flips) {
    const std::size_t at = random() % text.size();
    if (random() % 2 == 0) {
      text[at] = static_cast<char>(random() % 256);
    } else {
      text.erase(at, random() % 20);
    }
  }
  return text;
}

/// Replaces, removes or duplicates a random value of a JSON document.
void damage(Json& json, std::mt19937_64& random) {
  static const std::vector<Json> kOthers = {nullptr, -1, 0,   0.5, 1e300,         -1e300,
                                            1e19,    "", "S", "x", Json::array(), Json::object()};
  if (!json.is_structured() || json.empty() || random() % 12 == 0) {
    json = kOthers[random() % kOthers.size()];
    return;
  }
  auto at = json.begin();
  std::advance(at, static_cast<std::ptrdiff_t>(random() % json.size()));
  const std::uint64_t action = random() % 16;
  if (action == 0) {
    json.erase(at);
  } else if (action == 1 && json.is_array()) {
    json.push_back(*at);
  } else {
    damage(*at, random);
  }
}

TEST_F(Loader, AnIndexThatIsNotAsItWasWrittenIsRefused) {
  const std::string good = index_text(index_);
  std::mt19937_64 random(5);
  for (int i = 0; i < 500; ++i) {
    const std::string text = damaged(good, random);
    if (text == good) continue;
    std::ofstream(folder_.path() / "bundle.json")
        << text;  // write_file() would flush each file to the disk
    ASSERT_THAT(error_of([&] { evo_tune::Bundle(folder_.path(), EVO_FAKE_DRIVER); }),
                HasSubstr("export it again"));
  }
}

/// The hashes of these damaged indexes are right. The loader must reject such an index with an
/// Error or launch a kernel; it must not crash or throw another exception.
TEST_F(Loader, DamagedIndexesAreErrors) {
  const std::string good = index_text(index_);
  const std::string rest = good.substr(good.find('\n') + 1);
  std::mt19937_64 random(5);
  int launched = 0;
  constexpr int kRounds = 600;
  for (int i = 0; i < kRounds; ++i) {
    std::string text;
    if (i % 2 == 0) {
      Json index = index_;
      damage(index, random);
      if (!index.is_object() || index.empty()) continue;
      text = index_text(index);
    } else {
      text = damaged(rest, random);
      text = evo_tune::detail::index_head(text) + text;
    }
    std::ofstream(folder_.path() / "bundle.json") << text;
    const std::string error = error_of([&] {
      const evo_tune::Bundle bundle(folder_.path(), EVO_FAKE_DRIVER);
      const std::array<double, 2> shape = {64, 0};
      if (bundle.shape_variables().size() != 2 || bundle.buffers().size() != 3) return;
      (void)bundle.choose(shape);
      reset_("Fake 90", 90, 0);
      bundle.launch(stream(1), shape, buffers_.data());
      ++launched;
    });
    ASSERT_FALSE(error.empty());
  }
  EXPECT_GT(launched, kRounds / 10);
  EXPECT_LT(launched, kRounds * 9 / 10);
}

}  // namespace
}  // namespace evo
