// Building a kernel for guests, into the store of images (image.h).
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "guest/image/image.h"

namespace viaduct::guest {

struct BuildOptions {
  std::string source = "debian:6.12";  // source.h
  std::filesystem::path config_add;    // options in addition to kernel.config; "": none
  int jobs = 0;                        // parallel compilations; 0: as many as processors
  std::function<void(const std::string&)> status;  // the current state, a few times per second
  std::function<void(const std::string&)> note;    // lasting messages to the user
  int cancel_fd = -1;  // readable: stop (ToolCancelled), leaving nothing behind
};

struct BuildResult {
  Image image;
  bool reused = false;  // taken from the store
  double seconds = 0;   // wall time of the build, if there was one
};

// Returns the image for this source, configuration, these patches and this compiler, from the store
// or newly built. An image in the store is never changed; concurrent builders of the same image
// wait for each other. Throws UsageError, EnvironmentError (a program is missing, no space on the
// disk), or Error naming the log, which is then kept.
BuildResult Build(const BuildOptions& options);

}  // namespace viaduct::guest
