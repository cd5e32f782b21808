// A kernel that guests run: a User Mode Linux executable and its properties.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "base/fields.h"

namespace viaduct::guest {

struct Image {
  // The way in which guests with the kernel are scheduled: through shared memory (Linux 6.12 and
  // newer), or by messages only.
  enum class Schedule { kMessages, kShared };

  std::filesystem::path file;  // the kernel's executable
  std::string release;         // the kernel's release, "6.12.117"
  // The time of the build or, if later, of the last request to build this image.
  std::filesystem::file_time_type built;
  std::string source;  // a description of the kernel's source; "" if unknown
  Schedule schedule = Schedule::kMessages;
  // The limits of one guest that runs the image. The default values are the limits of an unpatched
  // kernel.
  size_t devices = 52;         // the maximum number of virtual devices, without the console
  size_t command_line = 4096;  // the maximum length in bytes, including the terminating zero
  int hz = 100;                // jiffies per second
  // The options of kernel.config that this kernel does not have, for example "CONFIG_IP_DCCP".
  std::vector<std::string> absent;

  // Returns the keys of image.json, the description that is stored in the executable's folder.
  static fields::KeysOf<Image> Keys();
};

// Returns the folder of the images: kernels/ in the folder VIADUCT_CACHE, else in
// XDG_CACHE_HOME/viaduct, else in ~/.cache/viaduct.
std::filesystem::path ImageStore();

// Returns all images of the store (under sudo, also the images of the invoking user's store),
// sorted by release, newest first, then by build time, newest first. Folders without a complete
// image are skipped.
std::vector<Image> ListImages();

// Returns the first image of ListImages() that matches `wanted`: "" matches any image; "6.12" or
// "6.12.117" an image of that release; a word with a slash is the path of an executable, which
// ExamineExecutable() examines. Throws EnvironmentError if no such image was built, UsageError if
// the file is not a kernel for guests.
Image FindImage(const std::string& wanted);

// Marks the image as the image that was built last, because a requested build resulted in this
// image. Does nothing if the store cannot be written.
void MarkAsWanted(const Image& image);

// Determines the properties of an executable by running it. Throws UsageError, with a message of
// one line, if the executable is missing, not for this machine, not User Mode Linux, or built
// without time travel or virtual devices.
Image ExamineExecutable(const std::filesystem::path& file);

// Returns the name of a schedule: "messages" or "shared".
const char* ScheduleName(Image::Schedule schedule);
// Reads the description image.json in a folder. Throws Error if it is malformed.
Image ReadDescription(const std::filesystem::path& folder);

// Returns whether release `a` is older than release `b`; compares numerically: 6.9 is older than
// 6.12.
bool OlderRelease(const std::string& a, const std::string& b);

}  // namespace viaduct::guest
