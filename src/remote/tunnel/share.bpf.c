// Shares the receive buffer of a tunnel's UDP socket among its clients. The program is a socket
// filter, which runs before a datagram is queued. It refuses datagrams of a client that has much of
// the buffer already, so that other clients find space, and counts each refusal for its client.
//
// The limit is the dynamic threshold of Choudhury and Hahne ("Dynamic queue length thresholds for
// shared-memory packet switches", IEEE/ACM Transactions on Networking 6(2), 1998) with alpha = 1/2:
// a client may have half of the free space. A client that floods alone gets a third of the buffer,
// and two thirds stay free.
//
// In addition, the process that reads the socket may limit the number of a client's datagrams in
// the buffer to the number of frames that it can still queue for the client: reading datagrams that
// are then dropped would take the time of waiting datagrams, and the more is sent, the less would
// arrive (receive livelock: Mogul and Ramakrishnan, ACM Transactions on Computer Systems 15(3),
// 1997).
// clang-format off
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
// clang-format on

#include "remote/tunnel/share.h"

#define ALL (~0U)  // the filter's return value that keeps all bytes of the datagram
#define VXLAN_FLAG_I 0x08000000U
#define IPV4_SOURCE 12  // offset of the source address in the IPv4 header
#define IPV6_SOURCE 8
#define MAX_SEGMENTS 128  // maximum number of datagrams in a message (UDP_MAX_SEGMENTS)
#define INNER 16          // offset of the frame in a datagram: after the UDP and VXLAN headers
#define MAC_ADDRESSES 12  // bytes of the frame's two MAC addresses

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);  // the loader sets the number of shares
  __type(key, __u32);
  __type(value, struct viaduct_share);
} shares SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct viaduct_share_sum);
} share_sum SEC(".maps");

// Indexes in `shares`; the key is the VNI.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1);  // the loader sets the number of VNIs
  __type(key, __u32);
  __type(value, __u32);
} share_vnis SEC(".maps");

struct vxlan {
  __be32 flags, vni;
};

struct source {
  __u64 half[2];
};

// The share of a datagram, found by its VXLAN header.
struct owner {
  struct viaduct_share* named;  // share of the datagram's VNI; NULL: no node has the VNI
  int is_foreign, is_vxlan;
};

static __always_inline void add(__u64* to, __u64 value) { __sync_fetch_and_add(to, value); }

static __always_inline void read_source(const struct __sk_buff* skb, struct source* source) {
  source->half[0] = source->half[1] = 0;
  if (skb->protocol == bpf_htons(ETH_P_IP)) {
    __u8* bytes = (__u8*)source;
    bytes[10] = bytes[11] = 0xff;
    bpf_skb_load_bytes_relative(skb, IPV4_SOURCE, bytes + 12, 4, BPF_HDR_START_NET);
  } else {
    bpf_skb_load_bytes_relative(skb, IPV6_SOURCE, source, sizeof *source, BPF_HDR_START_NET);
  }
}

static __always_inline int is_from(const struct viaduct_share* share, const struct source* source) {
  if (share->state != VIADUCT_SHARE_CLAIMED) return share->state == VIADUCT_SHARE_ANYONE;
  return share->source[0] == source->half[0] && share->source[1] == source->half[1];
}

// Finds the share of a datagram. `at`: the offset of its VXLAN header in the message, counted from
// the UDP header.
static __always_inline struct owner owner_of(const struct __sk_buff* skb, __u32 at,
                                             const struct source* source) {
  struct owner owner = {.named = 0, .is_foreign = 1, .is_vxlan = 0};
  struct vxlan header;
  if (bpf_skb_load_bytes(skb, at, &header, sizeof header) < 0) return owner;
  if (!(header.flags & bpf_htonl(VXLAN_FLAG_I))) return owner;
  owner.is_vxlan = 1;
  const __u32 vni = bpf_ntohl(header.vni) >> 8;
  const __u32* index = bpf_map_lookup_elem(&share_vnis, &vni);
  if (!index) return owner;
  owner.named = bpf_map_lookup_elem(&shares, index);
  if (owner.named) owner.is_foreign = !is_from(owner.named, source);
  return owner;
}

// Returns the length of the frame at the beginning of the message, by its IP header; 0 if the frame
// has no IP header.
static __always_inline __u32 inner_length(const struct __sk_buff* skb) {
  __u32 at = INNER + MAC_ADDRESSES;
  __be16 type = 0, length = 0;
  if (bpf_skb_load_bytes(skb, at, &type, sizeof type) < 0) return 0;
  for (int tags = 0; tags < 2; ++tags) {
    if (type != bpf_htons(ETH_P_8021Q) && type != bpf_htons(ETH_P_8021AD)) break;
    at += 4;
    if (bpf_skb_load_bytes(skb, at, &type, sizeof type) < 0) return 0;
  }
  at += sizeof type;
  if (type == bpf_htons(ETH_P_IP)) {
    if (bpf_skb_load_bytes(skb, at + 2, &length, sizeof length) < 0) return 0;
    return at - INNER + bpf_ntohs(length);
  }
  if (type != bpf_htons(ETH_P_IPV6)) return 0;
  if (bpf_skb_load_bytes(skb, at + 4, &length, sizeof length) < 0) return 0;
  return at - INNER + 40 + bpf_ntohs(length);
}

