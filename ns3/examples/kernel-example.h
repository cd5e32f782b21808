/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_EXAMPLE_H
#define VIADUCT_KERNEL_EXAMPLE_H

#include "ns3/simulator.h"

#include "base/error.h"

#include <functional>
#include <iostream>
#include <string>

/**
 * @file
 * Common code of the examples with kernel nodes.
 */

/** Runs a simulation to its end and destroys it.
 * @param name of the program
 * @param run the simulation; an exception from it is printed as one line
 * @return the program's exit status
 */
inline int
RunKernelExample(const std::string& name, const std::function<void()>& run)
{
    int status = 0;
    try
    {
        run();
    }
    catch (const viaduct::Error& error)
    {
        std::cerr << name << ": " << error.what() << std::endl;
        status = static_cast<int>(error.status());
    }
    ns3::Simulator::Destroy();
    return status;
}

#endif // VIADUCT_KERNEL_EXAMPLE_H
