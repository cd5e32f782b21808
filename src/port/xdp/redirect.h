// The definitions that the XDP program and its loader (port/xdp/program.cc) share. C and C++
// include this header.
#pragma once

#define VIADUCT_REDIRECT_INSTRUCTIONS 4096  // maximum in a filter: BPF_MAXINSNS of classic BPF
#define VIADUCT_REDIRECT_MEMORY 16          // words of memory: BPF_MEMWORDS of classic BPF

// An instruction of the filter: struct sock_filter of linux/filter.h.
struct viaduct_redirect_instruction {
  unsigned short code;
  unsigned char jt, jf;
  unsigned int k;
};

// The constants of the program, in the order of its section .rodata.
struct viaduct_redirect_constants {
  unsigned int filter_length;  // number of instructions; 0: every frame matches
};
