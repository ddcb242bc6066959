#include "tests/agreement/tables.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "engine/core/error.hpp"
#include "engine/core/gzip.hpp"
#include "engine/core/json_reader.hpp"
#include "tests/agreement/agreement_case.hpp"

namespace evo::agreement {
namespace {

constexpr const char* kTableSource = "tests/agreement/kernels/approximations.cu";

struct Table {
  const char* entry;
  std::size_t count;
  std::function<double(std::size_t)> exact;
};

std::vector<Table> all_tables() {
  const auto negative = [](std::size_t i) {
    return -std::bit_cast<float>(0x3c000000U + 20U * static_cast<std::uint32_t>(i));
  };
  return {{"table_ex2", 1U << 23,
           [](std::size_t i) { return std::exp2(static_cast<double>(i) * 0x1p-23); }},
          {"table_ex2_negative", 1U << 22,
           [=](std::size_t i) { return std::exp2(static_cast<double>(negative(i))); }},
          {"table_rcp", 1U << 23,
           [](std::size_t i) { return 1 / (1 + static_cast<double>(i) * 0x1p-23); }}};
}

std::uint8_t distance(std::byte const* result, double exact) {
  std::int32_t got = 0;
  std::memcpy(&got, result, sizeof got);
  const auto want = std::bit_cast<std::int32_t>(static_cast<float>(exact));
  return static_cast<std::uint8_t>(std::clamp(got - want, -127, 127));
}

}  // namespace

void write_tables(const std::filesystem::path& root, Device& device, Compiler& compiler,
                  const std::filesystem::path& file) {
  Json all;
  for (const Table& table : all_tables()) {
    const CompileOutcome outcome =
        outcome_of(compiler.compile({{kTableSource, read_text_file(root / kTableSource), {}},
                                     {table.entry},
                                     device.info().arch,
                                     {"-default-device"}}));
    const auto* compiled = std::get_if<Compiled>(&outcome);
    if (compiled == nullptr) throw InputError(std::get<Rejection>(outcome).reason);
    const AgreementCase data =
        AgreementCase{table.entry,
                      kTableSource,
                      {{static_cast<std::uint32_t>(table.count / 256), 1, 1}, {256, 1, 1}}}
            .out(table.count, Dtype::kF32)
            .count(table.count);
    const auto ran = run_case(device, data, {compiled->ptx, compiled->cubin, {table.entry}});
    if (const auto* fault = std::get_if<Fault>(&ran)) throw CudaError(fault->reason);
    const Bytes& output = std::get<Outputs>(ran).at(0);
    std::vector<std::uint8_t> differences(table.count);
    for (std::size_t i = 0; i < table.count; ++i)
      differences[i] = distance(output.data() + sizeof(float) * i, table.exact(i));
    all[table.entry] = Json::binary(std::move(differences));
  }
  const std::vector<std::uint8_t> packed = Json::to_msgpack(all);
  write_file(file, gzip_compressed({reinterpret_cast<const char*>(packed.data()), packed.size()}));
}

}  // namespace evo::agreement
