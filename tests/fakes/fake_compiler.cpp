#include "tests/fakes/fake_compiler.hpp"

#include <cstdlib>
#include <thread>

#include "tests/fakes/fake_program.hpp"

namespace evo::fake {
namespace {

constexpr std::string_view kDefine = "-D";

Program program_of(const CompileRequest& request) {
  Program program{request.entry, {}};
  for (const std::string& option : request.options) {
    const std::size_t equals = option.find('=');
    if (!option.starts_with(kDefine) || equals == std::string::npos) continue;
    program.defines[option.substr(kDefine.size(), equals - kDefine.size())] =
        option.substr(equals + 1);
  }
  return program;
}

}  // namespace

CompileAnswer FakeCompiler::compile(const CompileRequest& request) {
  std::this_thread::sleep_for(delay_);
  Program program = program_of(request);
  const std::string bug = program.name_of("BUG");
  if (bug == "does_not_compile") {
    return Rejection{Gate::kBuild, request.source.name + "(7): error: planted",
                     request.source.name + "(7): error: planted\n1 error detected"};
  }
  if (bug == "crashes_compiler") std::abort();
  while (bug == "hangs_compiler") std::this_thread::sleep_for(std::chrono::hours(1));
  Compiled compiled;
  compiled.resources.registers = 32 + static_cast<int>(program.number("REGISTERS", 0));
  compiled.resources.static_shared_bytes = static_cast<int>(program.number("SHARED", 0));
  if (bug == "too_many_registers") compiled.resources.registers = 200;
  if (bug == "spills") compiled.resources.spill_store_bytes = 64;
  std::erase_if(program.defines,
                [](const auto& entry) { return entry.first.starts_with("UNUSED"); });
  compiled.ptx = to_ptx(program);
  compiled.cubin = "fake cubin of " + compiled.ptx;
  compiled.log = "fake log";
  compiled.ptx_hash = hash_ptx(compiled.ptx);
  compiled.compile_ms = static_cast<double>(delay_.count());
  return compiled;
}

}  // namespace evo::fake
