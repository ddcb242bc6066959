#pragma once

#include <filesystem>

#include "db/store.hpp"

namespace evo::sample {

/// What is in it. Two compilations share a source, one failed, one has no texts to speak of; a run
/// with green, rejected, duplicate and (from version 3 on) withdrawn candidates, and an elite.
void fill(Store& store, int compilations = 4);

/// A database of an earlier version, with the rows of fill() as far as that version has them.
void make_older_database(const std::filesystem::path& file, int version, int compilations = 4);

/// The compilation that fill() made at this place.
[[nodiscard]] CompilationRecord filled_compilation(int place);

}  // namespace evo::sample
