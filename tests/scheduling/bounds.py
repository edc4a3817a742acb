# SPDX-License-Identifier: BSD-3-Clause
"""Bounds of the short form: counters (performance variables of MPI_T, runtime/state/counters.def), the cells in which
they are bounded, and the bounds. This is the only list of these names. A counter that the build lacks is reported as
missing. The bounds also hold on busy machines: a loop that only yields or only sleeps exceeds them many times.

`per`: "second" divides the maximum over the ranks by the seconds that the job ran; "time" is a share of these seconds.
`most` None: printed, not bounded.
`fits`: only without oversubscription (True), only with it (False), or always (None)."""
import collections

Bound = collections.namedtuple("Bound", "counter per most fits why")

BOUNDS = (
    Bound("tutti_core_moves", "second", 100, None, "a rank that moves often loses its data in the cache"),
    Bound("tutti_sleeps", "second", 150_000, None, "each sleep is a system call and a wake-up by a peer"),
    # A wait polls for 3 µs before each of its useless yields but the first: at most 333,000 a second, and one for each
    # short wait. A loop of yields makes one to three million.
    Bound("tutti_useless_yields", "second", 600_000, None, "a yield that returns immediately released the core to no process"),
    Bound("tutti_shared_core_time", "time", None, True, "a core without a rank may be busy with other work"),
)


def measured(bound, output):
    """Returns the maximum over the ranks, per second or as a share of the time; None if the build lacks the counter."""
    counter = output.counters.get(bound.counter)
    return counter[1] / output.elapsed if counter and output.elapsed else None
