#include "db/compilation_texts.hpp"

#include "db/connection.hpp"
#include "engine/core/hash.hpp"
#include "engine/core/printable.hpp"

namespace evo {
namespace {

std::string unpack(Connection& db, const std::string& frame, CompilationId id, const char* what) {
  std::optional<std::string> text = db.frames().unpack(frame);
  if (!text) {
    db.fail("is damaged: the " + std::string(what) + " of compilation " + std::to_string(id) +
            " is not what was stored");
  }
  return std::move(*text);
}

std::optional<std::int64_t> find_source(Connection& db, const std::string& key) {
  Query query = db.query("SELECT id FROM source WHERE key = ?");
  query.bind(key);
  return query.next() ? std::optional(query.integer(0)) : std::nullopt;
}

}  // namespace

PackedTexts pack(Connection& db, const CompilationRecord& record) {
  ZstdFrames& frames = db.frames();
  const auto frame_of = [&](const std::string& packed, const std::string& text) {
    return packed.empty() ? frames.pack(text) : packed;
  };
  PackedTexts packed{.source_key = content_key(record.source),
                     .source = {},
                     .log = frames.pack(printable(record.log)),
                     .ptx = frame_of(record.packed_ptx, record.ptx),
                     .cubin = frame_of(record.packed_cubin, record.cubin)};
  const bool known = db.read([&] { return find_source(db, packed.source_key).has_value(); });
  if (!known) packed.source = frames.pack(record.source);
  return packed;
}

void insert_texts(Connection& db, CompilationId id, const PackedTexts& texts) {
  if (texts.source) {
    Query source =
        db.query("INSERT INTO source (key, text) VALUES (?,?) ON CONFLICT (key) DO NOTHING");
    source.bind(texts.source_key).bind_blob(*texts.source).run();
  }
  const std::optional<std::int64_t> source = find_source(db, texts.source_key);
  if (!source) db.fail("a row of source vanished");
  Query query = db.query(
      "INSERT INTO artifact (compilation_id, source_id, log, ptx, cubin) VALUES (?,?,?,?,?)");
  query.bind(id).bind(source).bind_blob(texts.log).bind_blob(texts.ptx).bind_blob(texts.cubin);
  query.run();
}

std::optional<CompilationTexts> find_texts(Connection& db, CompilationId id) {
  Query query = db.query(
      "SELECT a.log, s.text, a.ptx, a.cubin FROM artifact a JOIN source s ON s.id = a.source_id"
      " WHERE a.compilation_id = ?");
  query.bind(id);
  if (!query.next()) return std::nullopt;
  return CompilationTexts{.log = unpack(db, query.text(0), id, "log"),
                          .source = unpack(db, query.text(1), id, "source"),
                          .ptx = unpack(db, query.text(2), id, "PTX"),
                          .cubin = unpack(db, query.text(3), id, "cubin")};
}

}  // namespace evo
