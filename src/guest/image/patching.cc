#include "guest/image/patching.h"

#include <fmt/core.h>

#include <fstream>
#include <regex>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/file.h"

namespace viaduct::guest {
namespace {

namespace fs = std::filesystem;

// A kernel's version and patchlevel, such as 6 and 12.
using Release = std::pair<unsigned long, unsigned long>;

// Returns the release in the Makefile of a kernel's source tree; 0.0 if the Makefile has none.
Release ReleaseOf(const fs::path& tree) {
  const std::string text = ReadFileIfAny(tree / "Makefile");
  static const std::regex form(R"((?:^|\n)VERSION = (\d+)\nPATCHLEVEL = (\d+)\n)");
  std::smatch match;
  if (!std::regex_search(text, match, form)) return {};
  return {std::stoul(match[1]), std::stoul(match[2])};
}

// Returns the first release to which a patch applies ("Since:" in the patch's header); 0.0 if the
// header has no such line.
Release Since(const Patch& patch) {
  const std::string header(patch.text.substr(0, patch.text.find("\n--- ")));
  static const std::regex form(R"((?:^|\n)Since: (\d+)\.(\d+)(?:\n|$))");
  std::smatch match;
  if (!std::regex_search(header, match, form)) return {};
  return {std::stoul(match[1]), std::stoul(match[2])};
}

std::string_view NumberOf(const Patch& patch) { return patch.name.substr(0, patch.name.find('-')); }

bool Apply(const Patch& patch, const fs::path& scratch, const ToolOptions& tool) {
  const fs::path file = scratch / patch.name;
  std::ofstream stream(file);
  stream << patch.text << std::flush;
  if (!stream) throw Error(fmt::format("cannot write {}; is the disk full?", file.string()));
  std::vector<std::string> words = {"patch",     "-p1", "--forward",  "--batch",
                                    "--dry-run", "-i",  file.string()};
  if (RunTool(words, tool) != 0) return false;
  std::erase(words, "--dry-run");
  if (RunTool(words, tool) != 0)
    throw Error(fmt::format("patch {} could not be applied completely", patch.name));
  return true;
}

}  // namespace

std::vector<std::string> ApplyPatches(std::span<const Patch> patches, const fs::path& scratch,
                                      const ToolOptions& tool) {
  const Release release = ReleaseOf(tool.folder);
  std::vector<std::string> skipped;
  std::string_view number;
  bool applied = false;  // whether a patch with the number `number` was applied
  for (const Patch& patch : patches) {
    if (NumberOf(patch) != number) applied = false;
    number = NumberOf(patch);
    if (applied || release < Since(patch)) continue;
    applied = Apply(patch, scratch, tool);
    if (!applied) {
      skipped.emplace_back(patch.name);
    } else {
      std::erase_if(skipped, [number](const std::string& name) {
        return NumberOf({name, ""}) == number;
      });
    }
  }
  return skipped;
}

}  // namespace viaduct::guest
