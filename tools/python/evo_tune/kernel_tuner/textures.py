"""texmem_args: arrays that a kernel reads as textures.

CUDA 12 has no texture references such as `texture<float, 2> image;`. This module replaces a texture
reference by a parameter of the kernel, `cudaTextureObject_t image`, and adds the type to each read.
A kernel that already has parameters of type cudaTextureObject_t is not changed.
"""

import re

import numpy

from . import arguments as given_arguments
from .errors import NotSupported

_DECLARATION = (r"\btexture\s*<\s*([\w ]+?)\s*(?:,\s*(\w+)\s*)?(?:,\s*(\w+)\s*)?>\s*{name}\s*;")
_DTYPES = {"float": "f32", "char": "i8", "uchar": "u8", "short": "i16", "ushort": "u16",
           "int": "i32", "uint": "u32"}
_FILTERS = ("point", "linear")
_ADDRESSES = ("clamp", "border", "wrap", "mirror")
_OPTIONS = ("array", "filter_mode", "address_mode", "normalized_coordinates")


class Textures:
    """The textures of a kernel by name."""

    def __init__(self, texmem_args, kernel_name):
        self._entry = kernel_name.split("<")[0]
        self._textures = {name: _Texture(name, its) for name, its in (texmem_args or {}).items()}

    def __contains__(self, name):
        return name in self._textures

    def __iter__(self):
        return iter(self._textures)

    def rewritten(self, text):
        """The source with parameters instead of texture references."""
        for texture in self._textures.values():
            text = texture.rewritten(text, self._entry)
        return text

    def argument(self, name, folder):
        """The entry of a texture in problem.json. Saves the texels in `folder`."""
        return self._textures[name].argument(folder)


class _Texture:
    def __init__(self, name, given):
        self.name = name
        self._where = f"texmem_args['{name}']"
        options = given if isinstance(given, dict) else {"array": given}
        unknown = [one for one in options if one not in _OPTIONS]
        if unknown or "array" not in options:
            raise NotSupported(f"{self._where}: allowed: an array, or a dict with 'array' and any "
                               f"of {', '.join(_OPTIONS[1:])}")
        self._array = numpy.asarray(given_arguments.to_numpy(options["array"]))
        self._filter = self._word(options, "filter_mode", _FILTERS)
        addresses = options.get("address_mode")
        addresses = addresses if isinstance(addresses, (list, tuple)) else [addresses] * 2
        self._addresses = [self._word({"address_mode": one}, "address_mode", _ADDRESSES)
                           for one in addresses]
        self._is_normalized = bool(options.get("normalized_coordinates"))
        self._channels, self._has_normalized_values, self._memory = 1, False, "array"

    def _word(self, options, key, allowed):
        word = options.get(key) or allowed[0]
        if word not in allowed:
            raise NotSupported(f"{self._where}: {key} '{word}'; allowed: {', '.join(allowed)}")
        return word

    def rewritten(self, text, entry):
        found = re.search(_DECLARATION.format(name=re.escape(self.name)), text)
        if found is None:
            return text  # Problem.write() requires a kernel parameter of this name
        self._read_type(found)
        text = text[:found.start()] + text[found.end():]
        begin, end = self._kernel(text, entry)
        fetch = re.compile(rf"\b(tex1Dfetch|tex1D|tex2D)\s*\(\s*{re.escape(self.name)}\b")
        head, kernel, tail = text[:begin], text[begin:end], text[end:]
        if fetch.search(head + tail):
            raise NotSupported(f"{self._where}: it is read outside of {entry}; pass a "
                               f"cudaTextureObject_t parameter '{self.name}' to that function")
        if "tex1Dfetch" in {its[1] for its in fetch.finditer(kernel)}:
            self._memory = "linear"
        kernel = fetch.sub(rf"\1<{self._read_as}>({self.name}", kernel)
        close = _closing(kernel, kernel.index("("), "()")
        comma = ", " if kernel[kernel.index("(") + 1:close].strip() else ""
        return "".join([head, kernel[:close], comma, "cudaTextureObject_t ", self.name,
                        kernel[close:], tail])

    def _read_type(self, found):
        """Finds the type of the texels and the type of the reads in the declaration of a texture
        reference."""
        base = found[1].replace("unsigned ", "u").replace("signed ", "")
        base = "uint" if base in ("unsigned", "u") else base
        kind = base.rstrip("124")
        self._channels = int(base[len(kind):] or 1)
        dtype = given_arguments.dtype_name(self._array.dtype, self._where)
        if _DTYPES.get(kind) != dtype:
            raise NotSupported(f"{self._where}: texels of type {found[1]} from an array of "
                               f"{self._array.dtype}; give an array of the texels' type")
        self._has_normalized_values = "cudaReadModeNormalizedFloat" in found.groups()
        self._read_as = base
        if self._has_normalized_values:
            self._read_as = "float" + base[len(kind):]

    def _kernel(self, text, entry):
        """The positions at which the kernel's name begins and its body ends."""
        for its in re.finditer(rf"\b{re.escape(entry)}\s*\(", text):
            before = re.split(r"[;}]", text[:its.start()])[-1]
            close = _closing(text, its.end() - 1, "()")
            body = re.match(r"\s*\{", text[close + 1:])
            if "__global__" in before and body:
                return its.start(), _closing(text, close + body.end(), "{}") + 1
        raise NotSupported(f"{self._where}: the source has no kernel of the name {entry}; give "
                           f"the kernel a cudaTextureObject_t parameter '{self.name}'")

    def argument(self, folder):
        shape = self._array.shape
        if self._channels > 1:
            if shape[-1] != self._channels:
                raise NotSupported(f"{self._where}: an array of shape {shape}; its last size must "
                                   f"be the {self._channels} channels")
            shape = shape[:-1]
        if not 1 <= len(shape) <= 2:
            raise NotSupported(f"{self._where}: {len(shape)} dimensions; allowed: 1 and 2")
        elements = given_arguments.flat(self._array)
        numpy.save(folder / f"{self.name}.npy", elements)
        argument = {"name": self.name, "kind": "texture",
                    "dtype": given_arguments.dtype_name(elements.dtype, self._where),
                    "channels": self._channels, "width": int(shape[-1]), "memory": self._memory,
                    "filter": self._filter, "normalized_coordinates": self._is_normalized,
                    "normalized_values": self._has_normalized_values,
                    "generator": {"file": f"{self.name}.npy"}}
        if len(shape) == 2:
            argument["height"] = int(shape[0])
        argument.update(zip(("address_x", "address_y"), self._addresses))
        return argument


def _closing(text, place, pair):
    """The position in `text` of the bracket that closes the bracket at `place`."""
    depth = 0
    for at in range(place, len(text)):
        depth += (text[at] == pair[0]) - (text[at] == pair[1])
        if depth == 0:
            return at
    raise NotSupported(f"kernel_source: '{pair[0]}' without '{pair[1]}'")
