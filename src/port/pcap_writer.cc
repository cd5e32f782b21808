#include "port/pcap_writer.h"

#include <pcap/pcap.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/error.h"

namespace viaduct::io {

uint64_t KeepWholeFrames(const std::string& path) {
  constexpr uint64_t kFileHeader = 24, kFrameHeader = 16;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return 0;
  const uint64_t size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  uint64_t frames = 0, end = kFileHeader;
  std::array<uint32_t, 4> header{};  // seconds, nanoseconds, bytes in the file, bytes of the frame
  while (end + kFrameHeader <= size) {
    file.seekg(static_cast<std::streamoff>(end));
    if (!file.read(reinterpret_cast<char*>(header.data()), kFrameHeader)) break;
    if (end + kFrameHeader + header[2] > size) break;
    end += kFrameHeader + header[2];
    ++frames;
  }
  if (end < size) std::filesystem::resize_file(path, end, error);
  return frames;
}

PcapWriter::PcapWriter(const std::string& path, LinkType type, uint32_t snap_length)
    : path_(path), snap_length_(snap_length) {
  FILE* const stream = fopen(path.c_str(), "we");
  if (stream == nullptr) throw SystemError("create capture file " + path, errno);
  format_ = pcap_open_dead_with_tstamp_precision(type == LinkType::kEthernet ? DLT_EN10MB : DLT_RAW,
                                                 static_cast<int>(snap_length),
                                                 PCAP_TSTAMP_PRECISION_NANO);
  // pcap_dump_fopen() takes ownership of the stream, even if it fails to write the header.
  if (format_ != nullptr) file_ = pcap_dump_fopen(format_, stream);
  if (file_ == nullptr) {
    const int error = errno;
    if (format_ != nullptr) pcap_close(format_);
    throw SystemError("write capture file " + path, error);
  }
}

PcapWriter::~PcapWriter() {
  if (file_ != nullptr) pcap_dump_close(file_);
  pcap_close(format_);
}

void PcapWriter::Write(Instant time, std::span<const std::byte> frame) {
  if (error_ != 0) {
    ++frames_lost_;
    return;
  }
  pcap_pkthdr header{};
  // The file has nanosecond precision: tv_usec holds nanoseconds.
  header.ts.tv_sec = time.nanoseconds() / 1000000000;
  header.ts.tv_usec = time.nanoseconds() % 1000000000;
  header.len = static_cast<uint32_t>(frame.size());
  header.caplen = std::min(header.len, snap_length_);
  pcap_dump(reinterpret_cast<u_char*>(file_), &header,
            reinterpret_cast<const u_char*>(frame.data()));
  NoteFailure(ferror(pcap_dump_file(file_)) != 0);
  ++(error_ == 0 ? frames_written_ : frames_lost_);
}

void PcapWriter::WriteAsOnWire(const ReceivedFrame& frame) {
  bool any = false;
  const bool whole = splitter_.Split(frame, [&](std::span<std::byte> proper) {
    Write(frame.received, proper);
    any = true;
  });
  if (whole) return;
  ++frames_unfinished_;
  // The first frame of a super-frame is the longest: if a frame does not fit, none has been
  // written.
  if (!any) Write(frame.received, frame.bytes);
}

void PcapWriter::Flush() {
  if (error_ == 0) NoteFailure(pcap_dump_flush(file_) != 0);
  if (error_ == 0 || told_) return;
  told_ = true;
  Abandon();
  throw SystemError("write capture file " + path_ + " (the capture ends with this error)", error_);
}

void PcapWriter::Abandon() {
  pcap_dump_close(file_);
  file_ = nullptr;
  const uint64_t whole = KeepWholeFrames(path_);
  frames_lost_ += frames_written_ - std::min(whole, frames_written_);
  frames_written_ = std::min(whole, frames_written_);
}

void PcapWriter::NoteFailure(bool failed) {
  if (failed) error_ = errno != 0 ? errno : EIO;
}

}  // namespace viaduct::io
