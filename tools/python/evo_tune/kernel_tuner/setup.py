"""Writes the arguments of tune_kernel or run_kernel to a folder for evo-tune's programs."""

import itertools
import json
import os
import shutil
import tempfile
from pathlib import Path

import numpy

from .. import programs
from ..errors import Error
from . import arguments as given_arguments
from .configurations import Configurations
from .errors import NotSupported
from .launch import Grid, Size, block_expressions, block_names
from .problem import NAME, Problem
from .sources import Sources, require_cuda
from .textures import Textures

#: Environment variable: a folder in which the files of a run are kept.
KEEP_VARIABLE = "EVO_TUNE_KEEP"
MOST_DEFAULTS = 20  # configurations that are tried as the default
#: Options of nvcc that do not affect the code, or that evo-tune sets itself.
_IGNORED_OPTIONS = ("-arch", "--gpu-architecture", "-gencode", "--generate-code", "-O", "-Xcompiler",
                    "-lineinfo", "-w")


class Setup:
    """Checks the arguments that tune_kernel and run_kernel have in common, and writes them to a
    folder."""

    def __init__(self, kernel_name, kernel_source, problem_size, arguments, params, grid_divs,
                 restrictions=None, lang=None, smem_args=None, cmem_args=None, texmem_args=None,
                 compiler_options=None, defines=None, block_size_names=None):
        require_cuda(lang)
        self.textures = Textures(texmem_args, kernel_name)
        self.values = given_arguments.taken(arguments)
        names = block_names(block_size_names)
        prefix = "" if defines is None else "kt_"
        self.configurations = Configurations(params, restrictions, names, prefix)
        self.default = self.configurations.default()
        self.sources = Sources(kernel_source, self.configurations, defines,
                               self.textures.rewritten)
        self.grid = Grid(problem_size, grid_divs, self.configurations)
        self.grid_expressions = self.grid.expressions()
        self.block = block_expressions(self.configurations)
        self.shared = self._shared(smem_args)
        self.constants = {name: given_arguments.to_numpy(value)
                          for name, value in (cmem_args or {}).items()}
        self.options = self._options(compiler_options, defines)
        self.kernel_name = kernel_name
        self.problem = None

    def _shared(self, smem_args):
        if not smem_args:
            return 0
        if set(smem_args) != {"size"}:
            raise NotSupported("smem_args: allowed: {'size': bytes}")
        size = Size(smem_args["size"], self.configurations.number_macros, "smem_args['size']")
        if size.expression is None:
            self.configurations.add_column("kt_shared_bytes", lambda c: int(size.value(c)))
            return "kt_shared_bytes"
        return size.expression

    def _options(self, given, defines):
        options = [one for one in given or [] if not one.startswith(_IGNORED_OPTIONS)]
        if defines is not None:
            return options
        options.append("-Dkernel_tuner=1")
        known = self.configurations.params
        for name, size in zip(self.configurations.block_names, (256, 1, 1)):
            if name not in known and self.sources.mentions(name):
                options.append(f"-D{name}={size}")
        for axis, letter in enumerate("xyz"):
            name = f"grid_size_{letter}"
            if name not in known and self.sources.mentions(name):
                self.configurations.add_column(name, lambda c, a=axis: self.grid.of(c)[a])
        return options

    def write(self, folder, judged):
        self.problem = Problem(folder, self.configurations, self.sources, self.kernel_name,
                               self.textures)
        self.problem.write(self._facts(), self.values, self.constants, self.grid_expressions,
                           self.block, self.shared, self.options, judged)

    def _facts(self):
        """The problem.json that evo-init makes for the first configuration that compiles, which
        becomes the default configuration. Tries at most MOST_DEFAULTS configurations."""
        for default in itertools.islice(self.configurations.all(), MOST_DEFAULTS):
            try:
                facts = self.problem.facts(default)
            except Error as error:
                if "does not compile" not in str(error):
                    raise
                failure = error
                continue
            self.default = default
            return facts
        raise failure

    def launch(self, folder, device, settings=()):
        """Launches the kernel of the written folder once, in the default configuration changed by
        `settings` (pairs of a macro and its value). Returns the arguments after the launch."""
        with tempfile.TemporaryDirectory(dir=folder) as left:
            options = ["--space", f"search_spaces/{NAME}.json", "--device", device, "--outputs",
                       left, "--json"]
            for macro, value in settings:
                options += ["--set", f"{macro}={value}"]
            done = programs.run("evo-judge", options, folder, quiet=True)
            if done.returncode != 0:
                raise Error(f"{self.kernel_name} failed: {_rejection(done.stdout)}")
            return [self._left(left, position) for position in range(len(self.values))]

    def _left(self, folder, position):
        value = self.values[position]
        if position not in self.problem.written:
            return value
        left = numpy.load(Path(folder, f"{self.problem.names[position]}.npy"))
        return left.view(value.dtype).reshape(value.shape)


def _rejection(text):
    rejection = json.loads(text).get("rejection", {})
    return (rejection.get("reason", "") + "\n" + rejection.get("detail", "")).strip()


class Folder:
    """A folder for the files of a run: temporary unless EVO_TUNE_KEEP names a folder."""

    def __enter__(self):
        kept = os.environ.get(KEEP_VARIABLE)
        if kept:
            Path(kept).mkdir(parents=True, exist_ok=True)
        self._is_kept = bool(kept)
        self.path = Path(tempfile.mkdtemp(prefix="evo-tune-", dir=kept or None))
        return self.path

    def __exit__(self, *_):
        if not self._is_kept:
            shutil.rmtree(self.path, ignore_errors=True)
