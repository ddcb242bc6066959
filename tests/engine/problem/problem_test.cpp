#include "engine/problem/problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "engine/problem/external_names.hpp"
#include "engine/problem/known_names.hpp"
#include "tests/engine/problem/planted_problem.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(ProblemFile, ReadsWhatIsThere) {
  const Problem problem = Problem::load(planted_folder());
  EXPECT_EQ(problem.name, "planted");
  ASSERT_EQ(problem.arguments.size(), 3U);
  EXPECT_EQ(problem.arguments[0].direction, Direction::kIn);
  EXPECT_EQ(problem.arguments[1].direction, Direction::kOut);
  EXPECT_EQ(problem.arguments[2].direction, Direction::kScalar);
  EXPECT_EQ(problem.arguments[0].bytes({{"N", 10}}), 40U);
  EXPECT_EQ(problem.shapes.size(), 3U);
  EXPECT_EQ(problem.flops.evaluate({{"N", 10}}), 20);
  EXPECT_TRUE(problem.templates.front().deterministic);
  EXPECT_EQ(problem.reference.kernel->steps.front().entry, "planted_reference");
}

TEST(ProblemFile, WithoutBytesEveryBufferCountsOnce) {
  Json json = read_json_file(planted_folder() / "problem.json");
  json.erase("bytes");
  const Problem problem = Problem::parse(json.dump(), planted_folder());
  EXPECT_EQ(problem.bytes.evaluate({{"N", 10}}), 80);
  // The bytes of an inout argument count once, not as a read and a write, because a kernel such as
  // a stencil leaves the border unchanged and does not read the elements that it writes.
  json["arguments"][1]["direction"] = "inout";
  json["arguments"][1]["generator"] = {{"distribution", "normal"}};
  EXPECT_EQ(Problem::parse(json.dump(), planted_folder()).bytes.evaluate({{"N", 10}}), 80);
}

TEST(ProblemFile, AProfileNamesMetricsAndWhatMustBeTrue) {
  const Problem problem = Problem::load(planted_folder());
  ASSERT_TRUE(problem.profile.has_value());
  ASSERT_EQ(problem.profile->metrics.size(), 2U);
  EXPECT_EQ(problem.profile->metrics[1].first, "tensor");
  EXPECT_EQ(problem.profile->require.evaluate({{"tensor", 20}, {"dram", 40}}), 1);
  const auto with = [](const Json& metrics, const std::string& require) {
    return complaint([&](Json& json) {
      json["profile"] = {{"metrics", metrics}, {"require", require}};
    });
  };
  const Json one = {{"dram", "dram__throughput.avg.pct"}};
  EXPECT_EQ(with(one, "dram < 50"), "");
  EXPECT_THAT(with(one, "tensor < 50"),
              AllOf(HasSubstr("profile.require"), HasSubstr("'tensor' is none of its metrics")));
  EXPECT_THAT(with(one, "1"), HasSubstr("it names none of its metrics"));
  EXPECT_THAT(with(one, "dram <"), HasSubstr("profile.require"));
  EXPECT_THAT(with({{"dram", "dram,lts --set full"}}, "dram < 50"),
              AllOf(HasSubstr("profile.metrics.dram"), HasSubstr("a metric's name")));
  EXPECT_THAT(with({{"dram", 5}}, "dram < 50"), HasSubstr("profile.metrics.dram"));
}

TEST(ProblemFile, ScalarsOfFewBits) {
  const auto with = [](const std::string& dtype, const std::string& value) {
    return complaint([&](Json& json) {
      json["arguments"][2]["dtype"] = dtype;
      json["arguments"][2]["value"] = value;
    });
  };
  EXPECT_EQ(with("f16", "0.1"), "");
  EXPECT_EQ(with("bf16", "3e38"), "");
  EXPECT_THAT(with("f16", "65536"), HasSubstr("which f16 cannot hold"));
  EXPECT_THAT(with("e4m3", "1"), HasSubstr("allowed for a scalar: f16, bf16, f32"));
  EXPECT_EQ(with("i16", "-32768"), "");
  EXPECT_THAT(with("u8", "256"), HasSubstr("which u8 cannot hold"));
}

