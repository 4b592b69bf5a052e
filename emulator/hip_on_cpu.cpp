// SPDX-License-Identifier: MIT
//
// The emulator in one translation unit, which a compiler takes in a third of the time of its sources one by one.
#include "src/amd.cpp"
#include "src/asynchrony.cpp"
#include "src/call.cpp"
#include "src/cluster.cpp"
#include "src/context.cpp"
#include "src/device.cpp"
#include "src/fiber.cpp"
#include "src/fiber_block.cpp"
#include "src/grid.cpp"
#include "src/memory.cpp"
#include "src/sm80.cpp"
#include "src/sm90a.cpp"
#include "src/stream.cpp"
