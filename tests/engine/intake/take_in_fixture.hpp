#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "engine/compile/nvrtc.hpp"
#include "engine/core/error.hpp"
#include "engine/intake/intake.hpp"
#include "tests/db/sample.hpp"

namespace evo {

class TakeIn : public testing::Test {
 protected:
  void file(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    write_file(folder_.path() / name, text);
  }
  Intake take(const std::string& text) {
    file("k.cu", text);
    request_.kernel = folder_.path() / "k.cu";
    return take_in(request_, *compiler());
  }
  Intake take(const std::string& text, const Json& t1) {
    file("t1.json", t1.dump());
    request_.t1 = folder_.path() / "t1.json";
    return take(text);
  }
  std::string refusal(const std::string& text) {
    try {
      (void)take(text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "nothing was refused";
  }
  static Json problem(const Intake& intake) {
    return parse_json(intake.files.at(0).text, "problem.json");
  }
  static Json space(const Intake& intake) { return parse_json(intake.files.at(2).text, "k.json"); }
  static const std::unique_ptr<Compiler>& compiler() {
    static const std::unique_ptr<Compiler> nvrtc = open_nvrtc();
    return nvrtc;
  }

  sample::TemporaryFolder folder_;
  IntakeRequest request_;
};

}  // namespace evo
