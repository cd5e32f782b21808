#include "guest/virtio/shared_mapping.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <thread>

#include "base/error.h"

namespace viaduct::guest {
namespace {

constexpr size_t kSize = 3 * 4096;

UniqueFd Memory() {
  UniqueFd fd(SystemCall("memfd_create", memfd_create("test", MFD_CLOEXEC)));
  SystemCall("ftruncate", ftruncate(fd.get(), kSize));
  return fd;
}

// Reads a byte by an access that no compiler removes.
std::byte Read(const SharedMapping& mapping, size_t offset) {
  return *static_cast<volatile std::byte*>(mapping.start() + offset);
}
void Write(const SharedMapping& mapping, size_t offset, std::byte value) {
  *static_cast<volatile std::byte*>(mapping.start() + offset) = value;
}

TEST(SharedMappingTest, IsOfTheFile) {
  const UniqueFd fd = Memory();
  const SharedMapping one(fd, kSize);
  const SharedMapping other(fd, kSize);
  Write(one, 5000, std::byte{7});
  EXPECT_EQ(Read(other, 5000), std::byte{7});
  EXPECT_FALSE(one.lost());
}

TEST(SharedMappingTest, CutFileIsZerosAndNoEndOfTheProcess) {
  const UniqueFd fd = Memory();
  const UniqueFd whole = Memory();
  const SharedMapping before(whole, kSize);
  const SharedMapping cut(fd, kSize);
  const SharedMapping after(whole, kSize);
  Write(cut, 0, std::byte{7});
  ASSERT_EQ(ftruncate(fd.get(), 4096), 0);
  EXPECT_EQ(Read(cut, 0), std::byte{7});
  EXPECT_FALSE(cut.lost()) << "nothing that is gone was touched";
  std::thread([&] { Write(cut, 2 * 4096, std::byte{1}); }).join();
  EXPECT_TRUE(cut.lost());
  EXPECT_EQ(Read(cut, 0), std::byte{0});
  EXPECT_FALSE(before.lost());
  EXPECT_FALSE(after.lost());
}

TEST(SharedMappingTest, TakesNoOtherFaults) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const UniqueFd fd = Memory();
  const SharedMapping ours(fd, kSize);
  void* const other = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  ASSERT_NE(other, MAP_FAILED);
  EXPECT_DEATH(
      {
        (void)!ftruncate(fd.get(), 0);
        *static_cast<volatile char*>(other) = 1;
      },
      "");
  munmap(other, kSize);
  EXPECT_FALSE(ours.lost());
}

}  // namespace
}  // namespace viaduct::guest
