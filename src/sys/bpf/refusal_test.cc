// Tests of the messages about eBPF programs that the kernel does not load.
#include "sys/bpf/refusal.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace viaduct::bpf {
namespace {

TEST(Refusal, TheVerifiersLastWords) {
  EXPECT_EQ(LastWords("libbpf: prog 'x': BPF program load failed: Permission denied\n"
                      "libbpf: prog 'x': -- BEGIN PROG LOAD LOG --\n"
                      "0: R1=ctx R10=fp0\n"
                      "1: (71) r0 = *(u8 *)(r2 +0)\n"
                      "R2 !read_ok\n"
                      "processed 2 insns (limit 1000000)\n"
                      "-- END PROG LOAD LOG --\n"
                      "libbpf: failed to load program 'x'\n"),
            "R2 !read_ok");
}

TEST(Refusal, WithoutAVerifier) {
  EXPECT_EQ(
      LastWords("libbpf: first\nlibbpf: map 'm': failed to create: Operation not permitted\n"),
      "libbpf: map 'm': failed to create: Operation not permitted");
  EXPECT_EQ(LastWords(""), "");
  EXPECT_EQ(LastWords("\n\n"), "");
}

TEST(Refusal, WordsOfTheEnvironment) {
  EXPECT_FALSE(IsSaidToLack("tcx"));
  setenv("VIADUCT_EBPF_LACKS", "bpf_redirect_peer() tcx", 1);
  EXPECT_TRUE(IsSaidToLack("tcx"));
  EXPECT_TRUE(IsSaidToLack("bpf_redirect_peer()"));
  EXPECT_FALSE(IsSaidToLack("bpf_redirect()"));
  unsetenv("VIADUCT_EBPF_LACKS");
}

}  // namespace
}  // namespace viaduct::bpf
