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
#include "sys/process/find_program.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <poll.h>
#include <span>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup viaduct
 * A guest's agent that runs without a guest, for tests of the code that uses the agent.
 */

namespace ns3::viaducttest
{

namespace agent = viaduct::guest::agent;

/**
 * Runs the agent viaduct-guest on this machine's kernel, in separate namespaces, and polls the
 * agent every 10 ms of simulated time. Simulated time waits for the answers to requests, as with a
 * real guest, even if the machine is busy. Actions of the machine's kernel (packets, timers) take
 * real time, so tests must wait for the kernel's events (RunsUntil) and not depend on their times.
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

    /** @return the process id of the agent */
    pid_t GetPid() const
    {
        return m_pid;
    }

    size_t MaxMessage() const override
    {
        return agent::kMaxMessage - sizeof(agent::OperationHeader);
    }

    /** Sends a message to the agent. Appends a request to the message; the agent always answers the
     * appended request, after all other requests of the message. */
    void Send(std::span<const std::byte> message) override
    {
        agent::MessageHeader header;
        std::memcpy(&header, message.data(), sizeof header);
        const agent::OperationHeader last{static_cast<uint16_t>(agent::Code::kGetOption),
                                          0,
                                          0,
                                          0, // a socket number that never exists
                                          LAST};
        ++header.operations;
        header.length += sizeof last;
        std::vector<std::byte> whole(message.begin(), message.end());
        std::memcpy(whole.data(), &header, sizeof header);
        const auto bytes = agent::BytesOf(last);
        whole.insert(whole.end(), bytes.begin(), bytes.end());
        viaduct::SystemCall("send to viaduct-guest",
                            send(m_socket.get(), whole.data(), whole.size(), MSG_NOSIGNAL));
        ++m_unanswered;
    }

    void SetReceiver(std::function<void(std::span<const std::byte>)> receiver) override
    {
        m_receiver = std::move(receiver);
    }

    bool Settle() override
    {
        if (m_ready)
        {
            AwaitAnswers();
        }
        return m_ready;
    }

  private:
    //! The number of the request that Send() appends; the client's requests have lower numbers.
    static constexpr uint32_t LAST = UINT32_MAX;

    /** Receives one message of the agent and passes it to the receiver.
     * @param timeout the maximum wait, in ms of real time
     * @return whether a message was received
     */
    bool Receive(int timeout)
    {
        pollfd readable{m_socket.get(), POLLIN, 0};
        if (poll(&readable, 1, timeout) <= 0)
        {
            return false;
        }
        std::vector<std::byte> buffer(agent::kMaxMessage);
        const ssize_t size = recv(m_socket.get(), buffer.data(), buffer.size(), 0);
        if (size <= 0)
        {
            throw viaduct::Error("viaduct-guest is gone");
        }
        const auto message = std::span(buffer).first(static_cast<size_t>(size));
        m_reader.Read(message, [this](const agent::Operation& operation) {
            m_ready = m_ready || operation.code == agent::Code::kHello;
            m_unanswered -= operation.request == LAST;
        });
        m_receiver(message);
        return true;
    }

    /** Receives messages until the agent is ready and has answered every request. Throws
     * viaduct::Error if no message arrives for a minute of real time. */
    void AwaitAnswers()
    {
        while (!m_ready || m_unanswered > 0)
        {
            if (!Receive(60000))
            {
                throw viaduct::Error("viaduct-guest has not answered for a minute");
            }
        }
    }

    /** Passes the agent's messages to the receiver; runs every 10 ms of simulated time. */
    void Poll()
    {
        AwaitAnswers();
        while (Receive(1))
        {
        }
        Simulator::Schedule(MilliSeconds(10), &NativeAgent::Poll, this);
    }

    viaduct::UniqueFd m_socket;                                 //!< socket to the agent
    pid_t m_pid;                                                //!< process id of the agent
    std::function<void(std::span<const std::byte>)> m_receiver; //!< receives the agent's messages
    agent::MessageReader m_reader;                              //!< parses the agent's messages
    int m_unanswered{0};                                        //!< sent messages without an answer
    bool m_ready{false};                                        //!< whether kHello was received
};

} // namespace ns3::viaducttest

#endif /* VIADUCT_NATIVE_AGENT_H */
