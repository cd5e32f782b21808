// viaduct kernel: builds and lists real Linux kernels for simulated nodes.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <memory>

#include "base/error.h"
#include "base/fd.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/listings.h"
#include "cli/output.h"
#include "guest/image/build.h"
#include "guest/image/image.h"
#include "guest/image/tool.h"
#include "run/simulator/progress.h"
#include "sys/event_loop.h"
#include "sys/signals.h"

namespace viaduct::cli {
namespace {

void BuildAndReport(guest::BuildOptions options, bool as_json, bool quiet) {
  // Catches signals, so that an interrupted build terminates its compilers before this process
  // ends.
  const UniqueFd signals = sys::CatchSignals({SIGINT, SIGTERM, SIGHUP});
  guest::BuildResult result;
  {
    run::Progress progress(stderr, quiet || as_json);
    options.status = [&](const std::string& text) { progress.Status("kernel: " + text); };
    options.note = [&](const std::string& text) { progress.Line("kernel: " + text); };
    options.cancel_fd = signals.get();
    try {
      result = guest::Build(options);
    } catch (const guest::ToolCancelled&) {
      throw sys::Interrupted(sys::TakeSignal(signals.get()));
    }
  }
  if (as_json) {
    PrintJson(BuiltKernel{{result.image, result.image.file}, result.reused, result.seconds});
    return;
  }
  std::string absent;
  for (const std::string& option : result.image.absent) absent += " " + option;
  std::printf(
      "kernel %s: %s (%s)%s\n", result.image.release.c_str(),
      result.reused ? "already built" : fmt::format("built in {:.0f} s", result.seconds).c_str(),
      result.image.file.c_str(),
      absent.empty() ? "" : fmt::format("; options that this version lacks:{}", absent).c_str());
}

void PrintImages(bool as_json) {
  const std::vector<guest::Image> images = guest::ListImages();
  if (!as_json && images.empty()) {
    std::printf("no kernel in %s; build one with viaduct kernel build\n",
                guest::ImageStore().c_str());
    return;
  }
  std::vector<ListedKernel> list;
  std::vector<std::vector<std::string>> rows = {{"release", "devices", "hz", "schedule", "file"}};
  for (const guest::Image& image : images) {
    list.push_back({image, image.file});
    rows.push_back({image.release, std::to_string(image.devices), std::to_string(image.hz),
                    guest::ScheduleName(image.schedule), image.file});
  }
  PrintList(as_json, list, rows, "");
}

void AddBuild(CLI::App& kernel) {
  struct Settings {
    guest::BuildOptions build;
    std::string config_add;
    bool json = false, quiet = false;
  };
  auto settings = std::make_shared<Settings>();
  CLI::App* command =
      kernel.add_subcommand("build", "build a kernel, unless it has already been built");
  command
      ->add_option(
          "--source", settings->build.source,
          "the source: debian:VERSION (a linux-source package of apt), a tarball or a tree")
      ->capture_default_str();
  command->add_option("--config-add", settings->config_add,
                      "a file of CONFIG_NAME=VALUE lines, added to the default options");
  command
      ->add_option("--jobs", settings->build.jobs,
                   "the number of parallel compilations; default: the number of processors")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--quiet", settings->quiet, "do not print progress");
  command->add_flag("--json", settings->json, "print JSON");
  command->footer(
      "Examples:\n"
      "  viaduct kernel build\n"
      "  viaduct kernel build --source debian:6.1\n"
      "  viaduct kernel build --source ~/src/linux --config-add bbr3.config");
  command->callback([settings] {
    settings->build.config_add = settings->config_add;
    BuildAndReport(settings->build, settings->json, settings->quiet);
  });
}

void AddImageList(CLI::App& kernel) {
  CLI::App* command = kernel.add_subcommand("list", "list the built kernels, newest first");
  const auto as_json = AddJsonFlag(*command);
  command->footer("Example:\n  viaduct kernel list");
  command->callback([as_json] { PrintImages(*as_json); });
}

}  // namespace

void AddKernel(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand(
      "kernel", "build and use real Linux kernels for simulated nodes in virtual time");
  command->require_subcommand(1);
  command->footer("Example:\n  viaduct kernel build && viaduct kernel list");
  AddBuild(*command);
  AddImageList(*command);
  AddKernelShell(*command, invocation);
  AddKernelResume(*command, invocation);
}

}  // namespace viaduct::cli
