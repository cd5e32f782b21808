/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/programs.h"

#include "ns3/sim/time-conversion.h"

#include "ns3/kernel/kernel-application-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include "base/file.h"
#include "guest/agent/program_client.h"
#include "scenario/text/words.h"

#include <csignal>
#include <utility>

namespace ns3::sim
{

namespace
{

constexpr size_t MAX_LINE = 4096; // longer lines are split

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
                        StringValue(viaduct::guest::NodeFolder(viaduct::CurrentFolder())));
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
    return Simulator::Now() >= m_start && m_end.trouble.empty();
}

bool
SimulatedProgram::HasPassed() const
{
    return !m_end.trouble.empty() || m_application->HasExited() ||
           (m_settings.background && HasStarted());
}

bool
SimulatedProgram::HasEnded() const
{
    return !m_end.trouble.empty() || m_application->HasExited();
}

void
SimulatedProgram::StartFailed(const std::string& reason)
{
    m_end.trouble = reason;
    m_passed();
}

void
SimulatedProgram::Output(int descriptor, const std::string& text)
{
    m_texts[descriptor == 1 ? 0 : 1].Append(text);
    std::string& line = m_lines[descriptor == 1 ? 0 : 1];
    for (const char c : text)
    {
        if (c != '\n' && line.size() < MAX_LINE)
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
    if (HasEnded() || m_end.stopped)
    {
        return;
    }
    m_end.timed_out = true;
    m_application->Signal(SIGKILL);
}

void
SimulatedProgram::End()
{
    m_end.stopped = !HasEnded();
    m_application->Signal(SIGTERM);
}

viaduct::result::ProgramOutcome
SimulatedProgram::Outcome() const
{
    viaduct::result::ProgramOutcome outcome;
    outcome.program = {m_settings.name,
                       m_settings.node,
                       viaduct::scenario::JoinWords(m_settings.command),
                       m_settings.background};
    viaduct::result::ProgramEnd end = m_end;
    end.started = m_end.trouble.empty();
    end.expected_status = m_settings.expect;
    end.timeout = m_settings.timeout;
    if (m_application->HasExited())
    {
        outcome.program.seconds = (m_exitTime - m_start).GetSeconds();
        end.wait_status = m_application->GetStatus();
    }
    if (end.started)
    {
        outcome.SetText(m_texts[0].Text() + m_texts[1].Text());
    }
    outcome.Judge(end);
    return outcome;
}

} // namespace ns3::sim
