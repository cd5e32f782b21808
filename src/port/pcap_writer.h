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

// After its disk was full: cuts off what is left of the last frame in a pcap file of this machine's
// byte order, and returns how many whole frames there are; 0 if it is no such file.
uint64_t KeepWholeFrames(const std::string& path);

// Writes frames with nanosecond time stamps (pcap magic 0xa1b23c4d), buffered; flushed on request
// and on destruction.
class PcapWriter {
 public:
  // What the bytes of a frame start with.
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
  // a super-frame is cut, a partial checksum completed in `frame`'s bytes (port/super_frame.h).
  // What cannot be cut or completed is written as it is, and counted. Does not throw.
  void WriteAsOnWire(const ReceivedFrame& frame);
  // Throws SystemError the first time after a failure; the file is then incomplete, and closed.
  void Flush();

  // After a failure: those that are in the file, once Flush() has reported it.
  uint64_t frames_written() const { return frames_written_; }
  uint64_t frames_lost() const { return frames_lost_; }
  // Of those that were written or lost: not as on a wire, but as the kernel had them.
  uint64_t frames_unfinished() const { return frames_unfinished_; }

 private:
  void NoteFailure(bool failed);
  // After a failure: what is still in memory will not be written, and is lost.
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
