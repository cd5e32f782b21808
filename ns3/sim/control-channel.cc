/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/control-channel.h"

#include "base/fd.h"

#include <iostream>
#include <variant>

namespace ns3::sim
{

namespace
{

// The maximum size of a command, bytes; the command Go lists all pairs of a lab's nodes.
constexpr std::size_t MAX_COMMAND = 64 << 20;

} // namespace

ControlChannel::ControlChannel(int fd)
{
    if (fd >= 0)
    {
        m_lines.emplace(viaduct::UniqueFd(fd), MAX_COMMAND);
    }
}

void
ControlChannel::Send(const viaduct::scenario::SimulatorEvent& event)
{
    const std::string line = viaduct::scenario::Encode(event);
    if (m_lines)
    {
        m_lines->SendAll(line);
    }
    else
    {
        std::cout << line << std::endl;
    }
}

void
ControlChannel::SendError(const viaduct::Error& error)
{
    Send(viaduct::scenario::SimulatorFailed{error.what(), static_cast<int>(error.status())});
}

bool
ControlChannel::StopRequested()
{
    while (m_lines && !m_stop)
    {
        const auto line = m_lines->Receive();
        if (!line)
        {
            m_stop = m_lines->Ended();
            break;
        }
        const auto command = viaduct::scenario::DecodeCommand(*line);
        if (std::holds_alternative<viaduct::scenario::Stop>(command))
        {
            m_stop = true;
        }
        else if (std::holds_alternative<viaduct::scenario::Resume>(command))
        {
            m_resume = true;
        }
        else
        {
            m_commands.push_back(command);
        }
    }
    return m_stop;
}

} // namespace ns3::sim
