#include "guest/image/config.h"

#include <fmt/format.h>

#include <sstream>

#include "base/error.h"

namespace viaduct::guest {
namespace {

constexpr std::string_view kOptionPrefix = "CONFIG_";
constexpr std::string_view kNotSet = " is not set";

bool IsName(std::string_view text) {
  return text.starts_with(kOptionPrefix) && text.size() > kOptionPrefix.size() &&
         text.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
             std::string_view::npos;
}

// Returns the option's name in a line "# CONFIG_X is not set"; "" for any other line.
std::string_view NotSetName(std::string_view line) {
  if (!line.starts_with("# ") || !line.ends_with(kNotSet) || line.size() < kNotSet.size() + 2) {
    return "";
  }
  const std::string_view name = line.substr(2, line.size() - 2 - kNotSet.size());
  return IsName(name) ? name : "";
}

ConfigOption::Need NeedOf(const std::string& heading) {
  using Need = ConfigOption::Need;
  if (heading.find("[required]") != std::string::npos) return Need::kRequired;
  return heading.find("[implied]") != std::string::npos ? Need::kImplied : Need::kWanted;
}

}  // namespace

std::vector<ConfigOption> ParseFragment(std::string_view text, std::string_view file) {
  std::vector<ConfigOption> options;
  std::istringstream lines{std::string(text)};
  ConfigOption::Need need = ConfigOption::Need::kWanted;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("# ---")) need = NeedOf(line);
    if (const std::string_view name = NotSetName(line); !name.empty()) {
      options.push_back({std::string(name), "n", need});
    }
    if (line.empty() || line[0] == '#') continue;
    const size_t equals = line.find('=');
    if (equals == std::string::npos || !IsName(std::string_view(line).substr(0, equals))) {
      throw UsageError(
          fmt::format("{}:{}: expected CONFIG_NAME=VALUE, not '{}'", file, number, line));
    }
    options.push_back({line.substr(0, equals), line.substr(equals + 1), need});
  }
  return options;
}

std::string ConfigValue(std::string_view config, std::string_view name) {
  const std::string key = fmt::format("\n{}=", name);
  const std::string text = fmt::format("\n{}", config);
  const size_t found = text.find(key);
  if (found == std::string::npos) return "n";
  const size_t begin = found + key.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::vector<ConfigOption> Unmet(const std::vector<ConfigOption>& wanted, std::string_view config) {
  std::vector<ConfigOption> unmet;
  for (const ConfigOption& option : wanted) {
    if (ConfigValue(config, option.name) != option.value) unmet.push_back(option);
  }
  return unmet;
}

}  // namespace viaduct::guest
