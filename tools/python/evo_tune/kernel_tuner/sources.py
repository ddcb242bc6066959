"""The source of a kernel, which a script gives as a string, a file, a list of files, or a function
of the configuration."""

import os
import re
from pathlib import Path

from ..errors import Error
from .errors import NotSupported

MAIN = "kernel.cu"
_LANGUAGES = {"CUDA", "CUPY", "NVCUDA", "PYCUDA"}
_WORD = re.compile(r"[A-Za-z_]\w*")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


def require_cuda(lang):
    if lang is not None and lang.upper() not in _LANGUAGES:
        raise NotSupported(f"lang: '{lang}' is not supported; allowed: CUDA, cupy, nvcuda, pycuda. "
                           "If the source also has host code, pass only the kernel")


def _names_a_file(source):
    return (isinstance(source, os.PathLike) or
            (isinstance(source, str) and "\n" not in source and len(source) < 4096 and
             not re.search(r"[{;]", source)))


def _read(source):
    """The text of a source (CUDA C++ or the name of a file), and the folder of its headers."""
    if not _names_a_file(source):
        return source, Path.cwd()
    path = Path(source)
    if not path.is_file():
        raise Error(f"kernel_source: there is no file {path}")
    return path.read_text(), path.resolve().parent


def _generated(function, configuration):
    text = function(configuration)
    if not isinstance(text, str):
        raise TypeError("kernel_source: the function must return a string")
    return text


class Sources:
    """The source files of a kernel. `files`: the contents of the files by name. The file MAIN has
    the kernel, and its content is passed through the function `rewritten`."""

    def __init__(self, given, configurations, defines, rewritten=str):
        self._configurations = configurations
        self._words = None
        self._generate = None
        self.files = {}
        sources = list(given) if isinstance(given, (list, tuple)) else [given]
        if not sources:
            raise TypeError("kernel_source: allowed: one or more files")
        for other in sources[1:]:
            if callable(other) or not _names_a_file(other):
                raise NotSupported("kernel_source: after the first file, the list may name only "
                                   "header files; write other sources to files")
            self._add_with_headers(Path(other).name, *_read(other))
        first = sources[0]
        if callable(first):
            self._generate = lambda configuration: rewritten(_generated(first, configuration))
            text = self._dispatched(self._generate)
        else:
            code, folder = _read(first)
            text = rewritten(self._with_headers(code, folder))
        self._head = self._preamble(defines)
        self.files[MAIN] = self._head + self._unrolled(text)

    def _with_headers(self, code, folder):
        for name in _INCLUDE.findall(code):
            if (folder / name).is_file() and name not in self.files:
                self._add_with_headers(name, *_read(folder / name))
        return code

    def _add_with_headers(self, name, code, folder):
        self.files[name] = code
        self._with_headers(code, folder)

    def _dispatched(self, generate):
        """Combines the sources that a function generates for different configurations into one
        source, in which the macro kt_source selects the source of a configuration."""
        texts = {}

        def number_of(configuration):
            text = generate(configuration)
            if text not in texts:
                texts[text] = len(texts)
            return texts[text]

        for configuration in self._configurations.rows():
            number_of(configuration)
        self._configurations.add_column("kt_source", number_of)
        lines = []
        for text, number in texts.items():
            self._with_headers(text, Path.cwd())
            lines.append(f"#{'el' if lines else ''}if kt_source == {number}\n{text}\n")
        return "".join(lines) + "#endif\n"

    def _preamble(self, defines):
        """The #define lines at the top of the source, in addition to the macros of the space."""
        lines = []
        if defines is None:
            for name, macro in self._configurations.macros.items():
                if macro != name:
                    lines += self._named_values(name, macro)
        else:
            for name, value in defines.items():
                lines += self._define(name, value)
        return "".join(line + "\n" for line in lines)

    def _named_values(self, name, macro):
        lines = []
        for place, value in enumerate(self._configurations.params[name]):
            lines.append(f"#{'el' if place else ''}if {macro} == {place}")
            lines.append(f"#define {name} {value}")
        return lines + ["#endif"]

    def _define(self, name, value):
        if not str(name).isidentifier():
            raise NotSupported(f"defines: '{name}' is no name of a macro")
        if callable(value):
            macro = "kt_define_" + name
            values = {}

            def number_of(configuration):
                text = str(value(configuration))
                return values.setdefault(text, len(values))

            for configuration in self._configurations.rows():
                number_of(configuration)
            self._configurations.add_column(macro, number_of)
            lines = []
            for text, number in values.items():
                lines.append(f"#{'el' if lines else ''}if {macro} == {number}")
                lines.append(f"#define {name} {text}".replace("\n", "\\\n"))
            return lines + ["#endif"]
        text = str(value)
        for param, macro in self._configurations.macros.items():
            if param in self._configurations.numeric:
                text = re.sub(rf"\b{re.escape(param)}\b", macro, text)
        return [f"#define {name} {text}".replace("\n", "\\\n")]

    def _unrolled(self, text):
        """If a parameter loop_unroll_factor… is 0, disables the "#pragma unroll" that names it."""
        for name in self._configurations.params:
            if "loop_unroll_factor" not in name:
                continue
            text = re.sub(rf"(\n[ \t]*)(#pragma[ \t]+unroll[ \t]+{re.escape(name)}\b[^\n]*)",
                          rf"\n#if {name} != 0\n\2\n#endif", text)
        return text

    def mentions(self, name):
        if self._words is None:
            self._words = set().union(*map(_WORD.findall, self.files.values()))
        return name in self._words

    def write(self, folder, configuration=None):
        """Writes the source files. If a function generates the source and `configuration` is given,
        writes only the source of this configuration."""
        files = self.files
        if self._generate is not None and configuration is not None:
            text = self._generate(configuration)
            files = {**files, MAIN: self._head + self._unrolled(text)}
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
