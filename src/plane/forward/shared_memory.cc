#include "plane/forward/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010  // the value in linux/fcntl.h since Linux 5.1
#endif

namespace viaduct::forward {

Mapping::Mapping(int fd, Access access) {
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    throw UsageError(
        "the shared memory is not sealed against shrinking, or the descriptor refers to something "
        "else");
  }
  struct stat status {};
  SystemCall("query the size of shared memory", fstat(fd, &status));
  const int protection = access == Access::kRead ? PROT_READ : PROT_READ | PROT_WRITE;
  const auto bytes = static_cast<size_t>(status.st_size);
  void* const memory = mmap(nullptr, bytes, protection, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) throw SystemError("map shared memory", errno);
  words_ = {static_cast<Word*>(memory), bytes / sizeof(Word)};
}

Mapping::Mapping(int fd, size_t words) {
  void* const memory =
      mmap(nullptr, words * sizeof(Word), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) throw SystemError("map shared memory", errno);
  words_ = {static_cast<Word*>(memory), words};
}

Mapping::Mapping(Mapping&& other) noexcept : words_(std::exchange(other.words_, {})) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(words_, other.words_);
  return *this;
}

Mapping::~Mapping() {
  if (!words_.empty()) munmap(words_.data(), words_.size_bytes());
}

SharedMemory MakeSharedMemory(const char* name, size_t words, Writers writers) {
  SharedMemory memory;
  memory.fd = UniqueFd(
      SystemCall("create shared memory", memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)));
  const int fd = memory.fd.get();
  SystemCall("set the size of shared memory",
             ftruncate(fd, static_cast<off_t>(words * sizeof(Word))));
  SystemCall("seal shared memory", fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW));
  memory.mapping = Mapping(fd, Mapping::Access::kWrite);
  const std::span<Word> mapped = memory.mapping.writable();
  SystemCall("exclude shared memory from forked processes",
             madvise(mapped.data(), mapped.size_bytes(), MADV_DONTFORK));
  const int last = writers == Writers::kCreator ? F_SEAL_FUTURE_WRITE : 0;
  SystemCall("seal shared memory", fcntl(fd, F_ADD_SEALS, last | F_SEAL_SEAL));
  return memory;
}

}  // namespace viaduct::forward
