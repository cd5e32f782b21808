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

// Removes the incomplete last frame from a pcap file of this machine's byte order, after its disk
// was full. Returns the number of whole frames; 0 if it is no such file.
uint64_t KeepWholeFrames(const std::string& path);

// Writes frames with nanosecond time stamps (pcap magic 0xa1b23c4d), buffered; flushed on request
// and on destruction.
class PcapWriter {
 public:
  // The header that the bytes of a frame start with.
  enum class LinkType { kEthernet, kRawIp };

  // Creates or truncates `path`. Frames are cut to `snap_length` bytes. Throws SystemError.
  explicit PcapWriter(const std::string& path, LinkType type = LinkType::kEthernet,
                      uint32_t snap_length = 65535);
  PcapWriter(const PcapWriter&) = delete;
  PcapWriter& operator=(const PcapWriter&) = delete;
  ~PcapWriter();

  // `time`: since 1970 or since the start of a simulation; not negative. Does not throw: after a
  // failure (disk full) frames are only counted, and Flush() reports the failure.
  void Write(Instant time, std::span<const std::byte> frame);
  // Writes the frames that would be on a wire for one that a port has received, all with its time:
  // a super-frame is cut, a partial checksum completed in `frame`'s bytes (port/super_frame.h). A
  // frame that cannot be cut or completed is written unchanged, and counted. Does not throw.
  void WriteAsOnWire(const ReceivedFrame& frame);
  // Throws SystemError the first time after a failure; the file is then incomplete, and closed.
  void Flush();

  // The number of frames in the file; after a failure, once Flush() has reported it.
  uint64_t frames_written() const { return frames_written_; }
  uint64_t frames_lost() const { return frames_lost_; }
  // The number of frames, written or lost, in the form that the kernel had, not as on a wire.
  uint64_t frames_unfinished() const { return frames_unfinished_; }

 private:
  void NoteFailure(bool failed);
  // Counts the frames still in memory as lost: they will not be written after a failure.
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
