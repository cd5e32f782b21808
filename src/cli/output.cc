#include "cli/output.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>

#include "base/error.h"
#include "result/table.h"

namespace viaduct::cli {

void PrintJson(const nlohmann::json& document) { std::printf("%s\n", document.dump(2).c_str()); }

void WriteJson(const std::string& file, const nlohmann::json& document) {
  if (file == "-") return PrintJson(document);
  std::ofstream stream(file);
  stream << document.dump(2) << "\n";
  if (!stream.flush()) throw Error(fmt::format("--json {}: cannot be written", file));
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
