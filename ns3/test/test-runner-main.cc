/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test.h"

/**
 * @file
 * @ingroup viaduct
 * The program that runs the tests if the module is built outside of an ns-3 tree. In an ns-3 tree,
 * ns-3's program test-runner runs the tests.
 */

int
main(int argc, char* argv[])
{
    return ns3::TestRunner::Run(argc, argv);
}