TEST(ProblemFile, FormulasStandForWhatIsWrittenOften) {
  Json json = planted();
  json["let"] = {{"PER_CTA", "THREADS * ITEMS"}, {"CTAS", "ceil_div(N, PER_CTA)"}};
  json["templates"]["planted"]["grid"] = {"CTAS"};
  json["templates"]["planted"]["dynamic_shared_bytes"] = "2 * CTAS";
  const Problem problem = Problem::parse(json.dump(), planted_folder());
  const LaunchExpressions& launch = problem.templates.front().steps.front().launch;
  EXPECT_EQ(launch.dynamic_shared_bytes.text(), "2 * (ceil_div(N, (THREADS * ITEMS)))");
  EXPECT_EQ(launch.evaluate({{"N", 100}, {"THREADS", 32}, {"ITEMS", 2}}).grid[0], 2U);
  const auto with_let = [](const std::string& name, const Json& formula) {
    return complaint([&](Json& file) { file["let"][name] = formula; });
  };
  EXPECT_THAT(with_let("N", 1), AllOf(HasSubstr("let.N"), HasSubstr("shapes.")));
  EXPECT_THAT(with_let("SM_COUNT", 1), HasSubstr("let.SM_COUNT"));
  EXPECT_THAT(with_let("A", "A + 1"), HasSubstr("'A' is defined by itself"));
  EXPECT_THAT(with_let("A", "1 = 1"), AllOf(HasSubstr("let.A"), HasSubstr("write ==")));
  EXPECT_THAT(with_let("A", Json::array()), HasSubstr("let.A"));
}

TEST(ProblemFile, ConstraintsMayNameShapeFormulasAndDevice) {
  Json json = planted();
  json["let"] = {{"PER_CTA", "THREADS * ITEMS"}};
  json["templates"]["planted"]["dynamic_shared_bytes"] = "4 * PER_CTA";
  const Problem problem = Problem::parse(json.dump(), planted_folder());
  DeviceInfo device;
  device.sm_count = 58;
  device.max_shared_bytes_per_cta = 101376;
  const Shape& shape = problem.shapes.front();
  const Formulas names =
      formulas_for_constraints(problem, problem.templates.front(), shape, device);
  EXPECT_EQ(with_formulas("DYNAMIC_SHARED_BYTES <= MAX_SHARED_BYTES_PER_CTA", names),
            "(4 * (THREADS * ITEMS)) <= 101376");
  EXPECT_EQ(with_formulas("PER_CTA < SM_COUNT && MAX_THREADS_PER_CTA", names),
            "(THREADS * ITEMS) < 58 && 1024");
  EXPECT_EQ(with_formulas("N", names), formula_of(shape.variables.at("N")));
}

TEST(ProblemFile, AnEntryIsANameInCpp) {
  const auto complaint_on = [](const std::string& entry) {
    return complaint([&](Json& json) { json["templates"]["planted"]["entry"] = entry; });
  };
  for (const char* entry : {"k", "ns::k", "::k", "k<float, ITEMS>", "ns::k<sizeof(int) * 2, (A>B)>",
                            "k<unsigned long long, -1>"}) {
    EXPECT_EQ(complaint_on(entry), "") << entry;
  }
  for (const char* entry : {"2k", "k<float", "k;", "k<float>\n", "k<\"a\">", "k</*>", "k{}", "#k",
                            "<int>", "k l<", "k<1>; int x"}) {
    EXPECT_THAT(complaint_on(entry), HasSubstr("allowed: the name of a kernel")) << entry;
  }
}

