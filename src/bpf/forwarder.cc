#include "bpf/forwarder.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/pkt_cls.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <set>

#include "base/error.h"
#include "bpf/program.h"
#include "sys/network/netns.h"

namespace viaduct::bpf {
namespace {

// BPF_TCX_INGRESS of linux/bpf.h since 6.6; older headers do not have it.
constexpr auto kTcxIngress = static_cast<bpf_attach_type>(46);
constexpr size_t kLongestFrame = 65536 + 64;
constexpr int kRedirect = 7;  // TC_ACT_REDIRECT

using Object = std::unique_ptr<bpf_object, void (*)(bpf_object*)>;

// The last line that libbpf would have printed: the reason of a refusal.
thread_local std::string last_message;

int KeepMessage(libbpf_print_level level, const char* format, va_list arguments) {
  if (level == LIBBPF_DEBUG) return 0;
  char line[512];
  vsnprintf(line, sizeof line, format, arguments);
  last_message = line;
  while (last_message.ends_with('\n')) last_message.pop_back();
  return 0;
}

[[noreturn]] void Refuse(const std::string& attempted, int error_number) {
  throw EnvironmentError(fmt::format("eBPF data plane: {}: {}{}; use data_plane: kernel", attempted,
                                     std::strerror(error_number),
                                     last_message.empty() ? "" : " (" + last_message + ")"));
}

Object Load(size_t ports) {
  libbpf_set_print(KeepMessage);
  last_message.clear();
  Object object(bpf_object__open_mem(kForwardProgram, kForwardProgramSize, nullptr),
                bpf_object__close);
  if (!object) Refuse("the program cannot be read", errno);
  bpf_map* map = bpf_object__find_map_by_name(object.get(), "ports");
  bpf_map__set_max_entries(map, static_cast<uint32_t>(std::max<size_t>(ports, 1)));
  if (const int error = bpf_object__load(object.get()); error != 0) {
    Refuse("the kernel does not load the program", -error);
  }
  return object;
}

}  // namespace

struct Forwarder::State {
  explicit State(size_t port_count) : object(Load(port_count)) {
    program = bpf_program__fd(bpf_object__find_program_by_name(object.get(), "viaduct_forward"));
    ports = bpf_object__find_map_fd_by_name(object.get(), "ports");
    own_addresses = bpf_object__find_map_fd_by_name(object.get(), "own_addresses");
  }

  void Attach(int ifindex) {
    const int link = bpf_link_create(program, ifindex, kTcxIngress, nullptr);
    if (link >= 0) {
      links.emplace_back(link);
    } else if (errno == EINVAL) {
      AttachToClsact(ifindex);
    } else {
      Refuse(fmt::format("interface {} takes no program", ifindex), errno);
    }
  }

  // Before 6.6. Removed with the interface.
  void AttachToClsact(int ifindex) const {
    bpf_tc_hook hook{};
    hook.sz = sizeof hook;
    hook.ifindex = ifindex;
    hook.attach_point = BPF_TC_INGRESS;
    int error = bpf_tc_hook_create(&hook);
    bpf_tc_opts options{};
    options.sz = sizeof options;
    options.prog_fd = program;
    if (error == 0 || error == -EEXIST) error = bpf_tc_attach(&hook, &options);
    if (error != 0) Refuse(fmt::format("interface {} takes no program", ifindex), -error);
  }

  Object object;
  int program = -1;  // descriptors of the object
  int ports = -1;
  int own_addresses = -1;
  std::vector<UniqueFd> links;
  std::set<uint32_t> own;  // in network byte order, as in the map
};

std::string WhyNot() {
  try {
    sys::InScratchNamespace([] { Forwarder(sys::OpenCurrentNamespace().get(), {{1, false}}); });
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

Forwarder::Forwarder(int namespace_fd, const std::vector<Port>& ports)
    : state_(std::make_unique<State>(ports.size())) {
  const sys::NamespaceScope scope(namespace_fd);  // ifindexes are a namespace's
  for (const Port& port : ports) {
    const viaduct_port value{.is_wire = port.is_wire, .reserved = 0, .packets = {}, .bytes = 0};
    SystemCall("set up a port of the eBPF data plane",
               bpf_map_update_elem(state_->ports, &port.ifindex, &value, BPF_ANY));
  }
  for (const Port& port : ports) state_->Attach(port.ifindex);
}

Forwarder::~Forwarder() = default;

void Forwarder::SetOwnAddresses(const std::vector<wire::IpAddress>& addresses) {
  std::set<uint32_t> wanted;
  for (const wire::IpAddress& address : addresses) {
    uint32_t key = 0;
    if (address.family != wire::Family::kIpv4) continue;
    std::memcpy(&key, address.bytes.data(), sizeof key);
    wanted.insert(key);
  }
  const uint8_t present = 1;
  for (const uint32_t key : wanted) {
    SystemCall("store an address for the eBPF data plane",
               bpf_map_update_elem(state_->own_addresses, &key, &present, BPF_ANY));
  }
  for (const uint32_t key : state_->own) {
    if (!wanted.contains(key)) bpf_map_delete_elem(state_->own_addresses, &key);
  }
  state_->own = std::move(wanted);
}

viaduct_port Forwarder::CountersOf(int ifindex) const {
  viaduct_port port{};
  SystemCall(fmt::format("read the eBPF data plane's counters of interface {}", ifindex),
             bpf_map_lookup_elem(state_->ports, &ifindex, &port));
  return port;
}

Verdict Forwarder::Try(int ifindex, wire::ConstBytes frame) const {
  Verdict verdict;
  verdict.frame.resize(kLongestFrame);
  __sk_buff context{};
  context.ifindex = static_cast<uint32_t>(ifindex);
  bpf_test_run_opts options{};
  options.sz = sizeof options;
  options.data_in = frame.data();
  options.data_size_in = static_cast<uint32_t>(frame.size());
  options.data_out = verdict.frame.data();
  options.data_size_out = static_cast<uint32_t>(verdict.frame.size());
  options.ctx_in = &context;
  options.ctx_size_in = sizeof context;
  SystemCall("run the eBPF program on a frame", bpf_prog_test_run_opts(state_->program, &options));
  verdict.frame.resize(options.data_size_out);
  const int action = static_cast<int>(options.retval);
  if (action == TC_ACT_UNSPEC) verdict.action = Verdict::Action::kToKernel;
  if (action == kRedirect) verdict.action = Verdict::Action::kRedirected;
  return verdict;
}

}  // namespace viaduct::bpf
