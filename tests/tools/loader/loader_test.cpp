// Tests the loader of bundles with a fake CUDA driver that records its calls.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "engine/core/json_reader.hpp"
#include "engine/problem/dtype.hpp"
#include "tests/tools/loader/loader_fixture.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST_F(Loader, ChoosesTheShapeElseTheNearestElseTheDefaults) {
  const evo_tune::Bundle bundle = open();
  EXPECT_EQ(choice(bundle, 64), "small: tuned for this shape: s64, on Fake 90");
  EXPECT_THAT(choice(bundle, 96), HasSubstr("small: tuned for the nearest shape with a"));
  EXPECT_THAT(choice(bundle, 1024), HasSubstr("large: tuned for the nearest shape"));
  // The shape s4096 is nearest to S = 2080, but its kernel is not valid for this size.
  EXPECT_THAT(choice(bundle, 2080),
              AllOf(HasSubstr("small: tuned for the nearest"),
                    HasSubstr("not large: 'S % TILE == 0' does not hold: whole tiles")));
  EXPECT_THAT(choice(bundle, 33), HasSubstr("plain: the default configuration"));
}

TEST_F(Loader, PrefersWhatTheDeviceIsLike) {
  const evo_tune::Bundle bundle = open();
  EXPECT_THAT(choice(bundle, 128, {"Fake 80", 80, 4, 1000}), HasSubstr("old: tuned for this"));
  // Machine code runs on devices with the same major and the same or a later minor compute
  // capability. PTX runs on every later device, except PTX for a target such as sm_90a.
  EXPECT_THAT(choice(bundle, 128, {"Fake 86", 86, 4, 1000}), HasSubstr("old: tuned for this"));
  EXPECT_THAT(choice(bundle, 64, {"Fake 100", 100, 4, 1000}), HasSubstr("small (PTX): tuned"));
  EXPECT_THAT(
      error_of([&] {
        (void)choice(bundle, 64, {"Fake 75", 75, 4, 1000});
      }),
      AllOf(
          HasSubstr("bundle.json: no kernel for S=64 F=0 on Fake 75 (sm_75)"),
          HasSubstr("not small: neither the kernel's machine code nor its PTX runs on this device"),
          HasSubstr("not old: neither")));
}

TEST_F(Loader, AnArchitectureSpecificKernelRunsNowhereElse) {
  for (Json& its : index_["kernels"]) {
    Json uses = its["plan"]["chosen_for"];
    its["arch"] = "sm_90a";
    its["plan"] = Json(kernel_plan(its, {"S", "F"}));
    its["plan"]["chosen_for"] = uses;
  }
  const evo_tune::Bundle bundle = open();
  EXPECT_THAT(choice(bundle, 64), HasSubstr("small: tuned for this shape"));
  EXPECT_THAT(error_of([&] {
                (void)choice(bundle, 64, {"Fake 100", 100, 4, 1000});
              }),
              HasSubstr("neither the kernel's machine code nor its PTX"));
}

TEST_F(Loader, WhatDoesNotFitTheDeviceIsNotChosen) {
  const evo_tune::Bundle bundle = open();
  EXPECT_THAT(choice(bundle, 4096, {"Fake 90", 90, 4, 200}),
              AllOf(HasSubstr("small: tuned for the nearest"),
                    HasSubstr("not large: dynamic shared bytes = 2 * TILE: 512; allowed: a whole "
                              "number from 0 to 100")));
}

TEST_F(Loader, LaunchesWithWhatFollowsFromTheShape) {
  const evo_tune::Bundle bundle = open();
  EXPECT_THAT(bundle.shape_variables(), ElementsAre("S", "F"));
  EXPECT_THAT(bundle.buffers(), ElementsAre("x", "y", "lse"));
  const std::array<double, 2> shape = {64, 0};
  bundle.launch(stream(7), shape, buffers_.data());
  std::vector<std::string> lines = log();
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[0], "load code sma");
  EXPECT_EQ(lines[1], "function copy");
  EXPECT_EQ(lines[2], "attribute 8=64");
  EXPECT_EQ(lines[3], "allocate 8");
  EXPECT_EQ(lines[4], "fill 0 x 8 on 0x7");
  const auto low = [](const void* address) {
    return std::to_string(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(address)));
  };
  EXPECT_THAT(lines[5], HasSubstr("launch copy 2,4,1 32,1,1 64 on 0x7: " + low(x_.data()) + " " +
                                  low(y_.data()) + " 64 0 "));
  // The driver records no call of the second launch besides the launch itself. A launch on another
  // stream allocates another workspace.
  bundle.launch(stream(7), shape, buffers_.data());
  EXPECT_EQ(log().size(), 1U);
  bundle.launch(stream(8), shape, buffers_.data());
  lines = log();
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[2], "allocate 8");
  EXPECT_EQ(lines[3], "fill 0 x 8 on 0x8");
}

