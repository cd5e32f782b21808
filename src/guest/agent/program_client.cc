#include "guest/agent/program_client.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <memory>
#include <utility>

#include "base/error.h"
#include "base/wait_status.h"
#include "guest/agent/program_protocol.h"

namespace viaduct::guest {

using agent::BytesOf;

namespace {

void AppendText(std::string& texts, const std::string& text) {
  if (text.find('\0') != std::string::npos) {
    throw UsageError(fmt::format("program argument '{}' contains a zero byte", text.c_str()));
  }
  texts.append(text).push_back('\0');
}

}  // namespace

std::vector<std::string> DefaultEnvironment() {
  return {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
          "LANG=C.UTF-8", "TERM=dumb"};
}

std::string NodeFolder(const std::string& host_folder) {
  for (const std::string own : {"/run/", "/proc/", "/sys/", "/dev/"}) {
    if ((host_folder + "/").rfind(own, 0) == 0) return "/";
  }
  return host_folder;
}

std::string DescribeStatus(int status) {
  if (WIFSIGNALED(status)) return "killed by " + DescribeSignal(WTERMSIG(status));
  return fmt::format("exit status {}", WEXITSTATUS(status));
}

ProgramClient::ProgramClient(AgentClient& agent) : agent_(agent) {
  const std::weak_ptr<Programs> weak = programs_;
  // Finds a program's callbacks; returns a copy of them, because a callback may call Forget() for
  // the program.
  const auto find = [weak](const agent::Operation& operation) {
    const auto programs = weak.lock();
    if (!programs) return ProgramEvents();
    const auto found = programs->find(operation.subject);
    return found == programs->end() ? ProgramEvents() : found->second;
  };
  agent_.SetEventHandler(agent::kOutput, [find](const agent::Operation& operation) {
    const ProgramEvents events = find(operation);
    if (!events.output) return;
    events.output(static_cast<int>(operation.As<uint32_t>()), operation.After(sizeof(uint32_t)));
  });
  agent_.SetEventHandler(agent::kExited, [find](const agent::Operation& operation) {
    const ProgramEvents events = find(operation);
    if (events.exited) events.exited(operation.As<int32_t>());
  });
}

uint32_t ProgramClient::Start(const ProgramRequest& request, ProgramEvents events) {
  if (request.words.empty()) throw UsageError("the name of the program is missing");
  std::string texts;
  AppendText(texts, request.folder);
  for (const std::string& word : request.words) AppendText(texts, word);
  for (const std::string& variable : request.environment) AppendText(texts, variable);
  const agent::Spawn spawn{
      request.node,
      (request.input ? agent::kSpawnInput : 0) | (request.terminal ? agent::kSpawnTerminal : 0),
      static_cast<uint32_t>(request.words.size()),
      static_cast<uint32_t>(request.environment.size()),
      {request.rows, request.columns}};
  const uint32_t program = next_++;
  (*programs_)[program] = std::move(events);
  agent_.Ask(agent::kSpawn, program, {BytesOf(spawn), BytesOf(texts)},
             [weak = std::weak_ptr(programs_), program](const AgentClient::Answer& answer) {
               const auto programs = weak.lock();
               if (!programs || !programs->contains(program)) return;
               const auto started = programs->at(program).started;
               if (answer.error_number != 0) programs->erase(program);
               if (started) started(answer.error_number, answer.words);
             });
  return program;
}

void ProgramClient::Write(uint32_t program, std::span<const std::byte> bytes) {
  agent_.Tell(agent::kInput, program, {bytes});
}

void ProgramClient::Signal(uint32_t program, int signal) {
  const auto value = static_cast<uint32_t>(signal);
  agent_.Ask(agent::kSignal, program, {BytesOf(value)}, [](const AgentClient::Answer&) {});
}

void ProgramClient::Resize(uint32_t program, uint16_t rows, uint16_t columns) {
  const agent::TerminalSize size{rows, columns};
  agent_.Tell(agent::kResize, program, {BytesOf(size)});
}

bool ProgramClient::AtPrompt(uint32_t program) {
  auto is = std::make_shared<bool>(false);
  const uint32_t request =
      agent_.Ask(agent::kAtPrompt, program, {}, [is](const AgentClient::Answer& answer) {
        uint32_t value = 0;
        if (answer.result.size() != sizeof value) return;
        std::memcpy(&value, answer.result.data(), sizeof value);
        *is = value != 0;
      });
  return agent_.Await(request) && *is;
}

}  // namespace viaduct::guest
