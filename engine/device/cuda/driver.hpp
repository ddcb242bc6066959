#pragma once

#include <cuda.h>

#include <string>

namespace evo {

// The driver functions that all drivers since 525 (CUDA 12.0) have, in the versions that cuda.h
// declares (cuMemAlloc is a macro for cuMemAlloc_v2).
#define EVO_CUDA_FUNCTIONS(apply)                                                                 \
  apply(cuInit) apply(cuDriverGetVersion) apply(cuDeviceGetCount) apply(cuDeviceGet)              \
      apply(cuDeviceGetName) apply(cuDeviceGetPCIBusId) apply(cuDeviceGetAttribute) apply(        \
          cuDevicePrimaryCtxRetain) apply(cuDevicePrimaryCtxRelease) apply(cuCtxSetCurrent)       \
          apply(cuCtxSynchronize) apply(cuCtxSetLimit) apply(cuMemAlloc) apply(cuMemFree)         \
              apply(cuMemHostAlloc) apply(cuMemFreeHost) apply(cuMemcpyHtoDAsync) apply(          \
                  cuMemcpyDtoHAsync) apply(cuMemcpyDtoDAsync) apply(cuMemsetD8Async)              \
                  apply(cuMemsetD16Async) apply(cuMemsetD32Async) apply(cuModuleLoadData) apply(  \
                      cuModuleUnload) apply(cuModuleGetFunction) apply(cuModuleGetGlobal)         \
                      apply(cuFuncSetAttribute) apply(cuFuncGetAttribute) apply(cuLaunchKernel)   \
                          apply(cuStreamCreate) apply(cuStreamDestroy) apply(cuStreamSynchronize) \
                              apply(cuEventCreate) apply(cuEventDestroy) apply(cuEventRecord)     \
                                  apply(cuEventSynchronize) apply(cuStreamBeginCapture) apply(    \
                                      cuStreamEndCapture) apply(cuGraphInstantiateWithFlags)      \
                                      apply(cuGraphLaunch) apply(cuGraphExecDestroy)              \
                                          apply(cuGraphDestroy) apply(cuGetErrorName) apply(      \
                                              cuGetErrorString) apply(cuLaunchKernelEx)           \
                                              apply(cuTexObjectCreate) apply(cuTexObjectDestroy)  \
                                                  apply(cuArrayCreate) apply(cuArrayDestroy)      \
                                                      apply(cuMemcpy2DAsync)                      \
                                                          apply(cuDeviceTotalMem)                 \
                                                              apply(cuDeviceGetUuid_v2)           \
                                                                  apply(cuTensorMapEncodeTiled)

// The functions that only newer drivers have: cuFuncGetParamInfo, since CUDA 12.4. A function's
// pointer is null if the driver lacks the function.
#define EVO_NEWER_CUDA_FUNCTIONS(apply) apply(cuFuncGetParamInfo)

/// libcuda, opened at run time, and pointers to its functions under the functions' names.
struct CudaDriver {
  /// Opens libcuda. Throws NoGpuError if there is no driver, and MissingError if the driver is
  /// older than 525. The messages of NoGpuError and MissingError name the next step for the user.
  static CudaDriver open();

  /// Throws a CudaError that names `what`, the failed call, unless `result` is CUDA_SUCCESS.
  void require(CUresult result, const char* what) const;

  /// The name and description of a result: "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access
  /// was encountered)".
  [[nodiscard]] std::string describe(CUresult result) const;

  /// Two functions that cudaProfiler.h declares; some toolkits lack this header.
  CUresult (*profiler_start)() = nullptr;
  CUresult (*profiler_stop)() = nullptr;

  /// The path of libcuda, such as "/usr/lib/x86_64-linux-gnu/libcuda.so.580.65.06".
  std::string path;

#define EVO_DECLARE(name) decltype(&::name) name = nullptr;
  EVO_CUDA_FUNCTIONS(EVO_DECLARE)
  EVO_NEWER_CUDA_FUNCTIONS(EVO_DECLARE)
  EVO_DECLARE(cuEventElapsedTime)
#undef EVO_DECLARE
};

}  // namespace evo
