// Prints the output of subcommands as JSON, or as tables for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace viaduct::cli {

// Prints text to standard output. Throws Error if the text cannot be written.
void PrintText(const std::string& text);
// Flushes standard output. Throws Error if any output of the process, printed by any function,
// could not be written.
void FinishOutput();
// Prints the document to standard output, with indentation.
void PrintJson(const nlohmann::json& document);
// Writes the document of --json FILE; "-" is standard output. Throws Error if the file cannot be
// written.
void WriteJson(const std::string& file, const nlohmann::json& document);

// Throws UsageError if WriteJson() could not write `file` (empty: no file); for use before work
// that may take long. If the file does not exist, creates it and removes it again. Truncates an
// existing file, so that, if the work fails, old results cannot be mistaken for results of this
// work.
void CheckJsonFile(const std::string& file);

// Prints a list as JSON, or as a table whose first row contains the column heads. If the table has
// no other row, prints `none` on standard error instead.
void PrintList(bool as_json, const nlohmann::json& list,
               const std::vector<std::vector<std::string>>& rows, const std::string& none);

}  // namespace viaduct::cli
