// The reason for which this kernel does not load an eBPF program, in one line; the whole log is in
// a file.
#pragma once

#include <string>
#include <string_view>

struct bpf_program;

namespace viaduct::bpf {

// Makes libbpf print nothing from now on; its messages on this thread are kept.
void KeepMessages();
// Returns libbpf's messages since the last call, with their line breaks.
std::string TakeMessages();

// Returns the verifier's last line in libbpf's messages, or the last line of these if there is none
// of the verifier.
std::string LastWords(std::string_view messages);
// Returns the first helper function that the program calls and that this kernel does not have for
// it, such as "bpf_redirect_peer()"; "" if it has all.
std::string MissingHelper(const bpf_program* program);
// Writes the messages to a file in place of the previous one; returns the file's name, "" if it
// could not be written.
std::string WriteLog(const std::string& messages);

// Whether this kernel must be treated as an older one that lacks this feature ("tcx",
// "bpf_redirect_peer()"): a word of the environment's VIADUCT_EBPF_LACKS. For tests.
bool IsSaidToLack(std::string_view what);
// Whether this kernel must be treated as lacking a helper function that the program calls.
bool IsSaidToLackHelper(const bpf_program* program);

}  // namespace viaduct::bpf
