# SPDX-License-Identifier: BSD-3-Clause
"""Compiles the programs of this folder with Tutti, MPICH and Open MPI, and runs them in scheduling groups, on one node
or on two simulated ones, alone or beside other work. A Lab ends all processes that it has started."""
import collections
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from groups import Groups

HERE = os.path.dirname(os.path.abspath(__file__))
PATTERNS = ("pingpong", "allreduce", "alltoall", "halo", "polling", "server", "threads", "fence")
GROUPS = ("together", "sessions", "cgroups", "quota")   # together: in one session
QUOTA = 150                                             # percent of a core for all ranks of a job
LOADS = {"steady": (1, 0), "bursts": (5, 50), "turns": (1, 9)}   # milliseconds of work and of pause
BESIDE = ("alone", *LOADS, "job", "same")   # job: a second Tutti job; same: a second job of the same MPI
MPIS = ("tutti", "mpich", "openmpi")
# Called as AGENT HOST COMMAND, like ssh; some launchers put options before HOST. Open MPI names the shared files of a
# host after it, so simulated hosts have different host names if the system allows it.
AGENT = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
mkdir -p "$SCHEDULING_MEMORY/$1"
export OMPI_MCA_btl_vader_backing_directory="$SCHEDULING_MEMORY/$1" PRETENDED_HOST="$1"
shift
if unshare --uts true 2>/dev/null; then exec unshare --uts sh -c "hostname $PRETENDED_HOST; exec $*"; fi
exec sh -c "exec $*"
"""

Result = collections.namedtuple("Result", "median mean worst operations wrong")   # times in microseconds


class Output:
    """The output of a job. `failure`: why it is not usable, or empty."""

    def __init__(self, text, failure=""):
        self.text, self.failure = text, failure
        self.results, self.counters, self.sessions, self.elapsed = {}, {}, None, None
        for words in map(str.split, text.splitlines()):
            if words[:1] == ["result"]:
                self.results[words[1], int(words[2])] = Result(*map(float, words[3:]))
            elif words[:1] == ["counter"]:
                self.counters[words[1]] = (float(words[2]), float(words[3]))   # sum and maximum over the ranks
            elif words[:1] == ["sessions"]:
                self.sessions = int(words[1])
            elif words[:1] == ["elapsed"]:
                self.elapsed = float(words[1])
        if not failure and any(result.wrong for result in self.results.values()):
            self.failure = "received wrong data"

    def of(self, pattern):
        """Returns the result of "NAME" or "NAME:BYTES", or None."""
        name, _, size = pattern.partition(":")
        return next((result for (named, bytes_of), result in self.results.items()
                     if named == name and (not size or bytes_of == int(size))), None)


def marked(mark):
    """Returns the PIDs of processes with this entry in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as environment:
                if mark.encode() in environment.read().split(b"\0"):
                    found.append(int(pid))
        except OSError:
            pass
    return found


def end_marked(mark, patience=0.0):
    """Kills the marked processes that have not ended after `patience` seconds; returns their number."""
    end = time.monotonic() + patience
    while (left := marked(mark)) and time.monotonic() < end:
        time.sleep(0.02)
    for pid in left:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + 10
    while marked(mark) and time.monotonic() < end:
        time.sleep(0.02)
    return len(left)


def exit_on_signal(number, _frame):
    sys.exit(128 + number)


