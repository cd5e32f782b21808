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
 * @brief Pauses a simulation, so that `viaduct kernel shell NODE` opens shells on its kernel nodes,
 * and further clients look at it.
 *
 * @code
 *   KernelShell::PauseAt(Seconds(5));
 *   Simulator::Run();
 * @endcode
 *
 * At that instant the simulation stops and waits, with its process, for `viaduct kernel shell` and
 * `viaduct kernel resume` (or Resume()). Virtual time stands still while every shell waits at its
 * prompt, so that the state under inspection does not change. While a command runs, the whole
 * simulation continues at the pace of the wall clock, or slower if it cannot keep up, so that
 * `sleep 1` takes a second. When the simulation ends meanwhile, the shells end with it.
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
     * @param at the virtual time, not before the present time
     */
    static void PauseAt(const Time& at);

    /** Pauses after the event that calls this function. Returns at once. */
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

    /** The description of all nodes that a simulation reports, also those without a kernel. */
    struct View
    {
        std::vector<std::string> nodes;                //!< the nodes' names
        std::vector<viaduct::guest::PausedLink> links; //!< the links between the nodes
        viaduct::guest::ShellServer::Answer answer;    //!< answers clients' queries about them
    };

    /**
     * @param view called at each pause; without it a simulation reports only its kernel nodes, and
     * must have one to be paused
     */
    void SetView(std::function<View()> view)
    {
        m_view = std::move(view);
    }

    /** @return the names of the nodes that have a kernel, for `viaduct kernel shell` */
    static std::vector<std::string> GetNodeNames();

    /** Called at a pause and at its end. */
    using Handler = std::function<void()>;
    /**
     * @param paused called at a pause, instead of printing instructions on standard error
     * @param resumed called when the simulation continues
     */
    void SetHandlers(Handler paused, Handler resumed);
    /** Adds a descriptor that the paused simulation watches.
     * @param fd a descriptor, not owned
     * @param readable called when it is readable; may call Resume() or Simulator::Stop()
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
    std::function<View()> m_view;                          //!< empty: only kernels are reported
    int m_watched{-1};                                     //!< watched in addition to the shells
    Handler m_readable;                                    //!< called when m_watched is readable
    std::unique_ptr<viaduct::guest::PauseRecord> m_record; //!< present while paused
    std::unique_ptr<viaduct::guest::ShellServer> m_server; //!< present while paused
    //! Kept between pauses, because each guest must have a single client that numbers its programs.
    std::set<std::shared_ptr<viaduct::guest::ProgramClient>> m_clients;
    bool m_settled{false};         //!< whether no event is left at this instant
    bool m_running{false};         //!< whether virtual time advances, because a program runs
    Time m_step;                   //!< virtual time until the next poll
    Time m_anchor;                 //!< virtual time when the programs began to run
    viaduct::Instant m_wallAnchor; //!< wall-clock time when the programs began to run
};

} // namespace ns3

#endif // VIADUCT_KERNEL_SHELL_H
