// evo-ptx-run: launches one PTX kernel on the virtual GPU and prints its defects.

#include <limits>

#include "tools/cli/help_format.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/tool_main.hpp"
#include "tools/cli/value_lists.hpp"
#include "tools/predict/ptx_run.hpp"

namespace evo {
namespace {

constexpr const char* kDescription =
    "evo-ptx-run: launches a PTX kernel on the virtual GPU and prints defects.\n"
    "Finds races, out-of-bounds accesses, deadlocks and reads of uninitialised data, "
    "and prints their source lines if the PTX has line information (-lineinfo).";

constexpr const char* kFooter = R"(
Values of --arg, in the order of the kernel's parameters:
  in:NAME=FILE          a read-only buffer with the content of a file
  in:NAME=zeros:BYTES   a read-only buffer of zeros; ones:BYTES: of bytes 0x01
  inout:NAME=FILE       a buffer that the kernel may write; also zeros:, ones:
  out:NAME=BYTES        an uninitialised buffer; --save writes it to NAME.out
  i32:VALUE             a scalar; also u32: i64: u64: f32: f64:
)";

void declare(CLI::App& app, PtxRunOptions& options) {
  add_option(app, "file", options.file, value_words::kFile, "PTX file")->required();
  add_option(app, "--entry", options.entry, "NAME", "name of the kernel")->required();
  add_option(app, "--device", options.device, value_words::kDevice, "virtual GPU")
      ->capture_default_str();
  add_option(app, "--grid", options.grid, "X,Y,Z", "CTAs (default: 1)")
      ->transform(whole_number(1, std::numeric_limits<std::int32_t>::max()))
      ->delimiter(',');
  add_option(app, "--block", options.block, "X,Y,Z", "threads of a CTA (default: 32)")
      ->transform(whole_number(1, std::numeric_limits<std::int32_t>::max()))
      ->delimiter(',');
  add_option(app, "--shared", options.shared, "BYTES", "bytes of dynamic shared memory")
      ->transform(whole_number(0, std::numeric_limits<std::uint32_t>::max()))
      ->capture_default_str();
  add_option(app, "--arg", options.arguments, "ARGUMENT", "an argument, see below; repeat in order")
      ->allow_extra_args(false);
  app.add_option("--seed", options.seed, "seed of the order in which warps run")
      ->transform(seed_number())
      ->capture_default_str();
  app.add_option("--threads", options.threads, "threads of the host; 0: one for each core")
      ->transform(whole_number(0, 256))
      ->capture_default_str();
  add_option(app, "--save", options.save, value_words::kFolder,
             "folder for the contents of out and inout buffers; created if missing");
  app.add_flag("--no-checks", options.no_checks, "check only bounds, alignment and deadlock");
  app.add_flag("--predict", options.predict, "print the predicted time");
  app.add_flag("--quiet", options.quiet, "print no statistics");
  app.footer(kFooter + exit_codes({{0, "clean"},
                                   {1, "defects"},
                                   {2, "bad usage or input"},
                                   {3, "this machine has too little memory"}}));
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  CLI::App app(evo::kDescription);
  evo::PtxRunOptions options;
  evo::declare(app, options);
  return evo::tool_main("evo-ptx-run", argc, argv, app, [&] { return evo::ptx_run(options); },
                        {{evo::value_words::kDevice, evo::virtual_device_values()}});
}
