// Why this kernel does not load an eBPF program, in one line; the whole log is in a file.
#pragma once

#include <string>
#include <string_view>

struct bpf_program;

namespace viaduct::bpf {

// From now on libbpf prints nothing; what it says on this thread is kept.
void KeepMessages();
// What it has said since the last call, lines as they were.
std::string TakeMessages();

// The verifier's last words in libbpf's messages, or the last line of these if it said nothing.
std::string LastWords(std::string_view messages);
// The first helper function that the program calls and this kernel does not have for it:
// "bpf_redirect_peer()". Empty: it has all.
std::string MissingHelper(const bpf_program* program);
// The file that now holds these messages; the one before is gone. Empty: it could not be written.
std::string WriteLog(const std::string& messages);

// Whether this kernel is to be treated as an older one that lacks this ("tcx",
// "bpf_redirect_peer()"): a word of the environment's VIADUCT_EBPF_LACKS. For tests.
bool IsSaidToLack(std::string_view what);
// The same of a helper function that the program calls.
bool IsSaidToLackHelper(const bpf_program* program);

}  // namespace viaduct::bpf
