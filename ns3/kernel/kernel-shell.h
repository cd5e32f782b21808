/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_SHELL_H
#define VIADUCT_KERNEL_SHELL_H

#include "ns3/nstime.h"
#include "ns3/object.h"

#include "guest/shell/paused.h"
#include "guest/shell/shell_server.h"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
/**
 * @ingroup viaduct
 * @brief Pauses a simulation, so that `viaduct kernel shell NODE` can open shells on the kernel
 * nodes, and further clients can inspect the simulation.
 *
 * @code
 *   KernelShell::PauseAt(Seconds(5));
 *   Simulator::Run();
 * @endcode
 *
 * At the instant of PauseAt() the simulation stops and its process waits for `viaduct kernel shell`
 * and `viaduct kernel resume` (or Resume()). Virtual time does not advance while every shell waits
 * at its prompt, so that the inspected state does not change. While a command runs in a shell, the
 * complete simulation continues at the pace of the wall clock, or slower if it cannot keep up, so
 * that `sleep 1` takes a second. If the simulation ends while shells are open, the shells end, too.
 */
class KernelShell : public Object
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    /**
     * @return the object of this simulation, which is created if there is none and exists until
     * Simulator::Destroy()
     */
    static Ptr<KernelShell> Get();
    /** Pauses the simulation at an instant. May be called several times.
     * @param at the virtual time of the pause, not before the current time
     */
    static void PauseAt(const Time& at);

    /** Pauses the simulation after the event that calls this function. Returns immediately. */
    void Pause();
    /** Continues the simulation.
     * @throw viaduct::UsageError while shells are open
     */
    void Resume();
    /** @return whether the simulation is paused */
    bool IsPaused() const
    {
        return m_server != nullptr;
    }

    /** The description of a simulation for clients, with all nodes, also nodes without a kernel. */
    struct View
    {
        std::vector<std::string> nodes;                //!< the nodes' names
        std::vector<viaduct::guest::PausedLink> links; //!< the links between the nodes
        viaduct::guest::ShellServer::Answer answer;    //!< answers clients' queries about nodes
    };

    /** Sets the function that describes the simulation for clients. Without the function, a
     * simulation reports only its kernel nodes, and must have a kernel node to be paused.
     * @param view the function, called at each pause
     */
    void SetView(std::function<View()> view)
    {
        m_view = std::move(view);
    }

    /** @return the names of the nodes that have a kernel, for `viaduct kernel shell` */
    static std::vector<std::string> GetNodeNames();

    /** A function that is called at a pause, at the end of a pause, or for a readable
     * descriptor. */
    using Handler = std::function<void()>;
    /** Sets the handlers of pauses.
     * @param paused called at a pause, instead of printing instructions on standard error
     * @param resumed called when the simulation continues
     */
    void SetHandlers(Handler paused, Handler resumed);
    /** Adds a descriptor that the paused simulation watches.
     * @param fd the descriptor, not owned
     * @param readable called when the descriptor is readable; may call Resume() or
     * Simulator::Stop()
     */
    void Watch(int fd, Handler readable);

  protected:
    void DoDispose() override;

  private:
    std::vector<viaduct::guest::ShellNode> Nodes();
    static std::vector<viaduct::guest::PausedLink> Links();
    void Turn();
    bool Wait(viaduct::Instant deadline) const;
    bool WaitForPace();
    void ServeWatched();
    void GoOn(Time step);
    void End();

    std::string m_name;                                    //!< attribute Name
    Handler m_paused;                                      //!< called at a pause
    Handler m_resumed;                                     //!< called at the end of a pause
    std::function<View()> m_view;                          //!< set by SetView(); may be empty
    int m_watched{-1};                                     //!< descriptor set by Watch(); or -1
    Handler m_readable;                                    //!< called when m_watched is readable
    std::unique_ptr<viaduct::guest::PauseRecord> m_record; //!< record of the pause; or null
    std::unique_ptr<viaduct::guest::ShellServer> m_server; //!< serves shells; null: not paused
    //! The clients for the guests' programs, kept between pauses, because each guest must have a
    //! single client, which numbers the guest's programs.
    std::set<std::shared_ptr<viaduct::guest::ProgramClient>> m_clients;
    bool m_settled{false};         //!< whether all events of the current time have run
    bool m_running{false};         //!< whether virtual time advances, because a program runs
    Time m_step;                   //!< virtual time until the next Turn()
    Time m_anchor;                 //!< virtual time when the programs began to run
    viaduct::Instant m_wallAnchor; //!< wall-clock time when the programs began to run
};

} // namespace ns3

#endif // VIADUCT_KERNEL_SHELL_H
