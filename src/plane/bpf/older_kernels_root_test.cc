// Tests of kernels that are older than the eBPF programs of src/plane/bpf need: the error messages
// where such a kernel cannot load a program, and the replacements of missing features. Needs root.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "plane/bpf/forward_program.h"
#include "plane/bpf/program.h"
#include "plane/bpf/upcall_program.h"
#include "sys/network/netns.h"

namespace viaduct::bpf {
namespace {

// Sets the environment variable VIADUCT_EBPF_LACKS, which simulates a missing feature of the
// kernel, while this object exists.
struct Lacking {
  explicit Lacking(const char* what) { setenv("VIADUCT_EBPF_LACKS", what, 1); }
  ~Lacking() { unsetenv("VIADUCT_EBPF_LACKS"); }
};

class OlderKernelRootTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root (eBPF)";
    if (const std::string why = Unavailable(); !why.empty()) GTEST_SKIP() << why;
  }

  static std::string MessageOf(const std::function<void()>& attempt) {
    try {
      attempt();
      return "";
    } catch (const EnvironmentError& error) {
      return error.what();
    }
  }
};

// Changes the license of the program from GPL to BSD: the kernel then refuses the program the
// helper that looks up routes.
TEST_F(OlderKernelRootTest, AShortMessageAndTheWholeLogInAFile) {
  const auto& [bytes, size] = kForwardProgram;
  std::vector<unsigned char> program(bytes, bytes + size);
  const std::string_view gpl("GPL\0", 4), other("BSD\0", 4);
  const auto found = std::search(program.begin(), program.end(), gpl.begin(), gpl.end());
  ASSERT_NE(found, program.end());
  std::ranges::copy(other, found);
  const std::string message = MessageOf([&] {
    const Object object({program.data(), program.size()}, "viaduct_forward", {});
  });
  EXPECT_THAT(message, testing::HasSubstr("cannot call GPL-restricted function"));
  EXPECT_THAT(message,
              testing::HasSubstr(
                  "log of the verifier is in /run/viaduct/.ebpf-log); use another data_plane"));
  EXPECT_LT(message.size(), 300U);
  EXPECT_THAT(ReadFile("/run/viaduct/.ebpf-log"), testing::HasSubstr("BEGIN PROG LOAD LOG"));
  unlink("/run/viaduct/.ebpf-log");
}

TEST_F(OlderKernelRootTest, AKernelWithoutAHelper) {
  const Lacking lacking("bpf_redirect_peer()");
  EXPECT_THAT(Unavailable(),
              testing::HasSubstr("too old and lacks bpf_redirect_peer(); use another data_plane"));
}

TEST_F(OlderKernelRootTest, AKernelWithoutAHelperOfOneOfSeveralPrograms) {
  for (const char* helper : {"bpf_skb_change_head()", "bpf_clone_redirect()"}) {
    const Lacking lacking(helper);
    EXPECT_THAT(
        MessageOf([] { std::ignore = AttachUpcalls(sys::OpenCurrentNamespace().get(), {}); }),
        testing::HasSubstr(std::string("too old and lacks ") + helper + "; use mode emulate"));
  }
}

// The kernel is treated as one without tcx, as before Linux 6.6.
TEST_F(OlderKernelRootTest, AKernelWithoutTcx) {
  const Lacking lacking("tcx");
  EXPECT_EQ(Unavailable(), "");
}

}  // namespace
}  // namespace viaduct::bpf
