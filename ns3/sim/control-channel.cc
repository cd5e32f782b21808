/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "control-channel.h"

#include "base/json_text.h"

#include <cerrno>
#include <iostream>
#include <poll.h>
#include <sys/socket.h>

namespace ns3::sim
{

ControlChannel::ControlChannel(int fd) : m_fd(fd)
{
}

void
ControlChannel::Send(const std::string& event, nlohmann::json message)
{
    message["event"] = event;
    const std::string line = viaduct::JsonText(message) + "\n";
    if (m_fd < 0)
    {
        std::cout << line << std::flush;
        return;
    }
    size_t sent = 0;
    while (sent < line.size())
    {
        const ssize_t n = send(m_fd, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
        if (n > 0)
        {
            sent += n;
        }
        else if (errno == EAGAIN)
        {
            pollfd wait{m_fd, POLLOUT, 0};
            poll(&wait, 1, 1000);
        }
        else if (errno != EINTR)
        {
            m_stop = true;
            return;
        }
    }
}

void
ControlChannel::SendError(const viaduct::Error& error)
{
    Send("error", {{"message", error.what()}, {"status", static_cast<int>(error.status())}});
}

bool
ControlChannel::StopRequested()
{
    char buffer[4096];
    while (m_fd >= 0 && !m_stop)
    {
        const ssize_t n = recv(m_fd, buffer, sizeof buffer, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
        {
            continue;
        }
        if (n < 0 && errno == EAGAIN)
        {
            break;
        }
        if (n <= 0)
        {
            m_stop = true;
            break;
        }
        m_received.append(buffer, n);
        for (size_t end; (end = m_received.find('\n')) != std::string::npos;)
        {
            const auto command = nlohmann::json::parse(m_received.substr(0, end), nullptr, false);
            m_received.erase(0, end + 1);
            if (command.is_object())
            {
                const std::string name = command.value("command", "");
                m_stop = m_stop || name == "stop";
                m_resume = m_resume || name == "resume";
                if (name != "stop" && name != "resume")
                {
                    m_commands.push_back(command);
                }
            }
        }
    }
    return m_stop;
}

} // namespace ns3::sim
