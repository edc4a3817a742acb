# SPDX-License-Identifier: BSD-3-Clause
"""joined.c with mpi4py. Argument: the library of direct_bytes.c."""
import array
import ctypes
import sys

from mpi4py import MPI

COUNT = (1 << 20) // 4
direct_bytes = ctypes.CDLL(sys.argv[1]).direct_bytes
direct_bytes.restype = ctypes.c_longlong

world = MPI.COMM_WORLD
node = world.Split_type(MPI.COMM_TYPE_SHARED)
numbers = array.array("i", [world.rank]) * COUNT
sums = array.array("i", [0]) * COUNT
before = direct_bytes()
world.Allreduce([numbers, MPI.INT], [sums, MPI.INT])
copied = direct_bytes() - before
if any(one != sums[0] for one in sums):
    world.Abort(1)
sys.stdout.write(f"rank {world.rank} of {world.size}, {node.size} on its node, sum {sums[0]}, {copied} bytes direct\n")
node.Free()
