#include "port/pcap_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pcap/pcap.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "base/wire/test/packet_builder.h"

namespace viaduct::io {
namespace {

class PcapWriterTest : public testing::Test {
 public:
  PcapWriterTest()
      : path_(std::filesystem::temp_directory_path() /
              ("viaduct-pcap-test-" + std::to_string(getpid()))) {}
  ~PcapWriterTest() override { std::filesystem::remove(path_); }

 protected:
  // Reads the frame with number `index` from the file, with libpcap's reader.
  pcap_pkthdr ReadBack(int index, std::string& bytes) {
    char error[PCAP_ERRBUF_SIZE];
    pcap_t* const file =
        pcap_open_offline_with_tstamp_precision(path_.c_str(), PCAP_TSTAMP_PRECISION_NANO, error);
    if (file == nullptr) throw Error(error);
    link_type_ = pcap_datalink(file);
    pcap_pkthdr header{};
    const u_char* data = nullptr;
    for (int i = 0; i <= index; ++i) data = pcap_next(file, &header);
    if (data != nullptr) bytes.assign(reinterpret_cast<const char*>(data), header.caplen);
    pcap_close(file);
    return header;
  }

  std::filesystem::path path_;
  int link_type_ = -1;
};

std::string Text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST_F(PcapWriterTest, WritesNanosecondTimesThatLibpcapReads) {
  using namespace wire::packet;
  const auto frame = Build(Ethernet{} / Ipv4{} / Udp{} / Payload{"hello"});
  {
    PcapWriter writer(path_);
    writer.Write(Instant::FromNanoseconds(1700000000123456789), frame);
    writer.Write(Instant::FromNanoseconds(5), frame);
    EXPECT_EQ(writer.frames_written(), 2u);
  }
  std::string bytes;
  const pcap_pkthdr first = ReadBack(0, bytes);
  EXPECT_EQ(first.ts.tv_sec, 1700000000);
  EXPECT_EQ(first.ts.tv_usec, 123456789);
  EXPECT_EQ(bytes, Text(frame));
  EXPECT_EQ(ReadBack(1, bytes).ts.tv_usec, 5);
  EXPECT_EQ(link_type_, DLT_EN10MB);
  uint32_t magic = 0;
  std::ifstream(path_, std::ios::binary).read(reinterpret_cast<char*>(&magic), sizeof(magic));
  EXPECT_EQ(magic, 0xa1b23c4d);
}

TEST_F(PcapWriterTest, CutsAtTheSnapLengthAndKeepsTheTrueLength) {
  PcapWriter writer(path_, PcapWriter::LinkType::kRawIp, 10);
  const std::string packet = "0123456789abcdef";
  writer.Write(Instant(), std::as_bytes(std::span(packet)));
  writer.Flush();
  std::string bytes;
  const pcap_pkthdr header = ReadBack(0, bytes);
  EXPECT_EQ(header.len, 16u);
  EXPECT_EQ(bytes, "0123456789");
  EXPECT_EQ(link_type_, DLT_RAW);
}

TEST_F(PcapWriterTest, WritesWhatWouldBeOnAWire) {
  using namespace wire::packet;
  auto frame = Build(Ethernet{} / Vlan{.id = 7} / Ipv6{} / Tcp{} / Counting(2500));
  {
    PcapWriter writer(path_);
    ReceivedFrame received;
    received.bytes = frame;
    received.received = Instant::FromNanoseconds(5);
    received.checksum = Checksum::kPartial;
    received.checksum_start = 58;
    received.checksum_offset = 16;
    received.gso_size = 1000;
    writer.WriteAsOnWire(received);
    EXPECT_EQ(writer.frames_written(), 3u);
    EXPECT_EQ(writer.frames_unfinished(), 0u);
    // A frame with a gso_size of a protocol that cannot be cut (ARP).
    auto other = Build(Ethernet{} / Arp{});
    received.bytes = other;
    writer.WriteAsOnWire(received);
    EXPECT_EQ(writer.frames_written(), 4u);
    EXPECT_EQ(writer.frames_unfinished(), 1u);
  }
  std::string bytes;
  const auto described = [&](int index) {
    EXPECT_EQ(ReadBack(index, bytes).ts.tv_usec, 5);
    return Describe(std::as_bytes(std::span(bytes)));
  };
  EXPECT_THAT(described(0), testing::HasSubstr("seq 0 checksum good / 1000 bytes"));
  EXPECT_THAT(described(1), testing::HasSubstr("seq 1000 checksum good / 1000 bytes"));
  EXPECT_THAT(described(2), testing::HasSubstr("seq 2000 checksum good / 500 bytes"));
  EXPECT_THAT(described(2), testing::HasSubstr("vlan 7"));
  EXPECT_THAT(described(3), testing::HasSubstr("arp"));
}

TEST_F(PcapWriterTest, TellsAFullDiskOnce) {
  PcapWriter writer("/dev/full");
  const std::string packet(100000, 'x');
  for (int i = 0; i < 10; ++i) writer.Write(Instant(), std::as_bytes(std::span(packet)));
  EXPECT_EQ(writer.frames_written() + writer.frames_lost(), 10u);
  EXPECT_GT(writer.frames_lost(), 0u);
  try {
    writer.Flush();
    FAIL() << "no error";
  } catch (const SystemError& error) {
    EXPECT_EQ(error.error_number(), ENOSPC);
    EXPECT_NE(std::string(error.what()).find("/dev/full"), std::string::npos);
  }
  EXPECT_NO_THROW(writer.Flush());
}

TEST_F(PcapWriterTest, AfterAFailureCountsTheFramesOfTheFile) {
  const rlimit before = [] {
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    return limit;
  }();
  signal(SIGXFSZ, SIG_IGN);
  const rlimit room = {20000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &room);
  PcapWriter writer(path_);
  const std::string packet(984, 'x');  // 1000 bytes with the header of the pcap record
  for (int i = 0; i < 100; ++i) writer.Write(Instant(), std::as_bytes(std::span(packet)));
  EXPECT_THROW(writer.Flush(), SystemError);
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(writer.frames_written(), 19u);
  EXPECT_EQ(writer.frames_lost(), 81u);
  EXPECT_EQ(std::filesystem::file_size(path_), 24u + 19 * 1000);
}

TEST_F(PcapWriterTest, TellsAPathThatCannotBeWritten) {
  EXPECT_THROW(PcapWriter("/nonexistent/x.pcap"), SystemError);
}

}  // namespace
}  // namespace viaduct::io