TEST(ProblemFile, RowsOfAnOutputAndTheirBound) {
  Json json = planted();
  json["arguments"][1]["row"] = "N == 1003 ? 17 : 1";
  json["tolerance"]["max_row_error"] = 0.5;
  const Problem plain = Problem::parse(json.dump(), planted_folder());
  EXPECT_EQ(plain.arguments[1].row_length({{"N", 1003}}), 17U);
  EXPECT_EQ(plain.arguments[0].row_length({{"N", 1003}}), 0U);
  EXPECT_EQ(plain.templates.front().tolerance.evaluate({}).max_row_error, 0.5);
  json["templates"]["planted"]["tolerance"]["max_row_error"] = "ITEMS > 1 ? 0.25 : 0.125";
  const Problem own = Problem::parse(json.dump(), planted_folder());
  EXPECT_EQ(own.templates.front().tolerance.evaluate({{"ITEMS", 2}}).max_row_error, 0.25);
  EXPECT_THROW(require_known_names(own, own.templates.front(), {{"N", 1}, {"THREADS", 1}}),
               ProblemError);
  json["tolerance"].erase("max_row_error");
  EXPECT_TRUE(
      Problem::parse(json.dump(), planted_folder()).templates.front().tolerance.max_row_error);
}

TEST(ProblemFile, AnEmptyOutputComparesNoElement) {
  Json json = planted();
  json["arguments"][1]["extent"] = "N == 1003 ? 0 : N";
  json["arguments"][1]["compare"] = "N == 1003 ? 0 : 1";
  const Problem problem = Problem::parse(json.dump(), planted_folder());
  EXPECT_EQ(problem.arguments[1].compared_bytes({{"N", 1003}}), 0U);
  EXPECT_EQ(problem.arguments[1].compared_bytes({{"N", 4}}), 4U);
  EXPECT_THAT(complaint([](Json& j) { j["arguments"][1]["compare"] = 0; }),
              AllOf(HasSubstr("0 elements are to be compared"), HasSubstr("from 1 to its extent")));
}

/// The problem "planted" with an additional workspace, whose size the template sets.
Json planted_with_workspace() {
  Json json = planted();
  json["arguments"].push_back({{"name", "scratch"}, {"direction", "workspace"}, {"dtype", "f32"}});
  json["templates"]["planted"]["workspace"]["scratch"] = "ITEMS > 1 ? ITEMS * N : 0";
  return json;
}

TEST(ProblemFile, ATemplateSaysHowMuchWorkspaceItNeeds) {
  const Problem problem = Problem::parse(planted_with_workspace().dump(), planted_folder());
  const Argument& scratch = problem.arguments.back();
  const Expression& own = problem.templates.front().extent_of(scratch);
  EXPECT_EQ(scratch.bytes({{"ITEMS", 4}, {"N", 10}}, own), 160U);
  EXPECT_EQ(scratch.bytes({{"ITEMS", 1}, {"N", 10}}, own), 0U);
  EXPECT_EQ(scratch.bytes({}), 0U) << "without a template's size, a workspace is empty";
  const Argument& other = problem.arguments.front();
  EXPECT_EQ(&problem.templates.front().extent_of(other), &other.size);
  require_known_names(problem, problem.templates.front(), {{"N", 1}, {"THREADS", 1}, {"ITEMS", 1}});
  try {
    require_known_names(problem, problem.templates.front(), {{"N", 1}, {"THREADS", 1}});
    ADD_FAILURE() << "the unknown name ITEMS was accepted";
  } catch (const ProblemError& error) {
    EXPECT_THAT(error.what(), HasSubstr("templates.planted"));
  }
}

TEST(ProblemFile, OnlyWorkspacesHaveExtentsPerTemplate) {
  EXPECT_THAT(complaint([](Json& j) { j["templates"]["planted"]["workspace"]["y"] = 3; }),
              AllOf(HasSubstr("templates.planted.workspace.y: 3"), HasSubstr("there are none")));
  EXPECT_THAT(complaint([](Json& j) {
                j = planted_with_workspace();
                j["templates"]["planted"]["workspace"]["scrach"] = 3;
              }),
              AllOf(HasSubstr("workspace.scrach: 3"), HasSubstr("scratch")));
}

TEST(ProblemFile, RowsThatCannotBeAreRefused) {
  EXPECT_THAT(complaint([](Json& j) { j["tolerance"]["max_row_error"] = 0.5; }),
              AllOf(HasSubstr("tolerance"), HasSubstr("needs an out or inout argument")));
  EXPECT_THAT(complaint([](Json& j) { j["arguments"][0]["row"] = 1; }),
              HasSubstr("arguments[0].row: 1: unknown key"));
  EXPECT_THAT(
      complaint([](Json& j) { j["arguments"][1]["row"] = 2; }),
      AllOf(HasSubstr("shapes.ragged: arguments[1].row: expression '2': the row of argument 'y'"),
            HasSubstr("1003")));
  EXPECT_THAT(complaint([](Json& j) { j["arguments"][1]["row"] = 0; }),
              HasSubstr("expression '0'"));
  EXPECT_THAT(complaint([](Json& j) { j["arguments"][1]["row"] = "M"; }), HasSubstr("'M'"));
}

