// Tests textures as arguments of users' kernels. Uses the real programs, NVRTC and the device that
// OwnKernel::device() names.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/own_data.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A kernel that computes y[i] = x[i] + 2 * (texel i of the texture `plane`, which is 40 texels
/// wide).
class OwnTexture : public OwnData {
 protected:
  OwnTexture() {
    problem_["arguments"].push_back({{"name", "plane"},
                                     {"kind", "texture"},
                                     {"dtype", "f32"},
                                     {"width", 40},
                                     {"height", "N / 40"},
                                     {"generator", {{"distribution", "normal"}}}});
    problem_["reference"] = {{"program", {"python3", "reference.py"}}};
    program("reference.py", "save('y', [a + 2 * t for a, t in zip(load('x'), load('plane'))])\n");
    read_by("tex2D<float>(plane, i % 40 + 0.5f, i / 40 + 0.5f)");
  }
  void read_by(const std::string& texel) const {
    kernel(body("x[i] + 2 * " + texel, {}, ", cudaTextureObject_t plane"));
  }
  Json& plane() { return problem_["arguments"][3]; }
  std::string judged_so(const std::string& texel) const {
    read_by(texel);
    return judged("--allow-programs");
  }
};

TEST_F(OwnTexture, OfEveryMemoryIsAnArgument) {
  EXPECT_EQ(judged("--allow-programs"), "green");
  EXPECT_THAT(judged_so("tex2D<float>(plane, i % 40 + 1.5f, i / 40 + 0.5f)"), HasSubstr("y["));
  plane()["memory"] = "pitched";
  EXPECT_EQ(judged_so("tex2D<float>(plane, i % 40 + 0.5f, i / 40 + 0.5f)"), "green");
  plane()["memory"] = "linear";
  plane().erase("height");
  plane()["width"] = "N";
  EXPECT_EQ(judged_so("tex1Dfetch<float>(plane, i)"), "green");
  plane()["memory"] = "array";
  EXPECT_EQ(judged_so("tex1D<float>(plane, i + 0.5f)"), "green");
}

TEST_F(OwnTexture, HasFiltersAddressesAndChannels) {
  plane()["dtype"] = "u8";
  plane()["channels"] = 2;
  plane()["generator"] = {{"distribution", "integers"}, {"low", 0}, {"high", 255}};
  plane()["filter"] = "linear";
  plane()["normalized_values"] = true;
  plane()["normalized_coordinates"] = true;
  plane()["address_x"] = "wrap";
  program("reference.py", R"(data = open(folder + "/plane.npy", "rb").read()
texels = data[10 + int.from_bytes(data[8:10], "little"):]
def texel(i, j, channel): return texels[2 * (j * 40 + i % 40) + channel] / 255
save('y', [a + texel(i + 1, i // 40, 0) + texel(i % 40 + 1, i // 40, 1) for i, a in
           [(i, a) for i, a in enumerate(load('x'))]])
)");
  const std::string at = "(plane, (i % 40 + 41.5f) / 40, (i / 40 + 0.5f) / (n / 40))";
  kernel(body("x[i] + tex2D<float2>" + at + ".x + tex2D<float2>" + at + ".y", {},
              ", cudaTextureObject_t plane"));
  problem_["tolerance"]["max_abs_error"] =
      0.01;  // CUDA's weights of linear filtering have 8 fractional bits
  problem_["tolerance"]["bad_abs_error"] = 0.01;
  problem_["tolerance"]["relative_l2"] = 0.01;
  EXPECT_EQ(judged("--allow-programs"), "green");
  plane()["address_x"] = "clamp";
  EXPECT_THAT(judged("--allow-programs"), HasSubstr("y["));
}

TEST_F(OwnTexture, IsInTheManifest) {
  const ProgramResult tuned = run("evo-tune --device " + device() +
                                  " --jobs 1 --generations 1 --offspring 1 --quiet "
                                  "--allow-programs --space search_spaces/triple.json");
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  ASSERT_EQ(run("evo-export --rank 1 --out out --name best").exit_code, 0);
  const Json found = read_json_file(folder_.path() / "out/best.json")["arguments"][3];
  EXPECT_EQ(found["kind"], "texture");
  EXPECT_EQ(found["memory"], "array");
  EXPECT_EQ(found["width"], 40);
  EXPECT_EQ(found["height"], 25);
}

TEST_F(OwnTexture, ThatCudaDoesNotTakeIsRefusedByName) {
  const Json good = plane();
  const auto refusal = [&](const std::string& key, const Json& value) {
    plane() = good;
    plane()[key] = value;
    return judged("--allow-programs");
  };
  EXPECT_THAT(refusal("dtype", "f64"), AllOf(HasSubstr("arguments[3].dtype"), HasSubstr("u8, i8")));
  EXPECT_THAT(refusal("channels", 3), HasSubstr("arguments[3].channels: 3: allowed: 1, 2"));
  EXPECT_THAT(refusal("width", "N / 3"), HasSubstr("the width of texture 'plane' is 333.3"));
  EXPECT_THAT(refusal("address_x", "wrap"),
              HasSubstr("texture 'plane': wrap and mirror need normalized coordinates"));
  EXPECT_THAT(refusal("memory", "layered"), HasSubstr(R"(allowed: "array", "pitched", "linear")"));
  EXPECT_THAT(refusal("memory", "linear"), HasSubstr("linear memory has one dimension"));
  EXPECT_THAT(refusal("extent", "N"), HasSubstr("arguments[3].extent"));
}

}  // namespace
}  // namespace evo
