#include "guest/image/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <regex>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text/json_text.h"
#include "guest/embed/address_table.h"
#include "guest/embed/place.h"
#include "guest/image/build_inputs.h"
#include "guest/image/config.h"
#include "guest/image/patching.h"
#include "guest/image/source.h"
#include "guest/image/tool.h"
#include "guest/image/workshop.h"
#include "sys/process/child.h"
#include "sys/process/find_program.h"

namespace viaduct::guest {
namespace {

namespace fs = std::filesystem;

// The version of the build procedure, which must be changed when this file builds differently from
// the same inputs.
constexpr int kProcedure = 2;
// The disk space in bytes for an unpacked tree and its objects (Linux 6.12: 1.7 GB), with some
// reserve.
constexpr uintmax_t kDiskBytes = 2'500'000'000;
// The number of interrupts that User Mode Linux itself uses (arch/um/include/asm/irq.h), including
// the console's interrupt.
constexpr size_t kOwnInterrupts = 12;
// The argument of make that sets the address to which a kernel is linked the second time (START of
// arch/x86/Makefile.um is 0x60000000).
constexpr const char* kOtherStart = "START=0x50000000";
// The number of digits of the checksum in the name of an image's folder.
constexpr size_t kKeyLength = 12;
// The approximate number of object files with kernel.config (Linux 6.12), for the progress line.
constexpr int kTypicalObjects = 1040;

void WriteFile(const fs::path& file, std::string_view text) {
  std::ofstream stream(file);
  stream << text << std::flush;
  if (!stream) throw Error(fmt::format("cannot write {}; is the disk full?", file.string()));
}

std::string AddedConfig(const fs::path& file) {
  if (file.empty()) return "";
  if (!fs::is_regular_file(file)) {
    throw UsageError(fmt::format("--config-add {}: the file does not exist", file.string()));
  }
  return ReadNamedFile(file);
}

void NeedTools(const Source& source) {
  std::vector<std::string> tools = {"make", "gcc",   "ld",  "flex", "bison",
                                    "bc",   "patch", "tar", "xz",   "sha256sum"};
  if (source.kind == Source::Kind::kPackage) {
    tools.insert(tools.end(), {"apt-get", "apt-cache", "dpkg-deb"});
  }
  std::string missing;
  for (const std::string& tool : tools) {
    if (sys::FindProgram(tool).empty()) missing += (missing.empty() ? "" : ", ") + tool;
  }
  if (missing.empty()) return;
  const bool has_apt = !sys::FindProgram("apt-get").empty();
  throw EnvironmentError(fmt::format(
      "building a kernel needs programs that are missing on this machine: {}; {}", missing,
      has_apt ? "install them with setup/packages kernel"
              : "install them, and specify Linux's source with --source (a tarball or a tree)"));
}

void NeedDisk(const fs::path& store) {
  const uintmax_t available = fs::space(store).available;
  if (available >= kDiskBytes) return;
  throw EnvironmentError(
      fmt::format("building a kernel needs {:.1f} GB in {}, but only {:.1f} GB are free; set "
                  "VIADUCT_CACHE to another directory",
                  kDiskBytes / 1e9, store.string(), available / 1e9));
}

// One build of a kernel: its inputs, its working folder, its log.
class Builder {
 public:
  explicit Builder(const BuildOptions& options)
      : options_(options),
        source_(Source::Parse(options.source)),
        added_(AddedConfig(options.config_add)),
        wanted_(ParseFragment(ConfigText(), "kernel.config")) {
    for (ConfigOption& option : ParseFragment(added_, options.config_add.string())) {
      option.need = ConfigOption::Need::kRequired;  // the user asked for the option
      std::erase_if(wanted_, [&](const ConfigOption& other) { return other.name == option.name; });
      wanted_.push_back(std::move(option));
    }
  }

  BuildResult Run() {
    Status("identifying the source");
    identity_ = Identify(source_, Tool(""));
    DeriveKey();
    if (const auto image = Stored()) return {*image, true};
    Workshop workshop(ImageStore(), key_, options_.cancel_fd,
                      [this] { Status("waiting for another build of the same kernel"); });
    folder_ = workshop.folder();
    if (const auto image = Stored()) return {*image, true};  // another build made the image
    NeedTools(source_);
    NeedDisk(ImageStore());
    const Instant start = MonotonicClock::Now();
    try {
      BuildTree();
    } catch (const Error& error) {
      throw Error(fmt::format("kernel build ({}): {}; log: {}", options_.source, error.what(),
                              KeepLog().string()),
                  error.status());
    }
    BuildResult result{Install(), false};
    result.seconds = (MonotonicClock::Now() - start).ToSeconds();
    return result;
  }