TEST_F(Loader, AKernelIsLaunchedWithItsAttributes) {
  Json& its = index_["kernels"][0];
  its["launch"]["attributes"] = {"cooperative", "programmatic_stream_serialization"};
  const Json uses = plan(0)["chosen_for"];
  plan(0) = Json(kernel_plan(its, {"S", "F"}));
  plan(0)["chosen_for"] = uses;
  const std::array<double, 2> shape = {64, 0};
  const evo_tune::Bundle bundle = open();
  bundle.launch(stream(7), shape, buffers_.data());
  const std::vector<std::string> lines = log();
  ASSERT_GE(lines.size(), 3U);
  EXPECT_EQ(lines[lines.size() - 3], "with 2=1");
  EXPECT_EQ(lines[lines.size() - 2], "with 6=1");
  EXPECT_THAT(lines.back(), HasSubstr("launch copy 2,4,1 32,1,1 64 on 0x7: "));
  plan(0)["steps"][0].erase("attributes");  // as in an older bundle
  open().launch(stream(7), shape, buffers_.data());
  for (const std::string& line : log()) EXPECT_FALSE(line.starts_with("with")) << line;
  plan(0)["steps"][0]["attributes"] = {"priority"};
  EXPECT_NE(open().choose({64, 0}).name, "small");
}

TEST_F(Loader, StepsAreLaunchedInTheirOrder) {
  Json& its = index_["kernels"][0];
  Json step = {{"entry", "first"},
               {"runs", true},
               {"arguments", {"y", "x", "n", "w", "lse"}},
               {"launch", its["launch"]}};
  Json left_out = step;
  left_out["entry"] = "never";
  left_out["when"] = expression("S > 100");
  Json last = step;
  last["entry"] = "last";
  its["steps"] = {step, left_out, last};
  const Json uses = plan(0)["chosen_for"];
  plan(0) = Json(kernel_plan(its, {"S", "F"}));
  plan(0)["chosen_for"] = uses;
  const evo_tune::Bundle bundle = open();
  const std::array<double, 2> shape = {64, 0};
  bundle.launch(nullptr, shape, buffers_.data());
  std::vector<std::string> lines = log();
  EXPECT_THAT(lines.at(lines.size() - 2), HasSubstr("launch first 2,4,1"));
  EXPECT_THAT(lines.back(), HasSubstr("launch last 2,4,1"));
}

TEST_F(Loader, TensorMapsAreEncodedForTheBuffersOfACall) {
  Json& its = index_["kernels"][0];
  its["arguments"].push_back({{"name", "x_map"},
                              {"direction", "tensor_map"},
                              {"of", "x"},
                              {"dims", {expression("8"), expression("S / 8")}},
                              {"box", {expression("8"), expression("TILE / 2")}},
                              {"swizzle", expression("32")},
                              {"l2_promotion", expression("128")}});
  its["steps"] = {{{"entry", "copy"},
                   {"runs", true},
                   {"arguments", {"y", "x_map", "n", "w", "lse"}},
                   {"launch", its["launch"]}}};
  const Json uses = plan(0)["chosen_for"];
  plan(0) = Json(kernel_plan(its, {"S", "F"}));
  plan(0)["chosen_for"] = uses;
  const evo_tune::Bundle bundle = open();
  EXPECT_THAT(bundle.buffers(), ElementsAre("x", "y", "lse"));
  const std::array<double, 2> shape = {64, 0};
  const auto low = [](const void* address) {
    return std::to_string(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(address)));
  };
  for (const float* x : {x_.data(), x_.data() + 1024}) {
    buffers_[0] = const_cast<float*>(x);
    bundle.launch(nullptr, shape, buffers_.data());
    const std::vector<std::string> lines = log();
    EXPECT_EQ(lines.at(lines.size() - 2),
              "encode type 7 8::8:1 8:32:16:1 interleave 0 swizzle 1 promotion 2 fill 0");
    EXPECT_THAT(lines.back(), HasSubstr(": " + low(y_.data()) + " " + low(x) + " 64 "));
  }
  fail_("encode", 1);
  EXPECT_THAT(error_of([&] { bundle.launch(nullptr, shape, buffers_.data()); }),
              HasSubstr("tensor map x_map: cuTensorMapEncodeTiled: CUDA_ERROR_OF_THE_FAKE"));
}

