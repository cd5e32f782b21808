#include "guest/image/image.h"

#include <elf.h>
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "guest/image/tool.h"

namespace viaduct::guest {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExecutable = "linux";
constexpr const char* kDescription = "image.json";

// Returns the value of an environment variable; "" if it is not set.
std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path Cache() {
  if (const std::string cache = Variable("VIADUCT_CACHE"); !cache.empty()) return cache;
  if (const std::string cache = Variable("XDG_CACHE_HOME"); !cache.empty())
    return fs::path(cache) / "viaduct";
  const std::string home = Variable("HOME");
  return fs::path(home.empty() ? "/root" : home) / ".cache" / "viaduct";
}

// Returns the stores of images: this user's store first, then, under sudo, the store of the
// invoking user.
std::vector<fs::path> Stores() {
  std::vector<fs::path> stores = {ImageStore()};
  const char* user = std::getenv("SUDO_USER");
  if (user == nullptr || geteuid() != 0) return stores;
  if (const passwd* entry = getpwnam(user)) {
    stores.push_back(fs::path(entry->pw_dir) / ".cache" / "viaduct" / "kernels");
  }
  return stores;
}

std::vector<int> Numbers(const std::string& release) {
  std::vector<int> numbers;
  std::istringstream parts(release);
  for (std::string part; std::getline(parts, part, '.');)
    numbers.push_back(std::atoi(part.c_str()));
  return numbers;
}

// Returns whether the image has the release `wanted` or a release that begins with it: "6.1"
// matches "6.1.192", but not "6.12".
bool IsRelease(const Image& image, const std::string& wanted) {
  return (image.release + ".").rfind(wanted + ".", 0) == 0 || image.release == wanted;
}

[[noreturn]] void Refuse(const fs::path& file, const std::string& why) {
  throw UsageError(fmt::format("kernel {}: {}", file.string(), why));
}

void CheckElf(const fs::path& file) {
  if (!fs::exists(file))
    Refuse(file, "the file does not exist; list the kernels with viaduct kernel list");
  Elf64_Ehdr header = {};
  std::ifstream stream(file, std::ios::binary);
  if (!stream.read(reinterpret_cast<char*>(&header), sizeof header) ||
      std::string_view(reinterpret_cast<char*>(header.e_ident), SELFMAG) != ELFMAG) {
    Refuse(file, "not an executable; build a kernel for guests with viaduct kernel build");
  }
  if (header.e_machine != EM_X86_64 || header.e_ident[EI_CLASS] != ELFCLASS64) {
    Refuse(file, "not built for x86-64, the only architecture that guests support");
  }
}

}  // namespace

fs::path ImageStore() { return Cache() / "kernels"; }

bool OlderRelease(const std::string& a, const std::string& b) { return Numbers(a) < Numbers(b); }

const char* ScheduleName(Image::Schedule schedule) {
  return schedule == Image::Schedule::kShared ? "shared" : "messages";
}

void to_json(nlohmann::json& json, Image::Schedule schedule) { json = ScheduleName(schedule); }
void from_json(const nlohmann::json& json, Image::Schedule& schedule) {
  schedule = json == "shared" ? Image::Schedule::kShared : Image::Schedule::kMessages;
}

fields::KeysOf<Image> Image::Keys() {
  using fields::Always;
  static constexpr fields::Key<Image> kKeys[] = {
      Always<&Image::release>("release", "text", "the release of the kernel, such as 6.12.117"),
      Always<&Image::source>("source", "text", "the source from which the kernel was built"),
      Always<&Image::schedule>("schedule", "shared or messages",
                               "how guests are scheduled: through shared memory, or by messages"),
      Always<&Image::devices>("devices", "virtual devices",
                              "the maximum number of devices of one guest"),
      Always<&Image::command_line>("command_line", "bytes",
                                   "the maximum length of a guest's kernel command line"),
      Always<&Image::hz>("hz", "1/s", "the number of jiffies per second"),
      Always<&Image::absent>("absent", "a list of text", "the options that this kernel lacks"),
  };
  return kKeys;
}

