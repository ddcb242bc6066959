#include "tests/fakes/fake_compiler.hpp"

#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "engine/ptx/code_hash.hpp"
#include "tests/fakes/fake_program.hpp"

namespace evo::fake {
namespace {

/// Imitates a compiler on a busy machine, which gives it processor time for only 10 of every 40 ms.
void work_now_and_then(std::chrono::milliseconds all) {
  constexpr std::chrono::milliseconds kWork{10};
  constexpr std::chrono::milliseconds kRest{30};
  const auto end = std::chrono::steady_clock::now() + all;
  while (std::chrono::steady_clock::now() < end) {
    const auto pause = std::chrono::steady_clock::now() + kWork;
    while (std::chrono::steady_clock::now() < pause) continue;
    std::this_thread::sleep_for(kRest);
  }
}

constexpr std::string_view kDefine = "-D";

Program program_of(const CompileRequest& request) {
  Program program{request.entries.front(), {}};
  for (const std::string& option : request.options) {
    const std::size_t equals = option.find('=');
    if (!option.starts_with(kDefine) || equals == std::string::npos) continue;
    program.defines[option.substr(kDefine.size(), equals - kDefine.size())] =
        option.substr(equals + 1);
  }
  return program;
}

CompileAnswer failure(CompilerFailure::Kind kind) {
  return CompilerFailure{kind, "planted failure of the compiler"};
}

/// Imitates a compiler whose memory grows without end, for example because of endless templates. To
/// protect the machine, the memory grows only to 4 GiB.
CompileAnswer eat_memory() {
  constexpr std::size_t kPiece = std::size_t{64} << 20;
  constexpr int kMostPieces = 64;
  std::vector<std::unique_ptr<char[]>> pieces;
  for (int i = 0; i < kMostPieces; ++i) pieces.push_back(std::make_unique<char[]>(kPiece));
  return Rejection{Gate::kBuild, "the compiler could allocate 4 GiB"};
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
  if (bug == "aborts_for_memory") {
    std::fputs("LLVM ERROR: out of memory\n", stderr);
    std::abort();
  }
  if (bug == "aborts_below_2_gib") {
    rlimit limit{};
    getrlimit(RLIMIT_AS, &limit);
    if (limit.rlim_cur < rlim_t{1} << 31) std::abort();
  }
  if (bug == "compiler_is_killed_once" && is_first_time("compiler")) std::raise(SIGKILL);
  if (bug == "compiler_is_killed") std::raise(SIGTERM);
  if (bug == "fails_once" && is_first_time("compiler"))
    return failure(CompilerFailure::Kind::kInternal);
  if (bug == "fails") return failure(CompilerFailure::Kind::kInternal);
  if (bug == "runs_out_of_memory") return failure(CompilerFailure::Kind::kOutOfMemory);
  if (bug == "compiler_eats_memory") return eat_memory();
  if (bug == "says_nothing") return Rejection{Gate::kBuild, "", ""};
  if (bug == "says_nul") {
    return Rejection{Gate::kBuild, std::string("\0ptxas error", 12), std::string("a\0\xff", 3)};
  }
  while (bug == "hangs_compiler") std::this_thread::sleep_for(std::chrono::hours(1));
  if (bug == "gets_a_quarter_of_a_processor") work_now_and_then(std::chrono::seconds(3));
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