TEST_F(Loader, ATensorMapMustLieInItsBuffer) {
  Json& its = index_["kernels"][0];
  its["arguments"].push_back({{"name", "x_map"},
                              {"direction", "tensor_map"},
                              {"of", "x"},
                              {"dims", {expression("S + 1")}},
                              {"box", {expression("8")}},
                              {"swizzle", expression("0")},
                              {"l2_promotion", expression("0")}});
  const Json uses = plan(0)["chosen_for"];
  plan(0) = Json(kernel_plan(its, {"S", "F"}));
  plan(0)["chosen_for"] = uses;
  EXPECT_THAT(choice(open(), 64),
              HasSubstr("not small: tensor map 'x_map' reaches byte 260 of 'x', which has 256"));
}

TEST_F(Loader, ForgetFreesWhatLaunchesLeft) {
  evo_tune::Bundle bundle = open();
  const std::array<double, 2> shape = {64, 0};
  bundle.prepare(stream(7), shape);
  (void)log();
  bundle.forget();
  EXPECT_THAT(log(), ElementsAre("free", "unload"));
  bundle.launch(stream(7), shape, buffers_.data());
  EXPECT_EQ(log().size(), 6U);
}

TEST_F(Loader, ErrorsNameFileAndReason) {
  const auto opening = [&] { return error_of([&] { (void)open(); }); };
  const std::string file = (folder_.path() / "bundle.json").string();
  EXPECT_EQ(error_of([&] { evo_tune::Bundle("/nowhere"); }),
            "/nowhere/bundle.json: cannot be read");
  const Json good = index_;
  index_["format"] = "evo-tune bundle 1";
  EXPECT_EQ(opening(), file + ": format: allowed: \"evo-tune bundle 3\": export the bundle again");
  index_ = good;
  index_.erase("buffers");
  EXPECT_EQ(opening(), file + ": 'buffers' is missing");
  index_["buffers"] = "x";
  EXPECT_EQ(opening(), file + ": 'buffers': allowed: an array");
  index_ = good;
  index_["kernels"][1].erase("plan");
  EXPECT_EQ(error_of([&] { (void)choice(open(), 64); }), file + ": 'plan' is missing");
  index_ = good;
  plan(0).erase("steps");
  EXPECT_THAT(choice(open(), 64),
              AllOf(HasSubstr("plain"), HasSubstr("not small: 'steps' is missing")));
  const std::string half = "\"format\": \"evo-tune bundle 1\", ";
  write_file(folder_.path() / "bundle.json", evo_tune::detail::index_head(half) + half);
  EXPECT_THAT(error_of([&] { evo_tune::Bundle(folder_.path()); }),
              HasSubstr(file + ": byte 110: '\"' is expected"));
}

TEST_F(Loader, ErrorsOfTheDriverNameCallAndFile) {
  const std::array<double, 2> shape = {64, 0};
  const auto launching = [&](const evo_tune::Bundle& bundle) {
    return error_of([&] { bundle.launch(stream(1), shape, buffers_.data()); });
  };
  const std::string folder = folder_.path().string();
  index_["name"] = "x";
  write_file(folder_.path() / "bundle.json", index_text(index_));
  EXPECT_THAT(launching(evo_tune::Bundle(folder, "/nowhere/libcuda.so.1")),
              HasSubstr("/nowhere/libcuda.so.1: cannot be opened"));
  const evo_tune::Bundle bundle(folder, EVO_FAKE_DRIVER);
  set_context_(nullptr);
  EXPECT_EQ(launching(bundle), "no CUDA context is current on this thread");
  set_context_(&context_);
  for (int attempt = 0; attempt < 2; ++attempt) {
    fail_("load", 200);
    EXPECT_EQ(launching(bundle), folder + "/small.cubin: cuModuleLoadData: CUDA_ERROR_OF_THE_FAKE");
  }
  const std::array<double, 2> nothing = {std::nan(""), 0};
  EXPECT_EQ(error_of([&] { bundle.prepare(nullptr, nothing); }), folder + ": S is nan");
  reset_("Fake 90", 90, 5);
  fail_("launch", 1);
  EXPECT_EQ(launching(bundle), folder + ": copy: cuLaunchKernel: CUDA_ERROR_OF_THE_FAKE");
  reset_("Fake 90", 90, 5);
  buffers_[1] = nullptr;
  EXPECT_EQ(launching(bundle), folder + ": argument 'y' is null");
  std::filesystem::remove(folder_.path() / "large.cubin");
  const std::array<double, 2> large = {4096, 0};
  EXPECT_EQ(error_of([&] { bundle.prepare(nullptr, large); }),
            folder + "/large.cubin: cannot be read");
}

