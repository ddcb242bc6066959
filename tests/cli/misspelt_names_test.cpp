// Tests misspelt or missing options, commands, names and paths: where it can, the message names the
// intended word or lists the allowed words.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/core/json_reader.hpp"
#include "tests/cli/fake_session.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

struct Misspelt {
  std::string command;
  std::string expected;  ///< part of the message
};

class MisspeltNames : public testing::Test {
 protected:
  /// Expects that each command ends with exit code 2 and a message that contains the name of the
  /// program and the expected text.
  void expect_answers(const std::vector<Misspelt>& cases) const {
    for (const auto& [command, expected] : cases) {
      const ProgramResult result =
          run_program(command, session_.folder(),
                      session_.environment() + " EVO_TUNE_DATA=" + source_folder().string());
      EXPECT_EQ(result.exit_code, 2) << command;
      EXPECT_THAT(result.err, HasSubstr(expected)) << command;
      EXPECT_THAT(result.err, HasSubstr(command.substr(0, command.find(' ')) + ": ")) << command;
    }
  }
  void write(const std::string& name, const std::string& text) const {
    write_file(session_.path(name), text);
  }
  /// Makes a run in evo.db on the device "fake:measured", and on the shape "mission" unless `more`
  /// names others.
  void make_run(const std::string& more = {}) const {
    ASSERT_EQ(session_.run(FakeSession::tune("--generations 1 --seed 1" + more)).exit_code, 0);
  }
  static std::string on_faults(const std::string& program, const std::string& more) {
    return program + " --device fake:measured --space " + FakeSession::faults_space() + " " + more;
  }
  static std::string softmax(const std::string& program, const std::string& more) {
    return program + " row_softmax_l4 " + more;
  }

  FakeSession session_;
};

TEST_F(MisspeltNames, OptionsAndCommandsOfEachProgram) {
  expect_answers({
      {"evo-tune 3 --generation", "unknown option --generation; did you mean --generations?"},
      {"evo-tune --generation 3", "did you mean --generations?"},
      {"evo-tune --max-second=3", "unknown option --max-second; did you mean --max-seconds?"},
      {"evo-tune --devcie cuda:0", "did you mean --device?"},
      {"evo-tune --frobnicate", "unknown option --frobnicate\n"},
      {"evo-tune fast", "unexpected argument 'fast'"},
      {"evo-tune doctr", "unknown command 'doctr'; did you mean 'doctor'?"},
      {"evo-tune doctor --jso", "did you mean --json?"},
      {"evo-tune doctor --device cuda:0", "this command does not take --device\n"},
      {"evo-judge --milestones clean", "did you mean --milestone?"},
      {"evo-elite rejection", "unknown command 'rejection'; did you mean 'rejections'?"},
      {"evo-elite ranks", "unknown command 'ranks'; allowed: show, milestones, "},
      {"evo-elite milestones --jsn", "did you mean --json?"},
      {"evo-elite overall --weigth A=1", "did you mean --weight?"},
      {"evo-elite show", "ID is required: number of a candidate, as in the table of the elite"},
      {"evo-export --bundel b", "did you mean --bundle?"},
      {"evo-report --ou r.html", "did you mean --out?"},
      {"evo-report", "--out is required: file to write"},
      {"evo-init kernel.cu --parm A=1", "did you mean --param?"},
      {"evo-init", "kernel is required: CUDA file"},
      {"evo-record --cuont 3", "did you mean --count?"},
      {"evo-replay --record x", "did you mean --recorded?"},
      {"evo-predict", "a command is required; allowed: rank, explain"},
      {"evo-predict rnk", "unknown command 'rnk'; did you mean 'rank'?"},
      {"evo-predict explain --miletsone x", "did you mean --milestone?"},
      {"evo-ptx-run k.ptx --entri k", "did you mean --entry?"},
  });
}

TEST_F(MisspeltNames, SpacesDevicesStrategiesObjectivesAndShapes) {
  expect_answers({
      {"evo-tune --device fake:measured --space sdpa_fp8_mma_h20",
       "did you mean 'sdpa_fp8_mma_h200'?"},
      {"evo-tune --device fake:measured --space nothing_like_it",
       "unknown space 'nothing_like_it'; allowed: "},
      {"evo-tune --device fake:measured --space row_softmax", "unknown space 'row_softmax'; "},
      {"evo-judge --device fake:measured --space search_spaces/row_sofmax_l4.json",
       "no such file; there is no folder 'search_spaces'; name a shipped space without folder and "
       "ending, such as row_softmax_l4"},
      {"evo-judge --device fake:measured --space mine.jsn", "mine.jsn: no such file; "},
      {softmax("evo-predict explain", "--device virtual:l5"),
       "unknown virtual device 'virtual:l5'; did you mean 'virtual:l4'? Allowed: "},
      {on_faults("evo-tune", "--interpret virtual:h20"),
       "--interpret: unknown virtual GPU 'virtual:h20'; did you mean 'virtual:h200'?"},
      {on_faults("evo-tune", "--interpret non"), "did you mean 'none'?"},
      {on_faults("evo-tune", "--strategy fulll"),
       "unknown strategy 'fulll'; did you mean 'full'? Allowed: full, "},
      {on_faults("evo-tune", "--objective tiem"),
       "--objective: unknown name 'tiem'; did you mean 'time'? Allowed: time, energy"},
      {on_faults("evo-tune", "--shape misson"),
       "unknown shape 'misson'; did you mean 'mission'? Allowed: "},
      {on_faults("evo-tune", "--shape tag:larg"), "has the tag 'larg'; tags: "},
      {on_faults("evo-tune", "--resume one"), "'one': allowed: a whole number from 1 on"},
      {on_faults("evo-record", "--count al --out r.json"),
       "a whole number from 1 to 10000000, or all"},
      {on_faults("evo-record", "--count 1 --out absent/r.json"), "there is no folder "},
  });
}

