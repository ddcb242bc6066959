#include "engine/compile/host_code.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/compile/standard_headers.hpp"
#include "engine/cxx/tokenizer.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string device_code(const std::string& text) {
  return without_host_code({"k.cu", text, {}}).text;
}

/// Removes host code from CUDA source and returns the remaining tokens, separated by spaces.
std::string words(const std::string& text) {
  std::string joined;
  for (const std::string& word : cpp_words(device_code(text))) {
    joined += (joined.empty() ? "" : " ") + word;
  }
  return joined;
}

constexpr const char* kKernel = "__global__ void k(float *x) { x[0] = 1; }\n";

TEST(HostCode, WhatIsTheDevicesStaysAsItIs) {
  for (const std::string& text :
       {std::string(kKernel),
        std::string("__device__ int f(int);\n__shared__ int s[4];\n"),
        std::string("template <typename T, int N = (4 > 3)>\n__global__ void t(T *x) {}\n"),
        std::string("#define HD __host__ __device__ inline\n#define BOTH HD\nBOTH int g() {}\n"),
        std::string("struct P { int a, b; __device__ int sum() const { return a + b; } };\n"),
        std::string("template <int N> struct Q { Q() = default; static constexpr int v = N; };\n"),
        std::string("enum E { A, B };\ntypedef void (*Function)(int);\nusing F = int(float);\n"),
        std::string(
            "const int kSize = 4;\nconstexpr float kScale = 2;\nstatic_assert(1 + 1 == 2);\n"),
        std::string("namespace a::b { __constant__ float c[2]; }\nnamespace d = a::b;\n"),
        std::string("extern \"C\" {\n__global__ void k() {}\n}\nusing namespace a;\n"),
        std::string("struct Later;\nenum Named : int;\nextern __device__ struct Later later;\n"),
        std::string("OTHER_HOST_DEVICE_MACRO int h() { return 1; }\n"),
        std::string("__launch_bounds__(128) __global__\n    void b(float *x) {}\n"),
        std::string("template <int N = (4 > 3), int M = 2>\n__global__ void u(int *x) {}\n"),
        std::string("__someones_device int f() { return 1; }\n_Other int g() { return 1; }\n"),
        std::string("#define KERNEL(T) __global__ void k_##T(T *x) {}\nKERNEL(float)\n"),
        std::string("#define MAKE(T) struct Made_##T { T value; };\nMAKE(float)\n"),
        std::string("#ifndef __CUDACC__\n#define __global__\n#endif\n__global__ void k() {}\n"),
        std::string("#ifdef MY_DEVICE\n#endif\nMY_DEVICE int f() { return 1; }\n"),
        std::string("#define A B\n#define B A\nA int f() { return 1; }\n"),
        std::string("__host__ constexpr int half(int n) { return n / 2; }\n"),
        std::string("void by_value(const __grid_constant__ int n) {}\n"),
        std::string("template <class T> concept C = requires(T a) { a.f(); };\n"),
        std::string("__device__ int n = int{1} + twice(2);\n"),
        std::string(
            "template <class T>\n__global__ void t(T *x) {}\n"
            "template __global__ void t<int>(int *x);\ntemplate void t<float>(float *x);\n")}) {
    EXPECT_EQ(device_code(text), text);
  }
}

TEST(HostCode, FunctionsOfTheHostAreBlankedAndLinesStay) {
  const std::string host =
      "#include \"x.h\"\n"
      "static void launch(float *x, int n) {\n"
      "#if DEBUG\n  check(\"}\");  // }\n#endif\n"
      "  k<<<n, 128>>>(x);\n}\n";
  const std::string left = device_code(host + kKernel + "int main() { launch(0, 1); }\n");
  EXPECT_EQ(std::count(left.begin(), left.end(), '\n'), 9);
  EXPECT_THAT(left, AllOf(HasSubstr("#include \"x.h\"\n"), HasSubstr("#if DEBUG\n"),
                          HasSubstr(kKernel), Not(HasSubstr("launch")), Not(HasSubstr("main"))));
}

