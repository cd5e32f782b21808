#include "embed/embedded_kernel.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "embed/context.h"
#include "embed/elf_image.h"
#include "embed/faults.h"
#include "embed/imports.h"
#include "embed/stacks.h"
#include "embed/watchdog.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define VIADUCT_SANITIZED 1
#else
#define VIADUCT_SANITIZED 0
#endif

namespace viaduct::embed {
namespace {

constexpr size_t kStack = size_t{1} << 20;  // for main(); the kernel's threads have their own
// libc's first piece of heap: a kernel that is a process finds its heap so far behind its image,
// and the size of its memory, which follows from that, is the same here.
constexpr uintptr_t kFirstHeap = 0x21000;
// Between the guest's memory and its addresses for vmalloc() (VMALLOC_OFFSET of
// arch/um/include/asm/pgtable.h), rounded up on both sides.
constexpr uintptr_t kGap = uintptr_t{32} << 20;

constexpr const char* kMainSymbol = "main";               // arch/um/os-Linux/main.c
constexpr const char* kClockSymbol = "time_travel_time";  // arch/um/kernel/time.c
constexpr std::array kWanted{kMainSymbol, kClockSymbol};

using Main = int (*)(int, char**, char**);
using Initializer = void (*)(int, char**, char**);

bool anybody_here = false;

uintptr_t RoundUp(uintptr_t address) { return (address + kPageSize - 1) / kPageSize * kPageSize; }

// What is mapped where a guest wants to be is not to be overwritten: this fails instead.
void* Reserve(Range place) {
  return mmap(reinterpret_cast<void*>(place.begin), place.end - place.begin, PROT_NONE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
}

void Release(Range place) { munmap(reinterpret_cast<void*>(place.begin), place.end - place.begin); }

Range PlaceOf(const ElfImage& image, uint64_t memory) {
  return {image.begin(), RoundUp(image.end()) + 2 * memory + kGap};
}

// Reads the image and checks what this room relies on. Throws Error that says what is missing.
ElfImage Examine(const std::filesystem::path& file) {
  if (!kCanSwitch) throw Error("is not for this processor");
  if (VIADUCT_SANITIZED != 0)
    throw Error("is not seen by sanitizers, which this program is built with");
  ElfImage image = ReadElf(file, kWanted);
  for (const ElfImage::Relocation& each : image.relocations) {
    if (each.weak) continue;
    const Import* import = FindImport(each.name);
    if (import == nullptr) throw Error(fmt::format("wants {}, which no such guest has", each.name));
    Bind(*import);
  }
  return image;
}

void MapSegment(const ElfImage::Segment& segment, int fd) {
  const uintptr_t begin = segment.address / kPageSize * kPageSize;
  const uintptr_t stored = segment.address + segment.stored;
  const auto fixed = MAP_PRIVATE | MAP_FIXED;
  if (segment.stored > 0 &&
      mmap(reinterpret_cast<void*>(begin), stored - begin, segment.protection, fixed, fd,
           static_cast<off_t>(segment.offset / kPageSize * kPageSize)) == MAP_FAILED) {
    throw SystemError("map a kernel", errno);
  }
  const uintptr_t end = segment.address + segment.memory;
  if (end == stored) return;
  const uintptr_t zeros = RoundUp(stored);
  std::memset(reinterpret_cast<void*>(stored), 0, std::min(zeros, end) - stored);
  if (end > zeros && mmap(reinterpret_cast<void*>(zeros), RoundUp(end) - zeros, segment.protection,
                          fixed | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) {
    throw SystemError("map a kernel's variables", errno);
  }
}

void Relocate(const ElfImage& image) {
  for (const ElfImage::Relocation& each : image.relocations) {
    const Import* import = FindImport(each.name);
    if (import == nullptr) continue;  // a weak one
    void* found = Bind(*import);
    auto* place = reinterpret_cast<void*>(each.place);
    if (each.kind == ElfImage::Relocation::Kind::kCopy) {
      std::memcpy(place, found, each.size);
    } else {
      std::memcpy(place, &found, sizeof found);
    }
  }
}

std::vector<char*> PointersTo(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

class EmbeddedKernel::Impl {
 public:
  // What has begun when this throws, the destructor ends, because the other constructor is done.
  explicit Impl(KernelOptions options) : Impl(std::move(options), Nothing()) {
    stack_ = mmap(nullptr, kStack, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack_ == MAP_FAILED) throw SystemError("map a kernel's stack", errno);
    const Range place = PlaceOf(image_, options_.memory);
    if (Reserve(place) == MAP_FAILED) {
      throw SystemError("find its addresses free in this process", errno);
    }
    context_.place = place;
    Load();
    context_.heap = RoundUp(image_.end()) + kFirstHeap;
    context_.environment = options_.environment;
    context_.random_state = options_.seed;
    context_.writable = options_.writable;
    context_.standard[0] = SystemCall("open /dev/null", open("/dev/null", O_RDONLY | O_CLOEXEC));
    context_.standard[1] = options_.output.release();
    context_.standard[2] = SystemCall("dup", fcntl(context_.standard[1], F_DUPFD_CLOEXEC, 0));
    boot_folder_.reset(SystemCall("open folder " + options_.folder.string(),
                                  open(options_.folder.c_str(), O_PATH | O_CLOEXEC)));
    simulator_folder_.reset(SystemCall("open .", open(".", O_PATH | O_CLOEXEC)));
    context_.boot_folder = boot_folder_.get();
    context_.simulator_folder = simulator_folder_.get();
    context_.guest_place = NewStack(static_cast<char*>(stack_) + kStack, Begin);
    sigaltstack(nullptr, &stack_for_signals_);
    SetContext(&context_);
    faults_.emplace();
    watchdog_.emplace(context_,
                      *reinterpret_cast<const volatile uint64_t*>(image_.symbols.at(kClockSymbol)));
    present_ = this;
  }

  ~Impl() {
    watchdog_.reset();
    faults_.reset();
    CleanUp(context_);
    if (context_.signal_stack.ss_sp != nullptr) sigaltstack(&stack_for_signals_, nullptr);
    SetContext(nullptr);
    present_ = nullptr;
    if (context_.place.end != 0) Release(context_.place);
    if (stack_ != MAP_FAILED) munmap(stack_, kStack);
  }

  void LetRun(bool look_for_input) {
    if (context_.ended || context_.stuck) return;
    context_.look_for_input = look_for_input;
    ++context_.switches;
    context_.inside = true;
    viaduct_embed_switch(&context_.simulator_place, context_.guest_place);
    context_.inside = false;
    RestoreSignals(context_);
  }

  void LeaveFolder() {
    boot_folder_.reset();
    simulator_folder_.reset();
    context_.boot_folder = context_.simulator_folder = -1;
  }

  Context& context() { return context_; }
  Watchdog& watchdog() { return *watchdog_; }

 private:
  struct Nothing {};
  Impl(KernelOptions options, Nothing)
      : options_(std::move(options)), image_(Examine(options_.file)) {}

  void Load() {
    const UniqueFd file(SystemCall("open " + image_.file.string(),
                                   open(image_.file.c_str(), O_RDONLY | O_CLOEXEC)));
    for (const ElfImage::Segment& segment : image_.segments) MapSegment(segment, file.get());
    Relocate(image_);
  }

  static void Begin() {
    Impl& impl = *present_;
    std::vector<std::string>& words = impl.options_.words;
    static std::vector<char*> arguments, environment;  // main() keeps pointers to them
    arguments = PointersTo(words);
    environment = PointersTo(impl.context_.environment);
    const auto count = static_cast<int>(words.size());
    const auto* initializers = reinterpret_cast<Initializer*>(impl.image_.initializers);
    for (size_t i = 0; i < impl.image_.initializers_count; ++i) {
      initializers[i](count, arguments.data(), environment.data());
    }
    const auto kernel_main = reinterpret_cast<Main>(impl.image_.symbols.at(kMainSymbol));
    embed::End((kernel_main(count, arguments.data(), environment.data()) & 0xff) << 8);
  }

  inline static Impl* present_ = nullptr;

  KernelOptions options_;
  ElfImage image_;
  void* stack_ = MAP_FAILED;
  Context context_;
  stack_t stack_for_signals_{};  // the simulator's
  UniqueFd boot_folder_, simulator_folder_;
  std::optional<Faults> faults_;
  std::optional<Watchdog> watchdog_;
};

std::string WhyNot(const std::filesystem::path& file, uint64_t memory) {
  if (anybody_here) return "another guest is in this process";
  try {
    const Range place = PlaceOf(Examine(file), memory);
    if (Reserve(place) == MAP_FAILED) {
      return fmt::format("kernel {}: its addresses are not free in this process", file.string());
    }
    Release(place);
  } catch (const Error& error) {
    return fmt::format("kernel {} {}", file.string(), error.what());
  }
  return "";
}

EmbeddedKernel::EmbeddedKernel(KernelOptions options) {
  const std::string why = WhyNot(options.file, options.memory);
  if (!why.empty()) throw EnvironmentError("not in this process: " + why);
  impl_ = std::make_unique<Impl>(std::move(options));
  anybody_here = true;
}

EmbeddedKernel::~EmbeddedKernel() {
  impl_.reset();
  anybody_here = false;
}

void EmbeddedKernel::LetRun(bool look_for_input) { impl_->LetRun(look_for_input); }
void EmbeddedKernel::SetPatience(Duration patience) { impl_->watchdog().SetPatience(patience); }
bool EmbeddedKernel::stuck() const { return impl_->context().stuck; }
std::optional<int> EmbeddedKernel::ended() const { return impl_->context().ended; }
void EmbeddedKernel::LeaveFolder() { impl_->LeaveFolder(); }

void EmbeddedKernel::End(int signal) {
  Context& context = impl_->context();
  if (!context.ended) context.ended = signal;
  CleanUp(context);
}

}  // namespace viaduct::embed
