// Kernels that call printf() and assert().

extern "C" __global__ void print_numbers(const int* x, const double* d, int* counts) {
  const int i = threadIdx.x;
  counts[i] = printf("%d|%5u|%-6x|%+d|%08.3f|%e|%g\n", x[i], (unsigned)x[i], x[i], x[i], d[i], d[i],
                     d[i]);
}

extern "C" __global__ void print_wide(const long long* x, int* counts) {
  const int i = threadIdx.x;
  counts[i] = printf("%lld %llu %#llx %ld %hd %hhu\n", x[i], (unsigned long long)x[i],
                     (unsigned long long)x[i], (long)x[i], (short)x[i], (unsigned char)x[i]);
}

extern "C" __global__ void print_text(const char* name, int width, int* counts) {
  counts[threadIdx.x] =
      printf("[%s] [%8s] [%-8s] [%.3s] [%*d] [%.*f] [%c] 100%% [%s]\n", name, "abc", "abc", "abcdef",
             width, 42, 2, 3.14159, 'x', "");
}

extern "C" __global__ void print_nothing(int* counts) { counts[threadIdx.x] = printf("only text\n"); }

extern "C" __global__ void print_pointer(void* p) { printf("%p", p); }

extern "C" __global__ void print_seldom(const int* x, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (x[i] < 0) printf("negative: %d at %d\n", x[i], i);
  out[i] = 2 * x[i];
}

extern "C" __global__ void print_much(int times) {
  for (int i = 0; i < times; ++i) printf("0123456789012345678901234567890123456789012345678901234567890123");
}

__device__ int helper(int x) {
  assert(x != 13 && "unlucky");
  return x + 1;
}

extern "C" __global__ void check_all(const int* x, int* out) {
  out[threadIdx.x] = helper(x[threadIdx.x]);
}

extern "C" __global__ void print_missing(int* out) {
  int unset[1];
  printf("%d\n", unset[out[0]]);
}
