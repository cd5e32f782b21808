#include "cli/output.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/text/json_text.h"
#include "base/text/text_table.h"

namespace viaduct::cli {
namespace {

std::string CannotWrite(const std::string& json_file, int error) {
  return fmt::format("--json {}: cannot be written: {}", json_file, std::strerror(error));
}

[[noreturn]] void ThrowUnwritten(int error) {
  const std::string cause = error == 0 ? "" : fmt::format(": {}", std::strerror(error));
  throw Error("standard output: cannot be written" + cause);
}

}  // namespace

void PrintText(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) < 0) ThrowUnwritten(errno);
  FinishOutput();
}

void FinishOutput() {
  errno = 0;  // the stream records that an earlier write failed, but not its errno
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) ThrowUnwritten(errno);
}

void PrintJson(const nlohmann::json& document) { PrintText(JsonText(document, 2) + "\n"); }

void WriteJson(const std::string& file, const nlohmann::json& document) {
  if (file == "-") return PrintJson(document);
  try {
    WriteFile(file, JsonText(document, 2) + "\n");
  } catch (const SystemError& error) {
    throw Error(CannotWrite(file, error.error_number()));
  }
}

void CheckJsonFile(const std::string& file) {
  if (file.empty() || file == "-") return;
  std::error_code error;
  const auto before = std::filesystem::symlink_status(file, error);
  if (!UniqueFd(open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666))) {
    throw UsageError(CannotWrite(file, errno));
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
