// What subcommands print and write for machines, or for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace viaduct::cli {

// To standard output, over several lines.
void PrintJson(const nlohmann::json& document);
// What --json FILE asks for; "-" is standard output. Error: the file cannot be written.
void WriteJson(const std::string& file, const nlohmann::json& document);

// A list: as JSON, or as a table whose first row holds the heads. `none` is said on standard error
// where a table would have no other row.
void PrintList(bool as_json, const nlohmann::json& list,
               const std::vector<std::vector<std::string>>& rows, const std::string& none);

}  // namespace viaduct::cli
