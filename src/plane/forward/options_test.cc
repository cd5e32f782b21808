// Packets that a Linux kernel accepts or rejects, found by sending each to a kernel.
#include "plane/forward/options.h"

#include <gtest/gtest.h>

#include "base/wire/test/packet_builder.h"

namespace viaduct::forward {
namespace {

using wire::packet::FromHex;

TEST(OptionsTest, Ipv4OptionsThatPass) {
  for (const char* options : {
           "",
           "01 01 01 01",                           // no operation
           "00 ff ff ff",                           // end: the rest is ignored
           "94 04 00 00",                           // router alert
           "07 0f 04 000000000000000000000000 00",  // record route
           "07 07 08 01010101 00",                  // record route that is full
           "44 0c 05 00 0000000000000000",          // time stamps
           "44 0c 05 01 0000000000000000",          // with addresses
           "44 0c 0d e0 0000000000000000",          // full, 14 left out
           "44 0c 0d f3 0000000000000000",          // full, of given addresses
           "9e 04 00 00",                           // unknown
       }) {
    EXPECT_TRUE(AcceptsIpv4Options(FromHex(options))) << options;
  }
}

TEST(OptionsTest, Ipv4OptionsThatTheKernelRejects) {
  for (const char* options : {
           "83 07 04 0a000001 00",              // loose source route
           "89 07 04 0a000001 00",              // strict
           "83 07 08 0a000001 00",              // loose source route that is used up
           "86 0c 00000001 01 06 00 00 00 00",  // CIPSO
           "07",                                // cut off
           "07 20 04 00",                       // longer than the header
           "9e 00 00 00",                       // no length
           "9e 01 00 00",
           "07 02 00 00",                                // no pointer
           "07 07 03 00000000 00",                       // into the option's own header
           "07 07 05 00000000 00",                       // no space for an address
           "07 07 04 00000000 07 07 04 00000000 00 00",  // twice
           "44 0c 04 00 0000000000000000",
           "44 08 05 01 00000000",          // no space for an address and a time
           "44 0c 0d f0 0000000000000000",  // full, and so is the counter
           "44 08 05 00 00000000 44 08 05 00 00000000",
           "94 03 00 00",
       }) {
    EXPECT_FALSE(AcceptsIpv4Options(FromHex(options))) << options;
  }
}

TEST(OptionsTest, HopByHopOptionsThatPass) {
  for (const char* options : {
           "11 00 00 00 00 00 00 00",                    // Pad1
           "11 00 01 04 00000000",                       // PadN
           "11 00 05 02 0000 01 00",                     // router alert
           "11 00 1e 04 00000000",                       // unknown: skip it
           "11 01 01 00 31 06 000000000000 01 02 0000",  // IOAM, aligned
           "11 01 01 04 00000000 1e 06 000000000000",    // padding before an option
       }) {
    EXPECT_TRUE(AcceptsHopByHopOptions(FromHex(options))) << options;
  }
}

TEST(OptionsTest, HopByHopOptionsThatTheKernelRejects) {
  for (const char* options : {
           "",
           "11 00 01 04 0000",  // cut off
           "11 01 01 04 00000000", "11 ff 00 00 00000000",
           "11 00 5e 04 00000000",  // unknown: discard it
           "11 00 9e 04 00000000",  // unknown: discard it, and report
           "11 00 de 04 00000000",
           "11 00 1e 40 00000000",                  // longer than the header
           "11 00 01 04 00000001",                  // PadN that is not zero
           "11 01 01 0c 000000000000000000000000",  // more than 7 bytes of padding
           "11 01 00 00 00 00 00 00 00 00 1e 04 00000000", "11 00 05 03 000000 00",
           "11 00 07 04 00000000",  // CALIPSO
           "11 00 31 04 00000000",  // IOAM, not aligned
           "11 00 c2 04 00010000",  // longer than any frame
           "11 02 1e 00 1e 00 1e 00 1e 00 1e 00 1e 00 1e 00 1e 00 1e 00 01 02 0000",  // nine
       }) {
    EXPECT_FALSE(AcceptsHopByHopOptions(FromHex(options))) << options;
  }
}

}  // namespace
}  // namespace viaduct::forward
