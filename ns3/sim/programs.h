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
 * A program of mode simulate: runs in virtual time on a node whose stack is a real kernel.
 */
class SimulatedProgram
{
  public:
    /** Called with each line that the program writes, without its newline. */
    using LineHandler = std::function<void(const std::string& line)>;

    /** Creates the application; it starts `settings.start` after this call.
     * @param settings the program's settings; must outlive this object
     * @param node the node to run on
     * @param line called with each line of its output
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
    /** Sends SIGTERM at the end of the run if the program runs. */
    void End();
    /** @return the program's result with the verdict */
    viaduct::result::ProgramOutcome Outcome() const;

  private:
    static constexpr size_t KEPT = 4 << 20; //!< bytes of each stream that are reported

    bool HasStarted() const;
    void StartFailed(const std::string& reason);
    void Output(int descriptor, const std::string& text);
    void Exited(int status);
    void TimedOut();

    const viaduct::scenario::Program& m_settings; //!< the program's settings
    Ptr<KernelApplication> m_application;         //!< runs the program
    LineHandler m_lineHandler;                    //!< takes output lines
    std::function<void()> m_passed;               //!< called after changes
    Time m_start;                                 //!< start of the program
    Time m_exitTime;                              //!< end of the program
    /// Standard output and standard error, as much as is reported.
    viaduct::KeptText m_texts[2] = {viaduct::KeptText(KEPT), viaduct::KeptText(KEPT)};
    std::string m_lines[2];            //!< incomplete lines, by descriptor
    viaduct::result::ProgramEnd m_end; //!< the end, as far as known
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_PROGRAMS_H
