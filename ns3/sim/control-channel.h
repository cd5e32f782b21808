/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_CONTROL_CHANNEL_H
#define VIADUCT_SIM_CONTROL_CHANNEL_H

#include "base/error.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace ns3::sim
{

/** The channel to the command that started the simulator: JSON objects, one per line, in both
 * directions (src/run/simulator/simulator_process.h). Without a descriptor, events go to standard
 * output and there are no commands.
 */
class ControlChannel
{
  public:
    /** @param fd a stream socket, not owned; -1: standard output */
    explicit ControlChannel(int fd);

    /** Writes one event. A closed peer is no error here: StopRequested() reports it.
     * @param event its name
     * @param message an object with its members
     */
    void Send(const std::string& event, nlohmann::json message);
    /**
     * @param error what went wrong
     */
    void SendError(const viaduct::Error& error);
    /** Reads the pending commands; does not block. Throws viaduct::Error if one is malformed or
     * unknown.
     * @return whether to stop: by command, or because the peer has closed
     */
    bool StopRequested();
    /** @return whether a "resume" command was received since the last call, by StopRequested() */
    bool TakeResume()
    {
        return std::exchange(m_resume, false);
    }

    /** @return the commands received since the last call, by StopRequested(), that are neither
     * "stop" nor "resume"
     */
    std::vector<nlohmann::json> TakeCommands()
    {
        return std::exchange(m_commands, {});
    }

    /** @return the descriptor, readable when commands are pending; -1: there are none */
    int GetFd() const
    {
        return m_fd;
    }

  private:
    /**
     * @param line a command
     */
    void Take(const std::string& line);

    int m_fd;                               //!< the socket, or -1
    std::string m_received;                 //!< an incomplete line
    bool m_stop{false};                     //!< "stop" was received
    bool m_resume{false};                   //!< "resume" was received
    std::vector<nlohmann::json> m_commands; //!< others
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_CONTROL_CHANNEL_H
