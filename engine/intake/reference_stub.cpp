#include "engine/intake/reference_stub.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/problem/dtype.hpp"

namespace evo {
namespace {

using Kind = DraftArgument::Kind;

/// A Python name for `name` that reference.py does not use for something else.
std::string python_name(const std::string& name) {
  constexpr auto kTaken = std::to_array<std::string_view>(
      {"False",  "None",     "Path",  "True",     "and",  "as",     "assert", "async",  "await",
       "break",  "case",     "class", "continue", "def",  "del",    "elif",   "else",   "except",
       "for",    "folder",   "from",  "global",   "if",   "import", "in",     "is",     "json",
       "lambda", "nonlocal", "not",   "np",       "or",   "pass",   "raise",  "return", "sys",
       "try",    "while",    "with",  "yield",    "dtype"});
  const std::string plain = name.substr(name.rfind(':') + 1);
  const bool taken = std::find(kTaken.begin(), kTaken.end(), plain) != kTaken.end();
  return taken ? plain + "_" : plain;
}

std::string numpy_type(const std::string& dtype) {
  for (const DtypeRow& row : dtype_rows()) {
    if (row.name == dtype) return std::string(row.numpy);
  }
  return "float32";
}

std::string elements(const DraftArgument& argument) {
  return is_todo(argument.extent) ? "" : ", " + argument.extent + " elements";
}

std::string output_name(const DraftArgument& argument) {
  return python_name(argument.name) + (argument.kind == Kind::kInOut ? "_expected" : "");
}

}  // namespace

std::string reference_stub(const Draft& draft) {
  std::string text =
      "\"\"\"Computes the expected outputs of " + draft.entry +
      ".\n\n"
      "evo-tune runs this program in the folder of this file. The argument names a folder with\n"
      "case.json (shape, seed, variables, scalars, inputs, outputs) and every input as NAME.npy.\n"
      "Write every output to that folder as NAME.npy. All arrays are flat.\n\"\"\"\n\n"
      "import json\nimport sys\nfrom pathlib import Path\n\nimport numpy as np\n\n"
      "folder = Path(sys.argv[1])\ncase = json.loads((folder / \"case.json\").read_text())\n";
  for (const auto& [name, unused] : draft.variables) {
    text += python_name(name) + " = case[\"variables\"][\"" + name + "\"]\n";
  }
  for (const DraftArgument& argument : draft.arguments) {
    const std::string name = python_name(argument.name);
    if (argument.kind == Kind::kScalar) {
      text += name + " = case[\"scalars\"][\"" + argument.name + "\"]\n";
    } else if (argument.is_read()) {
      const std::string file = argument.name.substr(argument.name.rfind(':') + 1);
      text += name + " = np.load(folder / \"" + file + ".npy\")  # " + numpy_type(argument.dtype) +
              elements(argument) + "\n";
    }
  }
  text += "\n";
  std::string saved;
  for (const DraftArgument& argument : draft.arguments) {
    if (!argument.is_written() || !argument.is_compared) continue;
    const std::string name = output_name(argument);
    text += name + " = None  # TODO: " + name + " = ..., " + numpy_type(argument.dtype) +
            elements(argument) + "\n";
    saved += "if " + name + " is None:\n    raise NotImplementedError(\"reference.py: " + name +
             " is not computed yet\")\nnp.save(folder / \"" + argument.name +
             ".npy\", np.asarray(" + name + ", dtype=np." + numpy_type(argument.dtype) +
             ").reshape(-1))\n";
  }
  return text + "\n" + saved;
}

}  // namespace evo
