#include "tests/agreement/record.hpp"

#include <bit>
#include <limits>
#include <map>

#include "engine/core/error.hpp"
#include "engine/core/gzip.hpp"
#include "engine/core/json_reader.hpp"

namespace evo::agreement {
namespace {

constexpr const char* kFormat = "evo-tune agreement 1";
/// Number of byte planes. Outputs compress better if all first bytes of their 4-byte words are
/// stored first, then all second bytes, and so on; f32 and pairs of f16 have 4 bytes.
constexpr std::size_t kPlanes = 4;

using Binary = std::vector<std::uint8_t>;

/// Earlier outputs, by group (same kernel or shape, same position among the outputs, same size). An
/// output may be stored as its difference from an earlier output of its group.
using Bases = std::map<std::string, std::vector<Bytes>>;
constexpr std::size_t kMostBases = 24;  ///< limit per group

std::string group_of(const std::string& name, std::size_t position, std::size_t size) {
  std::string key = name;
  return key.append("/").append(std::to_string(position)).append("/").append(std::to_string(size));
}

std::uint16_t half_at(const Bytes& bytes, std::size_t i) {
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(bytes[i]) |
                                    std::to_integer<unsigned>(bytes[i + 1]) << 8);
}

/// Maps the difference of two 16-bit words to an unsigned number, so that small differences of
/// either sign become small numbers (0, −1, 1, −2 … to 0, 1, 2, 3 …). The words of adjacent f16
/// numbers with the same sign differ by one.
std::uint16_t fold(std::uint16_t difference) {
  const bool negative = (difference & 0x8000U) != 0;
  return static_cast<std::uint16_t>(negative ? ~(difference << 1) : difference << 1);
}
std::uint16_t unfold(std::uint16_t folded) {
  return static_cast<std::uint16_t>((folded & 1U) != 0 ? ~(folded >> 1) : folded >> 1);
}

/// Estimates the compressed size of the difference between `output` and `base`, in bits.
std::size_t cost_of(const Bytes& output, const Bytes& base) {
  std::size_t bits = 0;
  for (std::size_t i = 0; i + 1 < output.size(); i += 2) {
    const int difference = half_at(output, i) - half_at(base, i);
    bits += static_cast<std::size_t>(
        std::bit_width(static_cast<unsigned>(fold(static_cast<std::uint16_t>(difference)))));
  }
  return bits;
}

/// The index of the output in `bases` that is most similar to `output`; −1 if `bases` is empty.
int nearest(const std::vector<Bytes>& bases, const Bytes& output) {
  int best = -1;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (std::size_t i = 0; i < bases.size(); ++i) {
    const std::size_t cost = cost_of(output, bases[i]);
    if (cost >= least) continue;
    least = cost;
    best = static_cast<int>(i);
  }
  return best;
}

void remember(std::vector<Bytes>& bases, const Bytes& output) {
  if (bases.size() < kMostBases) bases.push_back(output);
}

/// The stored position of byte `i` of an output: first come the bytes 0 of all words of kPlanes
/// bytes, then all bytes 1, and so on. An incomplete word at the end of the output keeps its
/// position.
std::size_t plane_position(std::size_t i, std::size_t size) {
  const std::size_t words = size / kPlanes;
  return i >= words * kPlanes ? i : i % kPlanes * words + i / kPlanes;
}

/// Replaces `output` by its folded difference from `base`; with `restore`, replaces the folded
/// difference `output` by the original output. If `base` is null, returns `output` unchanged.
Bytes apply_base(Bytes output, const Bytes* base, bool restore) {
  if (base == nullptr) return output;
  for (std::size_t i = 0; i + 1 < output.size(); i += 2) {
    const unsigned word = half_at(output, i);
    const unsigned from = half_at(*base, i);
    const auto result = restore
                            ? static_cast<unsigned>(unfold(static_cast<std::uint16_t>(word))) + from
                            : fold(static_cast<std::uint16_t>(word - from));
    output[i] = static_cast<std::byte>(result);
    output[i + 1] = static_cast<std::byte>(result >> 8);
  }
  return output;
}

Json pack_outputs(Bases& bases, const std::string& name, const Outputs& outputs) {
  Json packed = Json::array();
  for (const Bytes& output : outputs) {
    auto& known = bases[group_of(name, packed.size(), output.size())];
    const int base = nearest(known, output);
    const Bytes stored =
        apply_base(output, base < 0 ? nullptr : &known[static_cast<std::size_t>(base)], false);
    Binary planes(stored.size());
    for (std::size_t i = 0; i < stored.size(); ++i)
      planes[plane_position(i, stored.size())] = std::to_integer<std::uint8_t>(stored[i]);
    packed.push_back({{"base", base}, {"data", Json::binary(std::move(planes))}});
    remember(known, output);
  }
  return packed;
}

Outputs unpack_outputs(Bases& bases, const std::string& name, const Json& packed) {
  Outputs outputs;
  for (const Json& entry : packed) {
    const Binary& planes = entry.at("data").get_binary();
    Bytes stored(planes.size());
    for (std::size_t i = 0; i < stored.size(); ++i)
      stored[i] = std::byte{planes[plane_position(i, stored.size())]};
    auto& known = bases[group_of(name, outputs.size(), stored.size())];
    const int base = entry.at("base").get<int>();
    outputs.push_back(apply_base(
        std::move(stored), base < 0 ? nullptr : &known.at(static_cast<std::size_t>(base)), true));
    remember(known, outputs.back());
  }
  return outputs;
}

Json candidates_json(const Record& record) {
  Bases bases;
  Json all = Json::array();
  for (const RecordedCandidate& candidate : record.candidates) {
    Json runs = Json::array();
    for (const RecordedRun& run : candidate.runs) {
      runs.push_back({{"shape", run.shape},
                      {"inputs_hash", run.inputs_hash},
                      {"outputs", pack_outputs(bases, run.shape, run.outputs)}});
    }
    all.push_back({{"space", candidate.space},
                   {"config", candidate.config},
                   {"ptx_hash", candidate.ptx_hash},
                   {"runs", std::move(runs)}});
  }
  return all;
}

Json to_json(const Record& record) {
  Json sources = Json::array();
  for (const RecordedSource& source : record.sources) {
    sources.push_back({{"file", source.file}, {"ptx", source.ptx}, {"ptx_hash", source.ptx_hash}});
  }
  Bases bases;
  Json cases = Json::array();
  for (const RecordedCase& data : record.cases) {
    cases.push_back({{"entry", data.entry},
                     {"source", data.source},
                     {"inputs_hash", data.inputs_hash},
                     {"outputs", pack_outputs(bases, data.entry, data.outputs)}});
  }
  return {{"format", kFormat},
          {"device_id", record.device_id},
          {"device_name", record.device_name},
          {"arch", record.arch},
          {"driver", record.driver},
          {"compiler", record.compiler},
          {"date", record.date},
          {"faults", record.faults},
          {"sources", std::move(sources)},
          {"cases", std::move(cases)},
          {"candidates", candidates_json(record)}};
}

RecordedCandidate candidate_of(const Json& json, Bases& bases) {
  RecordedCandidate candidate{json.at("space"), json.at("config"), json.at("ptx_hash"), {}};
  for (const Json& run : json.at("runs")) {
    const std::string shape = run.at("shape");
    candidate.runs.push_back(
        {shape, run.at("inputs_hash"), unpack_outputs(bases, shape, run.at("outputs"))});
  }
  return candidate;
}

Record from_json(const Json& json) {
  Record record{json.at("device_id"), json.at("device_name"), json.at("arch"),
                json.at("driver"),    json.at("compiler"),    json.at("date")};
  record.faults = json.at("faults").get<std::vector<std::string>>();
  for (const Json& source : json.at("sources"))
    record.sources.push_back({source.at("file"), source.at("ptx"), source.at("ptx_hash")});
  Bases bases;
  for (const Json& data : json.at("cases")) {
    const std::string entry = data.at("entry");
    record.cases.push_back({entry, data.at("source"), data.at("inputs_hash"),
                            unpack_outputs(bases, entry, data.at("outputs"))});
  }
  Bases candidate_bases;
  for (const Json& candidate : json.at("candidates"))
    record.candidates.push_back(candidate_of(candidate, candidate_bases));
  return record;
}

}  // namespace

const RecordedSource& Record::source_of(const std::string& file) const {
  for (const RecordedSource& source : sources) {
    if (source.file == file) return source;
  }
  throw InputError("the record of " + device_name + " has no PTX of " + file);
}

void write_record(const Record& record, const std::filesystem::path& file) {
  const Binary packed = Json::to_msgpack(to_json(record));
  write_file(file, gzip_compressed({reinterpret_cast<const char*>(packed.data()), packed.size()}));
}

Record read_record(const std::filesystem::path& file) {
  const std::string packed = read_plain_or_gzip(file);
  try {
    const Json json = Json::from_msgpack(packed);
    if (json.at("format") != kFormat) {
      throw InputError(file.string() + ": format is " + json.at("format").dump() + "; allowed: \"" +
                       kFormat + "\"");
    }
    return from_json(json);
  } catch (const Json::exception& error) {
    throw InputError(file.string() + ": not a record of outputs: " + error.what());
  }
}

}  // namespace evo::agreement
