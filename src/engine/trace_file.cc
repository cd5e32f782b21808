#include "engine/trace_file.h"

#include <fcntl.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace viaduct::engine {
namespace {

constexpr size_t kMostWaiting = 64 << 20;
constexpr size_t kEnoughToWrite = 256 << 10;
constexpr std::chrono::milliseconds kLongestWait(200);  // until a reader of the file sees a packet

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

UniqueFd OpenTrace(const std::string& path) {
  UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file) throw UsageError(path + ": cannot be written: " + std::strerror(errno));
  return file;
}

}  // namespace

TraceFile::TraceFile(const std::string& path)
    : file_(OpenTrace(path)), writer_([this] { Run(); }) {}

TraceFile::~TraceFile() {
  {
    const MutexLock lock(mutex_);
    end_ = true;
  }
  filled_.notify_one();
  writer_.join();
}

void TraceFile::Write(std::string_view piece) {
  bool enough = false;
  {
    const MutexLock lock(mutex_);
    if (buffer_.size() + piece.size() > kMostWaiting) {
      ++lost_;
      return;
    }
    enough = buffer_.size() < kEnoughToWrite && buffer_.size() + piece.size() >= kEnoughToWrite;
    buffer_ += piece;
    ++pieces_;
  }
  if (enough) filled_.notify_one();
}

uint64_t TraceFile::lost() const {
  const MutexLock lock(mutex_);
  return lost_;
}

void TraceFile::Run() {
  std::string text;
  while (const auto pieces = Take(text)) {
    if (WriteAll(file_.get(), text)) continue;
    const MutexLock lock(mutex_);
    lost_ += *pieces;
  }
}

std::optional<uint64_t> TraceFile::Take(std::string& text) {
  const MutexLock lock(mutex_);
  if (end_ && buffer_.empty()) return std::nullopt;
  // A spurious wake-up does no harm: the present text is only written sooner.
  if (!end_ && buffer_.size() < kEnoughToWrite) filled_.wait_for(mutex_, kLongestWait);
  text.clear();
  text.swap(buffer_);
  return std::exchange(pieces_, 0);
}

}  // namespace viaduct::engine