TEST(HostCode, EveryKindOfDeclarationOfTheHost) {
  for (const char* text : {"extern \"C\" void init(void);",
                           "extern \"C\" bool isPow2(unsigned x) { return x; }",
                           "template <class T>\nvoid reduce(int n, T *in) { r<T><<<n, 1>>>(in); }\n"
                           "template void reduce<int>(int n, int *in);",
                           "__host__ void f() {}",
                           "static float *d_data;",
                           "const char *names[] = {\"a\", \"{\"};",
                           "int width = 5, height{7};",
                           "std::vector<int> all(std::map<int, float> x) { return {}; }",
                           "dim3 grid(4, 5);",
                           "struct Size make(int x) { return {x}; }",
                           "namespace { int counter = 0; void count() { ++counter; } }",
                           "void CUDART_CB done(cudaStream_t s, void *data) {}",
                           "__attribute__((noinline)) void slow() {}",
                           "auto twice = [](int x) { return 2 * x; };",
                           "template <class T>\nvoid fill(T *x) {}\ntemplate void fill(float *x);",
                           "MyHOST make() { return {}; }",
                           "template <class T>\nstruct Size make(T x) { return {x}; }",
                           "__forceinline__ void fast() {}",
                           "extern \"C\" {\nvoid c() {}\n}",
                           "inline namespace v1 { void count() {} }",
                           "#define ATTRIBUTE(x)\nvoid aligned(int a) ATTRIBUTE(3) {}",
                           "inline void __check(cudaError err, int line) { exit(line); }",
                           "__host__ __half f2h(float x) { return __float2half(x); }",
                           "__nv_bfloat16 narrow(float x) { return x; }",
                           "typedef std::map<int, std::string> Names;",
                           "using Numbers = std::vector<int>;",
                           "using std::cout;",
                           "using std::vector;",
                           "extern enum Mode mode;",
                           "struct Options options = {1, {2}};",
                           "static struct List *list, *last;",
                           "x > (int y) {}"}) {
    const std::string left = words(std::string(text) + "\n" + kKernel);
    const std::string kernel = "__global__ void k ( float * x ) { x [ 0 ] = 1 ; }";
    EXPECT_THAT(left,
                testing::AnyOf(kernel, "namespace { } " + kernel, "extern \"C\" { } " + kernel,
                               "inline namespace v1 { } " + kernel))
        << text;
  }
}

TEST(HostCode, InClassesOnlyFunctionsGo) {
  EXPECT_EQ(words("class Timer {\n public:\n  Timer() : a{1}, b(2) { start(); }\n  ~Timer() {}\n"
                  "  float ms() const;\n  __device__ int d() { return a; }\n private:\n"
                  "  int a, b;\n};\nfloat Timer::ms() const { return 1; }\n"),
            "class Timer { public : __device__ int d ( ) { return a ; } private : int a , b ; } ;");
}

TEST(HostCode, AConstexprFunctionIsTheDevicesToo) {
  EXPECT_EQ(device_code("constexpr int up(int a, int b) { return (a + b - 1) / b; }\n"),
            "__host__ __device__ constexpr int up(int a, int b) { return (a + b - 1) / b; }\n");
}

TEST(HostCode, BracketsThatDoNotMatchChangeNothing) {
  for (const std::string& text :
       std::vector<std::string>{"void f() {\n", "}\nvoid f() {}\n", "void f() {}\n}\n",
                                "void f( { }\n", "namespace n {\nvoid f() {}\n"}) {
    EXPECT_EQ(device_code(text), text);
  }
}

TEST(HostCode, DigitsThatAreSeparatedBeginNoCharacter) {
  EXPECT_EQ(words("int f() { return 1'000; }\n" + std::string(kKernel) +
                  "int main() { return 0x1'f + 'a' + u8'b' + 1'0'0; }\n"),
            words(kKernel));
  EXPECT_EQ(words("const char* s() { return u8R\"x(})x\"; }\n" + std::string(kKernel)),
            words(kKernel));
}

TEST(HostCode, ADeviceFunctionMayBeNamedLikeTheCompilersOwn) {
  const std::string own = "__device__ void __stcs(float *x, float y) { x[0] = y; }\n";
  const std::string bounds = "__launch_bounds__(128) __global__ void b(float *x) {}\n";
  EXPECT_EQ(words(own + "float *made(int n) { return malloc(n); }\n" + bounds + "int main() {}\n"),
            words(own + bounds));
}

TEST(HostCode, AFunctionMayBeNamedLikeAMacro) {
  const std::string define =
      "#define run run_now\n#define check(x) verify(x, __FILE__, __LINE__, __VA_ARGS__)\n";
  EXPECT_EQ(words(define +
                  "void run(int n) { std::cout << n; }\n"
                  "template <class T> int check(T t) { throw 1; }\n" +
                  kKernel),
            words(kKernel));
  EXPECT_EQ(words(define + "#define MAKE(n) __global__ void n(int* x)\nMAKE(run) { x[0] = 1; }\n"),
            "MAKE ( run ) { x [ 0 ] = 1 ; }");
}

