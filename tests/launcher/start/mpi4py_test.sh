#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Debian's mpi4py is built with Open MPI, whose ranks join the job by PMIx. Without a server, mpiexec reports that each is
# alone and names the remedy.
. "$(dirname "$0")/../common.sh" "$1"
need_package python3-mpi4py "/usr/lib/python3/dist-packages/mpi4py/MPI.*.so"
cat >"$folder/script.py" <<'END'
from mpi4py import MPI
print("sum", MPI.COMM_WORLD.allreduce(MPI.COMM_WORLD.rank), "of", MPI.COMM_WORLD.size, flush=True)
END
run -n 3 /usr/bin/python3 "$folder/script.py"; expect_code 0; expect_silence; expect_out $'sum 3 of 3\nsum 3 of 3\nsum 3 of 3'

# Each rank has its own folder for Open MPI's files, because a process can fail while another one creates a common one.
cat >"$folder/alone.py" <<'END'
import os, tempfile, time
os.environ["TMPDIR"] = tempfile.mkdtemp(dir=os.path.dirname(__file__))
for name in [name for name in os.environ if name.startswith(("PMIX", "JSM"))]:
    del os.environ[name]
from mpi4py import MPI
print("rank", MPI.COMM_WORLD.rank, "of", MPI.COMM_WORLD.size, flush=True)
time.sleep(1)   # mpiexec checks which library a rank has loaded at growing intervals
END
run -n 2 /usr/bin/python3 "$folder/alone.py"; expect_code 0; expect_out $'rank 0 of 1\nrank 0 of 1'
expect_err "libmpi.so.40"
expect_err "\`python3 -m venv mpi && MPICC=$build/bin/mpicc mpi/bin/pip install --no-binary mpi4py mpi4py\`"

# The command can be copied if Tutti is in a folder with a blank.
mkdir -p "$folder/a b/bin"; cp "$mpiexec" "$folder/a b/bin"; ln -s "$build/lib" "$folder/a b/lib"
mpiexec="$folder/a b/bin/mpiexec"
run -n 2 /usr/bin/python3 "$folder/alone.py"; expect_code 0; expect_err "MPICC='$folder/a b/bin/mpicc' mpi/bin/pip"
finish
