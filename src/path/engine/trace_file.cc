#include "path/engine/trace_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace viaduct::engine {
namespace {

constexpr size_t kMaxWaiting = 64 << 20;
constexpr size_t kEnoughToWrite = 256 << 10;
constexpr std::chrono::milliseconds kMaxWait(200);  // maximum time until text is in the file
constexpr int kTimeout = 2000;  // ms; maximum wait for a reader of a FIFO that does not read

// Opens the trace file. Does not wait for the reader of a FIFO, because signals may be blocked.
UniqueFd OpenTrace(const std::string& path) {
  UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0644));
  if (!file && errno == ENXIO)
    throw UsageError(path + ": no program has opened this FIFO for reading");
  if (!file) throw UsageError(path + ": cannot be written: " + std::strerror(errno));
  return file;
}

}  // namespace

TraceFile::TraceFile(std::string path)
    : path_(std::move(path)), file_(OpenTrace(path_)), writer_([this] { Run(); }) {}

TraceFile::~TraceFile() { Finish(); }

void TraceFile::Finish() {
  if (!writer_.joinable()) return;
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
    if (buffer_.size() + piece.size() > kMaxWaiting) why_ = "the disk is too slow";
    if (!why_.empty() || end_) {
      ++lost_;
      return;
    }
    enough = buffer_.size() < kEnoughToWrite && buffer_.size() + piece.size() >= kEnoughToWrite;
    buffer_ += piece;
    ++pieces_;
  }
  if (enough) filled_.notify_one();
}

std::optional<std::string> TraceFile::Trouble() const {
  const MutexLock lock(mutex_);
  if (lost_ == 0) return std::nullopt;
  return fmt::format("{}: up to {} records are missing at the end of the trace: {}", path_, lost_,
                     why_);
}

void TraceFile::Run() {
  std::string text;
  while (const auto pieces = Take(text)) {
    const std::string why = WriteAll(text);
    if (why.empty()) continue;
    const MutexLock lock(mutex_);
    why_ = why;
    lost_ += *pieces + std::exchange(pieces_, 0);
    buffer_.clear();
  }
}

std::string TraceFile::WriteAll(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t written = write(file_.get(), text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd room{file_.get(), POLLOUT, 0};
      if (poll(&room, 1, kTimeout) == 0)
        return "the program that reads the trace has stopped reading";
    } else if (errno != EINTR) {
      return std::strerror(errno);
    }
  }
  return "";
}

std::optional<uint64_t> TraceFile::Take(std::string& text) {
  const MutexLock lock(mutex_);
  if (end_ && buffer_.empty()) return std::nullopt;
  // A spurious wake-up does no harm: the buffered text is only written sooner.
  if (!end_ && buffer_.size() < kEnoughToWrite) filled_.wait_for(mutex_, kMaxWait);
  text.clear();
  text.swap(buffer_);
  return std::exchange(pieces_, 0);
}

}  // namespace viaduct::engine
