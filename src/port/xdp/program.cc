#include "port/xdp/program.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if_link.h>
#include <poll.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "port/xdp/redirect.h"
#include "sys/bpf/object.h"
#include "sys/bpf/refusal.h"
#include "sys/network/filter.h"

namespace viaduct::bpf {
extern const EmbeddedProgram kRedirectProgram;
}

namespace viaduct::xdp {
namespace {

constexpr char kName[] = "viaduct_redirect";

[[noreturn]] void Refuse(const std::string& interface, const std::string& reason) {
  throw EnvironmentError(
      fmt::format("AF_XDP on interface {}: {}; use AF_PACKET", interface, reason));
}

// Suppresses libxdp's messages, which are meant for developers that use libxdp.
int Quiet(libxdp_print_level, const char*, va_list) { return 0; }

struct CloseMultiprog {
  void operator()(xdp_multiprog* programs) const { xdp_multiprog__close(programs); }
};
using Programs = std::unique_ptr<xdp_multiprog, CloseMultiprog>;

struct CloseProgram {
  void operator()(xdp_program* program) const { xdp_program__close(program); }
};
using LibxdpProgram = std::unique_ptr<xdp_program, CloseProgram>;

// Returns the XDP programs of an interface; nullptr if it has none.
Programs ProgramsOn(int ifindex) {
  libxdp_set_print(Quiet);
  xdp_multiprog* const programs = xdp_multiprog__get_from_ifindex(ifindex);
  return Programs(libxdp_get_error(programs) == 0 ? programs : nullptr);
}

std::string NameOfProgram(uint32_t id) {
  const UniqueFd program(bpf_prog_get_fd_by_id(id));
  bpf_prog_info info{};
  uint32_t length = sizeof info;
  if (!program || bpf_obj_get_info_by_fd(program.get(), &info, &length) != 0) return "?";
  return info.name;
}

// Whether redirect.bpf.c can execute an instruction of a filter.
bool IsExecutable(const sock_filter& instruction) {
  constexpr uint32_t kAncillary = 0xfff00000;  // SKF_NET_OFF and above: data of sk_buffs only
  const uint16_t kind = BPF_CLASS(instruction.code);
  const bool loads = kind == BPF_LD || kind == BPF_LDX;
  return !loads || BPF_MODE(instruction.code) != BPF_ABS || instruction.k < kAncillary;
}

std::vector<viaduct_redirect_instruction> Compile(const std::string& interface,
                                                  const std::string& filter) {
  std::vector<viaduct_redirect_instruction> instructions;
  const sys::PacketFilter compiled = sys::PacketFilter::Compile(filter);
  for (const sock_filter& from : compiled.instructions()) {
    if (!IsExecutable(from)) {
      Refuse(interface, fmt::format("the filter \"{}\" uses data that is not part of the frame, "
                                    "which AF_XDP does not support",
                                    filter));
    }
    instructions.push_back({from.code, from.jt, from.jf, from.k});
  }
  if (instructions.size() > VIADUCT_REDIRECT_INSTRUCTIONS) {
    Refuse(interface,
           fmt::format("the filter \"{:.60}...\" has {} instructions, but at most {} are supported",
                       filter, instructions.size(), VIADUCT_REDIRECT_INSTRUCTIONS));
  }
  return instructions;
}

std::string KernelsReason(int error) {
  const std::string messages = bpf::TakeMessages();
  const std::string log = messages.empty() ? "" : bpf::WriteLog(messages);
  const std::string words = bpf::LastWords(messages);
  return fmt::format("{}{}{}", std::strerror(error), words.empty() ? "" : " (" + words + ")",
                     log.empty() ? "" : "; the full log is in " + log);
}

// Returns the meaning of the error with which a driver refuses a program (veth_xdp_set() in
// drivers/net/veth.c): drivers give an explanation through netlink only.
std::string DriversReason(int error) {
  switch (error) {
    case EOPNOTSUPP:
      return "the driver of the interface does not support XDP programs";
    case ERANGE:
      return "the MTU of the interface is too large for XDP";
    case ENOSPC:
      return "the interface has fewer receive queues than the other end of the veth pair has send "
             "queues";
    default:
      return std::strerror(error);
  }
}

}  // namespace

struct Program::State {
  std::unique_ptr<bpf_object, void (*)(bpf_object*)> object{nullptr, bpf_object__close};
  UniqueFd link;
  LibxdpProgram beside;  // attached in a dispatcher, with `others` other programs
  xdp_attach_mode mode = XDP_MODE_UNSPEC;
  int others = 0;

