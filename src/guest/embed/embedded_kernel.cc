#include "guest/embed/embedded_kernel.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "guest/embed/address_table.h"
#include "guest/embed/context.h"
#include "guest/embed/elf_image.h"
#include "guest/embed/guest_thread.h"
#include "guest/embed/place.h"
#include "guest/embed/stacks.h"
#include "guest/embed/watchdog.h"

namespace viaduct::embed {
namespace {

// The size in bytes of the stack for the kernel's main(); the kernel's threads have other stacks.
constexpr size_t kStack = size_t{1} << 20;
// The size of libc's first piece of heap: a kernel that is a separate process finds its heap at
// this distance from its image. The size of the kernel's memory depends on the distance, so the
// same distance is used here.
constexpr uintptr_t kFirstHeap = 0x21000;

using Main = int (*)(int, char**, char**);
using Initializer = void (*)(int, char**, char**);

std::vector<char*> PointersTo(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Appends the auxiliary vector after the environment, where the kernel looks for the values that
// its host passes to every program (scan_elf_aux() of arch/um/os-Linux/elf_aux.c). The vector is
// read from /proc/self/auxv, because getauxval() does not have all of its original values.
void AddAuxiliaryVector(std::vector<char*>& environment) {
  const std::string told = ReadFileIfAny("/proc/self/auxv");
  std::vector<char*> words(told.size() / sizeof(char*));
  if (!words.empty()) std::memcpy(words.data(), told.data(), words.size() * sizeof(char*));
  environment.insert(environment.end(), words.begin(), words.end());
  environment.insert(environment.end(), {nullptr, nullptr});  // the last entry, AT_NULL
}

}  // namespace

class EmbeddedKernel::Impl {
 public:
  // Delegates to the other constructor, so that the destructor runs when this constructor throws,
  // and cleans up.
  explicit Impl(KernelOptions options) : Impl(std::move(options), Nothing()) {
    stack_ = mmap(nullptr, kStack, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack_ == MAP_FAILED) throw SystemError("map a kernel's stack", errno);
    context_.place = place_.range();
    LoadImage(image_, context_.place.begin);
    context_.heap = RoundUpToPage(image_.end()) + kFirstHeap;
    context_.environment = options_.environment;
    context_.random_state = options_.seed;
    context_.writable = options_.writable;
    context_.streams_name = options_.streams;
    context_.standard[0] = SystemCall("open /dev/null", open("/dev/null", O_RDONLY | O_CLOEXEC));
    context_.standard[1] = options_.output.release();
    context_.standard[2] = SystemCall("dup", fcntl(context_.standard[1], F_DUPFD_CLOEXEC, 0));
    boot_folder_.reset(SystemCall("open folder " + options_.folder.string(),
                                  open(options_.folder.c_str(), O_PATH | O_CLOEXEC)));
    simulator_folder_.reset(SystemCall("open .", open(".", O_PATH | O_CLOEXEC)));
    context_.boot_folder = boot_folder_.get();
    context_.simulator_folder = simulator_folder_.get();
    context_.guest_place = NewStack(static_cast<char*>(stack_) + kStack, Begin);
    watchdog_.emplace(context_,
                      *reinterpret_cast<const volatile uint64_t*>(image_.symbols.at(kClockSymbol)));
  }

  ~Impl() {
    watchdog_.reset();
    CleanUp(context_);
    thread_->Forget(context_);
    if (stack_ != MAP_FAILED) munmap(stack_, kStack);
  }

  void LetRun(bool look_for_input) {
    if (context_.ended || context_.stuck) return;
    thread_->Enter(context_);
    beginning_ = this;
    context_.input_not_looked_for |= look_for_input;
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
      : options_(std::move(options)),
        thread_(GuestThread::Join()),
        image_(Examine(options_.file)),
        place_(image_, options_.memory) {}

  static void Begin() {
    Impl& impl = *beginning_;
    std::vector<std::string>& words = impl.options_.words;
    std::vector<char*>& arguments = impl.arguments_;
    std::vector<char*>& environment = impl.environment_;
    arguments = PointersTo(words);
    environment = PointersTo(impl.context_.environment);
    AddAuxiliaryVector(environment);
    const auto count = static_cast<int>(words.size());
    const auto* initializers = reinterpret_cast<Initializer*>(impl.image_.initializers);
    for (size_t i = 0; i < impl.image_.initializers_count; ++i) {
      initializers[i](count, arguments.data(), environment.data());
    }
    const auto kernel_main = reinterpret_cast<Main>(impl.image_.symbols.at(kMainSymbol));
    embed::End((kernel_main(count, arguments.data(), environment.data()) & 0xff) << 8);
  }

  inline static Impl* beginning_ = nullptr;  // the kernel that was let run last

  KernelOptions options_;
  std::vector<char*> arguments_, environment_;  // main() keeps pointers to both
  std::shared_ptr<GuestThread> thread_;
  ElfImage image_;
  ReservedPlace place_;
  void* stack_ = MAP_FAILED;
  Context context_;
  UniqueFd boot_folder_, simulator_folder_;
  std::optional<Watchdog> watchdog_;
};

std::string Unavailable(const std::filesystem::path& file, uint64_t memory) {
  try {
    if (const char* why = GuestThread::Unavailable(); *why != 0) throw Error(why);
    const ElfImage image = Examine(file);
    const ReservedPlace place(image, memory);
    if (place.range().begin != image.begin()) ReadAddressTable(AddressTableOf(file), image);
  } catch (const Error& error) {
    return fmt::format("kernel {} {}", file.string(), error.what());
  }
  return "";
}

EmbeddedKernel::EmbeddedKernel(KernelOptions options) {
  const std::string why = Unavailable(options.file, options.memory);
  if (!why.empty()) throw EnvironmentError("cannot run the guest in this process: " + why);
  impl_ = std::make_unique<Impl>(std::move(options));
}

EmbeddedKernel::~EmbeddedKernel() = default;

void EmbeddedKernel::LetRun(bool look_for_input) { impl_->LetRun(look_for_input); }
void EmbeddedKernel::SetTimeout(Duration timeout) { impl_->watchdog().SetTimeout(timeout); }
bool EmbeddedKernel::stuck() const { return impl_->context().stuck; }
std::optional<int> EmbeddedKernel::ended() const { return impl_->context().ended; }
std::shared_ptr<LocalStream> EmbeddedKernel::Stream(size_t connection) const {
  const auto& streams = impl_->context().streams;
  return connection < streams.size() ? streams[connection] : nullptr;
}

std::optional<size_t> EmbeddedKernel::TakeRequest() {
  std::deque<size_t>& requests = impl_->context().requests;
  if (requests.empty()) return std::nullopt;
  const size_t first = requests.front();
  requests.pop_front();
  return first;
}

void EmbeddedKernel::LeaveFolder() { impl_->LeaveFolder(); }

void EmbeddedKernel::End(int signal) {
  Context& context = impl_->context();
  if (!context.ended) context.ended = signal;
  CleanUp(context);
}

}  // namespace viaduct::embed
