#include "bpf/object.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/pkt_cls.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/error.h"

namespace viaduct::bpf {
namespace {

// BPF_TCX_INGRESS of linux/bpf.h since 6.6; older headers do not have it.
constexpr auto kTcxIngress = static_cast<bpf_attach_type>(46);
constexpr size_t kLongestFrame = 65536 + 64;
constexpr int kRedirect = 7;  // TC_ACT_REDIRECT

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

}  // namespace

Object::Object(const unsigned char* bytes, size_t size, const char* program,
               std::initializer_list<MapSize> sizes)
    : object_(nullptr, bpf_object__close) {
  libbpf_set_print(KeepMessage);
  last_message.clear();
  object_.reset(bpf_object__open_mem(bytes, size, nullptr));
  if (!object_) Refuse("the program cannot be read", errno);
  for (const auto& [map, entries] : sizes) {
    bpf_map__set_max_entries(bpf_object__find_map_by_name(object_.get(), map),
                             static_cast<uint32_t>(std::max<size_t>(entries, 1)));
  }
  if (const int error = bpf_object__load(object_.get()); error != 0) {
    Refuse("the kernel does not load the program", -error);
  }
  program_ = bpf_program__fd(bpf_object__find_program_by_name(object_.get(), program));
}

int Object::Map(const char* name) const {
  return bpf_object__find_map_fd_by_name(object_.get(), name);
}

void Object::Attach(int ifindex) {
  const int link = bpf_link_create(program_, ifindex, kTcxIngress, nullptr);
  if (link >= 0) {
    links_.emplace_back(link);
  } else if (errno == EINVAL) {
    AttachToClsact(ifindex);
  } else {
    Refuse(fmt::format("interface {} takes no program", ifindex), errno);
  }
}

// Before 6.6. Removed with the interface.
void Object::AttachToClsact(int ifindex) const {
  bpf_tc_hook hook{};
  hook.sz = sizeof hook;
  hook.ifindex = ifindex;
  hook.attach_point = BPF_TC_INGRESS;
  int error = bpf_tc_hook_create(&hook);
  bpf_tc_opts options{};
  options.sz = sizeof options;
  options.prog_fd = program_;
  if (error == 0 || error == -EEXIST) error = bpf_tc_attach(&hook, &options);
  if (error != 0) Refuse(fmt::format("interface {} takes no program", ifindex), -error);
}

Verdict Object::Try(int ifindex, wire::ConstBytes frame) const {
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
  SystemCall("run the eBPF program on a frame", bpf_prog_test_run_opts(program_, &options));
  verdict.frame.resize(options.data_size_out);
  const int action = static_cast<int>(options.retval);
  if (action == TC_ACT_UNSPEC) verdict.action = Verdict::Action::kToKernel;
  if (action == kRedirect) verdict.action = Verdict::Action::kRedirected;
  return verdict;
}

}  // namespace viaduct::bpf
