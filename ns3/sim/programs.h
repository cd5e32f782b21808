/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_PROGRAMS_H
#define VIADUCT_SIM_PROGRAMS_H

#include "ns3/kernel/kernel-application.h"
#include "ns3/node.h"
#include "ns3/nstime.h"

#include "base/result/program.h"
#include "base/text/kept_text.h"
#include "scenario/scenario.h"

#include <functional>
#include <string>

namespace ns3::sim
{

/**
 * A program of mode simulate, which runs in virtual time on a node whose stack is a real kernel.
 */
class SimulatedProgram
{
  public:
    /** The function that is called with each line that the program writes, without the newline. */
    using LineHandler = std::function<void(const std::string& line)>;

    /** Creates the application that runs the program. The application starts when the time
     * `settings.start` has passed after this call.
     * @param settings the program's settings; must outlive this object
     * @param node the node on which the program runs
     * @param line called with each line of the program's output
     * @param passed called when HasPassed() or HasEnded() may have become true
     */
    SimulatedProgram(const viaduct::scenario::Program& settings,
                     Ptr<Node> node,
                     LineHandler line,
                     std::function<void()> passed);
    SimulatedProgram(const SimulatedProgram&) = delete;
    SimulatedProgram& operator=(const SimulatedProgram&) = delete;
    ~SimulatedProgram();

    /** @return whether the run no longer needs to wait for the program */
    bool HasPassed() const;
    /** @return whether the program has ended, or could not be started */
    bool HasEnded() const;
    /** Ends the program at the end of the run: sends SIGTERM to it if it still runs. */
    void End();
    /** @return the program's result with the verdict */
    viaduct::result::ProgramOutcome Outcome() const;

  private:
    /** Maximum number of bytes of standard output, and of standard error, that are reported. */
    static constexpr size_t KEPT = 4 << 20;

    bool HasStarted() const;
    void StartFailed(const std::string& reason);
    void Output(int descriptor, const std::string& text);
    void Exited(int status);
    void TimedOut();

    const viaduct::scenario::Program& m_settings; //!< the program's settings
    Ptr<KernelApplication> m_application;         //!< runs the program
    LineHandler m_lineHandler;                    //!< called with each output line
    std::function<void()> m_passed; //!< called when HasPassed() or HasEnded() may have changed
    Time m_start;                   //!< time at which the program starts
    Time m_exitTime;                //!< time at which the program exited
    /// The parts of standard output and standard error that are reported: at most KEPT bytes of
    /// each.
    viaduct::KeptText m_texts[2] = {viaduct::KeptText(KEPT), viaduct::KeptText(KEPT)};
    std::string m_lines[2]; //!< incomplete last lines of standard output and standard error
    viaduct::result::ProgramEnd m_end; //!< the end of the program, as far as known
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_PROGRAMS_H
