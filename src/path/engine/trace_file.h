// The trace file of a path's packets, written by a separate thread.
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

// Takes pieces of text from any thread and writes them on a separate thread, without splitting a
// piece. If the disk is too slow, pieces are lost and counted; the threads that call Write() never
// wait.
class TraceFile {
 public:
  // Creates or truncates the file; a FIFO must have a reader already. Throws UsageError.
  explicit TraceFile(std::string path);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  void Write(std::string_view piece);
  // Writes the remaining text; later text is lost.
  void Finish();
  // Returns "FILE: up to 7 records are missing at its end: WHY" if pieces are not in the file
  // because they could not be written, or not fast enough. After a missing piece no further piece
  // is written, so that the file has no gap.
  std::optional<std::string> Trouble() const;

 private:
  void Run();
  // Replaces `text` by the text to write next. Returns the number of pieces in `text`, or nothing
  // at the end of the trace.
  std::optional<uint64_t> Take(std::string& text);

  // Writes the text until the file accepts no more; returns the reason for a failure, or an empty
  // text.
  std::string WriteAll(std::string_view text) const;

  const std::string path_;
  UniqueFd file_;
  mutable Mutex mutex_;
  std::condition_variable_any filled_;
  std::string buffer_ VIADUCT_GUARDED_BY(mutex_);
  uint64_t pieces_ VIADUCT_GUARDED_BY(mutex_) = 0;  // number of pieces in buffer_
  uint64_t lost_ VIADUCT_GUARDED_BY(mutex_) = 0;
  // Reason why the file could not be written; not empty: no text is accepted any more.
  std::string why_ VIADUCT_GUARDED_BY(mutex_);
  bool end_ VIADUCT_GUARDED_BY(mutex_) = false;
  std::thread writer_;
};

}  // namespace viaduct::engine