class Lab:
    """Compiled programs in a temporary folder. A context manager; its end kills all processes and removes all files."""

    def __init__(self, build, mpis=MPIS):
        self.build, self.mpis = os.path.abspath(build), list(mpis)
        self.stack, self.number, self.name = contextlib.ExitStack(), 0, f"{os.getpid()}-{random.randrange(10**9)}"

    def __enter__(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, exit_on_signal)
        with contextlib.ExitStack() as stack:   # also cleans up if a step fails
            self.folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="scheduling", ignore_cleanup_errors=True))
            self.memory = stack.enter_context(tempfile.TemporaryDirectory(
                prefix="scheduling", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None, ignore_cleanup_errors=True))
            self.groups = Groups()
            stack.callback(self.groups.remove)
            self.agent = os.path.join(self.folder, "agent")
            with open(self.agent, "w") as agent:
                agent.write(AGENT)
            os.chmod(self.agent, 0o755)
            for name in ("enter", "load"):
                subprocess.run(["cc", "-O2", f"{HERE}/{name}.c", "-o", self.path(name)], check=True)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, name):
        """Builds NAME.c with each MPI; omits those that are not installed, with a message."""
        for mpi in list(self.mpis):
            compiler = f"{self.build}/bin/mpicc" if mpi == "tutti" else f"mpicc.{mpi}"
            launcher = f"{self.build}/bin/mpiexec" if mpi == "tutti" else f"mpiexec.{mpi}"
            if not shutil.which(compiler) or not shutil.which(launcher):
                print(f"{mpi} is left out: {compiler} and {launcher} are not both there.")
                self.mpis.remove(mpi)
                continue
            subprocess.run([compiler, "-O2", f"{HERE}/{name}.c", "-o", self.path(f"{name}.{mpi}"), "-lpthread"], check=True)

    def why_not(self, ranks, group, hosts):
        """Returns why such a job cannot be run, or an empty string."""
        if group in ("cgroups", "quota") and self.groups.reason:
            return f"no control group can be made ({self.groups.reason})"
        return "one rank is on one host" if ranks < hosts else ""

    def launcher(self, mpi, ranks, hosts):
        if hosts > 1:
            shares = [ranks // hosts + (host < ranks % hosts) for host in range(hosts)]
            first = "hosta" if mpi == "openmpi" else "127.0.0.2"   # Open MPI treats 127.0.0.2 as this host
            names = [first[:-1] + chr(ord(first[-1]) + host) for host in range(hosts)]
            listed = ",".join(f"{name}:{share}" for name, share in zip(names, shares))
        if mpi == "tutti":
            several = ["--launcher-agent", self.agent, "-hosts", listed] if hosts > 1 else []
            return [f"{self.build}/bin/mpiexec", *several, "-n", str(ranks)]
        if mpi == "mpich":
            several = ["-launcher", "ssh", "-launcher-exec", self.agent, "-hosts", listed] if hosts > 1 else []
            return ["mpiexec.mpich", *several, "-n", str(ranks)]
        several = ["--mca", "plm_rsh_agent", self.agent, "--host", listed] if hosts > 1 else []
        return ["mpiexec.openmpi", "--allow-run-as-root", "--oversubscribe", *several, "-n", str(ranks)]

    def environment(self, mark, hosts):
        # A killed job of Open MPI leaves its segments, so they are created in a folder that this process removes.
        added = dict([mark.split("=")], TUTTI_TUNING="none", TMPDIR=self.folder, SCHEDULING_MEMORY=self.memory,
                     OMPI_MCA_btl_vader_backing_directory=self.memory, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        if hosts > 1:
            added["UCX_TLS"] = "tcp,self"   # no shared memory between MPICH's ranks of different hosts
            added["OMPI_MCA_osc"] = "^rdma"   # its rdma component fails over TCP between hosts with one address
        return {**os.environ, **added}

    def start(self, mpi, ranks, command, mark, group="together", hosts=1):
        outer, inner = [self.path("enter"), "parent"], []
        if group == "sessions":
            inner = [self.path("enter"), "session", "--"]
        elif group == "cgroups":
            inner = [self.path("enter"), f"own-group={self.groups.make('ranks')}", "--"]
        elif group == "quota":
            outer.append(f"group={self.groups.make('quota', QUOTA)}")
        program = [self.path(f"{command[0]}.{mpi}"), *map(str, command[1:])]
        return subprocess.Popen([*outer, "--", *self.launcher(mpi, ranks, hosts), *inner, *program], cwd=self.folder,
                                env=self.environment(mark, hosts), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, start_new_session=True)

    def new_mark(self):
        self.number += 1
        return f"SCHEDULING_MARK={self.name}-{self.number}"

    def run(self, mpi, ranks, command, group="together", hosts=1, limit=120):
        """`command`: the name of a compiled program and its arguments. Returns an Output, also if the job fails."""
        mark = self.new_mark()
        try:
            job = self.start(mpi, ranks, command, mark, group, hosts)
            try:
                text, errors = job.communicate(timeout=limit)
                failure = f"ended with {job.returncode}: {errors[-400:].strip()}" if job.returncode else ""
            except subprocess.TimeoutExpired:
                end_marked(mark)
                text, failure = job.communicate()[0], f"did not end within {limit:.0f} s"
        finally:
            left = end_marked(mark, 10)
            if group == "cgroups":
                self.groups.remove(self.groups.make("ranks"))
        output = Output(text, failure)
        if mpi == "mpich" and hosts > 1 and output.results:
            output.failure = ""   # its launcher often fails at the end if two proxies are on one machine
        if left and not output.failure and mpi == "tutti":
            output.failure = f"left {left} processes behind"
        return output

    @contextlib.contextmanager
    def beside(self, name, mpi="tutti", ranks=2):
        """Runs other work in a new session while the context lasts."""
        if name == "alone":
            yield
            return
        mark = self.new_mark()
        try:
            if name in LOADS:
                started = subprocess.Popen([self.path("load"), *map(str, LOADS[name])], env=self.environment(mark, 1),
                                           start_new_session=True)
            else:
                started = self.start(mpi if name == "same" else "tutti", ranks, ["patterns", 1e6, "allreduce"], mark)
                started.stdout.readline()   # waits until all ranks have returned from MPI_Init
            yield
            if started.poll() is not None:
                print(f"The work beside ({name}) ended early with {started.returncode}.")
            started.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                started.communicate(timeout=5)
        finally:
            end_marked(mark)
