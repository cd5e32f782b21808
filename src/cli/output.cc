#include "cli/output.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/error.h"
#include "base/json_text.h"
#include "result/table.h"

namespace viaduct::cli {

void PrintText(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  FinishOutput();
}

void FinishOutput() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw Error("standard output: cannot be written");
  }
}

void PrintJson(const nlohmann::json& document) { PrintText(JsonText(document, 2) + "\n"); }

void WriteJson(const std::string& file, const nlohmann::json& document) {
  if (file == "-") return PrintJson(document);
  std::ofstream stream(file);
  stream << JsonText(document, 2) << "\n";
  if (!stream.flush()) throw Error(fmt::format("--json {}: cannot be written", file));
}

void CheckJsonFile(const std::string& file) {
  if (file.empty() || file == "-") return;
  std::error_code error;
  const auto before = std::filesystem::symlink_status(file, error);
  if (!std::ofstream(file, std::ios::app)) {
    throw UsageError(fmt::format("--json {}: cannot be written", file));
  }
  if (!std::filesystem::exists(before)) {
    std::filesystem::remove(file, error);
  } else if (std::filesystem::is_regular_file(file, error)) {
    std::filesystem::resize_file(file, 0, error);
  }
}

void PrintList(bool as_json, const nlohmann::json& list,
               const std::vector<std::vector<std::string>>& rows, const std::string& none) {
  if (as_json) {
    PrintJson(list);
  } else if (rows.size() > 1) {
    std::fputs(result::FormatTable(rows).c_str(), stdout);
  } else {
    std::fprintf(stderr, "%s\n", none.c_str());
  }
}

}  // namespace viaduct::cli