TEST_F(Loader, ThreadsShareABundle) {
  const evo_tune::Bundle bundle = open();
  constexpr int kLaunches = 200;
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  for (std::uintptr_t number = 1; number <= kThreads; ++number) {
    threads.emplace_back([&, number] {
      set_context_(&context_);
      for (int i = 0; i < kLaunches; ++i) {
        const std::array<double, 2> shape = {32.0 * (1 + i % 20), 0};
        bundle.launch(stream(number), shape, buffers_.data());
        // Handle 2 is CU_STREAM_PER_THREAD, which is a different stream in each thread.
        bundle.launch(stream(2), shape, buffers_.data());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::map<std::string, int> count;
  for (std::vector<std::string> lines = log(); !lines.empty(); lines = log()) {
    for (const std::string& line : lines) ++count[line.substr(0, line.find(' '))];
  }
  EXPECT_EQ(count["launch"], 2 * kThreads * kLaunches);
  EXPECT_EQ(count["load"], 1);  // the kernel "small" serves all 20 shapes
  // The threads use 20 shapes on the streams with handles 1 to 4. Handle 2 is the per-thread
  // default stream, so each thread allocates its own workspaces for this handle.
  EXPECT_EQ(count["allocate"], 20 * (kThreads + kThreads - 1));
}

/// The bytes of a scalar argument of type `dtype` with this value; nullopt if the loader rejects
/// the value for this type.
std::optional<std::vector<unsigned char>> bytes_of(const std::string& dtype, double value) {
  Json manifest = kernel("k", "sm_90", 1);
  manifest["arguments"] = {
      {{"name", "n"}, {"direction", "scalar"}, {"dtype", dtype}, {"value", expression("X")}}};
  const std::string text = Json(kernel_plan(manifest, {"X"})).dump();
  try {
    return evo_tune::detail::planned(
               evo_tune::detail::JsonReader{text.c_str(), text.c_str()}.read(),
               {{"X", value}, {"S", 1}}, {"Fake", 90, 4, 1000}, {}, {})
        .arguments.at(0)
        .value;
  } catch (const evo_tune::Error&) {
    return std::nullopt;
  }
}

TEST(LoaderScalars, AreTheBytesThatTheEngineWrites) {
  for (const char* name :
       {"f16", "bf16", "f32", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"}) {
    const Dtype dtype = dtype_from_string(name);
    for (const double value : {0.0, 1.0, 2.0, 3.0, 255.0, 30000.0, 0.1, -0.3, 1e-5, 6e-8, 65504.0,
                               1.0009765625, 1.00048828125, -7.0, 1e-40}) {
      const std::optional<std::vector<unsigned char>> found = bytes_of(name, value);
      if (!found) continue;
      std::vector<std::byte> expected(size_of(dtype));
      encode(dtype, value, expected.data());
      ASSERT_EQ(found->size(), expected.size()) << name;
      EXPECT_EQ(std::memcmp(expected.data(), found->data(), found->size()), 0)
          << name << " " << value;
    }
  }
  for (const auto& [dtype, value] : std::vector<std::pair<std::string, double>>{
           {"i32", 0.5}, {"u16", -1}, {"i16", 32768}, {"f16", 65536}, {"u64", 0x1p64}}) {
    EXPECT_FALSE(bytes_of(dtype, value)) << dtype;
  }
  EXPECT_FALSE(bytes_of("u8", 256));
  EXPECT_TRUE(bytes_of("u64", 0x1p63));
}

TEST(LoaderScalars, StructuresAreLaidOutAsInCpp) {
  Json manifest = kernel("k", "sm_90", 1);
  const auto field = [](const char* dtype, const char* value) {
    return Json{{"name", value}, {"dtype", dtype}, {"value", expression(value)}};
  };
  manifest["arguments"] = {{{"name", "p"},
                            {"direction", "scalar"},
                            {"fields", {field("u16", "S"), field("f64", "2"), field("i32", "3")}}}};
  struct Parameters {
    std::uint16_t s = 1;
    double two = 2;
    std::int32_t three = 3;
  } expected;
  const std::string text = Json(kernel_plan(manifest, {"S"})).dump();
  const std::vector<unsigned char> found =
      evo_tune::detail::planned(evo_tune::detail::JsonReader{text.c_str(), text.c_str()}.read(),
                                {{"S", 1}}, {"Fake", 90, 4, 1000}, {}, {})
          .arguments.at(0)
          .value;
  ASSERT_EQ(found.size(), sizeof expected);
  for (const auto& [offset, size] :
       {std::pair{offsetof(Parameters, s), sizeof expected.s},
        std::pair{offsetof(Parameters, two), sizeof expected.two},
        std::pair{offsetof(Parameters, three), sizeof expected.three}}) {
    EXPECT_EQ(std::memcmp(found.data() + offset,
                          reinterpret_cast<const unsigned char*>(&expected) + offset, size),
              0);
  }
}

}  // namespace
}  // namespace evo
