/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "control-channel.h"

#include "base/text/json_text.h"

#include <algorithm>
#include <cerrno>
#include <iostream>
#include <iterator>
#include <poll.h>
#include <string_view>
#include <sys/socket.h>

namespace ns3::sim
{

namespace
{

constexpr std::string_view OTHER_COMMANDS[] = {"go", "claim", "release", "statistics"};

/**
 * @param command what was received
 * @return its name; empty: it has none
 */
std::string
NameOf(const nlohmann::json& command)
{
    const auto name = command.is_object() ? command.find("command") : command.end();
    return name != command.end() && name->is_string() ? name->get<std::string>() : "";
}

} // namespace

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
            const std::string line = m_received.substr(0, end);
            m_received.erase(0, end + 1);
            Take(line);
        }
    }
    return m_stop;
}

void
ControlChannel::Take(const std::string& line)
{
    const auto command = nlohmann::json::parse(line, nullptr, false);
    const std::string name = NameOf(command);
    if (name == "stop")
    {
        m_stop = true;
    }
    else if (name == "resume")
    {
        m_resume = true;
    }
    else if (std::ranges::find(OTHER_COMMANDS, name) != std::end(OTHER_COMMANDS))
    {
        m_commands.push_back(command);
    }
    else
    {
        throw viaduct::Error("the simulator was sent '" + line.substr(0, 80) +
                             "', which it does not know: viaduct and viaduct-sim are of different "
                             "versions; install both from one build");
    }
}

} // namespace ns3::sim
