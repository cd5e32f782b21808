// The output of subcommands as JSON, or as tables for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace viaduct::cli {

// Prints to standard output. Throws Error if it cannot be written.
void PrintText(const std::string& text);
// Throws Error unless all output of the process, however printed, has been written to standard
// output.
void FinishOutput();
// Prints the document to standard output, indented.
void PrintJson(const nlohmann::json& document);
// Implements --json FILE; "-" is standard output. Throws Error if the file cannot be written.
void WriteJson(const std::string& file, const nlohmann::json& document);

// Work may take long: throws UsageError before it if WriteJson() could not write `file` (which may
// be empty: none). Leaves no file that was not there, and empties one that was: should the work
// fail, neither it nor the results of earlier work look like this work's.
void CheckJsonFile(const std::string& file);

// Prints a list as JSON, or as a table whose first row holds the column heads. If the table has no
// other row, prints `none` on standard error instead.
void PrintList(bool as_json, const nlohmann::json& list,
               const std::vector<std::vector<std::string>>& rows, const std::string& none);

}  // namespace viaduct::cli
