# SPDX-License-Identifier: BSD-3-Clause
"""What the short form asserts: the counters (performance variables of MPI_T, runtime/state/counters.def), in which
cells they are bounded, and by what. This is the only place with their names. A counter that the build does not have is
reported as missing and bounds nothing. The bounds hold on busy machines, too: a loop that only yields or only sleeps
exceeds them many times over.

`per`: "second" divides the rank with the most by the seconds that the job ran; "time" takes a time as a share of them.
`most` None: shown, not bounded.
`fits`: only where ranks do not outnumber cores (True), only where they do (False), or everywhere (None)."""
import collections

Bound = collections.namedtuple("Bound", "counter per most fits why")

BOUNDS = (
    Bound("tutti_core_moves", "second", 100, None, "a rank that moves all the time never finds its data in the cache"),
    Bound("tutti_sleeps", "second", 150_000, None, "each sleep is a system call and a wake-up by a peer"),
    Bound("tutti_useless_yields", "second", 300_000, None, "a yield that returns at once gave the core to no one"),
    Bound("tutti_shared_core_time", "time", None, True, "a core without a rank may be busy with other work"),
)


def measured(bound, output):
    """The counter of the rank with the most, per second or as a share of the time; None if the build lacks it."""
    counter = output.counters.get(bound.counter)
    return counter[1] / output.elapsed if counter and output.elapsed else None
