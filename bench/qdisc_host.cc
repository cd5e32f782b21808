// qdisc-host PLAN FOLDER: boots a guest kernel (viaduct kernel build) in virtual time with
// qdisc-guest as its first program, which writes the frames that arrive to FOLDER/results. The
// guest uses no other files of the host. Needs no privilege.
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "guest/image/image.h"
#include "guest/time/calendar.h"
#include "guest/time/event_queue.h"
#include "sys/process/find_program.h"

namespace {

using namespace viaduct;

void Run(const std::filesystem::path& plan, const std::filesystem::path& folder) {
  const std::filesystem::path self = sys::OwnProgram();
  guest::GuestOptions options;
  options.image = guest::FindImage("");
  options.memory_mib = 512;
  options.init = self.parent_path() / "qdisc-guest";
  options.writable = {folder};
  options.preload = sys::FindCompanion("libviaduct-random.so");
  options.boot_parameters = {"QDISC_PLAN=" + plan.string(), "QDISC_RESULTS=" + folder.string()};
  guest::EventQueue queue;
  guest::Calendar calendar(queue, {.uptime = Duration::Milliseconds(100)});
  calendar.AddGuest("qdiscs", [&options](const guest::GuestEndpoints& endpoints) {
    return guest::GuestProcess(options, endpoints);
  });
  calendar.Boot();
  while (!std::filesystem::exists(folder / "done")) {
    queue.RunUntil(queue.Now() + Duration::Seconds(1));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: qdisc-host PLAN FOLDER\n");
    return 2;
  }
  const auto folder = std::filesystem::absolute(argv[2]);
  try {
    Run(std::filesystem::absolute(argv[1]), folder);
  } catch (const Error& error) {
    if (std::filesystem::exists(folder / "done")) return 0;  // the guest has powered itself off
    std::fprintf(stderr, "qdisc-host: %s\n", error.what());
    return static_cast<int>(error.status());
  }
  return 0;
}
