#include "sys/bpf/object.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/pkt_cls.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/socket_option.h"
#include "sys/bpf/refusal.h"

namespace viaduct::bpf {
namespace {

// BPF_TCX_INGRESS and BPF_TCX_EGRESS of linux/bpf.h since 6.6; older headers do not have them.
constexpr auto kTcxIngress = static_cast<bpf_attach_type>(46);
constexpr auto kTcxEgress = static_cast<bpf_attach_type>(47);
// The handle and priority of the filter that Attach() leaves attached. The kernel itself chooses
// other numbers.
constexpr uint32_t kStayingFilter = 0x5664;
constexpr size_t kMaxFrame = 65536 + 64;
constexpr int kRedirect = 7;  // TC_ACT_REDIRECT

[[noreturn]] void Refuse(const Object::Purpose& purpose, const std::string& attempted,
                         const std::string& reason) {
  throw EnvironmentError(
      fmt::format("{}: {}: {}; {}", purpose.what, attempted, reason, purpose.instead));
}

[[noreturn]] void RefuseInterface(const Object::Purpose& purpose, int ifindex, int error_number) {
  Refuse(purpose, fmt::format("cannot attach a program to interface {}", ifindex),
         std::strerror(error_number));
}

std::vector<const bpf_program*> ProgramsOf(const bpf_object* object) {
  std::vector<const bpf_program*> programs;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object) programs.push_back(program);
  return programs;
}

std::string FirstMissingHelper(const bpf_object* object) {
  for (const bpf_program* program : ProgramsOf(object)) {
    std::string missing = MissingHelper(program);
    if (!missing.empty()) return missing;
  }
  return "";
}

// Throws an error with the reason for which the kernel did not load the program. If the kernel
// lacks a helper function, the error names the function, because only the kernel's developers
// understand the kernel's message.
[[noreturn]] void RefuseProgram(const Object::Purpose& purpose, const bpf_object* object,
                                int error_number) {
  const std::string attempted = "the kernel cannot load the program";
  const std::string messages = TakeMessages();
  const std::string missing = FirstMissingHelper(object);
  if (!missing.empty()) Refuse(purpose, attempted, "the kernel is too old and lacks " + missing);
  const std::string log = WriteLog(messages);
  Refuse(
      purpose, attempted,
      fmt::format("{} ({}{})", std::strerror(error_number), LastWords(messages),
                  log.empty() ? std::string() : "; the complete log of the verifier is in " + log));
}

}  // namespace

Object::Object(EmbeddedProgram file, const char* program, std::initializer_list<MapSize> sizes,
               std::span<const std::byte> constants, const Purpose& purpose)
    : purpose_(purpose), object_(nullptr, bpf_object__close) {
  KeepMessages();
  object_.reset(bpf_object__open_mem(file.bytes, file.size, nullptr));
  if (!object_) Refuse(purpose_, "cannot read the program", std::strerror(errno));
  for (const auto& [map, entries] : sizes) {
    bpf_map__set_max_entries(bpf_object__find_map_by_name(object_.get(), map),
                             static_cast<uint32_t>(std::max<size_t>(entries, 1)));
  }
  if (!constants.empty()) {
    bpf_map__set_initial_value(bpf_object__find_map_by_name(object_.get(), ".rodata"),
                               constants.data(), constants.size());
  }
  const bool is_old = std::ranges::any_of(ProgramsOf(object_.get()), IsSaidToLackHelper);
  const int error = is_old ? -EINVAL : bpf_object__load(object_.get());
  if (error != 0) RefuseProgram(purpose_, object_.get(), -error);
  program_ = bpf_program__fd(bpf_object__find_program_by_name(object_.get(), program));
}

bpf::Map Object::Map(const char* name) const {
  return bpf::Map(bpf_object__find_map_fd_by_name(object_.get(), name));
}

void Object::AttachToSocket(int socket) const {
  SetSocketOption(socket, SOL_SOCKET, SO_ATTACH_BPF, program_, "SO_ATTACH_BPF");
}

UniqueFd Object::AttachToTcx(int ifindex) const {
  if (IsSaidToLack("tcx")) return {};
  const int link = bpf_link_create(program_, ifindex, kTcxIngress, nullptr);
  if (link < 0 && errno != EINVAL) RefuseInterface(purpose_, ifindex, errno);
  return UniqueFd(link);
}

UniqueFd Object::AttachWhileOpen(int ifindex) const {
  UniqueFd link = AttachToTcx(ifindex);
  if (!link) Refuse(purpose_, "the kernel does not support tcx", "Linux 6.6 or later is needed");
  return link;
}

void Object::Attach(int ifindex) {
  UniqueFd link = AttachToTcx(ifindex);
  if (link) {
    links_.push_back(std::move(link));
  } else {
    bpf_tc_opts options{};
    options.prog_fd = program_;
    AttachToClsact(&options, ifindex, Side::kIngress);
  }
}

UniqueFd Object::AttachFirst(const char* program, int ifindex, Side side) const {
  constexpr uint32_t kBefore = 1U << 3;  // BPF_F_BEFORE of linux/bpf.h since 6.6
  const bpf_program* found = bpf_object__find_program_by_name(object_.get(), program);
  bpf_link_create_opts options{};
  options.sz = sizeof options;
  options.flags = kBefore;
  const bpf_attach_type hook = side == Side::kIngress ? kTcxIngress : kTcxEgress;
  const int link =
      IsSaidToLack("tcx") ? -1 : bpf_link_create(bpf_program__fd(found), ifindex, hook, &options);
  if (link >= 0) return UniqueFd(link);
  if (!IsSaidToLack("tcx") && errno != EINVAL) RefuseInterface(purpose_, ifindex, errno);
  AttachToClsact(program, ifindex, side);
  return {};
}

void Object::AttachToClsact(const char* program, int ifindex, Side side) const {
  const bpf_program* found = bpf_object__find_program_by_name(object_.get(), program);
  bpf_tc_opts options{};
  options.prog_fd = bpf_program__fd(found);
  options.flags = BPF_TC_F_REPLACE;
  options.handle = options.priority = kStayingFilter;
  AttachToClsact(&options, ifindex, side);
}

void Object::AttachToClsact(bpf_tc_opts* options, int ifindex, Side side) const {
  bpf_tc_hook hook{};
  hook.sz = sizeof hook;
  hook.ifindex = ifindex;
  hook.attach_point = side == Side::kIngress ? BPF_TC_INGRESS : BPF_TC_EGRESS;
  int error = bpf_tc_hook_create(&hook);
  options->sz = sizeof *options;
  if (error == 0 || error == -EEXIST) error = bpf_tc_attach(&hook, options);
  if (error != 0) RefuseInterface(purpose_, ifindex, -error);
}

Verdict Object::Try(int ifindex, wire::ConstBytes frame) const {
  Verdict verdict;
  verdict.frame.resize(kMaxFrame);
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
  if (action == TC_ACT_SHOT) verdict.action = Verdict::Action::kDropped;
  if (action == kRedirect) verdict.action = Verdict::Action::kRedirected;
  return verdict;
}

}  // namespace viaduct::bpf
