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
#include <vector>

namespace ns3
{
/**
 * @ingroup viaduct
 * @brief Pauses a simulation, so that `viaduct kernel shell NODE` opens shells on its kernel nodes.
 *
 * @code
 *   KernelShell::PauseAt(Seconds(5));
 *   Simulator::Run();
 * @endcode
 *
 * At that instant the simulation stops and waits, with its process, for `viaduct kernel shell` and
 * `viaduct kernel resume` (or Resume()). Virtual time stands still while every shell waits at its
 * prompt: what is looked at does not change meanwhile. While a command runs, the whole simulation
 * goes on at the pace of the wall clock, or slower where it cannot keep up, so that `sleep 1` takes
 * a second. When the simulation ends meanwhile, the shells end with it.
 */
class KernelShell : public Object
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    /** @return the simulation's, until Simulator::Destroy(); made if there is none */
    static Ptr<KernelShell> Get();
    /**
     * Pauses the simulation at an instant. May be called for several.
     * @param at the virtual time, not before the present
     */
    static void PauseAt(const Time& at);

    /** Pauses at the present instant, in whose event it is called. Returns at once. */
    void Pause();
    /**
     * Goes on.
     * @throw viaduct::UsageError while shells are open
     */
    void Resume();
    /** @return whether the simulation is paused */
    bool IsPaused() const
    {
        return m_server != nullptr;
    }

    /** @return the names of the nodes that have a kernel, as `viaduct kernel shell` takes them */
    static std::vector<std::string> GetNodeNames();

    /** Called at a pause and at its end. */
    using Handler = std::function<void()>;
    /**
     * @param paused called instead of saying on standard error what can be done
     * @param resumed called when the simulation goes on
     */
    void SetHandlers(Handler paused, Handler resumed);
    /**
     * Something else that the paused simulation listens to.
     * @param fd a descriptor, not owned
     * @param readable called when it is readable; may call Resume() or Simulator::Stop()
     */
    void Watch(int fd, Handler readable);

  protected:
    void DoDispose() override;

  private:
    static void Destroy();
    std::vector<viaduct::guest::ShellNode> Nodes();
    void Turn();
    bool Wait(viaduct::Instant deadline) const;
    bool WaitForPace();
    void ServeWatched();
    void GoOn(Time step);
    void End();

    std::string m_name;                                    //!< attribute Name
    Handler m_paused;                                      //!< told of a pause
    Handler m_resumed;                                     //!< told of its end
    int m_watched{-1};                                     //!< listened to beside shells
    Handler m_readable;                                    //!< when that is readable
    std::unique_ptr<viaduct::guest::PauseRecord> m_record; //!< while paused
    std::unique_ptr<viaduct::guest::ShellServer> m_server; //!< while paused
    //! Kept from one pause to the next: a guest's programs have one numbering.
    std::set<std::shared_ptr<viaduct::guest::ProgramClient>> m_clients;
    bool m_settled{false};         //!< nothing is left to happen at this instant
    bool m_running{false};         //!< virtual time goes on, because a program runs
    Time m_step;                   //!< until the next look
    Time m_anchor;                 //!< virtual, when the programs began to run
    viaduct::Instant m_wallAnchor; //!< the same of the wall clock
};

} // namespace ns3

#endif // VIADUCT_KERNEL_SHELL_H