TEST(ProblemFile, ComplaintsNameFileKeyValueAndWhatIsAllowed) {
  EXPECT_EQ(complaint([](Json&) {}), "");
  EXPECT_THAT(complaint([](Json& j) { j["flop"] = 1; }),
              AllOf(HasSubstr("flop: 1: unknown key"), HasSubstr("allowed: arguments, bytes")));
  EXPECT_THAT(complaint([](Json& j) { j["arguments"][1]["extend"] = "N"; }),
              AllOf(HasSubstr("arguments[1].extend"), HasSubstr("extent")));
  EXPECT_THAT(complaint([](Json& j) { j["name"] = 7; }), HasSubstr("name: 7: allowed:"));
  EXPECT_THAT(complaint([](Json& j) { j["format"] = "evo-tune problem 2"; }),
              AllOf(HasSubstr("evo-tune problem 2"), HasSubstr("allowed: evo-tune problem 1")));
  EXPECT_THAT(complaint([](Json& j) { j["arguments"][0]["dtype"] = "fp8"; }),
              AllOf(HasSubstr("arguments[0].dtype"), HasSubstr("fp8"), HasSubstr("e4m3, e5m2")));
  EXPECT_THAT(complaint([](Json& j) { j["arguments"][0]["direction"] = "input"; }),
              HasSubstr("allowed: in, out, inout, workspace, scalar"));
  EXPECT_THAT(complaint([](Json& j) { j["arguments"][0]["generator"]["distribution"] = "gauss"; }),
              AllOf(HasSubstr("arguments[0].generator.distribution"), HasSubstr("gauss")));
  EXPECT_THAT(complaint([](Json& j) { j["arguments"][0].erase("generator"); }),
              HasSubstr("needs a generator"));
  EXPECT_THAT(complaint([](Json& j) { j["arguments"].erase(1); }), HasSubstr("at least one out"));
  EXPECT_THAT(complaint([](Json& j) { j["arguments"][2]["dtype"] = "e5m2"; }),
              HasSubstr("allowed for a scalar"));
  EXPECT_THAT(complaint([](Json& j) { j["shapes"] = Json::object(); }), HasSubstr("at least one"));
  EXPECT_THAT(complaint([](Json& j) { j["shapes"]["ragged"]["variables"]["N"] = "1003"; }),
              HasSubstr("shapes.ragged.variables.N: \"1003\": allowed: a number"));
  EXPECT_THAT(complaint([](Json& j) { j["templates"] = Json::object(); }),
              HasSubstr("at least one template"));
  EXPECT_THAT(complaint([](Json& j) { j["templates"]["planted"]["grid"] = Json::array(); }),
              HasSubstr("a list of 1 to 3 expressions"));
  EXPECT_THAT(complaint([](Json& j) { j["templates"]["planted"]["source"] = "none.cu"; }),
              AllOf(HasSubstr("none.cu"), HasSubstr("no such file")));
  EXPECT_THAT(complaint([](Json& j) { j.erase("reference"); }), HasSubstr("reference"));
  EXPECT_THAT(complaint([](Json& j) { j["tolerance"].erase("relative_l2"); }),
              HasSubstr("relative_l2"));
}

TEST(ProblemFile, MisspeltAndBrokenExpressions) {
  EXPECT_THAT(complaint([](Json& j) { j["flops"] = "2*M"; }), HasSubstr("2*M"));
  EXPECT_THAT(complaint([](Json& j) { j["arguments"][0]["extent"] = "NN"; }),
              AllOf(HasSubstr("shapes."), HasSubstr("NN")));
  EXPECT_THAT(complaint([](Json& j) { j["flops"] = "2*"; }),
              AllOf(HasSubstr("flops"), HasSubstr("2*")));
  EXPECT_THAT(complaint([](Json& j) { j["arguments"][0]["extent"] = "N / 2"; }),
              HasSubstr("whole number"));
}

