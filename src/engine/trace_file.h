// The file that receives the fates of a path's packets, written by a thread that forwards nothing.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/fd.h"
#include "base/mutex.h"

namespace viaduct::engine {

// Takes text from any thread, each piece whole, and writes it on a thread of its own. A disk that
// is too slow loses pieces, which are counted, and never holds up the threads that call Write().
class TraceFile {
 public:
  // Creates or truncates the file. Throws UsageError.
  explicit TraceFile(const std::string& path);
  // Writes what is left.
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  void Write(std::string_view piece);
  // Pieces that are not in the file: it could not be written fast enough, or at all.
  uint64_t lost() const;

 private:
  void Run();
  // What is to be written, in place of `text`, and how many pieces it is; nothing at the end.
  std::optional<uint64_t> Take(std::string& text);

  UniqueFd file_;
  mutable Mutex mutex_;
  std::condition_variable_any filled_;
  std::string buffer_ VIADUCT_GUARDED_BY(mutex_);
  uint64_t pieces_ VIADUCT_GUARDED_BY(mutex_) = 0;  // in buffer_
  uint64_t lost_ VIADUCT_GUARDED_BY(mutex_) = 0;
  bool end_ VIADUCT_GUARDED_BY(mutex_) = false;
  std::thread writer_;
};

}  // namespace viaduct::engine
