// The stamp that the XDP program (port/xdp/redirect.bpf.c) writes before a frame that it gives to
// an AF_XDP socket. Read by C and C++.
#pragma once

#define VIADUCT_XDP_STAMP 0x5644785374616d70ULL  // "VDxStamp"

struct viaduct_xdp_stamp {
  unsigned long long magic;        // VIADUCT_XDP_STAMP
  unsigned long long nanoseconds;  // CLOCK_MONOTONIC: when the program saw the frame
};
