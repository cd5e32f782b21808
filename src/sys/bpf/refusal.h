// The reason for which this kernel does not load an eBPF program, in one line; libbpf's full log is
// written to a file.
#pragma once

#include <string>
#include <string_view>

struct bpf_program;

namespace viaduct::bpf {

// Stops libbpf from printing messages. Messages of libbpf on this thread are kept for
// TakeMessages().
void KeepMessages();
// Returns libbpf's messages since the last call, including their line breaks.
std::string TakeMessages();

// Returns the last line of the kernel's verifier in libbpf's messages, or the last line of the
// messages if the verifier wrote none of them.
std::string LastWords(std::string_view messages);
// Returns the first helper function that the program calls and that this kernel does not have for
// programs of its type, such as "bpf_redirect_peer()"; "" if the kernel has all functions that the
// program calls.
std::string MissingHelper(const bpf_program* program);
// Writes the messages to a file in place of the previous one; returns the file's name, "" if it
// could not be written.
std::string WriteLog(const std::string& messages);

// Whether this kernel must be treated as an older kernel that lacks the feature `what` ("tcx",
// "bpf_redirect_peer()"), because `what` is a word of the environment variable VIADUCT_EBPF_LACKS.
// For tests.
bool IsSaidToLack(std::string_view what);
// Whether this kernel must be treated as lacking a helper function that the program calls
// (VIADUCT_EBPF_LACKS).
bool IsSaidToLackHelper(const bpf_program* program);

}  // namespace viaduct::bpf
