// The source of a kernel: a Debian package, a tarball, or a source tree.
#pragma once

#include <filesystem>
#include <string>

#include "guest/image/tool.h"

namespace viaduct::guest {

struct Source {
  enum class Kind { kPackage, kTarball, kFolder };
  Kind kind;
  std::string name;  // the package's name ("linux-source-6.12"), or the path

  // Parses "debian:6.12", or the path of a tarball or of a folder. Throws UsageError if `text` is
  // neither.
  static Source Parse(const std::string& text);
};

// Returns a text that identifies the source's content: the package's version and checksum, or the
// checksum of the tarball or of every file of the tree. Throws EnvironmentError if the package is
// not available.
std::string Identify(const Source& source, const ToolOptions& options);

// Returns the source's description for an image, such as "linux-source-6.12 6.12.117-1~deb12u1".
std::string InWords(const Source& source, const std::string& identity);

// Unpacks the source tree into `folder`, which must exist and be empty. A package is downloaded (by
// apt-get, without privilege) and not installed. Throws Error if the source is not a kernel's
// source.
void Unpack(const Source& source, const std::filesystem::path& folder, const ToolOptions& options);

}  // namespace viaduct::guest
