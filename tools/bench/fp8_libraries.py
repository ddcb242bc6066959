"""FP8 attention of other libraries, which compare_pytorch.py and attention_accuracy.py time.

CudnnFp8 and FlashAttention3Fp8 each provide one library's attention, its name in the results, and
the names of the Python module and package that the class needs. For each set of inputs of a shape,
attention_of() returns a function and a descale factor. The function starts from the e4m3 bytes and
returns the output, shaped (B, H, LQ, D); the output times the descale factor is the attention.
"""

import importlib
from importlib import metadata


class Unsupported(RuntimeError):
    """The library has no kernel for this shape; the message says why."""


def version_of(module):
    """Name and version of the installed package that contains `module`; else `module` itself."""
    names = metadata.packages_distributions().get(module, ())
    return " ".join(f"{name} {metadata.version(name)}" for name in names[:1]) or module


class CudnnFp8:
    """cuDNN's FP8 attention, by the graph API of cuDNN's frontend. On Hopper, cuDNN's output is
    e4m3."""

    name, module, package = "cudnn e4m3", "cudnn", "nvidia-cudnn-frontend"
    SCALAR = (1, 1, 1, 1)
    P_SCALE = 256.0  # factor of the exponentials, which are at most 1; the largest e4m3 is 448

    def __init__(self, torch, cudnn):
        self.torch, self.cudnn = torch, cudnn
        self.handle = cudnn.create_handle()
        self.library = f"cuDNN {cudnn.backend_version_string()} ({version_of(self.module)})"

    def attention_of(self, sets):
        """(function, descale factor of its output) for each of `sets`, input sets of one shape."""
        sizes = sets[0].sizes
        if sizes["PER_HEAD"]:
            raise Unsupported("takes one descale factor per tensor, not per head")
        # The graph's amax outputs cost time and are not used here, but
        # some of cuDNN's execution plans may need them.
        try:
            graph, ids = self.graph_of(sets[0], with_maxima=False)
        except self.cudnn.cudnnGraphNotSupportedError:
            graph, ids = self.graph_of(sets[0], with_maxima=True)
        workspace = self.torch.empty(max(1, graph.get_workspace_size()), dtype=self.torch.uint8,
                                     device="cuda")
        return [self.call_of(graph, ids, data, workspace) for data in sets]

    def graph_of(self, data, with_maxima):
        """cuDNN's compiled graph, and the tensors of the graph by name."""
        cudnn, sizes = self.cudnn, data.sizes
        e4m3, f32 = cudnn.data_type.FP8_E4M3, cudnn.data_type.FLOAT
        graph = cudnn.pygraph(io_data_type=e4m3, intermediate_data_type=f32,
                              compute_data_type=f32, handle=self.handle)
        tensors = {}
        for name in "qkv":
            shape = tuple(data.view(name).shape)
            tensors[name] = graph.tensor(dim=shape, stride=strides_of(shape), data_type=e4m3,
                                         name=name)
        for name in ("descale_q", "descale_k", "descale_v", "descale_s", "scale_s", "scale_o"):
            tensors[name] = graph.tensor(dim=self.SCALAR, stride=self.SCALAR, data_type=f32,
                                         name=name)
        output, stats, *maxima = graph.sdpa_fp8(
            **tensors, attn_scale=data.softmax_scale, use_causal_mask=bool(sizes["CAUSAL"]),
            generate_stats=bool(sizes["LSE"]))
        shape = tuple(data.view("o").shape)
        output.set_output(True).set_dim(shape).set_stride(strides_of(shape)).set_data_type(e4m3)
        tensors["o"] = output
        for name, maximum in zip(("s_maximum", "o_maximum"), maxima):
            maximum.set_dim(self.SCALAR).set_stride(self.SCALAR).set_data_type(f32)
            if with_maxima:
                tensors[name] = maximum.set_output(True)
        if stats is not None:
            shape = (*shape[:3], 1)
            tensors["stats"] = stats.set_output(True).set_dim(shape).set_stride(
                strides_of(shape)).set_data_type(f32)
        graph.validate()
        graph.build_operation_graph()
        graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
        graph.check_support()
        graph.build_plans()
        return graph, tensors

    def call_of(self, graph, tensors, data, workspace):
        torch = self.torch

        def scalar(value):
            return torch.full(self.SCALAR, value, dtype=torch.float32, device="cuda")

        # the largest power of two that keeps the scaled output within the range of e4m3
        o_scale = 2.0 ** int(torch.log2(448 / data.reference().abs().max()).floor().item())
        output = torch.empty(data.view("o").shape, dtype=torch.float8_e4m3fn, device="cuda")
        buffers = {name: data.view(name) for name in "qkv"}
        buffers |= {f"descale_{name}": data.tensors[f"{name}_scale"] for name in "qkv"}
        buffers |= {"descale_s": scalar(1 / self.P_SCALE), "scale_s": scalar(self.P_SCALE),
                    "scale_o": scalar(o_scale), "o": output, "s_maximum": scalar(0),
                    "o_maximum": scalar(0)}
        if "stats" in tensors:
            buffers["stats"] = torch.empty((*output.shape[:3], 1), dtype=torch.float32,
                                           device="cuda")
        pointers = {tensors[name]: buffers[name] for name in tensors}

        def call():
            self.cudnn.set_stream(handle=self.handle,
                                  stream=torch.cuda.current_stream().cuda_stream)
            graph.execute(pointers, workspace, handle=self.handle)
            return output

        return call, 1 / o_scale


class FlashAttention3Fp8:
    """FlashAttention-3 with e4m3 inputs. Its output is bf16."""

    name, module, package = "fa3 e4m3", "flash_attn_interface", "tokenspeed-fa3 or flash-attn-3"
    SPLITS = 1  # 1: one CTA reads all keys of its queries (the default); 0, a heuristic, was slower

    def __init__(self, torch, interface):
        self.torch, self.interface = torch, interface
        self.library = version_of(self.module)

    def attention_of(self, sets):
        """(function, descale factor of its output) for each of `sets`, input sets of one shape."""
        sizes = sets[0].sizes
        if sizes["CAUSAL"] and sizes["LQ"] != sizes["LKV"]:
            raise Unsupported("aligns the causal mask to the last key")
        if sizes["PER_HEAD"] and sizes["H"] != sizes["HKV"]:
            raise Unsupported("takes one descale factor of Q per head of K")
        return [(self.call_of(data), 1.0) for data in sets]

    def call_of(self, data):
        heads_first = {name: data.view(name).transpose(1, 2) for name in "qkv"}
        shape = data.sizes["B"], data.sizes["HKV"]
        descales = {f"{name}_descale": data.scale(name)[:, :, 0, 0].expand(shape).contiguous()
                    for name in "qkv"}

        def call():
            output = self.interface.flash_attn_func(
                **heads_first, softmax_scale=data.softmax_scale,
                causal=bool(data.sizes["CAUSAL"]), num_splits=self.SPLITS, **descales)
            return output.transpose(1, 2)

        return call


def strides_of(shape):
    """Strides of a dense tensor, in elements."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= size
    return tuple(strides)


def installed(torch, say):
    """The libraries that are installed and can be opened. Calls `say` with one line for each other
    library."""
    found = []
    for library in (CudnnFp8, FlashAttention3Fp8):
        try:
            found.append(library(torch, importlib.import_module(library.module)))
        except Exception as error:  # another library may raise anything at its import
            say(f"{library.name} is left out: it needs the package {library.package} "
                f"({type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''})")
    return found
