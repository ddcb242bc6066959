#include "tests/engine/gate/gate_fixture.hpp"

#include <stdexcept>

#include "engine/core/json_reader.hpp"

namespace evo {
namespace {

Json problem_json(const std::string& dtype, bool deterministic) {
  Json generator = {{"distribution", "normal"}};
  if (dtype == "u8") generator = {{"distribution", "constant"}, {"value", 127}};
  return {{"format", "evo-tune problem 1"},
          {"name", "line"},
          {"arguments",
           {{{"name", "x"},
             {"direction", "in"},
             {"dtype", dtype},
             {"extent", "N"},
             {"generator", generator}},
            {{"name", "y"},
             {"direction", "out"},
             {"dtype", dtype},
             {"extent", "N"},
             {"degenerate", dtype == "u8"}},
            {{"name", "scratch"}, {"direction", "workspace"}, {"dtype", "i32"}, {"extent", 4}},
            {{"name", "n"}, {"direction", "scalar"}, {"dtype", "i32"}, {"value", "N"}}}},
          {"shapes",
           {{"small", {{"variables", {{"N", 33}}}, {"check", true}}},
            {"timed", {{"variables", {{"N", 1000}}}, {"check", true}}}}},
          {"tolerance",
           {{"max_abs_error", 0.01},
            {"bad_abs_error", 0.001},
            {"bad_share", 0.1},
            {"relative_l2", 0.001}}},
          {"flops", "2*N"},
          {"bytes", "8*N"},
          {"reference",
           {{"source", "line.cu"}, {"entry", "reference"}, {"grid", {1}}, {"block", {32}}}},
          {"templates",
           {{"line",
             {{"source", "line.cu"},
              {"entry", "line"},
              {"grid", {"ceil_div(N, 32)"}},
              {"block", {32}},
              {"deterministic", deterministic}}}}}};
}

std::optional<Fault> byte_reference(const fake::Launch& launch) {
  const auto* x = launch.buffer<std::uint8_t>(0);
  auto* y = launch.buffer<std::uint8_t>(1);
  for (int i = 0; i < launch.scalar<int>(3); ++i) y[i] = static_cast<std::uint8_t>(2 * x[i] + 1);
  return std::nullopt;
}

}  // namespace

std::optional<Fault> GateFixture::honest(const fake::Launch& launch) {
  const auto* x = launch.buffer<float>(0);
  auto* y = launch.buffer<float>(1);
  for (int i = 0; i < launch.scalar<int>(3); ++i) y[i] = 2 * x[i] + 1;
  return std::nullopt;
}

GateFixture::GateFixture(const std::string& dtype, bool deterministic, TimeKind kind)
    : time_us([](const fake::Program&, std::int64_t) { return 5.0; }),
      device(std::make_unique<fake::FakeDevice>(fake::FakeDeviceOptions{
          fake::fake_info(kind),
          [this](const fake::Program& program) -> std::variant<fake::Kernel, Fault> {
            const auto found = kernels.find(program.entry);
            if (found == kernels.end()) return Fault{"no such kernel"};
            return found->second;
          },
          [this](const fake::Program& program, std::int64_t sample) {
            return time_us(program, sample);
          }})),
      problem([&] {
        write_file(folder.path() / "line.cu", "");
        return Problem::parse(problem_json(dtype, deterministic).dump(), folder.path());
      }()),
      work(make_host_work(*device)) {
  kernels["reference"] = dtype == "u8" ? byte_reference : honest;
  const auto reference = device->load({fake::to_ptx({"reference", {}}), "", {"reference"}});
  constexpr std::uint64_t kSeed = 2024;
  made = std::make_unique<MadeGates>(*work, problem, std::get<KernelId>(reference), kSeed);
}

LoadedKernel GateFixture::load(const std::string& name, fake::Kernel kernel) {
  kernels[name] = std::move(kernel);
  const auto loaded = device->load({fake::to_ptx({name, {}}), "", {name}});
  return {std::get<KernelId>(loaded), &problem.templates.front(), {}};
}

CorrectnessResult GateFixture::check(const LoadedKernel& kernel, const CorrectnessOptions& options,
                                     CheckKind check_kind, const EarlyStop& stop) {
  CorrectnessGate gate(*work, problem, made->cases, made->judge, options);
  return gate.check(kernel, {&problem.shape("timed"), &problem.shape("small")}, check_kind, stop,
                    [](const std::string&) {});
}

}  // namespace evo
