# SPDX-License-Identifier: MIT
"""The number of calls in a graph that is timed; as support/near_fastest.hpp has it."""


def graph_calls(microseconds, rotation):
    """Calls of a subject that takes `microseconds` per call: whole rotations of its buffers, two milliseconds and at least
    20 calls, but no more than 50 milliseconds need if 20 calls take longer."""
    least = min(max(round(50000 / max(microseconds, 0.1)), 1), 20)
    calls = min(max(round(2000 / max(microseconds, 0.1)), least), 1000)
    return -(-calls // rotation) * rotation
