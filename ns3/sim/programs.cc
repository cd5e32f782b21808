/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "programs.h"

#include "time-conversion.h"

#include "ns3/kernel-application-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include "base/units.h"
#include "guest/agent/program_client.h"
#include "scenario/words.h"

#include <csignal>
#include <cstring>
#include <filesystem>
#include <sys/wait.h>
#include <utility>

namespace ns3
{
namespace sim
{

namespace
{

constexpr size_t KEPT = 8 << 20;           // of what a program writes, bytes
constexpr size_t OUTPUT_IN_RESULTS = 4096; // its end
constexpr size_t LONGEST_LINE = 4096;      // shown as one

} // namespace

SimulatedProgram::SimulatedProgram(const viaduct::scenario::Program& settings,
                                   Ptr<Node> node,
                                   LineHandler line,
                                   std::function<void()> passed)
    : m_settings(settings),
      m_lineHandler(std::move(line)),
      m_passed(std::move(passed)),
      m_start(Simulator::Now() + ToTime(settings.start))
{
    KernelApplicationHelper helper(settings.command);
    helper.SetAttribute("WorkingDirectory",
                        StringValue(viaduct::guest::NodeFolder(std::filesystem::current_path())));
    for (const auto& [name, value] : settings.environment)
    {
        helper.SetEnvironment(name, value);
    }
    m_application = DynamicCast<KernelApplication>(helper.Install(node).Get(0));
    m_application->SetStartTime(ToTime(settings.start));
    m_application->SetStartFailureCallback(MakeCallback(&SimulatedProgram::StartFailed, this));
    m_application->TraceConnectWithoutContext("Output",
                                              MakeCallback(&SimulatedProgram::Output, this));
    m_application->TraceConnectWithoutContext("Exit",
                                              MakeCallback(&SimulatedProgram::Exited, this));
    if (settings.background)
    {
        Simulator::Schedule(ToTime(settings.start), m_passed);
    }
    if (settings.timeout)
    {
        Simulator::Schedule(
            ToTime(settings.start + *settings.timeout), &SimulatedProgram::TimedOut, this);
    }
}

SimulatedProgram::~SimulatedProgram()
{
    m_application->SetStartFailureCallback({});
    m_application->TraceDisconnectWithoutContext("Output",
                                                 MakeCallback(&SimulatedProgram::Output, this));
    m_application->TraceDisconnectWithoutContext("Exit",
                                                 MakeCallback(&SimulatedProgram::Exited, this));
}

bool
SimulatedProgram::HasStarted() const
{
    return Simulator::Now() >= m_start && m_trouble.empty();
}

bool
SimulatedProgram::HasPassed() const
{
    return !m_trouble.empty() || m_application->HasExited() ||
           (m_settings.background && HasStarted());
}

bool
SimulatedProgram::HasEnded() const
{
    return !m_trouble.empty() || m_application->HasExited();
}

void
SimulatedProgram::StartFailed(const std::string& reason)
{
    m_trouble = reason + "; is the program installed on this machine?";
    m_passed();
}

void
SimulatedProgram::Output(int descriptor, const std::string& text)
{
    std::string& line = m_lines[descriptor == 1 ? 0 : 1];
    for (const char c : text)
    {
        if (c != '\n' && line.size() < LONGEST_LINE)
        {
            line += c;
            continue;
        }
        m_lineHandler(std::exchange(line, c == '\n' ? "" : std::string(1, c)));
    }
}

void
SimulatedProgram::Exited(int)
{
    m_exitTime = Simulator::Now();
    for (std::string& line : m_lines)
    {
        if (!line.empty())
        {
            m_lineHandler(std::exchange(line, ""));
        }
    }
    m_passed();
}

void
SimulatedProgram::TimedOut()
{
    if (HasEnded() || m_stopped)
    {
        return;
    }
    m_timedOut = true;
    m_application->Signal(SIGKILL);
}

void
SimulatedProgram::End()
{
    m_stopped = !HasEnded();
    m_application->Signal(SIGTERM);
}

bool
SimulatedProgram::Succeeded() const
{
    const int status = m_application->GetStatus();
    return !m_timedOut && !m_stopped && m_trouble.empty() && WIFEXITED(status) &&
           WEXITSTATUS(status) == m_settings.expect;
}

std::string
SimulatedProgram::Ending() const
{
    if (!m_trouble.empty())
    {
        return m_trouble;
    }
    if (m_stopped)
    {
        return "stopped at the end of the run";
    }
    const int status = m_application->GetStatus();
    if (WIFEXITED(status))
    {
        return "ended with status " + std::to_string(WEXITSTATUS(status));
    }
    const int signal = WTERMSIG(status);
    return "was killed by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
}

std::string
SimulatedProgram::Failure() const
{
    const std::string program = "program '" + m_settings.name + "'";
    if (!m_trouble.empty())
    {
        return program + ": " + m_trouble;
    }
    if (m_settings.background || Succeeded())
    {
        return "";
    }
    if (m_timedOut)
    {
        return program + " ran longer than its timeout of " +
               viaduct::FormatDuration(*m_settings.timeout);
    }
    return program + (m_stopped ? " was still running at the end of the run" : " " + Ending());
}

nlohmann::json
SimulatedProgram::Result() const
{
    const std::string& errors = m_application->GetErrors();
    std::string text = m_application->GetOutput().substr(0, KEPT);
    text += errors.substr(0, KEPT - text.size());
    const size_t tail = text.size() > OUTPUT_IN_RESULTS ? text.size() - OUTPUT_IN_RESULTS : 0;
    const bool started = m_trouble.empty();
    const double seconds = m_application->HasExited() ? (m_exitTime - m_start).GetSeconds() : 0.0;
    return {{"event", "program"},
            {"program",
             {{"name", m_settings.name},
              {"node", m_settings.node},
              {"command", viaduct::scenario::JoinWords(m_settings.command)},
              {"background", m_settings.background},
              {"ended", Ending()},
              {"seconds", seconds},
              {"ok", m_settings.background ? started : Succeeded()},
              {"output", text.substr(tail)}}},
            {"text", started ? text : ""},
            {"failure", Failure()}};
}

} // namespace sim
} // namespace ns3
