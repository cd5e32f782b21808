// Generates docs/results.md from the tables of keys.
#pragma once

#include <string>
#include <vector>

#include "base/fields.h"

namespace viaduct::result {

std::string Chapter(const std::string& title, const std::string& text,
                    const std::vector<fields::DocumentRow>& rows);
// Returns a chapter about the keys of a record.
template <fields::Record T>
std::string Chapter(const std::string& title, const std::string& text) {
  std::vector<fields::DocumentRow> rows;
  fields::Document<T>("", rows);
  return Chapter(title, text, rows);
}

// Returns all chapters except those about the JSON lists of the subcommands (cli/listings.h).

std::string DocumentResults();

}  // namespace viaduct::result
