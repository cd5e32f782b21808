/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_CONTROL_CHANNEL_H
#define VIADUCT_SIM_CONTROL_CHANNEL_H

#include "base/error.h"
#include "scenario/messages/simulator_messages.h"
#include "sys/ipc/lines.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ns3::sim
{

/** The channel to the command that started the simulator, in both directions
 * (scenario/messages/simulator_messages.h). Without a socket, events are written to standard
 * output, and no commands are received.
 */
class ControlChannel
{
  public:
    /** @param fd a stream socket, owned by this object; -1: standard output */
    explicit ControlChannel(int fd);

    /** Sends an event to the peer; blocks while the peer does not read. A closed connection is not
     * an error: StopRequested() reports it.
     * @param event the event
     */
    void Send(const viaduct::scenario::SimulatorEvent& event);
    /**
     * Sends the event SimulatorFailed.
     * @param error the error to report
     */
    void SendError(const viaduct::Error& error);
    /** Reads the pending commands; does not block. Throws viaduct::Error if a command is malformed
     * or unknown.
     * @return whether the simulator must stop: Stop was received, or the peer has closed the
     * connection
     */
    bool StopRequested();
    /** @return whether StopRequested() has received Resume since the last call */
    bool TakeResume()
    {
        return std::exchange(m_resume, false);
    }

    /** @return the commands that StopRequested() has received since the last call, except Stop and
     * Resume
     */
    std::vector<viaduct::scenario::SimulatorCommand> TakeCommands()
    {
        return std::exchange(m_commands, {});
    }

    /** @return the socket's descriptor, readable when commands are pending; -1: there is no socket
     */
    int GetFd() const
    {
        return m_lines ? m_lines->fd() : -1;
    }

  private:
    std::optional<viaduct::ipc::LineChannel> m_lines; //!< the socket to the command; empty: none
    bool m_stop{false};   //!< whether Stop was received or the peer has closed the connection
    bool m_resume{false}; //!< whether Resume was received
    /** Received commands except Stop and Resume. */
    std::vector<viaduct::scenario::SimulatorCommand> m_commands;
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_CONTROL_CHANNEL_H