TEST(ProblemFile, ANameMeansOneThing) {
  EXPECT_THAT(complaint([](Json& j) { j["arguments"][2]["name"] = "x"; }),
              AllOf(HasSubstr("arguments[2].name"), HasSubstr("\"x\"")));
  EXPECT_THAT(complaint([](Json& j) { j["macros"]["N"] = "N + 1"; }),
              AllOf(HasSubstr("macros.N"), HasSubstr("variable of this name")));
  EXPECT_EQ(complaint([](Json& j) { j["macros"]["N"] = "N"; }), "");
  for (const char* name : {"X=1 -I/etc", "", "int", "__CUDA_ARCH__", "SM_COUNT", "max"}) {
    EXPECT_THAT(complaint([&](Json& j) { j["macros"][name] = "N"; }), HasSubstr("macros")) << name;
    EXPECT_NE(complaint([&](Json& j) { j["shapes"]["single"]["variables"][name] = 1; }), "");
  }
  for (const char* name : {"../up", "a b", ".hidden", "-x", "x;y", ""}) {
    EXPECT_THAT(complaint([&](Json& j) { j["name"] = name; }), HasSubstr("name")) << name;
    EXPECT_NE(complaint([&](Json& j) { j["shapes"][name] = j["shapes"]["single"]; }), "") << name;
    EXPECT_NE(complaint([&](Json& j) { j["templates"][name] = j["templates"]["planted"]; }), "");
  }
  EXPECT_THAT(complaint([](Json& j) { j["templates"]["planted"]["entry"] = "k' ; x"; }),
              HasSubstr("templates.planted.entry"));
}

TEST(ProblemFile, SourcesStayInTheFolderOfProblems) {
  EXPECT_THAT(
      complaint([](Json& j) { j["reference"]["source"] = "/etc/passwd"; }),
      AllOf(HasSubstr("reference.source"),
            HasSubstr("; allowed: files inside " + folder_of_problems(planted_folder()).string())));
  EXPECT_THAT(complaint([](Json& j) {
                j["reference"]["source"] = "../../../../engine/problem/problem.cpp";
              }),
              HasSubstr("allowed: files inside "));
  const auto root = std::filesystem::path(testing::TempDir()) / "linked_templates";
  std::filesystem::remove_all(root);
  std::filesystem::create_directories(root);
  std::filesystem::copy(planted_folder(), root / "planted",
                        std::filesystem::copy_options::recursive);
  (void)Problem::load(root / "planted");
  std::filesystem::remove(root / "planted/reference.cu");
  std::filesystem::create_symlink("/etc/passwd", root / "planted/reference.cu");
  EXPECT_THROW((void)Problem::load(root / "planted"), InputError)
      << "a symbolic link leads out of the folder";
  std::filesystem::remove(root / "planted/reference.cu");
  std::filesystem::create_symlink("reference.cu", root / "planted/reference.cu");
  EXPECT_THROW((void)Problem::load(root / "planted"), InputError) << "symbolic links form a circle";
  std::filesystem::remove_all(root);
}

TEST(ProblemFile, MissingFile) {
  try {
    (void)Problem::load("/nonexistent/problem");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/nonexistent/problem/problem.json"));
  }
}

TEST(ProblemFile, ShippedProblemsAreReadable) {
  const auto root = std::filesystem::path(EVO_SOURCE_DIR) / "kernel_templates";
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    if (!std::filesystem::is_regular_file(entry.path() / "problem.json")) continue;
    const Problem problem = Problem::load(entry.path());
    EXPECT_EQ(problem.name, entry.path().filename());
    ++found;
  }
  EXPECT_GE(found, 2);
}

TEST(Problem, UnknownShapeAndTemplateListTheKnown) {
  const Problem problem = Problem::load(planted_folder());
  EXPECT_THROW((void)problem.shape("huge"), InputError);
  EXPECT_THROW((void)problem.kernel("wmma"), InputError);
}

}  // namespace
}  // namespace evo