 private:
  fs::path Tree() const { return folder_ / "tree"; }
  fs::path Log() const { return folder_ / "log"; }

  ToolOptions Tool(const fs::path& folder) const {
    ToolOptions tool;
    tool.folder = folder;
    tool.cancel_fd = options_.cancel_fd;
    if (!folder_.empty()) tool.log = Log();
    return tool;
  }

  void Status(const std::string& text) const {
    if (options_.status) options_.status(text);
  }
  void Note(const std::string& text) const {
    if (options_.note) options_.note(text);
  }

  // Collects everything that determines the result of the build in the recipe, whose checksum names
  // the image.
  void DeriveKey() {
    std::string compiler = ToolOutput({"gcc", "--version"}, Tool(""));
    compiler.erase(compiler.find('\n'));
    recipe_ =
        fmt::format("procedure {}\nsource {}\ncompiler {}\n", kProcedure, identity_, compiler);
    for (const Patch& patch : Patches())
      recipe_ += fmt::format("patch {}\n{}", patch.name, patch.text);
    recipe_ += fmt::format("config\n{}config added\n{}", ConfigText(), added_);
    // The recipe is passed by standard input, because an argument of a program may not be longer
    // than 128 KiB.
    const sys::ProgramResult checksum = sys::RunProgram({"sha256sum"}, recipe_);
    if (checksum.status != 0) throw EnvironmentError("sha256sum: " + checksum.output);
    key_ = checksum.output.substr(0, kKeyLength);
  }

  std::optional<Image> Stored() const {
    for (Image& image : ListImages()) {
      const std::string name = image.file.parent_path().filename();
      if (name.size() > key_.size() && name.substr(name.size() - key_.size()) == key_) {
        MarkAsWanted(image);
        return image;
      }
    }
    return std::nullopt;
  }

  void BuildTree() {
    Status("unpacking " + options_.source);
    fs::create_directory(Tree());
    Unpack(source_, Tree(), Tool(""));
    for (const std::string& name : ApplyPatches(Patches(), folder_, Tool(Tree())))
      Note(fmt::format("patch {} does not apply to this kernel and is skipped", name));
    Configure();
    Compile();
    FindAddresses();
  }

  std::vector<std::string> Make(std::vector<std::string> words) const {
    words.insert(words.begin(), {"make", "ARCH=um"});
    if (!sys::FindProgram("ccache").empty()) words.push_back("CC=ccache gcc");
    return words;
  }

  ToolOptions MakeOptions() const {
    ToolOptions tool = Tool(Tree());
    // The environment for make: a build from the same inputs must result in the same bytes,
    // independently of the caller's environment and of a calling make.
    tool.environment = {"KBUILD_BUILD_TIMESTAMP=1970-01-01",
                        "KBUILD_BUILD_USER=viaduct",
                        "KBUILD_BUILD_HOST=viaduct",
                        "KBUILD_BUILD_VERSION=1",
                        "CCACHE_BASEDIR=" + Tree().string(),
                        "CCACHE_NOHASHDIR=1",
                        "MAKEFLAGS",
                        "MFLAGS",
                        "MAKELEVEL",
                        "MAKEOVERRIDES",
                        "LDFLAGS",
                        "CFLAGS",
                        "CROSS_COMPILE",
                        "SUBARCH",
                        "O",
                        "KBUILD_OUTPUT"};
    // Makes the compiler cache use the list of headers that gcc reports (without the C library's
    // headers, which some files of arch/um include). Without this variable, ccache preprocesses
    // each file one more time, which makes the first build a third longer. If the variable is set,
    // a build with other options compiles every file again.
    tool.environment.push_back("CCACHE_DEPEND=1");
    return tool;
  }

  void Configure() {
    Status("configuring");
    const fs::path fragment = folder_ / "fragment";
    WriteFile(fragment, std::string(ConfigText()) + added_);
    ToolOptions tool = MakeOptions();
    tool.environment.push_back("KCONFIG_ALLCONFIG=" + fragment.string());
    if (RunTool(Make({"allnoconfig"}), tool) != 0) throw Error("make allnoconfig failed");
    for (const ConfigOption& option : Unmet(wanted_, ReadFileIfAny(Tree() / ".config"))) {
      if (option.need == ConfigOption::Need::kRequired) {
        throw UsageError(fmt::format(
            "this kernel does not support {}={} (the option does not exist, or an option that "
            "it needs is off)",
            option.name, option.value));
      }
      if (option.need == ConfigOption::Need::kWanted) absent_.push_back(option.name);
    }
  }

