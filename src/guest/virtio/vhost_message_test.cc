#include "guest/virtio/vhost_message.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "base/error.h"

namespace viaduct::guest {
namespace {

std::vector<UniqueFd> Descriptors(size_t count) {
  std::vector<UniqueFd> descriptors;
  for (size_t i = 0; i < count; ++i) descriptors.emplace_back(open("/dev/null", O_RDONLY));
  return descriptors;
}

TEST(VhostAssemblerTest, CutsAStreamIntoMessages) {
  const std::array payload{std::byte{1}, std::byte{2}};
  auto stream = EncodeVhost(1, kVhostVersion, payload);
  const auto second = EncodeVhost(2, kVhostVersion, {});
  stream.insert(stream.end(), second.begin(), second.end());
  VhostAssembler assembler;
  assembler.Add(std::span(stream).first(13), Descriptors(2));
  EXPECT_FALSE(assembler.Next());
  assembler.Add(std::span(stream).subspan(13), {});
  const auto message = assembler.Next();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->payload.size(), 2U);
  EXPECT_EQ(message->descriptors.size(), 2U);
  EXPECT_EQ(assembler.Next()->header.request, 2U);
  EXPECT_FALSE(assembler.Next());
}

TEST(VhostAssemblerTest, KeepsNoMoreDescriptorsThanAMessageHas) {
  VhostAssembler assembler;
  const std::array piece{std::byte{1}};
  for (int i = 0; i < 2; ++i) assembler.Add(piece, Descriptors(4));
  EXPECT_THROW(assembler.Add(piece, Descriptors(1)), Error);
}

}  // namespace
}  // namespace viaduct::guest