  int Map(const char* name) const { return bpf_object__find_map_fd_by_name(object.get(), name); }
};

std::string Unavailable() { return ""; }

Program::Program(const std::string& interface, int ifindex, uint32_t queues,
                 const std::string& filter, Mode mode)
    : state_(std::make_unique<State>()), interface_(interface), ifindex_(ifindex) {
  const auto instructions = Compile(interface, filter);
  bpf::KeepMessages();
  state_->object.reset(
      bpf_object__open_mem(bpf::kRedirectProgram.bytes, bpf::kRedirectProgram.size, nullptr));
  bpf_object* const object = state_->object.get();
  if (object == nullptr) Refuse(interface, "the XDP program cannot be read");
  const auto length = static_cast<uint32_t>(instructions.size());
  const viaduct_redirect_constants constants{length};
  bpf_map__set_max_entries(bpf_object__find_map_by_name(object, "redirect_sockets"), queues);
  bpf_map__set_max_entries(bpf_object__find_map_by_name(object, "redirect_filter"),
                           length == 0 ? 1 : length);
  bpf_map__set_initial_value(bpf_object__find_map_by_name(object, ".rodata"), &constants,
                             sizeof constants);
  const Programs present = ProgramsOn(ifindex);
  if (present && xdp_multiprog__is_legacy(present.get())) {
    Refuse(interface,
           fmt::format("the interface already has an XDP program that was attached without "
                       "libxdp's dispatcher, so no other XDP program can be added ({})",
                       DescribePrograms(ifindex)));
  }
  if (present) {
    state_->others = xdp_multiprog__program_count(present.get());
    state_->mode = xdp_multiprog__attach_mode(present.get());
    AttachBeside(mode);
  } else {
    AttachAlone(mode);
  }
  for (uint32_t at = 0; at < length; ++at) {
    SystemCall("pass the filter to the kernel",
               bpf_map_update_elem(state_->Map("redirect_filter"), &at, &instructions[at], 0));
  }
}

void Program::AttachAlone(Mode mode) {
  const int error = bpf_object__load(state_->object.get());
  if (error != 0)
    Refuse(interface_, "the kernel cannot load the XDP program: " + KernelsReason(-error));
  LIBBPF_OPTS(bpf_link_create_opts, options);
  if (mode != Mode::kGeneric) {
    options.flags = XDP_FLAGS_DRV_MODE;
    const int link = bpf_link_create(Descriptor(), ifindex_, BPF_XDP, &options);
    is_native_ = link >= 0;
    state_->link = UniqueFd(link);
    if (is_native_) return;
    why_generic_ = DriversReason(errno);
    if (mode == Mode::kNative) Refuse(interface_, why_generic_);
  }
  options.flags = XDP_FLAGS_SKB_MODE;
  const int link = bpf_link_create(Descriptor(), ifindex_, BPF_XDP, &options);
  if (link < 0) Refuse(interface_, DriversReason(errno));
  state_->link = UniqueFd(link);
}

void Program::AttachBeside(Mode mode) {
  const bool there_is_native = state_->mode == XDP_MODE_NATIVE;
  if ((mode == Mode::kNative && !there_is_native) || (mode == Mode::kGeneric && there_is_native)) {
    Refuse(interface_, fmt::format("all XDP programs of an interface must be in the same mode, but "
                                   "the existing XDP programs are in {} mode",
                                   there_is_native ? "native" : "generic"));
  }
  DECLARE_LIBXDP_OPTS(xdp_program_opts, options);
  options.obj = state_->object.get();
  options.prog_name = kName;
  xdp_program* const program = xdp_program__create(&options);
  if (const long error = libxdp_get_error(program); error != 0) {
    Refuse(interface_,
           "libxdp rejected the XDP program: " + KernelsReason(static_cast<int>(-error)));
  }
  state_->beside.reset(program);
  const int error = xdp_program__attach(program, ifindex_, state_->mode, 0);
  if (error != 0) {
    state_->beside.reset();
    Refuse(interface_,
           fmt::format("the interface already has XDP programs, and libxdp cannot add another: {}",
                       KernelsReason(-error)));
  }
  is_native_ = there_is_native;
  if (mode == Mode::kAuto && !is_native_)
    why_generic_ = "the XDP programs that are already on the interface are in generic mode";
}

Program::~Program() {
  if (state_->beside) {
    (void)xdp_program__detach(state_->beside.get(), ifindex_, state_->mode, 0);
  }
}

UniqueFd Program::Map() const {
  return UniqueFd(
      SystemCall("duplicate a map", fcntl(state_->Map("redirect_sockets"), F_DUPFD_CLOEXEC, 3)));
}

std::string Program::Placement() const {
  if (!state_->beside) return "only XDP program on the interface";
  return fmt::format("XDP program in addition to {} other{}", state_->others,
                     state_->others == 1 ? "" : "s");
}

uint32_t Program::Left() const {
  return state_->beside ? xdp_program__id(state_->beside.get()) : 0;
}

uint32_t Program::Id() const {
  bpf_prog_info info{};
  uint32_t length = sizeof info;
  SystemCall("query an XDP program", bpf_obj_get_info_by_fd(Descriptor(), &info, &length));
  return info.id;
}

int Program::Descriptor() const {
  return bpf_program__fd(bpf_object__find_program_by_name(state_->object.get(), kName));
}

void DetachLeft(int ifindex, uint32_t program) {
  const Programs present = ProgramsOn(ifindex);
  if (!present || xdp_multiprog__is_legacy(present.get())) return;
  xdp_program* each = nullptr;
  while ((each = xdp_multiprog__next_prog(each, present.get())) != nullptr) {
    if (xdp_program__id(each) != program) continue;
    const int error =
        xdp_program__detach(each, ifindex, xdp_multiprog__attach_mode(present.get()), 0);
    if (error != 0) throw SystemError("detach the XDP program of a killed path", -error);
    return;
  }
}

void AwaitUnloaded(uint32_t program, Duration timeout) {
  constexpr int kPauseMs = 1;
  const Instant end = MonotonicClock::Now() + timeout;
  while (UniqueFd(bpf_prog_get_fd_by_id(program)) && MonotonicClock::Now() < end) {
    poll(nullptr, 0, kPauseMs);
  }
}

std::string DescribePrograms(int ifindex) {
  LIBBPF_OPTS(bpf_xdp_query_opts, found);
  if (bpf_xdp_query(ifindex, 0, &found) != 0) return "";
  const bool native = found.drv_prog_id != 0;
  const uint32_t id = native              ? found.drv_prog_id
                      : found.skb_prog_id ? found.skb_prog_id
                                          : found.prog_id;
  if (id == 0) return "";
  return fmt::format("program {} ({}), {}", id, NameOfProgram(id), native ? "native" : "generic");
}

}  // namespace viaduct::xdp