TEST(HostCode, HeadersAreReadTheSameWay) {
  const KernelSource source = without_host_code(
      {"k.cu",
       "#include \"a.h\"\n",
       {{"a.h", "#define ON_GPU __device__\nvoid f();\n"}, {"b.h", "ON_GPU void g();\n"}}});
  EXPECT_EQ(cpp_words(source.headers[0].second), std::vector<std::string>());
  EXPECT_EQ(source.headers[1].second, "ON_GPU void g();\n");
}

TEST(HostCode, AHeaderInsideOfADeclarationIsLeftAsItIs) {
  const std::string part = "float a = 2.0f;\nint f(int i) { return i; }\nRED, GREEN\n";
  for (const char* around :
       {"__global__ void k(float *x) {\n%\n}\n", "__global__ void k(\n%\n) {}\n",
        "enum E {\n%\nLAST };\n", "struct S {\n%\n};\n", "__device__ int a[] =\n%\n;\n",
        "namespace n { __device__ float f() {\n%\n} }\n", "__device__ float f() {\n%\n"}) {
    std::string text = around;
    text.replace(text.find('%'), 1, "#include \"part.inc\"");
    const KernelSource source = without_host_code(
        {"k.cu", text, {{"part.inc", "#include \"more.inc\"\n" + part}, {"more.inc", part}}});
    EXPECT_EQ(source.text, text);
    EXPECT_EQ(source.headers[0].second, "#include \"more.inc\"\n" + part) << text;
    EXPECT_EQ(source.headers[1].second, part) << text;
  }
}

TEST(HostCode, AHeaderBetweenDeclarationsIsReadAsAFile) {
  for (const char* text :
       {"#include \"a.h\"\n__global__ void k() {}\n", "__global__ void k() {}\n#include \"a.h\"\n",
        "namespace n {\n#include \"a.h\"\n}\n",
        "struct S { int a; };\n#include \"a.h\"\nint b;\n"}) {
    const KernelSource source = without_host_code({"k.cu", text, {{"a.h", "void f() {}\n"}}});
    EXPECT_EQ(cpp_words(source.headers[0].second), std::vector<std::string>()) << text;
  }
}

TEST(HostCode, NamesThatNvccKnowsAreDefinedWhereTheyAreUsed) {
  EXPECT_EQ(device_code("__global__ void k(uint *x, int64_t n) { x[0] = UINT_MAX; }\n"),
            "typedef signed long long int64_t;\ntypedef unsigned int uint;\n"
            "#define UINT_MAX 4294967295U\n#line 1 \"k.cu\"\n"
            "__global__ void k(uint *x, int64_t n) { x[0] = UINT_MAX; }\n");
  const std::string own =
      "typedef unsigned int uint;\nusing uint8_t = unsigned char;\n#define M_PI 3\n"
      "__device__ uint a = M_PI;\n__device__ uint8_t b;\n";
  EXPECT_EQ(device_code(own), own);
  EXPECT_THAT(device_code("__global__ void k(cufftComplex *x, CUtexObject t) {}\n"),
              AllOf(HasSubstr("typedef unsigned long long CUtexObject;\n"),
                    HasSubstr("typedef float2 cufftComplex;\n")));
}

TEST(HostCode, ConstantsOfAWidthAreMadeWhereTheyAreUsed) {
  EXPECT_THAT(device_code("__device__ auto a = UINT64_C(1);\n"),
              HasSubstr("#define UINT64_C(c) c##ULL\n"));
}

TEST(StandardHeaders, OfLibrariesOfTheHostAreEmpty) {
  for (const char* name :
       {"cublasLt.h", "cudnn.h", "nccl.h", "mpi.h", "thrust/sort.h",
        "thrust/iterator/counting_iterator.h", "nvtx3/nvToolsExt.h", "EGL/egl.h"}) {
    ASSERT_NE(stand_in_header(name), nullptr) << name;
    EXPECT_EQ(*stand_in_header(name), "") << name;
    EXPECT_TRUE(replaces_toolkit_header(name)) << name;
  }
  for (const char* name : {"thrust/complex.h", "curand_kernel.h", "cuda_fp16.h", "helper_math.h"}) {
    EXPECT_EQ(stand_in_header(name), nullptr) << name;
  }
}

TEST(StandardHeaders, OfTheToolkitOnlyWhatNvrtcCannotRead) {
  EXPECT_NE(stand_in_header("stdio.h"), nullptr);
  EXPECT_NE(stand_in_header("pthread.h"), nullptr);
  EXPECT_THAT(*stand_in_header("cstdint"), HasSubstr("using ::uint8_t;"));
  EXPECT_EQ(stand_in_header("cuda_fp16.h"), nullptr);
  EXPECT_TRUE(replaces_toolkit_header("cuda.h"));
  EXPECT_FALSE(replaces_toolkit_header("stdio.h"));
}

}  // namespace
}  // namespace evo
