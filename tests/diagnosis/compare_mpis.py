# SPDX-License-Identifier: BSD-3-Clause
"""Compares the messages of Tutti, and of Debian's MPICH and Open MPI if installed, for common errors of the lessons.

Usage: compare_mpis.py BUILD [--ranks 2,4] [--limit SECONDS]
Prints a line per program, number of ranks and MPI: the duration and the end of the job (hanging jobs are ended after
the limit), and the first line of the message. An error counts as reported if the message names the rank and the call, or a
code of `mpiexec --explain`. This is no test: it is run by hand, for tables in the documentation.
"""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LESSONS = os.path.join(HERE, "..", "..", "apps", "lessons")
CLASSICS = [   # the error, program, options for Tutti's mpiexec
    ("receive against receive", "03-deadlocks/mistake-both-receive.c", []),
    ("wrong tag", "04-tags/mistake-wrong-tag.c", []),
    ("broadcast against reduction", "08-order-of-collectives/mistake-broadcast-reduction.c", []),
    ("different roots", "06-broadcast-scatter-gather/mistake-different-roots.c", []),
    ("int against double", "09-datatypes/mistake-int-for-double.c", []),
    ("different counts", "06-broadcast-scatter-gather/mistake-different-counts.c", []),
    ("exits early, code 1", "01-hello/mistake-exit.c", []),
    ("exits early, code 0", "01-hello/mistake-no-finalize.c", []),
    ("a wait is missing", "05-nonblocking/mistake-missing-wait.c", []),
    ("rank out of range", "02-send-receive/mistake-no-such-rank.c", []),
    ("buffer changed during a send", "05-nonblocking/mistake-changed-buffer.c", ["--check"]),
    ("two communicators in opposite order", "10-communicators/mistake-opposite-order.c", []),
    ("large sends head to head", "03-deadlocks/mistake-both-send.c", []),
    ("small sends head to head", "03-deadlocks/mistake-small-sends.c", ["--check"]),
]


def launchers(build):
    """Returns {name of the MPI: (compiler, launcher command)}."""
    found = {"Tutti": (os.path.join(build, "bin", "mpicc"), [os.path.join(build, "bin", "mpiexec")])}
    if shutil.which("mpicc.mpich"):
        found["MPICH"] = ("mpicc.mpich", ["mpiexec.mpich"])
    if shutil.which("mpicc.openmpi"):
        found["Open MPI"] = ("mpicc.openmpi", ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"])
    return found


def run(words, limit):
    """Returns (exit code or None if it hung, seconds, standard error)."""
    begin = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        _, printed = process.communicate(timeout=limit)
        code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        _, printed = process.communicate()
        code = None
    return code, time.monotonic() - begin, printed


def first_message(printed):
    for line in printed.split("\n"):
        line = line.strip(" *-")
        if re.search(r"error\[|warning\[|MPI_ERR|rror in|MPI_\w+\(|exit|abort|left|signal", line):
            return line[:140]
    return ""


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("build")
    words.add_argument("--ranks", default="2,4")
    words.add_argument("--limit", type=float, default=5)
    chosen = words.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for what, source, more in CLASSICS:
            for name, (compiler, start) in launchers(os.path.abspath(chosen.build)).items():
                program = os.path.join(folder, f"{name[0]}-{os.path.basename(source)[:-2]}")
                if subprocess.run([compiler, "-g", "-w", os.path.join(LESSONS, source), "-o", program, "-lm"]).returncode:
                    sys.exit(f"{source} does not compile with {compiler}")
                for ranks in chosen.ranks.split(","):
                    code, seconds, printed = run([*start, "-n", ranks, *(more if name == "Tutti" else []), program], chosen.limit)
                    end = "hangs" if code is None else f"exit code {code}"
                    print(f"{what:36} {ranks:>2} ranks  {name:9} {seconds:6.2f} s  {end:14} {first_message(printed)}", flush=True)


if __name__ == "__main__":
    main()
