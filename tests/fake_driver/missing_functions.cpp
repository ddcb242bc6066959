// Functions of libcuda.so.1 that the fake library must have, because programs look up their names.
// Each function returns CUDA_ERROR_NOT_SUPPORTED. This file does not include cuda.h, because the
// functions have parameters in cuda.h but not here.

namespace {
constexpr int kNotSupported = 801;
}

#define EVO_MISSING(name) \
  int name() { return kNotSupported; }

extern "C" {

EVO_MISSING(cuCtxSynchronize)
EVO_MISSING(cuMemAlloc_v2)
EVO_MISSING(cuMemFree_v2)
EVO_MISSING(cuMemHostAlloc)
EVO_MISSING(cuMemFreeHost)
EVO_MISSING(cuMemcpyHtoDAsync_v2)
EVO_MISSING(cuMemcpyDtoHAsync_v2)
EVO_MISSING(cuMemcpyDtoDAsync_v2)
EVO_MISSING(cuMemcpy2DAsync_v2)
EVO_MISSING(cuMemsetD8Async)
EVO_MISSING(cuMemsetD16Async)
EVO_MISSING(cuMemsetD32Async)
EVO_MISSING(cuModuleLoadData)
EVO_MISSING(cuModuleUnload)
EVO_MISSING(cuModuleGetFunction)
EVO_MISSING(cuModuleGetGlobal_v2)
EVO_MISSING(cuFuncSetAttribute)
EVO_MISSING(cuFuncGetAttribute)
EVO_MISSING(cuLaunchKernel)
EVO_MISSING(cuLaunchKernelEx)
EVO_MISSING(cuStreamSynchronize)
EVO_MISSING(cuEventRecord)
EVO_MISSING(cuEventSynchronize)
EVO_MISSING(cuEventElapsedTime)
EVO_MISSING(cuStreamBeginCapture_v2)
EVO_MISSING(cuStreamEndCapture)
EVO_MISSING(cuGraphInstantiateWithFlags)
EVO_MISSING(cuGraphLaunch)
EVO_MISSING(cuGraphExecDestroy)
EVO_MISSING(cuGraphDestroy)
EVO_MISSING(cuTexObjectCreate)
EVO_MISSING(cuTexObjectDestroy)
EVO_MISSING(cuTensorMapEncodeTiled)
EVO_MISSING(cuArrayCreate_v2)
EVO_MISSING(cuArrayDestroy)

// Each #if names the first CUDA version that has the function, by the documentation of the CUDA
// driver API and the cuda.h of each version.
#if EVO_FAKE_CUDA_VERSION >= 1204
EVO_MISSING(cuFuncGetParamInfo)
#endif
#if EVO_FAKE_CUDA_VERSION >= 1208
EVO_MISSING(cuEventElapsedTime_v2)
#endif
}
