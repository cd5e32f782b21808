/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_CONTROL_CHANNEL_H
#define VIADUCT_SIM_CONTROL_CHANNEL_H

#include "base/error.h"

#include <nlohmann/json.hpp>
#include <string>

namespace ns3
{
namespace sim
{

/**
 * The line to the command that started the simulator: JSON objects, one a line, both ways
 * (src/run/simulator_process.h). Without a descriptor, events go to standard output and nobody
 * commands.
 */
class ControlChannel
{
  public:
    /** @param fd a stream socket, not owned; -1: standard output */
    explicit ControlChannel(int fd);

    /**
     * Writes one event. A peer that is gone is not an error here: StopRequested() tells.
     * @param event its name
     * @param message an object with what it says
     */
    void Send(const std::string& event, nlohmann::json message);
    /**
     * @param error what went wrong
     */
    void SendError(const viaduct::Error& error);
    /**
     * Reads what has come in; does not block.
     * @return whether to stop: by command, or because the peer is gone
     */
    bool StopRequested();
    /** @return whether going on was asked for since the last call; what has come in was read */
    bool TakeResume();
    /** @return the descriptor, readable when something has come in; -1: nothing ever does */
    int GetFd() const;

  private:
    int m_fd;               //!< the socket, or -1
    std::string m_received; //!< an incomplete line
    bool m_stop{false};     //!< stop was asked for
    bool m_resume{false};   //!< going on was asked for
};

} // namespace sim
} // namespace ns3

#endif // VIADUCT_SIM_CONTROL_CHANNEL_H
