/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_NATIVE_AGENT_H
#define VIADUCT_NATIVE_AGENT_H

#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include "base/error.h"
#include "base/fd.h"
#include "guest/agent/agent_channel.h"
#include "guest/agent/agent_protocol.h"
#include "sys/find_program.h"

#include <functional>
#include <poll.h>
#include <span>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

/**
 * @file
 * @ingroup viaduct
 * A guest's agent without a guest, for tests of the layers above it.
 */

namespace ns3::viaducttest
{

/**
 * Runs viaduct-guest on the host's kernel, in namespaces of its own, and polls it every 10 ms of
 * simulated time. Times of events between nodes are therefore not exact, and tests must not depend
 * on them.
 */
class NativeAgent : public viaduct::guest::AgentChannel
{
  public:
    NativeAgent()
    {
        int pair[2];
        viaduct::SystemCall("socketpair", socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair));
        m_socket = viaduct::UniqueFd(pair[0]);
        const std::string program = viaduct::sys::FindCompanion("viaduct-guest");
        m_pid = fork();
        if (m_pid == 0)
        {
            close(pair[0]);
            execl(program.c_str(),
                  program.c_str(),
                  "--socket",
                  std::to_string(pair[1]).c_str(),
                  nullptr);
            _exit(127);
        }
        close(pair[1]);
        Simulator::Schedule(MilliSeconds(10), &NativeAgent::Poll, this);
    }

    ~NativeAgent() override
    {
        m_socket.reset();
        waitpid(m_pid, nullptr, 0);
    }

    /** @return the pid of the agent */
    pid_t GetPid() const
    {
        return m_pid;
    }

    size_t MaxMessage() const override
    {
        return viaduct::guest::agent::kMaxMessage;
    }

    void Send(std::span<const std::byte> message) override
    {
        viaduct::SystemCall("send to viaduct-guest",
                            send(m_socket.get(), message.data(), message.size(), MSG_NOSIGNAL));
    }

    void SetReceiver(std::function<void(std::span<const std::byte>)> receiver) override
    {
        m_receiver = std::move(receiver);
    }

    bool Settle() override
    {
        Receive(200);
        Receive(5);
        return true;
    }

  private:
    /** Passes the agent's messages on.
     * @param patience how long to wait for a message, in ms of real time
     */
    void Receive(int patience)
    {
        std::vector<std::byte> buffer(MaxMessage());
        pollfd readable{m_socket.get(), POLLIN, 0};
        while (poll(&readable, 1, patience) > 0)
        {
            const ssize_t size = recv(m_socket.get(), buffer.data(), buffer.size(), 0);
            if (size <= 0)
            {
                throw viaduct::Error("viaduct-guest is gone");
            }
            m_receiver(std::span(buffer).first(static_cast<size_t>(size)));
            patience = 1;
        }
    }

    /** Every 10 ms of simulated time. */
    void Poll()
    {
        Receive(1);
        Simulator::Schedule(MilliSeconds(10), &NativeAgent::Poll, this);
    }

    viaduct::UniqueFd m_socket;                                 //!< to the agent
    pid_t m_pid;                                                //!< of the agent
    std::function<void(std::span<const std::byte>)> m_receiver; //!< the client
};

} // namespace ns3::viaducttest

#endif /* VIADUCT_NATIVE_AGENT_H */
