#include "path/trace/pcapng.h"

namespace viaduct::path {
namespace {

// Block types (section 4 of draft-ietf-opsawg-pcapng) and option codes (sections 3.5 and 4).
constexpr uint32_t kSectionHeader = 0x0a0d0d0a, kInterface = 1, kEnhancedPacket = 6;
constexpr uint16_t kEndOfOptions = 0, kComment = 1;
constexpr uint16_t kUserApplication = 4, kInterfaceName = 2, kTimeResolution = 9;
constexpr uint16_t kEthernet = 1;  // LINKTYPE_ETHERNET

class Block {
 public:
  explicit Block(uint32_t type) { Put(type).Put(uint32_t{0}); }

  template <class T>
  Block& Put(T value) {
    for (size_t i = 0; i < sizeof(T); ++i) {
      text_ += static_cast<char>((static_cast<uint64_t>(value) >> (8 * i)) & 0xff);
    }
    return *this;
  }
  // Appends bytes, padded to 32 bits.
  Block& Append(std::string_view bytes) {
    text_ += bytes;
    text_.append((4 - bytes.size() % 4) % 4, '\0');
    return *this;
  }
  Block& Option(uint16_t code, std::string_view value) {
    const std::string_view cut = value.substr(0, UINT16_MAX);
    return Put(code).Put(static_cast<uint16_t>(cut.size())).Append(cut);
  }
  // Returns the block with its length, which is stored at both ends.
  std::string Finish() {
    Put(kEndOfOptions).Put(uint16_t{0});
    const auto length = static_cast<uint32_t>(text_.size() + 4);
    Put(length);
    for (size_t i = 0; i < 4; ++i) text_[4 + i] = static_cast<char>((length >> (8 * i)) & 0xff);
    return std::move(text_);
  }

 private:
  std::string text_;
};

}  // namespace

std::string PcapngHeader(std::string_view application) {
  return Block(kSectionHeader)
      .Put(uint32_t{0x1a2b3c4d})  // magic number for the byte order
      .Put(uint16_t{1})           // pcapng version 1.0
      .Put(uint16_t{0})
      .Put(UINT64_MAX)  // length of the section: not given
      .Option(kUserApplication, application)
      .Finish();
}

std::string PcapngInterface(std::string_view name) {
  return Block(kInterface)
      .Put(kEthernet)
      .Put(uint16_t{0})
      .Put(uint32_t{0})  // maximum packet length: not limited
      .Option(kInterfaceName, name)
      .Option(kTimeResolution, "\x09")  // time stamps in units of 10^-9 s
      .Finish();
}

std::string PcapngPacket(uint32_t interface, Instant time, std::span<const std::byte> frame,
                         uint32_t length, std::string_view comment) {
  const auto stamp = static_cast<uint64_t>(time.nanoseconds());
  return Block(kEnhancedPacket)
      .Put(interface)
      .Put(static_cast<uint32_t>(stamp >> 32))
      .Put(static_cast<uint32_t>(stamp))
      .Put(static_cast<uint32_t>(frame.size()))
      .Put(length)
      .Append({reinterpret_cast<const char*>(frame.data()), frame.size()})
      .Option(kComment, comment)
      .Finish();
}

}  // namespace viaduct::path
