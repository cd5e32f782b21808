// Tests with IPv4 and hop-by-hop options that a Linux kernel accepts or rejects; each case was
// found by sending a packet to a kernel.
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
           "00 ff ff ff",                           // end of options: later bytes are ignored
           "94 04 00 00",                           // router alert
           "07 0f 04 000000000000000000000000 00",  // record route
           "07 07 08 01010101 00",                  // record route that is full
           "44 0c 05 00 0000000000000000",          // timestamps
           "44 0c 05 01 0000000000000000",          // timestamps with addresses
           "44 0c 0d e0 0000000000000000",          // timestamps: full, overflow counter 14
           "44 0c 0d f3 0000000000000000",          // timestamps of given addresses: full
           "9e 04 00 00",                           // unknown option
       }) {
    EXPECT_TRUE(AcceptsIpv4Options(FromHex(options))) << options;
  }
}

TEST(OptionsTest, Ipv4OptionsThatTheKernelRejects) {
  for (const char* options : {
           "83 07 04 0a000001 00",              // loose source route
           "89 07 04 0a000001 00",              // strict source route
           "83 07 08 0a000001 00",              // loose source route that is used up
           "86 0c 00000001 01 06 00 00 00 00",  // CIPSO
           "07",                                // truncated
           "07 20 04 00",                       // option longer than the header
           "9e 00 00 00",                       // length 0
           "9e 01 00 00",
           "07 02 00 00",                                // record route without a pointer
           "07 07 03 00000000 00",                       // record route: pointer in its own header
           "07 07 05 00000000 00",                       // record route: no space for an address
           "07 07 04 00000000 07 07 04 00000000 00 00",  // two record routes
           "44 0c 04 00 0000000000000000",
           "44 08 05 01 00000000",          // timestamps: no space for an address and a time
           "44 0c 0d f0 0000000000000000",  // timestamps: full, and so is the overflow counter
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
           "11 00 1e 04 00000000",                       // unknown option with action 0: skipped
           "11 01 01 00 31 06 000000000000 01 02 0000",  // IOAM, aligned
           "11 01 01 04 00000000 1e 06 000000000000",    // padding before another option
       }) {
    EXPECT_TRUE(AcceptsHopByHopOptions(FromHex(options))) << options;
  }
}

TEST(OptionsTest, HopByHopOptionsThatTheKernelRejects) {
  for (const char* options : {
           "",
           "11 00 01 04 0000",  // truncated
           "11 01 01 04 00000000", "11 ff 00 00 00000000",
           "11 00 5e 04 00000000",  // unknown option with the action "discard"
           "11 00 9e 04 00000000",  // unknown option with the action "discard and report"
           "11 00 de 04 00000000",
           "11 00 1e 40 00000000",                  // option longer than the header
           "11 00 01 04 00000001",                  // PadN with a byte that is not zero
           "11 01 01 0c 000000000000000000000000",  // more than 7 bytes of padding
           "11 01 00 00 00 00 00 00 00 00 1e 04 00000000", "11 00 05 03 000000 00",
           "11 00 07 04 00000000",  // CALIPSO
           "11 00 31 04 00000000",  // IOAM, not aligned
           "11 00 c2 04 00010000",  // jumbo payload: longer than any frame
           "11 02 1e 00 1e 00 1e 00 1e 00 1e 00 1e 00 1e 00 1e 00 1e 00 01 02 0000",  // 9 options
       }) {
    EXPECT_FALSE(AcceptsHopByHopOptions(FromHex(options))) << options;
  }
}

}  // namespace
}  // namespace viaduct::forward
