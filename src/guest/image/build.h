// Building a kernel for guests into the store of images (image.h).
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "guest/image/image.h"

namespace viaduct::guest {

struct BuildOptions {
  std::string source = "debian:6.12";  // the text that Source::Parse() in source.h parses
  std::filesystem::path config_add;    // a file of options in addition to kernel.config; "": none
  int jobs = 0;  // the number of parallel compilations; 0: the number of processors
  // Receives a text about the current state of the build, a few times per second.
  std::function<void(const std::string&)> status;
  // Receives lasting messages to the user.
  std::function<void(const std::string&)> note;
  int cancel_fd = -1;  // stops the build when readable (ToolCancelled) and leaves nothing behind
};

struct BuildResult {
  Image image;
  bool reused = false;  // true: the image was already in the store
  double seconds = 0;   // the wall time of the build; 0 if the image was reused
};

// Returns the image for the given source and configuration, the project's patches and the installed
// compiler, from the store or newly built. An image in the store is never changed; concurrent
// builders of the same image wait for each other. Throws UsageError, EnvironmentError (a program is
// missing, no space on the disk), or Error with the path of the build's log, which is then kept.
BuildResult Build(const BuildOptions& options);

}  // namespace viaduct::guest
