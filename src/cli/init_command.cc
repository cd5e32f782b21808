// viaduct init: writes a scenario file to begin with.
#include <fmt/format.h>

#include <cctype>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "cli/command.h"
#include "cli/output.h"
#include "scenario/sample.h"
#include "sys/process/find_program.h"

namespace viaduct::cli {
namespace {

struct InitOptions {
  std::string topology, file, protocol = "OLSR";
  bool force = false;
};

// Returns the URI of a file: characters that are not unreserved are percent-encoded (RFC 3986
// section 2.1).
std::string UriOf(const std::string& path) {
  constexpr std::string_view kPlain = "-._~/";
  std::string uri = "file://";
  for (const char letter : path) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool is_plain =
        byte < 0x80 && (std::isalnum(byte) != 0 || kPlain.find(letter) != std::string_view::npos);
    uri += is_plain ? std::string(1, letter) : fmt::format("%{:02X}", byte);
  }
  return uri;
}

// Returns the comment line that makes editors complete and check the YAML file by the schema.
std::string SchemaLine() {
  const std::string schema = sys::FindSharedFile("scenario.schema.json");
  return schema.empty() ? "" : "# yaml-language-server: $schema=" + UriOf(schema) + "\n";
}

void WriteSample(const InitOptions& options) {
  const std::string text =
      scenario::SampleScenario(options.topology, options.protocol, SchemaLine());
  if (options.file == "-") return PrintText(text);
  const std::string kind = options.topology.substr(0, options.topology.find(','));
  const std::string file = options.file.empty() ? kind + ".yaml" : options.file;
  std::error_code error;
  const bool is_there = std::filesystem::exists(std::filesystem::symlink_status(file, error));
  if (is_there && !options.force) {
    throw UsageError(fmt::format("{}: already exists; specify another FILE, or --force", file));
  }
  try {
    WriteFile(file, text);
  } catch (const Error&) {  // removes a partial file, an obstacle to the next call
    if (!is_there) std::filesystem::remove(file, error);
    throw;
  }
  std::fprintf(stderr, "wrote %s; try viaduct run %s --mode simulate\n", file.c_str(),
               file.c_str());
}

}  // namespace

void AddInit(CLI::App& app, Invocation&) {
  auto options = std::make_shared<InitOptions>();
  CLI::App* command = app.add_subcommand("init", "write a commented scenario file to edit");
  command
      ->add_option(
          "TOPOLOGY", options->topology,
          "line, ring, grid, star, tree or wifi, with its size, such as line,5 or grid,4x3")
      ->required();
  command->add_option(
      "FILE", options->file,
      "the file to write; default: the topology's name with .yaml; - is standard output");
  command->add_option("--protocol", options->protocol, "the routing protocol; default: OLSR");
  command->add_flag("--force", options->force, "replace an existing file");
  command->footer("Example:\n  viaduct init grid,4x3 mesh.yaml --protocol RIP");
  command->callback([options] { WriteSample(*options); });
}

}  // namespace viaduct::cli
