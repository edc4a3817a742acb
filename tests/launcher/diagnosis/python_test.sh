#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Reports of a Python program name lines of its source.
. "$(dirname "$0")/../common.sh" "$1"
python=/usr/bin/python3
[ -x $python ] && nm -D "$(readlink -f $python)" 2>/dev/null | grep -q ' _Py_DumpTraceback$' ||
    skip "Debian's Python, whose lines can be found, is not installed"

cat >"$folder/ring.py" <<END
import ctypes, sys
mpi = ctypes.CDLL("$build/lib/libmpi.so.12")   # releases Python's lock around each call
world, integer, nobody = 0x44000000, 0x4c000405, -1
x = ctypes.c_int()

def pass_on(to):
    mpi.MPI_Recv(ctypes.byref(x), 1, integer, to, 0, world, ctypes.c_void_p(1))

mpi.MPI_Init(None, None)
rank = ctypes.c_int()
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
if sys.argv[1] == "wait":
    pass_on(1 - rank.value)
mpi.MPI_Send(ctypes.byref(x), 1, integer, 7, 0, world)
END
run -n 2 $python "$folder/ring.py" wait; expect_code 125
expect_err "MPI_Recv(1 MPI_INT from rank 1, tag 0, MPI_COMM_WORLD)  ring.py:7 in pass_on()"
run -n 2 $python "$folder/ring.py" send; expect_code 6; expect_err "error[MPI_ERR_RANK]"
expect_err "MPI_Send(1 MPI_INT to rank 7, tag 0, MPI_COMM_WORLD)  ring.py:14 in <module>"

# a rank that computes while others wait for it
cat >"$folder/busy.py" <<END
import ctypes
mpi = ctypes.CDLL("$build/lib/libmpi.so.12")
rank = ctypes.c_int()
mpi.MPI_Init(None, None)
mpi.MPI_Comm_rank(0x44000000, ctypes.byref(rank))
while rank.value == 1: pass
mpi.MPI_Barrier(0x44000000)
END
time_out "ranks 0 and 2  MPI_Barrier(MPI_COMM_WORLD)  busy.py:7 in <module>
  rank 1 is not in MPI; its last call was MPI_Comm_rank
    now in Python code" run -n 3 $python "$folder/busy.py"

# MPI is started as by mpi4py, with a thread that waits for work, as in libraries.
cat >"$folder/threads.py" <<END
import ctypes, os, signal, subprocess, sys, threading, time
mpi = ctypes.CDLL("$build/lib/libmpi.so.12")
world, integer, multiple = 0x44000000, 0x4c000405, 3
x, rank, provided = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
work = threading.Event()

def receive(tag):
    mpi.MPI_Recv(ctypes.byref(x), 1, integer, 1 - rank.value, tag, world, ctypes.c_void_p(1))

def send(tag):
    mpi.MPI_Send(ctypes.byref(x), 1, integer, 1 - rank.value, tag, world)

mpi.MPI_Init_thread(None, None, multiple, ctypes.byref(provided))
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
threading.Thread(target=work.wait, daemon=True).start()
if sys.argv[1] == "both":
    receive(0)
elif sys.argv[1] == "tag":
    receive(8) if rank.value else send(7)
    mpi.MPI_Barrier(world)
elif sys.argv[1] == "collectives":
    mpi.MPI_Bcast(ctypes.byref(x), 1, integer, 0, world) if rank.value else mpi.MPI_Barrier(world)
elif sys.argv[1] == "late":   # rank 0 is stopped just after it has begun to wait, and continues later
    pid = ctypes.c_int(os.getpid())
    mpi.MPI_Bcast(ctypes.byref(pid), 1, integer, 0, world)
    if rank.value == 0:
        mpi.MPI_Barrier(world)
    time.sleep(0.005)
    os.kill(pid.value, signal.SIGSTOP)
    subprocess.Popen(["sh", "-c", "sleep 0.06; kill -CONT %d" % pid.value])
    mpi.MPI_Allreduce(ctypes.byref(x), ctypes.byref(pid), 1, integer, 0x58000003, world)
elif sys.argv[1] == "thread":
    other = threading.Thread(target=receive, args=(1,))
    other.start()
    receive(2)
elif sys.argv[1] == "right":
    threading.Timer(0.4, send, (3,)).start()
    receive(3)
mpi.MPI_Finalize()
END
run -n 2 $python "$folder/threads.py" both; expect_code 125; expect_err "error[T01]"
expect_err "MPI_Recv(1 MPI_INT from rank 1, tag 0, MPI_COMM_WORLD)  threads.py:8 in receive()"
run -n 2 $python "$folder/threads.py" tag; expect_code 125; expect_err "error[T02]"
expect_err "MPI_Recv(1 MPI_INT from rank 0, tag 8, MPI_COMM_WORLD)  threads.py:8 in receive()"
run -n 2 $python "$folder/threads.py" collectives; expect_code 125; expect_err "error[T03]"
expect_err "MPI_Barrier(MPI_COMM_WORLD)                   threads.py:22 in <module>"
[[ $err != *threads.py:42* ]] || wrong "MPI_Bcast is reported at the line of MPI_Finalize: $err"
run --check -n 2 $python "$folder/threads.py" late; expect_code 125; expect_err "error[T03]"
expect_err "MPI_Barrier(MPI_COMM_WORLD)                        threads.py:27 in <module>"
expect_err "MPI_Allreduce(1 MPI_INT, MPI_SUM, MPI_COMM_WORLD)  threads.py:31 in <module>"
run -n 2 $python "$folder/threads.py" thread; expect_code 125; expect_err "error[T01]"
expect_err "tag 1, MPI_COMM_WORLD)  threads.py:8 in receive()"
expect_err "tag 2, MPI_COMM_WORLD)  threads.py:8 in receive()"
run -n 2 $python "$folder/threads.py" right; expect_code 0
# without mpiexec
err=$($python "$folder/ring.py" send 2>&1); what="python without mpiexec"; expect_err "ring.py:14 in <module>"
finish
