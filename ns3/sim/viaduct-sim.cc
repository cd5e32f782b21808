/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * viaduct-sim: runs a scenario's protocols in ns-3. It is started by `viaduct run`; without the
 * option --control it prints its events on standard output.
 */

#include "ns3/sim/control-channel.h"
#include "ns3/sim/scenario-run.h"

#include "base/error.h"
#include "base/library_file.h"
#include "base/text/terminal_text.h"
#include "base/time.h"
#include "base/units.h"
#include "base/within.h"
#include "scenario/scenario.h"

#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace
{

using viaduct::UsageError;

constexpr char USAGE[] =
    "viaduct-sim --scenario FILE [--control FD] [--mode MODE] [--duration TIME] [--captures DIR]\n"
    "            [--pause-at TIME]... [--specs live] [--lab adopt] [--host NAME]\n"
    "            [--hub [ADDRESS]:PORT [--inner-socket FD]] [--set KEY=VALUE]...\n"
    "Runs the protocols of a scenario in ns-3 (`viaduct run` starts it). Without --control, "
    "events\n"
    "go to standard output, one JSON object per line.\n"
    "  MODE  simulate, traditional, emulate or offload\n"
    "  TIME  duration of the run; or the time after convergence at which mode simulate pauses for\n"
    "        viaduct kernel shell\n"
    "  DIR   folder to which mode simulate writes link captures (default NAME-captures)\n"
    "--specs live: the SPECs of emulated links may change (`viaduct path set`).\n"
    "--lab adopt: takes over the lab of a simulator that has exited (VIADUCT_BROKER_FD).\n"
    "--host: builds the part of the lab that is on the machine NAME of the scenario's key hosts.\n"
    "--hub: runs mode simulate in real time for clients of remote nodes (VXLAN on this UDP port).\n"
    "--inner-socket: serves the clients with the socket FD instead; datagrams that arrive at PORT\n"
    "are dropped and counted.\n"
    "VIADUCT_SIM_LIBRARIES=LIB[:LIB...] loads shared libraries with further ns-3 models.\n"
    "Example: viaduct-sim --scenario examples/olsr-line.yaml --mode simulate\n";

/** The values of the command-line options. */
struct Options
{
    std::string scenario;                //!< file of the scenario
    int control{-1};                     //!< descriptor of the control channel; -1: standard output
    std::optional<std::string> captures; //!< directory of packet captures
    std::vector<std::string> overrides;  //!< overrides of the scenario's values, KEY=VALUE
    std::vector<viaduct::Duration> pauses;   //!< times of pauses, counted from convergence
    bool live{false};                        //!< whether SPECs may change during the run
    bool adopts{false};                      //!< whether to take over an existing lab
    std::string host;                        //!< machine whose part of the lab is built; empty: all
    std::optional<ns3::sim::HubOptions> hub; //!< address and port to which clients send
    /** Descriptor of the socket that serves clients instead of the hub's port; -1: none. */
    int innerSocket{-1};
};

Options
ParseOptions(int argc, char** argv)
{
    Options options;
    const std::map<std::string, std::function<void(const std::string&)>> setters{
        {"--scenario", [&](const std::string& value) { options.scenario = value; }},
        {"--control",
         [&](const std::string& value) {
             options.control = static_cast<int>(viaduct::ParseInteger(value, 0, 65535));
         }},
        {"--mode", [&](const std::string& value) { options.overrides.push_back("mode=" + value); }},
        {"--duration",
         [&](const std::string& value) { options.overrides.push_back("duration=" + value); }},
        {"--captures", [&](const std::string& value) { options.captures = value; }},
        {"--pause-at",
         [&](const std::string& value) {
             options.pauses.push_back(viaduct::ParseDuration(value));
         }},
        {"--specs", [&](const std::string& value) { options.live = value == "live"; }},
        {"--lab", [&](const std::string& value) { options.adopts = value == "adopt"; }},
        {"--host", [&](const std::string& value) { options.host = value; }},
        {"--hub",
         [&](const std::string& value) {
             const size_t colon = value.rfind(':');
             const auto port = viaduct::ParseInteger(value.substr(colon + 1), 0, 65535);
             options.hub = {value.substr(0, colon), static_cast<uint16_t>(port)};
         }},
        {"--inner-socket",
         [&](const std::string& value) {
             options.innerSocket = static_cast<int>(viaduct::ParseInteger(value, 0, 65535));
         }},
        {"--set", [&](const std::string& value) { options.overrides.push_back(value); }}};
    for (int i = 1; i < argc; i++)
    {
        const std::string option = argv[i];
        if (option == "--help" || option == "-h")
        {
            std::cout << USAGE;
            std::exit(0);
        }
        if (i + 1 >= argc)
        {
            throw UsageError("viaduct-sim: " + option +
                             " needs a value, or is unknown; see --help");
        }
        const auto setter = setters.find(option);
        if (setter == setters.end())
        {
            throw UsageError("viaduct-sim: unknown option " + option + "; see --help");
        }
        setter->second(argv[++i]);
    }
    if (options.scenario.empty())
    {
        throw UsageError("viaduct-sim: --scenario FILE is missing; see --help");
    }
    return options;
}

/** Loads the shared libraries with users' own protocols, which registers the TypeIds of these
 * protocols. */
void
LoadLibraries()
{
    const char* list = std::getenv("VIADUCT_SIM_LIBRARIES");
    std::istringstream stream(list ? list : "");
    for (std::string library; std::getline(stream, library, ':');)
    {
        viaduct::Within("VIADUCT_SIM_LIBRARIES", [&] { viaduct::CheckIsWholeLibrary(library); });
        if (!library.empty() && !dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL))
        {
            throw UsageError(std::string("VIADUCT_SIM_LIBRARIES: ") + dlerror());
        }
    }
}

void
RunScenario(const Options& options, ns3::sim::ControlChannel& control)
{
    LoadLibraries();
    const auto scenario = viaduct::scenario::Load(options.scenario, options.overrides);
    ns3::sim::ScenarioRun run(
        scenario, control, options.captures.value_or(scenario.name + "-captures"));
    if (options.live)
    {
        run.KeepSpecsLive();
    }
    if (options.adopts)
    {
        run.AdoptLab();
    }
    if (!options.host.empty())
    {
        run.BuildPart(options.host);
    }
    if (options.hub)
    {
        ns3::sim::HubOptions hub = *options.hub;
        hub.innerSocket = options.innerSocket;
        run.ServeHub(hub);
    }
    for (const viaduct::Duration at : options.pauses)
    {
        run.PauseAt(at);
    }
    run.Run();
}

} // namespace

int
main(int argc, char** argv)
{
    std::optional<ns3::sim::ControlChannel> control;
    auto report = [&](const viaduct::Error& error) {
        if (control)
        {
            control->SendError(error);
        }
        std::cerr << viaduct::TerminalText(error.what()) << std::endl;
        return static_cast<int>(error.status());
    };
    try
    {
        const Options options = ParseOptions(argc, argv);
        control.emplace(options.control);
        RunScenario(options, *control);
        return 0;
    }
    catch (const viaduct::Error& error)
    {
        return report(error);
    }
    catch (const std::exception& error)
    {
        return report(viaduct::Error(std::string("viaduct-sim: ") + error.what()));
    }
}
