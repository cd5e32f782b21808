// Discards the copies that a node's kernel receives of frames which a forwarder in userspace
// receives from the same interfaces. The forwarder's packet sockets get each frame before this
// program does (taps of __netif_receive_skb_core()); without the program the kernel looks up a
// route for each copy and then drops it silently, because the kernel does not forward.
//
// The program discards only packets that the kernel would drop: unicast IPv4 and IPv6 packets in
// frames to the node's MAC address. Packets with options are not discarded, because the kernel
// checks and answers options before it routes. In IPv4 the program discards every packet that is
// not for the kernel; in IPv6 it discards only packets that a route forwards, because the kernel
// answers all other packets.
#include "plane/bpf/packet.bpf.h"

#include "plane/bpf/copy.h"

#define VERSION_AND_LENGTH 0x45  // the first byte of an IPv4 header of version 4 without options
#define FIRST_GROUP 224          // lowest first byte of multicast, reserved and broadcast addresses

struct {
  __uint(type, BPF_MAP_TYPE_LPM_TRIE);
  __uint(max_entries, 1);  // a placeholder: the loader sets the maximum number of networks
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, struct viaduct_copy_network4);
  __type(value, __u8);
} copy_networks4 SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_LPM_TRIE);
  __uint(max_entries, 1);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, struct viaduct_copy_network6);
  __type(value, __u8);
} copy_networks6 SEC(".maps");

// The families whose copies are discarded: a set of the bits VIADUCT_COPY_IPV4 and
// VIADUCT_COPY_IPV6. The variable is in the section .bss.
volatile __u32 discarded_families = 0;

static __always_inline int is_forwarders4(const void* header, const void* end) {
  const struct iphdr* ip = header;
  if ((const void*)(ip + 1) > end || *(const __u8*)header != VERSION_AND_LENGTH) return 0;
  const __u8 first = *(const __u8*)&ip->daddr;
  if (first == 0 || first >= FIRST_GROUP) return 0;
  struct viaduct_copy_network4 key = {.length = 8 * sizeof ip->daddr};
  __builtin_memcpy(key.address, &ip->daddr, sizeof ip->daddr);
  const __u8* taker = bpf_map_lookup_elem(&copy_networks4, &key);
  return !taker || *taker == VIADUCT_COPY_FORWARDER;
}

static __always_inline int is_forwarders6(const void* header, const void* end) {
  const struct ipv6hdr* ip = header;
  if ((const void*)(ip + 1) > end || ip->version != 6 || ip->nexthdr == IPPROTO_HOPOPTS) return 0;
  if (!is_forwardable_ipv6(&ip->daddr)) return 0;
  struct viaduct_copy_network6 key = {.length = 8 * sizeof ip->daddr};
  __builtin_memcpy(key.address, &ip->daddr, sizeof ip->daddr);
  const __u8* taker = bpf_map_lookup_elem(&copy_networks6, &key);
  return taker && *taker == VIADUCT_COPY_FORWARDER;
}

// Returns TC_ACT_UNSPEC for a frame that is not discarded: first the next programs at this
// interface receive it, then the kernel's stack.
SEC("tc")
int viaduct_copy(struct __sk_buff* skb) {
  const __u32 families = discarded_families;
  const struct ethhdr* frame = (void*)(long)skb->data;
  const void* end = (void*)(long)skb->data_end;
  if (skb->pkt_type != PACKET_HOST || skb->vlan_present) return TC_ACT_UNSPEC;
  if ((const void*)(frame + 1) > end) return TC_ACT_UNSPEC;
  if (frame->h_proto == bpf_htons(ETH_P_IP)) {
    if (families & VIADUCT_COPY_IPV4 && is_forwarders4(frame + 1, end)) return TC_ACT_SHOT;
  } else if (frame->h_proto == bpf_htons(ETH_P_IPV6)) {
    if (families & VIADUCT_COPY_IPV6 && is_forwarders6(frame + 1, end)) return TC_ACT_SHOT;
  }
  return TC_ACT_UNSPEC;
}

char viaduct_license[] SEC("license") = "GPL";
