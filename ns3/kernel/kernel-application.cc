/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/kernel/kernel-application.h"

#include "ns3/socket/kernel-socket-stack.h"

#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include "base/error.h"

#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("KernelApplication");
NS_OBJECT_ENSURE_REGISTERED(KernelApplication);

TypeId
KernelApplication::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::KernelApplication")
            .SetParent<Application>()
            .SetGroupName("Viaduct")
            .AddConstructor<KernelApplication>()
            .AddAttribute("WorkingDirectory",
                          "The folder in which the program starts.",
                          StringValue("/"),
                          MakeStringAccessor(&KernelApplication::m_folder),
                          MakeStringChecker())
            .AddAttribute("OutputPrefix",
                          "The prefix of output files: at the end of the simulation the program's "
                          "output is written to PREFIX.out and PREFIX.err, and the program's exit "
                          "status to PREFIX.status. Empty: no files.",
                          StringValue(""),
                          MakeStringAccessor(&KernelApplication::m_outputPrefix),
                          MakeStringChecker())
            .AddAttribute("StopSignal",
                          "The number of the signal that is sent to the program at the "
                          "application's stop time.",
                          UintegerValue(SIGTERM),
                          MakeUintegerAccessor(&KernelApplication::m_stopSignal),
                          MakeUintegerChecker<uint32_t>(1, 64))
            .AddTraceSource("Output",
                            "The program has written output.",
                            MakeTraceSourceAccessor(&KernelApplication::m_outputTrace),
                            "ns3::KernelApplication::OutputTracedCallback")
            .AddTraceSource("Exit",
                            "The program has ended.",
                            MakeTraceSourceAccessor(&KernelApplication::m_exitTrace),
                            "ns3::KernelApplication::ExitTracedCallback");
    return tid;
}

KernelApplication::KernelApplication() : m_environment(viaduct::guest::DefaultEnvironment())
{
}

void
KernelApplication::SetEnvironment(const std::string& name, const std::string& value)
{
    std::erase_if(m_environment,
                  [&](const std::string& variable) { return variable.rfind(name + "=", 0) == 0; });
    m_environment.push_back(name + "=" + value);
}

void
KernelApplication::StartApplication()
{
    const auto stack = GetNode()->GetObject<KernelSocketStack>();
    NS_ABORT_MSG_IF(!stack,
                    "node " << GetNode()->GetId()
                            << " has no kernel, so programs cannot run on the node; install "
                               "KernelStackHelper on the node");
    viaduct::guest::ProgramRequest request;
    request.node = stack->GetNumber();
    request.words = m_words;
    request.environment = m_environment;
    request.folder = m_folder;
    viaduct::guest::ProgramEvents events;
    events.started = [this](int errorNumber, const std::string& words) {
        OnStarted(errorNumber, words);
    };
    events.output = [this](int descriptor, std::span<const std::byte> bytes) {
        OnOutput(descriptor, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    };
    events.exited = [this](int status) { OnExit(status); };
    m_client = stack->GetClient<viaduct::guest::ProgramClient>();
    m_program = m_client->Start(request, std::move(events));
}

void
KernelApplication::StopApplication()
{
    Signal(static_cast<int>(m_stopSignal));
}

void
KernelApplication::Signal(int signal)
{
    if (m_client && !m_exited)
    {
        m_client->Signal(m_program, signal);
    }
}

void
KernelApplication::OnStarted(int errorNumber, const std::string& words)
{
    if (errorNumber == 0)
    {
        return;
    }
    std::string reason = words;
    if (errorNumber == ENOENT)
    {
        reason += "; is the program installed on this machine, and does the folder " + m_folder +
                  " exist?";
    }
    if (!m_startFailure.IsNull())
    {
        m_client.reset();
        m_startFailure(reason);
        return;
    }
    std::ostringstream message;
    message << "node " << GetNode()->GetId() << " at " << Simulator::Now().As(Time::S) << ": "
            << reason;
    throw viaduct::EnvironmentError(message.str());
}

void
KernelApplication::OnOutput(int descriptor, std::string text)
{
    (descriptor == 1 ? m_output : m_errors) += text;
    m_outputTrace(descriptor, text);
}

void
KernelApplication::OnExit(int status)
{
    NS_LOG_INFO(m_words[0] << ": " << viaduct::guest::DescribeStatus(status));
    m_exited = true;
    m_status = status;
    m_exitTrace(status);
}

void
KernelApplication::WriteFile(const std::string& suffix, const std::string& text) const
{
    const std::string name = m_outputPrefix + suffix;
    std::ofstream file(name);
    file << text << std::flush;
    NS_ABORT_MSG_IF(!file, "cannot write " << name);
}

void
KernelApplication::DoDispose()
{
    if (m_client)
    {
        m_client->Forget(m_program);
        m_client.reset();
        if (!m_outputPrefix.empty())
        {
            WriteFile(".out", m_output);
            WriteFile(".err", m_errors);
            WriteFile(".status",
                      (m_exited ? viaduct::guest::DescribeStatus(m_status)
                                : std::string("running at the end of the simulation")) +
                          "\n");
        }
    }
    Application::DoDispose();
}

} // namespace ns3