  void Compile() {
    const int jobs =
        options_.jobs > 0 ? options_.jobs : std::max(1u, std::thread::hardware_concurrency());
    ToolOptions tool = MakeOptions();
    int objects = 0;
    std::string trouble;
    const Instant start = MonotonicClock::Now();
    tool.line = [&](std::string_view line) {
      if (trouble.empty() && line.find("error: ") != line.npos) trouble = line;
      if (line.substr(0, 5) != "  CC ") return;
      Status(fmt::format("compiling: {} of about {} files, {:.0f} s", ++objects,
                         std::max(objects, kTypicalObjects),
                         (MonotonicClock::Now() - start).ToSeconds()));
    };
    const int status = RunTool(Make({fmt::format("-j{}", jobs), "linux"}), tool);
    if (status != 0)
      throw Error(trouble.empty() ? fmt::format("make failed with status {}", status) : trouble);
  }

  // Creates the address table of the kernel. Only several guests in one process need the table; a
  // single guest in a process, and guests that are separate processes, do not.
  void FindAddresses() {
    const fs::path linked = folder_ / "linux", other = Tree() / "linux";
    fs::copy_file(other, linked);  // make links the second kernel to `other`
    Status("linking to other addresses");
    try {
      const embed::ElfImage image = embed::Examine(linked);
      if (RunTool(Make({kOtherStart, "linux"}), MakeOptions()) != 0)
        throw Error("cannot be linked to other addresses");
      embed::WriteAddressTable(embed::AddressTableOf(linked),
                               embed::CompareImages(image, embed::Examine(other)));
    } catch (const Error& error) {
      Note(fmt::format(
          "only one guest of this kernel can run in the simulator's process: the kernel {}",
          error.what()));
    }
  }

  // Returns the first number after `key` in a file of the kernel's source tree; 0 if there is none.
  size_t NumberIn(const char* file, const std::string& key) const {
    const std::string text = ReadFileIfAny(Tree() / file);
    std::smatch match;
    return std::regex_search(text, match, std::regex(key + "\\s+(\\d+)")) ? std::stoul(match[1])
                                                                          : 0;
  }

  Image Examine(const fs::path& executable) const {
    Image image;
    image.file = executable;
    image.release = ToolOutput({executable, "--version"}, Tool(""));
    image.release.erase(image.release.find_last_not_of('\n') + 1);
    image.source = InWords(source_, identity_);
    const bool shared = ReadFileIfAny(Tree() / "include/uapi/linux/um_timetravel.h")
                            .find("um_timetravel_schedshm") != std::string::npos;
    image.schedule = shared ? Image::Schedule::kShared : Image::Schedule::kMessages;
    image.devices = NumberIn("arch/um/include/asm/irq.h", "UM_LAST_SIGNAL_IRQ") - kOwnInterrupts;
    image.command_line = NumberIn("arch/um/include/asm/setup.h", "COMMAND_LINE_SIZE");
    image.hz = std::stoi(ConfigValue(ReadFileIfAny(Tree() / ".config"), "CONFIG_HZ"));
    image.absent = absent_;
    return image;
  }

  // Moves the image into the store in one step, so that the store has either the complete image or
  // no image.
  Image Install() {
    const fs::path folder = folder_ / "image";
    fs::create_directory(folder);
    const fs::path linked = folder_ / "linux", addresses = embed::AddressTableOf(linked);
    fs::rename(linked, folder / "linux");
    if (fs::exists(addresses)) fs::rename(addresses, embed::AddressTableOf(folder / "linux"));
    Image image = Examine(folder / "linux");
    fs::rename(Tree() / ".config", folder / "config");
    WriteFile(folder / "recipe", recipe_);
    WriteFile(folder / "image.json", JsonText(nlohmann::json(image), 2) + "\n");
    const fs::path place = ImageStore() / fmt::format("{}-{}", image.release, key_);
    fs::rename(folder, place);
    image.file = place / "linux";
    return image;
  }

  fs::path KeepLog() const {
    fs::path kept = ImageStore() / fmt::format("failed-{}.log", key_);
    std::error_code none;
    fs::rename(Log(), kept, none);
    return kept;
  }

  const BuildOptions& options_;
  Source source_;
  std::string added_;
  std::vector<ConfigOption> wanted_;
  std::string identity_, recipe_, key_;
  fs::path folder_;
  std::vector<std::string> absent_;
};

}  // namespace

BuildResult Build(const BuildOptions& options) { return Builder(options).Run(); }

}  // namespace viaduct::guest