TEST_F(MisspeltNames, MacrosTheirValuesAndMilestones) {
  expect_answers({
      {on_faults("evo-judge", "--milestone claen"),
       "unknown milestone 'claen'; did you mean 'clean'? Allowed: "},
      {on_faults("evo-judge", "--set THREAD=32"),
       "unknown macro 'THREAD'; did you mean 'THREADS'? Allowed: "},
      {on_faults("evo-judge", "--set THREADS=33"),
       "THREADS: value '33' is not in the space; allowed: "},
      {on_faults("evo-judge", "--set THREADS"), "--set THREADS: allowed: MACRO=VALUE"},
      {"evo-judge --device fake:measured --space row_softmax_l4 --set METHOD=onlin",
       "METHOD: value 'onlin' is not in the space; did you mean online?; allowed: three_pass, "},
      {softmax("evo-predict explain", "--device virtual:l4 --milestone vector"),
       "did you mean 'vectors'?"},
      {softmax("evo-predict explain", "--device virtual:l4 --set ROW_PER_CTA=4"),
       "did you mean 'ROWS_PER_CTA'?"},
      {softmax("evo-predict explain", "--device virtual:l4 --shape narow"),
       "unknown shape 'narow'; did you mean 'narrow'?"},
  });
}

TEST_F(MisspeltNames, WhatADatabaseHolds) {
  make_run(" --shape mission,ragged");
  expect_answers({
      {"evo-elite --shape nope", "unknown shape 'nope'; allowed: mission"},
      {"evo-elite --shape misson", "did you mean 'mission'?"},
      {"evo-elite --device cuda:7", "unknown device 'cuda:7'; allowed: fake GPU, fake:measured"},
      {"evo-elite --run 99", "evo.db: no run 99; stored runs: 2, numbered 1 to 2"},
      {"evo-elite show 999", "no candidate 999; `evo-elite` lists candidates with their numbers"},
      {"evo-elite overall --weight raged=2",
       "--weight: unknown shape 'raged'; did you mean 'ragged'?"},
      {"evo-elite --db evo.bd", "evo.bd: no such file; did you mean 'evo.db'?"},
      {"evo-elite --db absent/evo.db", "there is no folder 'absent'; evo-tune --db makes it"},
      {"evo-export --out o --shape nope", "unknown shape 'nope'; allowed: mission"},
      {"evo-export --out o --rank 77", "--rank 77: the elite of run "},
      {"evo-export --bundle o --device H300", "unknown device 'H300'; allowed: fake GPU"},
      {"evo-export --bundle o --db eco.db", "did you mean 'evo.db'?"},
      {"evo-report --run 99 --out r.html", "no run 99; stored runs: 2"},
      {"evo-report --out absent/r.html", "cannot be written: there is no folder 'absent'"},
      {FakeSession::judge("--baseline eov.db"), "eov.db: no such file; did you mean 'evo.db'?"},
  });
}

TEST_F(MisspeltNames, RecordingsAndKernels) {
  write("recorded.json", "{}");
  write("kernel.ptx",
        ".version 8.0\n.target sm_89\n.address_size 64\n"
        ".visible .entry scale(.param .u32 n)\n{\n ret;\n}\n");
  expect_answers({
      {"evo-replay --recorded recoded.json", "did you mean 'recorded.json'?"},
      {"evo-replay --recorded other.json", "there are: recorded.json"},
      {"evo-replay --recorded recorded.json --strategy x",
       "neither a Kernel Tuner cache (key 'cache') nor T4 results ('results')"},
      {softmax("evo-predict rank", "record.json"), "did you mean 'recorded.json'?"},
      {"evo-ptx-run kernal.ptx --entry scale", "did you mean 'kernel.ptx'?"},
      {"evo-ptx-run kernel.ptx --entry scal", "unknown entry 'scal'; did you mean 'scale'?"},
      {"evo-ptx-run kernel.ptx --entry scale --device cuda:0",
       "unknown virtual device 'cuda:0'; allowed: virtual:l4, "},
      {"evo-ptx-run kernel.ptx --entry scale --arg input:a=zeros:4",
       "--arg: unknown kind of argument 'input'; "},
      {"evo-ptx-run kernel.ptx --entry scale --arg in:a=zero:4",
       "unknown content 'zero'; did you mean 'zeros'?"},
      {"evo-ptx-run kernel.ptx --entry scale --arg in:a", "allowed: in:NAME=FILE, zeros:BYTES"},
      {"evo-ptx-run kernel.ptx --entry scale --grid x", "'x': allowed: a whole number from 1 to "},
      {"evo-init kernel.ptc", "kernel.ptc: no such file; did you mean 'kernel.ptx'?"},
  });
}

}  // namespace
}  // namespace evo
