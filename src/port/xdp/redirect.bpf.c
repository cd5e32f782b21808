// Directs the frames that match a filter to the AF_XDP sockets of an interface, by the receive
// queue at which they arrived, and passes all other frames to the kernel. While a queue has no
// socket, and after its socket was closed, the program passes all frames of the queue to the
// kernel.
//
// The filter is classic BPF, which libpcap compiles and which this program executes: one verified
// program serves for every filter, also together with other programs. A load beyond the end of a
// frame and a division by 0 mean "no match", as in the kernel (net/core/filter.c).
// The next includes must not be sorted: libbpf needs the types of linux/bpf.h.
// clang-format off
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
// clang-format on

#include "port/xdp/xdp_stamp.h"
#include "port/xdp/redirect.h"

struct {
  __uint(type, BPF_MAP_TYPE_XSKMAP);
  __uint(max_entries, 1);  // the loader sets the number of entries
  __type(key, __u32);
  __type(value, __u32);
} redirect_sockets SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);  // the loader sets the number of entries
  __type(key, __u32);
  __type(value, struct viaduct_redirect_instruction);
} redirect_filter SEC(".maps");

const volatile struct viaduct_redirect_constants redirect_constants = {};

struct machine {
  struct xdp_md* frame;
  __u32 length;
  __u32 a, x, at;  // accumulator, index register, next instruction
  __u32 matches;
  __u32 memory[VIADUCT_REDIRECT_MEMORY];
};

// Loads 1, 2 or 4 bytes in network byte order. Returns 0 if not all of the bytes are in the frame.
static __always_inline int load(struct machine* m, __u32 at, __u32 size, __u32* value) {
  __u32 word = 0;
  __u16 half = 0;
  __u8 byte = 0;
  if (at > 0xffff) return 0;
  switch (size) {
    case BPF_W:
      if (bpf_xdp_load_bytes(m->frame, at, &word, sizeof word) < 0) return 0;
      *value = bpf_ntohl(word);
      return 1;
    case BPF_H:
      if (bpf_xdp_load_bytes(m->frame, at, &half, sizeof half) < 0) return 0;
      *value = bpf_ntohs(half);
      return 1;
    default:
      if (bpf_xdp_load_bytes(m->frame, at, &byte, sizeof byte) < 0) return 0;
      *value = byte;
      return 1;
  }
}

// Computes with the accumulator. Returns 0 if the filter ends without a match.
static __always_inline int compute(struct machine* m, __u32 operation, __u32 operand) {
  switch (operation) {
    case BPF_ADD:
      m->a += operand;
      return 1;
    case BPF_SUB:
      m->a -= operand;
      return 1;
    case BPF_MUL:
      m->a *= operand;
      return 1;
    case BPF_DIV:
      if (operand == 0) return 0;
      m->a /= operand;
      return 1;
    case BPF_MOD:
      if (operand == 0) return 0;
      m->a %= operand;
      return 1;
    case BPF_AND:
      m->a &= operand;
      return 1;
    case BPF_OR:
      m->a |= operand;
      return 1;
    case BPF_XOR:
      m->a ^= operand;
      return 1;
    case BPF_LSH:
      m->a <<= operand & 31;
      return 1;
    case BPF_RSH:
      m->a >>= operand & 31;
      return 1;
    case BPF_NEG:
      m->a = -m->a;
      return 1;
  }
  return 0;
}

static __always_inline int holds(const struct machine* m, __u32 condition, __u32 operand) {
  switch (condition) {
    case BPF_JEQ:
      return m->a == operand;
    case BPF_JGT:
      return m->a > operand;
    case BPF_JGE:
      return m->a >= operand;
    case BPF_JSET:
      return (m->a & operand) != 0;
  }
  return 0;
}

// Executes one instruction of the filter. Returns 1 if the filter has ended.
static long step(__u32 number, void* context) {
  struct machine* m = context;
  const __u32 at = m->at;
  const struct viaduct_redirect_instruction* i = bpf_map_lookup_elem(&redirect_filter, &at);
  (void)number;
  if (!i) return 1;
  m->at = at + 1;
  const __u32 k = i->k;
  const __u32 operand = BPF_SRC(i->code) == BPF_X ? m->x : k;
  __u32 value = 0;
  switch (BPF_CLASS(i->code)) {
    case BPF_LD:
    case BPF_LDX:
      switch (BPF_MODE(i->code)) {
        case BPF_ABS:
          if (!load(m, k, BPF_SIZE(i->code), &value)) return 1;
          break;
        case BPF_IND:
          if (!load(m, m->x + k, BPF_SIZE(i->code), &value)) return 1;
          break;
        case 0xa0:  // BPF_MSH of linux/filter.h: the length of an IPv4 header
          if (!load(m, k, BPF_B, &value)) return 1;
          value = (value & 15) << 2;
          break;
        case BPF_IMM:
          value = k;
          break;
        case 0x80:
          value = m->length;
          break;  // BPF_LEN
        case BPF_MEM:
          value = m->memory[k & (VIADUCT_REDIRECT_MEMORY - 1)];
          break;
        default:
          return 1;
      }
      if (BPF_CLASS(i->code) == BPF_LD) {
        m->a = value;
      } else {
        m->x = value;
      }
      return 0;
    case BPF_ST:
      m->memory[k & (VIADUCT_REDIRECT_MEMORY - 1)] = m->a;
      return 0;
    case BPF_STX:
      m->memory[k & (VIADUCT_REDIRECT_MEMORY - 1)] = m->x;
      return 0;
    case BPF_ALU:
      return !compute(m, BPF_OP(i->code), operand);
    case BPF_JMP:
      if (BPF_OP(i->code) == BPF_JA) {
        m->at += k;
      } else {
        m->at += holds(m, BPF_OP(i->code), operand) ? i->jt : i->jf;
      }
      return 0;
    case 0x06:                                           // BPF_RET
      m->matches = (i->code & 0x18) == 0x10 ? m->a : k;  // BPF_RVAL, BPF_A: return the accumulator
      return 1;
    case 0x07:  // BPF_MISC
      if ((i->code & 0xf8) == 0x80) {
        m->a = m->x;  // BPF_TXA
      } else {
        m->x = m->a;
      }
      return 0;
  }
  return 1;
}

static __always_inline int matches(struct xdp_md* frame) {
  const __u32 length = redirect_constants.filter_length;
  if (length == 0) return 1;
  struct machine m = {.frame = frame, .length = bpf_xdp_get_buff_len(frame)};
  // The loop needs at most `length` steps: all jumps of classic BPF go forward.
  bpf_loop(length, step, &m, 0);
  return m.matches != 0;
}

// Writes the time before the frame. If the driver has no space for metadata, the frame gets no
// stamp.
static __always_inline void stamp(struct xdp_md* frame) {
  struct viaduct_xdp_stamp* at;
  if (bpf_xdp_adjust_meta(frame, -(int)sizeof *at) != 0) return;
  at = (void*)(long)frame->data_meta;
  if ((void*)(at + 1) > (void*)(long)frame->data) return;
  at->magic = VIADUCT_XDP_STAMP;
  at->nanoseconds = bpf_ktime_get_ns();
}

SEC("xdp.frags")
int viaduct_redirect(struct xdp_md* frame) {
  if (!matches(frame)) return XDP_PASS;
  const int action = bpf_redirect_map(&redirect_sockets, frame->rx_queue_index, XDP_PASS);
  if (action == XDP_REDIRECT) stamp(frame);
  return action;
}

char viaduct_license[] SEC("license") = "GPL";
