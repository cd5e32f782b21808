// Capture files that Wireshark and tcpdump read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/time.h"
#include "port/port.h"
#include "port/super_frame.h"

struct pcap;
struct pcap_dumper;

namespace viaduct::io {

// Removes the incomplete last frame from a pcap file in this machine's byte order, after the disk
// was full. Returns the number of complete frames; 0 if the file is not regular.
uint64_t KeepWholeFrames(const std::string& path);

// Writes frames with nanosecond time stamps to a pcap file (magic 0xa1b23c4d). The writer buffers
// frames, and writes its buffer in Flush() and in the destructor.
class PcapWriter {
 public:
  // The header with which the bytes of a frame start.
  enum class LinkType { kEthernet, kRawIp };

  // Creates or truncates the file `path`. Frames are cut to `snap_length` bytes. Throws
  // SystemError.
  explicit PcapWriter(const std::string& path, LinkType type = LinkType::kEthernet,
                      uint32_t snap_length = 65535);
  PcapWriter(const PcapWriter&) = delete;
  PcapWriter& operator=(const PcapWriter&) = delete;
  ~PcapWriter();

  // Writes a frame. `time`: the time since 1970 or since the start of a simulation; not negative.
  // Does not throw: after a failure (disk full) frames are only counted, and Flush() reports the
  // failure.
  void Write(Instant time, std::span<const std::byte> frame);
  // Writes a frame that a port has received in the form that it would have on a wire: cuts a
  // super-frame into frames, all with the same time, and completes a partial checksum in `frame`'s
  // bytes (port/super_frame.h). A frame that cannot be cut or completed is written unchanged, and
  // counted. Does not throw.
  void WriteAsOnWire(const ReceivedFrame& frame);
  // Writes the buffer to the file. The first call after a failure throws SystemError; the file is
  // then incomplete, and closed.
  void Flush();

  // Returns the number of frames in the file. After a failure the number is not correct until
  // Flush() has reported the failure.
  uint64_t frames_written() const { return frames_written_; }
  uint64_t frames_lost() const { return frames_lost_; }
  // Returns the number of frames, written or lost, in the form that the kernel had, not as on a
  // wire.
  uint64_t frames_unfinished() const { return frames_unfinished_; }

 private:
  void NoteFailure(bool failed);
  // Closes the file after a failure, and counts the frames that are not completely in the file as
  // lost.
  void Abandon();

  std::string path_;
  uint32_t snap_length_;
  pcap* format_ = nullptr;
  pcap_dumper* file_ = nullptr;
  int error_ = 0;  // errno of the first failure
  bool told_ = false;
  uint64_t frames_written_ = 0;
  uint64_t frames_lost_ = 0;
  uint64_t frames_unfinished_ = 0;
  SuperFrameSplitter splitter_;
};

}  // namespace viaduct::io
