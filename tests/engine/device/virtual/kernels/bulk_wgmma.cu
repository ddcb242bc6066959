// Kernels that compute products of tiles by wgmma after bulk copies have loaded the tiles. Each
// kernel has one defect with -DBUG and none without. The helpers of wgmma_defects.cuh are in
// namespace wgmma.

using wgmma::Tiles;

#define LOAD_TILES()                                \
  if (threadIdx.x == 0) {                           \
    expect_bytes(&ready, sizeof(tiles));            \
    bulk_load(&tiles, in, sizeof(tiles), &ready);   \
  }

#define TILES                                       \
  __shared__ alignas(1024) Tiles tiles;             \
  __shared__ alignas(8) u64 ready;                  \
  float d[4] = {0, 0, 0, 0};                        \
  if (threadIdx.x == 0) init_barrier(&ready, 1);    \
  __syncthreads();                                  \
  LOAD_TILES()

#define MULTIPLY()           \
  wgmma::keep(d);            \
  wgmma::fence();            \
  wgmma::multiply(d, tiles); \
  wgmma::commit();

// No proxy fence is needed, because the asynchronous proxy wrote the tiles.
extern "C" __global__ void multiplies_before_the_phase(float* out, const float* in) {
  TILES
  RIGHT(wait(&ready, 0);)
  WRONG(if (threadIdx.x < 96) wait(&ready, 0);)
  MULTIPLY()
  wgmma::wait<0>();
  wgmma::keep(d);
  out[threadIdx.x] = wgmma::sum(d);
  WRONG(wait(&ready, 0);)
}

extern "C" __global__ void loads_over_tiles_in_flight(float* out, const float* in) {
  TILES
  wait(&ready, 0);
  MULTIPLY()
  RIGHT(wgmma::wait<0>();)
  __syncthreads();
  LOAD_TILES()
  WRONG(wgmma::wait<0>();)
  wgmma::keep(d);
  wait(&ready, 1);
  out[threadIdx.x] = wgmma::sum(d);
}