Image ReadDescription(const fs::path& folder) {
  try {
    const nlohmann::json json = nlohmann::json::parse(ReadFileIfAny(folder / kDescription));
    for (const fields::Key<Image>& key : Image::Keys()) json.at(key.name);
    Image image = json;
    image.file = folder / kExecutable;
    std::error_code none;
    image.built = fs::last_write_time(folder / kDescription, none);
    return image;
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("{}: {}; remove the directory and build the kernel again",
                            (folder / kDescription).string(), error.what()));
  }
}

std::vector<Image> ListImages() {
  std::vector<Image> images;
  for (const fs::path& store : Stores()) {
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(store, none)) {
      const fs::path& folder = entry.path();
      if (folder.filename().string()[0] == '.' || !fs::exists(folder / kDescription) ||
          !fs::exists(folder / kExecutable)) {
        continue;
      }
      images.push_back(ReadDescription(folder));
    }
  }
  std::sort(images.begin(), images.end(), [](const Image& a, const Image& b) {
    if (a.release != b.release) return OlderRelease(b.release, a.release);
    return a.built != b.built ? a.built > b.built : a.file < b.file;
  });
  return images;
}

Image FindImage(const std::string& wanted) {
  if (wanted.find('/') != std::string::npos) return ExamineExecutable(wanted);
  const std::vector<Image> images = ListImages();
  std::string known;
  for (const Image& image : images) {
    if (wanted.empty() || IsRelease(image, wanted)) return image;
    if (known.ends_with(image.release)) continue;
    known += (known.empty() ? "" : ", ") + image.release;
  }
  if (images.empty()) {
    throw EnvironmentError(fmt::format(
        "no kernel for guests in {}; build one with viaduct kernel build", ImageStore().string()));
  }
  throw EnvironmentError(
      fmt::format("no kernel {} was built (built kernels: {}); run viaduct kernel build --source "
                  "debian:{}, or specify the path of a kernel",
                  wanted, known, wanted));
}

void MarkAsWanted(const Image& image) {
  std::error_code none;
  fs::last_write_time(image.file.parent_path() / kDescription, fs::file_time_type::clock::now(),
                      none);
}

Image ExamineExecutable(const fs::path& file) {
  CheckElf(file);
  if (fs::exists(file.parent_path() / kDescription) && file.filename() == kExecutable) {
    return ReadDescription(fs::absolute(file).parent_path());
  }
  if (access(file.c_str(), X_OK) != 0) Refuse(file, "not executable; run chmod +x on this file");
  // Runs the executable with --version and --showconfig, which the option parser of
  // arch/um/kernel/um_arch.c answers before the kernel boots.
  Image image;
  image.file = fs::absolute(file);
  std::string config;
  try {
    image.release = ToolOutput({image.file, "--version"});
    config = ToolOutput({image.file, "--showconfig"});
  } catch (const Error&) {
    config.clear();
  }
  if (config.find("CONFIG_UML=y") == std::string::npos) {
    Refuse(file, "not a User Mode Linux kernel (it does not answer --version and --showconfig)");
  }
  image.release.erase(image.release.find_last_not_of('\n') + 1);
  for (const char* option : {"CONFIG_UML_TIME_TRAVEL_SUPPORT", "CONFIG_VIRTIO_UML",
                             "CONFIG_VIRTIO_NET", "CONFIG_HOSTFS", "CONFIG_NET_NS"}) {
    if (config.find(fmt::format("{}=y\n", option)) == std::string::npos) {
      Refuse(file,
             fmt::format("built without {}; build a kernel with viaduct kernel build --source DIR",
                         option));
    }
  }
  const size_t hz = config.find("CONFIG_HZ=");
  if (hz != std::string::npos) image.hz = std::atoi(config.c_str() + hz + 10);
  return image;
}

}  // namespace viaduct::guest
