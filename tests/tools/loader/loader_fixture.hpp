#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "engine/core/json_reader.hpp"
#include "tests/db/sample.hpp"
#include "tools/bundle/index.hpp"
#include "tools/bundle/plan.hpp"
#include "tools/loader/evo_tune.hpp"

namespace evo {

inline Json expression(const std::string& text) { return {{"expression", text}}; }

/// The manifest of a kernel that reads x and writes y (S elements each) and lse (F · S elements).
/// The kernel also has a scalar n and a workspace w as arguments.
inline Json kernel(const std::string& name, const std::string& arch, int tile) {
  Json manifest = {
      {"name", name},
      {"cubin", name + ".cubin"},
      {"ptx", name + ".ptx"},
      {"arch", arch},
      {"entry", "copy"},
      {"macros", {{"TILE", tile}}},
      {"valid", {{{"expression", "S % TILE == 0"}, {"why", "whole tiles"}}}},
      {"resources", {{"static_shared_bytes", 100}}},
      {"arguments",
       {{{"name", "x"}, {"direction", "in"}, {"dtype", "f32"}, {"extent", expression("S")}},
        {{"name", "y"}, {"direction", "out"}, {"dtype", "f32"}, {"extent", expression("S")}},
        {{"name", "n"}, {"direction", "scalar"}, {"dtype", "i32"}, {"value", expression("S")}},
        {{"name", "lse"}, {"direction", "out"}, {"dtype", "f32"}, {"extent", expression("F * S")}},
        {{"name", "w"},
         {"direction", "workspace"},
         {"dtype", "u32"},
         {"extent", expression("S / TILE")}}}},
      {"launch",
       {{"grid", {expression("S / TILE"), expression("SM_COUNT")}},
        {"block", {expression("TILE")}},
        {"dynamic_shared_bytes", expression("2 * TILE")}}}};
  manifest["plan"] = Json(kernel_plan(manifest, {"S", "F"}));
  return manifest;
}

/// An entry of "chosen_for" in a bundle's index: a device and a shape for which the kernel is
/// chosen. `rank`: the position of `device` in the order in which the loader tries the bundle's
/// devices if the bundle lacks the current device. `size`: the value of S; nullopt for the entry of
/// the default configuration.
inline Json use(const std::string& device, int rank, const std::string& shape,
                std::optional<int> size) {
  return {{"device", device},
          {"rank", rank},
          {"shape", shape},
          {"sizes", size ? Json({*size, 0}) : Json::array()}};
}

class Loader : public testing::Test {
 protected:
  Loader() {
    index_ = {{"format", "evo-tune bundle 3"},
              {"name", "copy"},
              {"shape_variables", {"S", "F"}},
              {"buffers", {"x", "y", "lse"}},
              {"kernels",
               {kernel("small", "sm_90", 32), kernel("large", "sm_90", 256),
                kernel("plain", "sm_90", 1), kernel("old", "sm_80", 64)}}};
    plan(0)["chosen_for"] = {use("Fake 90", 0, "s64", 64)};
    plan(1)["chosen_for"] = {use("Fake 90", 0, "s4096", 4096)};
    plan(2)["chosen_for"] = {use("Fake 90", 0, "", std::nullopt)};
    plan(3)["chosen_for"] = {use("Fake 80", 1, "s128", 128)};
    for (const char* name : {"small", "large", "plain", "old"}) {
      write_file(folder_.path() / (std::string(name) + ".cubin"), std::string("code ") + name);
      write_file(folder_.path() / (std::string(name) + ".ptx"), std::string("ptx ") + name);
    }
    for (Json& its : index_["kernels"]) {
      const auto name = its["name"].get<std::string>();
      its["sha256"] = {{"cubin", evo_tune::detail::sha256("code " + name)},
                       {"ptx", evo_tune::detail::sha256("ptx " + name)}};
    }
    void* library = dlopen(EVO_FAKE_DRIVER, RTLD_NOW);
    const auto find = [&](auto& function, const char* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    };
    find(reset_, "fake_reset");
    find(set_context_, "fake_context");
    find(fail_, "fake_fail");
    find(read_log_, "fake_log");
    reset_("Fake 90", 90, 5);
    set_context_(&context_);
  }

  Json& plan(std::size_t kernel) { return index_["kernels"][kernel]["plan"]; }

  evo_tune::Bundle open() const {
    write_file(folder_.path() / "bundle.json", index_text(index_));
    return evo_tune::Bundle(folder_.path(), EVO_FAKE_DRIVER);
  }
  std::vector<std::string> log() const {
    std::vector<char> text(1 << 20);
    read_log_(text.data(), text.size());
    std::vector<std::string> lines;
    std::istringstream in(text.data());
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  static CUstream_st* stream(std::uintptr_t number) {
    return reinterpret_cast<CUstream_st*>(number);
  }
  template <typename Action>
  std::string error_of(const Action& action) const {
    try {
      action();
    } catch (const evo_tune::Error& error) {
      return error.what();
    }
    return "no error";
  }
  /// The kernel that a bundle chooses for the size S = `size` on a device, and the reason, as
  /// "name: why", or "name (PTX): why" if the device compiles the kernel from PTX.
  static std::string choice(const evo_tune::Bundle& bundle, double size,
                            const evo_tune::Device& device = kDevice) {
    const std::array<double, 2> shape = {size, 0};
    const evo_tune::Choice found = bundle.choose(shape, device);
    return found.name + (found.from_ptx ? " (PTX)" : "") + ": " + found.why;
  }

  inline static const evo_tune::Device kDevice = {"Fake 90", 90, 4, 1000};
  sample::TemporaryFolder folder_;
  Json index_;
  char context_ = 0;
  void (*reset_)(const char*, int, int) = nullptr;
  void (*set_context_)(void*) = nullptr;
  void (*fail_)(const char*, int) = nullptr;
  std::size_t (*read_log_)(char*, std::size_t) = nullptr;
  alignas(256) std::array<float, 4096> x_{};
  alignas(256) std::array<float, 4096> y_{};
  std::array<void*, 3> buffers_ = {x_.data(), y_.data(), nullptr};
};

}  // namespace evo
