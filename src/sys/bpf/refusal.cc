#include "sys/bpf/refusal.h"

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "sys/trusted_folder.h"

namespace viaduct::bpf {
namespace {

constexpr const char* kLogFile = ".ebpf-log";

thread_local std::string messages_said;

int KeepMessage(libbpf_print_level level, const char* format, va_list arguments) {
  if (level == LIBBPF_DEBUG) return 0;
  va_list again;
  va_copy(again, arguments);
  const int size = vsnprintf(nullptr, 0, format, arguments);
  const size_t start = messages_said.size();
  messages_said.resize(start + static_cast<size_t>(size > 0 ? size : 0) + 1);
  vsnprintf(messages_said.data() + start, messages_said.size() - start, format, again);
  messages_said.pop_back();
  va_end(again);
  return 0;
}

std::string NameOfHelper(int32_t number) {
#define VIADUCT_HELPER_NAME(name) #name
  static constexpr std::array kNames = {__BPF_FUNC_MAPPER(VIADUCT_HELPER_NAME)};
#undef VIADUCT_HELPER_NAME
  const auto index = static_cast<size_t>(number);
  return index < kNames.size() ? fmt::format("bpf_{}()", kNames.at(index))
                               : fmt::format("helper {}", number);
}

std::set<int32_t> HelpersOf(const bpf_program* program) {
  std::set<int32_t> helpers;
  const bpf_insn* instruction = bpf_program__insns(program);
  for (size_t left = bpf_program__insn_cnt(program); left > 0; --left, ++instruction) {
    const bool is_call = instruction->code == (BPF_JMP | BPF_CALL);
    if (is_call && instruction->src_reg == 0) helpers.insert(instruction->imm);
  }
  return helpers;
}

bool SaysSomething(const std::string& line) {
  return !line.empty() && !line.starts_with("processed ") && !line.starts_with("--");
}

}  // namespace

void KeepMessages() {
  messages_said.clear();
  libbpf_set_print(KeepMessage);
}

std::string TakeMessages() { return std::exchange(messages_said, {}); }

std::string LastWords(std::string_view messages) {
  const size_t begin = messages.find("-- BEGIN PROG LOAD LOG --");
  const size_t end = messages.find("-- END PROG LOAD LOG --");
  if (begin != messages.npos && end != messages.npos && begin < end) {
    messages = messages.substr(begin, end - begin);
  }
  std::istringstream lines{std::string(messages)};
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (SaysSomething(line)) last = line;
  }
  return last;
}

std::string MissingHelper(const bpf_program* program) {
  for (const int32_t helper : HelpersOf(program)) {
    std::string name = NameOfHelper(helper);
    const auto number = static_cast<bpf_func_id>(helper);
    const bool is_there =
        // A result below 0 means that it is unknown whether the kernel has the helper function.
        libbpf_probe_bpf_helper(BPF_PROG_TYPE_SCHED_CLS, number, nullptr) != 0;
    if (!is_there || IsSaidToLack(name)) return name;
  }
  return "";
}

std::string WriteLog(const std::string& messages) {
  try {
    const UniqueFd folder = sys::MakeTrusted(sys::RunPlace());
    const UniqueFd file(openat(folder.get(), kLogFile,
                               O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!file) return "";
    WriteAll(file.get(), messages, "write the eBPF log");
    return fmt::format("{}/{}", sys::kRunFolder, kLogFile);
  } catch (const Error&) {
    return "";
  }
}

bool IsSaidToLack(std::string_view what) {
  const char* words = std::getenv("VIADUCT_EBPF_LACKS");
  std::istringstream all(words == nullptr ? "" : words);
  for (std::string word; all >> word;) {
    if (word == what) return true;
  }
  return false;
}

bool IsSaidToLackHelper(const bpf_program* program) {
  return std::ranges::any_of(HelpersOf(program),
                             [](int32_t helper) { return IsSaidToLack(NameOfHelper(helper)); });
}

}  // namespace viaduct::bpf
