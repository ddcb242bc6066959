// evo-init: writes drafts of the files that describe a tuning problem, from a CUDA source file.

#include "tools/cli/help_format.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/tool_main.hpp"
#include "tools/init/init.hpp"

namespace evo {
namespace {

/// Adds an option that may be repeated and takes one value each time.
void repeat(CLI::App& app, const char* name, auto& target, const char* type, const char* text) {
  add_option(app, name, target, type, std::string(text) + "; may be repeated")
      ->allow_extra_args(false);
}

void declare_given(CLI::App& app, InitOptions& options) {
  Given& given = options.request.given;
  repeat(app, "--size", options.sizes, "NAME=N[,N...]",
         "values of a shape variable, one for each shape; "
         "a scalar parameter of this name gets the value");
  repeat(app, "--value", options.values, "NAME=EXPR",
         "value of a scalar parameter, as an expression of sizes and macros");
  repeat(app, "--extent", options.extents, "NAME=EXPR",
         "number of elements of a buffer, as an expression of sizes");
  repeat(app, "--input", options.inputs, "NAME=CONTENT",
         "content of an input: "
         "normal:0:1, uniform:0:1, integers:0:9, constant:1 or a formula of INDEX");
  repeat(app, "--scratch", given.scratch, "NAME", "output that is not compared (scratch memory)");
  repeat(app, "--workspace", given.workspaces, "NAME",
         "buffer that is zero before the first launch, and that each launch leaves ready for the "
         "next, such as counters and flags");
  repeat(app, "--inout", given.inouts, "NAME",
         "output of which the kernel leaves some elements unchanged, such as a border");
  repeat(app, "--grid", options.grids, "X[,Y[,Z]]",
         "numbers of CTAs, as expressions of sizes and macros; one for each --entry, in order");
  repeat(app, "--block", options.blocks, "X[,Y[,Z]]",
         "threads of a CTA, as expressions; one for each --entry, in order");
  repeat(app, "--shared", options.shared, "EXPR",
         "bytes of dynamic shared memory; one for each --entry, in order");
  repeat(app, "--rename", options.renamed, "KERNEL.PARAMETER=NAME",
         "new name of an argument, "
         "if kernels of several --entry use one name for different arguments");
  add_option(app, "--flops", given.flops, "EXPR", "floating-point operations of one launch");
  add_option(app, "--tolerance", given.tolerance, "NUMBER",
             "largest allowed absolute error of an element of an output");
  add_option(
      app, "--reference", given.reference, "NAME",
      "reference: 'default', the default configuration; "
      "'program', a reference.py for you to write; or another kernel of the file "
      "with the same parameters (default: 'default' with --size and --param, else 'program')");
  add_option(app, "--reference-grid", given.reference_grid, "X[,Y[,Z]]",
             "CTAs of the kernel that --reference names");
  add_option(app, "--reference-block", given.reference_block, "X[,Y[,Z]]",
             "threads of a CTA of the kernel that --reference names");
}

void declare(CLI::App& app, InitOptions& options) {
  IntakeRequest& request = options.request;
  add_option(app, "kernel", request.kernel, value_words::kFile, "CUDA file")->required();
  add_option(app, "--entry", options.entries, "NAME",
             "C++ name of the kernel: 'reduce<float, ITEMS>' (default: the file's only kernel); "
             "repeat for kernels that run one after the other")
      ->allow_extra_args(false);
  add_option(app, "--t1", request.t1, value_words::kFile,
             "T1 file (of Kernel Tuner, KTT or BAT) to take parameters and arguments from");
  repeat(app, "-I,--include-path", request.include_folders, value_words::kFolder,
         "folder of headers that the kernel includes; headers in use are copied");
  repeat(app, "--param", options.parameters, "NAME=V,V...",
         "macro and its values, the default first; or NAME='[2**i for i in range(5)]'");
  repeat(app, "--constraint", request.constraints, "EXPR", "expression of macros that must hold");
  declare_given(app, options);
  add_option(app, "--name", request.name, "NAME",
             "name of problem and space (default: the name of the file)");
  add_option(app, "--arch", request.arch, "ARCH", "architecture to compile for")
      ->capture_default_str();
  add_option(app, "--out", options.out, value_words::kFolder,
             "folder that gets kernel_templates/ and search_spaces/")
      ->capture_default_str();
  app.add_flag("--force", options.force, "replace existing files");
  add_option(
      app, "--compile-seconds", options.compile_seconds, "SECONDS",
      "time limit for compiling, and for the launches on the virtual GPU that measure extents")
      ->transform(whole_number(1, 86400))
      ->capture_default_str();
  app.footer(exit_codes(
      {{0, "written"}, {2, "bad usage or input"}, {3, "NVRTC is missing or cannot be used"}}));
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  evo::InitOptions options;
  CLI::App app(
      "evo-init: writes the problem file and a search space for a CUDA file.\n"
      "Also writes reference.py if needed. Values that follow from the code are filled in; "
      "\"TODO\" marks those that you have to fill in. "
      "Prints the facts found in the code and the lines that you have to fill in.");
  evo::declare(app, options);
  return evo::tool_main("evo-init", argc, argv, app, [&] { return evo::init(std::move(options)); });
}