// Returns the number of datagrams in the message: one, if the message is a frame that its sender's
// kernel left undivided. The reader (SocketShares) must compute the same number, otherwise the
// space of read datagrams would not be freed. But the kernel reports the segments of an undivided
// frame to the reader only if they are UDP segments.
static __always_inline __u32 datagrams_of(const struct __sk_buff* skb, __u32 bytes) {
  const __u32 segment = skb->gso_size;
  if (segment == 0 || inner_length(skb) + sizeof(struct vxlan) > segment) return 1;
  return (bytes + segment - 1) / segment;
}

static __always_inline void count_refused(struct owner owner, struct viaduct_share* foreign,
                                          __u64 datagrams) {
  if (owner.named && !owner.is_foreign) {
    add(&owner.named->lost, datagrams);
  } else if (owner.named) {
    add(&owner.named->spoofed, datagrams);
  } else if (owner.is_vxlan) {
    add(&foreign->spoofed, datagrams);
  } else {
    add(&foreign->lost, datagrams);
  }
}

// Counts one datagram of a refused message; `at`: the offset of the datagram. Returns 1 without
// counting if the datagram must be counted like the first datagram of the message, whose header is
// `first`. Such a datagram has the same header, or no header (in a frame that the sender's kernel
// left undivided). Returns 0 otherwise. The function is neither inline nor static, so that the
// verifier examines it once and not for each datagram.
__attribute__((noinline)) int viaduct_refuse(struct __sk_buff* skb, __u32 at, __u64 first) {
  const __u32 of_foreign = VIADUCT_SHARE_FOREIGN;
  __u64 header = 0;
  if (!skb || bpf_skb_load_bytes(skb, at, &header, sizeof header) < 0 || header == first) return 1;
  struct source source;
  read_source(skb, &source);
  const struct owner owner = owner_of(skb, at, &source);
  if (!owner.is_vxlan) return 1;
  if (owner.is_foreign && !owner_of(skb, sizeof(struct udphdr), &source).is_foreign) return 1;
  struct viaduct_share* foreign = bpf_map_lookup_elem(&shares, &of_foreign);
  if (foreign) count_refused(owner, foreign, 1);
  return 0;
}

SEC("socket")
int viaduct_share(struct __sk_buff* skb) {
  const __u32 only = 0, of_foreign = VIADUCT_SHARE_FOREIGN;
  struct viaduct_share_sum* sum = bpf_map_lookup_elem(&share_sum, &only);
  struct viaduct_share* foreign = bpf_map_lookup_elem(&shares, &of_foreign);
  if (!sum || !foreign || skb->len < sizeof(struct udphdr)) return ALL;
  struct source source;
  read_source(skb, &source);
  const struct owner owner = owner_of(skb, sizeof(struct udphdr), &source);
  struct viaduct_share* share = owner.is_foreign ? foreign : owner.named;
  if (!share) return ALL;

  const __u32 bytes = skb->len - sizeof(struct udphdr), segment = skb->gso_size;
  const __u32 datagrams = datagrams_of(skb, bytes);
  const __u64 cost = bytes + (__u64)datagrams * VIADUCT_SHARE_EACH;
  const __s64 has = share->queued - share->taken, all = sum->queued - sum->taken;
  const __s64 room = sum->room, is_free = all < 0 ? room : room - all;
  const __u32 limit = share->limit;
  const __s64 waiting = share->datagrams - share->datagrams_taken;
  const int is_full = limit > 0 && waiting + 1 >= (__s64)limit;
  if (!is_full && (has < 0 ? 0 : has) + (__s64)cost <= is_free >> 1) {
    add(&share->queued, cost);
    add(&share->datagrams, datagrams);
    add(&sum->queued, cost);
    return ALL;
  }
  add(&sum->messages, 1);
  __u64 first = 0, like_first = 1;
  bpf_skb_load_bytes(skb, sizeof(struct udphdr), &first, sizeof first);
  const __u32 lost = segment == 0 ? 1 : (bytes + segment - 1) / segment;
  for (__u32 i = 1; i < MAX_SEGMENTS && i < lost; ++i) {
    like_first += viaduct_refuse(skb, sizeof(struct udphdr) + i * segment, first);
  }
  count_refused(owner, foreign, like_first);
  return 0;
}

char viaduct_license[] SEC("license") = "GPL";
