// The file that receives the fates of a path's packets, written by a thread that forwards nothing.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/fd.h"

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

  UniqueFd file_;
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::string buffer_;   // guarded by mutex_
  uint64_t pieces_ = 0;  // in buffer_; guarded by mutex_
  uint64_t lost_ = 0;    // guarded by mutex_
  bool end_ = false;     // guarded by mutex_
  std::thread writer_;
};

}  // namespace viaduct::engine
