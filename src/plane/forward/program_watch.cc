#include "plane/forward/program_watch.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "base/error.h"

namespace viaduct::forward {
namespace {

thread_local const char* whose_turn = nullptr;
int words_fd = -1;

void Write(const char* text) {
  if (write(words_fd, text, std::strlen(text)) < 0) return;  // no process reads the text
}

// Reports the signal that ends the process, and the running program. Calls only functions that a
// signal handler may call (signal-safety(7)).
void Tell(int number) {
  Write(whose_turn != nullptr ? whose_turn : "the forwarder, outside of forwarding programs");
  if (number == SIGALRM) {
    Write(": did not return for 5 s\n");
  } else {
    const std::array<char, 3> digits = {static_cast<char>('0' + number / 10),
                                        static_cast<char>('0' + number % 10), '\0'};
    Write(": signal ");
    Write(number < 10 ? &digits[1] : digits.data());
    Write("\n");
  }
  raise(number);  // repeats the signal, whose action is the default again (SA_RESETHAND)
}

}  // namespace

void ProgramWatch::Start(int words) {
  static_assert(kTimeout == Duration::Seconds(5));  // Tell() prints the number 5
  words_fd = words;
  for (const int number : {SIGALRM, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP}) {
    struct sigaction action {};
    action.sa_handler = Tell;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    SystemCall("sigaction", sigaction(number, &action, nullptr));
  }
}

void ProgramWatch::Rearm() {
  if (words_fd >= 0) alarm(static_cast<unsigned>(kTimeout / Duration::Seconds(1)));
}

void ProgramWatch::Name(const char* whose) { whose_turn = whose; }

}  // namespace viaduct::forward
