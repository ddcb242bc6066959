#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>

#include "db/store.hpp"
#include "engine/problem/npy.hpp"
#include "tests/cli/own_kernel.hpp"

namespace evo {

/// A project whose kernel `triple` computes y = x * 3 by default. The problem's Python programs do
/// not use NumPy.
class OwnData : public OwnKernel {
 protected:
  OwnData() {
    problem_["templates"]["triple"]["entry"] = "triple";
    space_["parameters"][1]["values"] = {1};
    kernel(body("3 * x[i]"));
    write("kernel_templates/triple/npy.py", R"(import array, json, sys
folder = sys.argv[-1]
case = json.load(open(folder + "/case.json"))
def load(name):
    data = open(f"{folder}/{name}.npy", "rb").read()
    return array.array("f", data[10 + int.from_bytes(data[8:10], "little"):])
def save(name, values):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % len(values)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(f"{folder}/{name}.npy", "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        f.write(array.array("f", values).tobytes())
)");
  }

  static std::string body(const std::string& value, const std::string& before = {},
                          const std::string& parameters = {}) {
    return before + "__global__ void triple(const float* x, float* y, int n" + parameters +
           ") {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = " + value +
           ";\n}\n";
  }
  void reference(const std::string& value, const std::string& before = {},
                 const std::string& parameters = {}) const {
    std::string text = body(value, before, parameters);
    text.replace(text.find("triple("), 7, "expected(");
    write("kernel_templates/triple/reference.cu", text);
  }
  void program(const std::string& name, const std::string& text) const {
    write("kernel_templates/triple/" + name, "from npy import *\n" + text);
  }
  void numbers(const std::string& name, std::span<const float> values) const {
    const auto file = folder_.path() / "kernel_templates/triple" / name;
    write_npy(file, Dtype::kF32, std::as_bytes(values));
  }

  std::string reason(const ProgramResult& judged) const {
    if (judged.out.empty()) return judged.err;
    const Json found = Json::parse(judged.out);
    return found.contains("rejection") && !found["rejection"].is_null()
               ? found["rejection"]["reason"].get<std::string>()
               : "green";
  }
  std::string judged(const std::string& more = {}) const { return reason(judge(more)); }
  ProgramResult tune(const std::string& more = {}) const {
    return run("evo-tune --device " + device() +
               " --jobs 1 --generations 1 --offspring 1 --quiet --allow-programs "
               "--space search_spaces/triple.json " +
               more);
  }
  /// Makes a run, and returns its problem's key, which the database stores and which changes with
  /// the problem's files.
  std::string key_of_a_run() const {
    const ProgramResult tuned = tune();
    EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
    return Store::open_read_only(folder_.path() / "evo.db").runs().back().info.problem.key;
  }
};

}  // namespace evo
