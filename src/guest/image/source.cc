#include "guest/image/source.h"

#include <fmt/format.h>

#include <sstream>

#include "base/error.h"

namespace viaduct::guest {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPackageScheme = "debian:";

std::string FirstWord(const std::string& text) {
  std::string word;
  std::istringstream(text) >> word;
  return word;
}

// Returns the version of the package that apt would fetch and the checksum of the package's file.
std::string IdentifyPackage(const std::string& package, const ToolOptions& options) {
  std::string version, checksum;
  ToolOptions reading = options;
  reading.line = [&](std::string_view line) {
    const auto value = [line](std::string_view key) {
      return line.substr(0, key.size()) == key ? std::string(line.substr(key.size())) : "";
    };
    if (version.empty()) version = value("Version: ");
    if (checksum.empty()) checksum = value("SHA256: ");
  };
  RunTool({"apt-cache", "show", "--no-all-versions", package}, reading);
  if (version.empty() || checksum.empty()) {
    throw EnvironmentError(
        fmt::format("apt cannot find package {}; run apt-get update, or specify a tarball or a "
                    "tree with --source",
                    package));
  }
  return fmt::format("{} {} {}", package, version, checksum);
}

// Returns a checksum of the checksums of all files in a source tree except the files of version
// control and of earlier builds.
std::string IdentifyFolder(const fs::path& folder, ToolOptions options) {
  options.folder = folder;
  return FirstWord(ToolOutput(
      {"sh", "-c",
       "find . -name .git -prune -o -type f ! -name '*.o' ! -name '*.a' ! -name '.*.cmd' -print0 | "
       "sort -z | xargs -0 sha256sum | sha256sum"},
      options));
}

void RunOrThrow(const std::vector<std::string>& words, const ToolOptions& options,
                const std::string& what) {
  const int status = RunTool(words, options);
  if (status != 0) throw Error(fmt::format("{} failed ({}, status {})", what, words[0], status));
}

// Returns the command that unpacks a tarball. Most of a kernel's source is for hardware that a
// guest never has and is not unpacked. The unpacked part is enough to configure the kernel (every
// Kconfig and Makefile) and for the options that users may add: the protocols, the file systems,
// and drivers without hardware (mac80211_hwsim, for example).
std::vector<std::string> UntarWords(const fs::path& tarball) {
  std::vector<std::string> words = {"tar", "xf", tarball, "--strip-components=1",
                                    "--exclude=*/Documentation/*/*/*"};
  for (const char* hardware :
       {"sound", "arch/[!ux]*", "tools/perf", "tools/testing", "drivers/accel", "drivers/clk",
        "drivers/gpu", "drivers/iio", "drivers/infiniband", "drivers/media", "drivers/pinctrl",
        "drivers/scsi", "drivers/staging", "drivers/usb", "drivers/video", "drivers/net/ethernet",
        "drivers/net/wireless/[!v]*"}) {
    words.push_back(fmt::format("--exclude=*/{}/*.[chS]", hardware));
    words.push_back(fmt::format("--exclude=*/{}/*.dts*", hardware));
  }
  return words;
}

void UnpackTarball(const fs::path& tarball, ToolOptions options, const fs::path& folder) {
  options.folder = folder;
  // Makes xz use all processors, which is possible because the tarballs in Debian's packages have
  // many blocks.
  options.environment.push_back("XZ_OPT=--threads=0");
  RunOrThrow(UntarWords(fs::absolute(tarball)), options, "unpacking " + tarball.string());
}

void UnpackPackage(const std::string& package, const fs::path& folder, ToolOptions options) {
  const fs::path download = folder / ".download";
  fs::create_directory(download);
  options.folder = download;
  RunOrThrow({"apt-get", "download", "--quiet", package}, options, "downloading " + package);
  RunOrThrow({"sh", "-c",
              "dpkg-deb --fsys-tarfile ./*.deb | tar xf - --wildcards '*/linux-source-*.tar.*'"},
             options, "unpacking " + package);
  std::string tarball;
  for (const auto& entry : fs::recursive_directory_iterator(download)) {
    const std::string name = entry.path().filename();
    if (name.rfind("linux-source-", 0) == 0 && name.find(".tar.") != std::string::npos) {
      tarball = entry.path();
    }
  }
  if (tarball.empty())
    throw Error(fmt::format("the package {} contains no source tarball", package));
  UnpackTarball(tarball, options, folder);
  fs::remove_all(download);
}

}  // namespace

Source Source::Parse(const std::string& text) {
  if (text.rfind(kPackageScheme, 0) == 0) {
    const std::string version = text.substr(std::string_view(kPackageScheme).size());
    if (version.empty() || version.find_first_not_of("0123456789.") != std::string::npos) {
      throw UsageError(
          fmt::format("--source {}: not a version; expected a version such as debian:6.12", text));
    }
    return {Kind::kPackage, "linux-source-" + version};
  }
  if (fs::is_directory(text)) {
    if (!fs::exists(fs::path(text) / "arch" / "um" / "Kconfig")) {
      throw UsageError(
          fmt::format("--source {}: not a kernel tree (arch/um/Kconfig is missing)", text));
    }
    return {Kind::kFolder, fs::absolute(text)};
  }
  if (fs::is_regular_file(text)) return {Kind::kTarball, fs::absolute(text)};
  throw UsageError(fmt::format(
      "--source {}: the file does not exist; specify a tarball, a kernel tree, or debian:VERSION",
      text));
}

std::string Identify(const Source& source, const ToolOptions& options) {
  switch (source.kind) {
    case Source::Kind::kPackage:
      return IdentifyPackage(source.name, options);
    case Source::Kind::kTarball:
      return FirstWord(ToolOutput({"sha256sum", source.name}, options));
    case Source::Kind::kFolder:
      return IdentifyFolder(source.name, options);
  }
  return "";
}

std::string InWords(const Source& source, const std::string& identity) {
  return source.kind == Source::Kind::kPackage ? identity.substr(0, identity.rfind(' '))
                                               : source.name;
}

void Unpack(const Source& source, const fs::path& folder, const ToolOptions& options) {
  switch (source.kind) {
    case Source::Kind::kPackage:
      UnpackPackage(source.name, folder, options);
      break;
    case Source::Kind::kTarball:
      UnpackTarball(source.name, options, folder);
      break;
    case Source::Kind::kFolder:
      RunOrThrow({"cp", "--archive", "--reflink=auto", source.name + "/.", folder}, options,
                 "copying " + source.name);
      RunOrThrow({"make", "ARCH=um", "mrproper", "-C", folder}, options, "make mrproper");
      break;
  }
  if (!fs::exists(folder / "arch" / "um" / "Kconfig")) {
    throw Error(
        fmt::format("{} contains no kernel source (arch/um/Kconfig is missing)", source.name));
  }
}

}  // namespace viaduct::guest
