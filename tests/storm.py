#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs correct programs (tests/ranks/ and tests/diagnosis/right/) on 1, 2 and 4 nodes while processes of the job
(mpiexec, daemons, agents and ranks) are stopped and continued at random.

Each run chooses a program, a number of ranks, settings and nodes at random, and checks that the job ends correctly:
right results, no error report, no early end or hang, no process left behind. If a job has not ended after --limit
seconds, the script prints what each of its processes waits for and kills it. The nodes are simulated: their daemons run
on this machine, with the addresses 127.0.0.2, 127.0.0.3, and so on.

The seed chooses programs and stops, but the moments at which stops take effect depend on the machine, so a seed does
not repeat a run exactly. Build the tests first (tests/smoke.sh does)."""
import argparse, collections, concurrent.futures, itertools, os, random, re, signal, subprocess, sys
import tempfile, threading, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "diagnosis"))
import run_corpus

AGENT = '#!/bin/sh\nshift\nexec sh -c "exec $*"\n'   # called as AGENT HOST COMMAND, like ssh
SHORT, LONG = (0.002, 0.01, 0.03, 0.08), (1, 2, 4)   # seconds for which a process is stopped
TOGETHER = (1, 1, 2, 3)                              # numbers of processes that are stopped at the same time
PAUSES = (0, 0.001, 0.005, 0.02)                     # seconds between two stops


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default="build", help="the build folder (build)")
    parser.add_argument("--runs", type=int, default=50, help="number of jobs (50)")
    parser.add_argument("--seed", type=int, default=None, help="the seed that an earlier run has printed")
    parser.add_argument("--filter", default=".", help="only programs whose names match this regular expression")
    parser.add_argument("--nodes", default="1,2,4", help="numbers of nodes to choose from (1,2,4)")
    parser.add_argument("--long", type=float, default=0.01, help="share of stops that last for seconds (0.01)")
    parser.add_argument("--limit", type=int, default=60, help="seconds after which a job counts as hanging (60)")
    parser.add_argument("--jobs", type=int, default=1, help="number of jobs at the same time (1)")
    parser.add_argument("--keep-going", action="store_true", help="continue after a failure")
    return parser.parse_args()


Program = collections.namedtuple("Program", "name command counts settings input forbidden_reports max_nodes")


def programs(build, pattern):
    """Returns the programs whose names match. `forbidden_reports`: regular expression of reports that are errors."""
    all_programs = rank_programs(build) + corpus_programs(build)
    return [one for one in all_programs if re.search(pattern, one.name) and os.access(one.command[0], os.X_OK)]


def rank_programs(build):
    found = []
    for file, max_nodes in (("cluster_programs", 4), ("one_node_programs", 1)):
        for line in open(os.path.join(build, "tests", file)):
            name, path, counts, settings, words, forbidden_reports = line.rstrip("\n").split("|", 5)
            split = lambda text: [word for word in text.split(";") if word]
            found.append(Program(name, [path] + split(words), [int(n) for n in split(counts)], split(settings), None,
                                 forbidden_reports, max_nodes))
    return found


def corpus_programs(build):
    return [Program(os.path.splitext(one.name)[0], one.command(build), one.counts, one.head.get("env", "").split(),
                    one.head.get("input"), r"(?m)^(error|warning)\[", 1 if "one node" in one.head else 4)
            for one in run_corpus.programs_of("right", [""])]


def hosts_for(ranks, nodes):
    """Distributes the ranks evenly; the first nodes have one more if there is a remainder."""
    shares = [ranks // nodes + (node < ranks % nodes) for node in range(nodes)]
    return ",".join(f"127.0.0.{node + 2}:{share}" for node, share in enumerate(shares))


def process_tree(root):
    """Returns the PIDs of a process and its descendants."""
    children = collections.defaultdict(list)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as stat:
                children[int(stat.read().rpartition(")")[2].split()[1])].append(int(pid))
        except OSError:
            pass
    tree = [root]
    for pid in tree:
        tree += children[pid]
    return tree


def marked(mark):
    """Returns the PIDs of processes with this string in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as environment:
                if mark.encode() in environment.read().split(b"\0"):
                    found.append(int(pid))
        except OSError:
            pass
    return found


def send(pid, number):
    try:
        os.kill(pid, number)
    except OSError:
        pass


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError as error:
        return str(error)


def print_states(pids):
    """Prints the state and kernel stack of processes that do not end."""
    for pid in pids:
        command = read(f"/proc/{pid}/cmdline").replace("\0", " ")[:120]
        state = re.findall(r"^State:\s*(.*)$", read(f"/proc/{pid}/status"), re.M)
        print(f"  {pid} {''.join(state)}, in {read(f'/proc/{pid}/wchan')}: {command}")
        print("    " + read(f"/proc/{pid}/stack").replace("\n", "\n    ").rstrip())


class Storm(threading.Thread):
    """Stops and continues processes of one job until end() is called."""

    def __init__(self, root, seed, long_share):
        super().__init__(daemon=True)
        self.root, self.random, self.long_share = root, random.Random(seed), long_share
        self.over, self.stops = threading.Event(), 0

    def run(self):
        while not self.over.is_set():
            tree = process_tree(self.root)
            for _ in range(10):
                self.stop(self.random.sample(tree, min(len(tree), self.random.choice(TOGETHER))))
                if self.over.wait(self.random.choice(PAUSES)):
                    return

    def stop(self, pids):
        length = self.random.choice(LONG if self.random.random() < self.long_share else SHORT)
        for pid in pids:
            send(pid, signal.SIGSTOP)
        self.over.wait(length)
        for pid in pids:
            send(pid, signal.SIGCONT)
        self.stops += len(pids)

    def end(self):
        self.over.set()
        self.join()


class Run:
    def __init__(self, options, choice, number):
        self.options, self.random = options, random.Random(choice)
        self.program = self.random.choice(options.programs)
        self.seed = self.random.random()
        self.ranks = self.random.choice(self.program.counts)
        max_nodes = min(self.ranks, self.program.max_nodes)
        nodes = self.random.choice([n for n in options.node_counts if n <= max_nodes] or [1])
        self.mark = f"STORM_MARK={os.getpid()}-{number}"
        self.command = [os.path.join(options.build, "bin", "mpiexec"), "-n", str(self.ranks)]
        if nodes > 1:
            self.command += ["--launcher-agent", options.agent, "-hosts", hosts_for(self.ranks, nodes)]
        self.command += self.program.command
        settings = self.program.settings
        self.environment = {**os.environ, "TUTTI_TUNING": "none", **dict(s.split("=", 1) for s in settings)}
        self.environment.update([self.mark.split("=")])
        self.words = (f"{self.program.name} with {self.ranks} ranks on {nodes} nodes: "
                      f"{' '.join(settings + self.command)}")

    def carry_out(self):
        """Sets `wrong` to a description of the error; empty: none."""
        with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as typed:
            typed.write(f"{self.program.input or ''}\n")
            typed.seek(0)
            job = subprocess.Popen(self.command, env=self.environment, stdout=output, stderr=subprocess.STDOUT,
                                   stdin=typed if self.program.input else subprocess.DEVNULL, start_new_session=True)
            storm = Storm(job.pid, self.seed, self.options.long)
            storm.start()
            wrong = self.wait(job)
            storm.end()
            if wrong:
                self.kill(job)
            wrong = wrong or self.left()
            output.seek(0)
            printed = output.read()
        self.stops = storm.stops
        if not wrong and job.returncode != 0:
            wrong = f"it ended with {job.returncode}"
        if not wrong and re.search(self.program.forbidden_reports, printed):
            wrong = "an error was reported"
        self.deadlock = "error[T01]" in printed
        self.wrong = f"{wrong}\n{printed[-4000:]}" if wrong else ""
        return self

    def wait(self, job):
        try:
            job.wait(self.options.limit)
            return ""
        except subprocess.TimeoutExpired:
            print(f"These processes have not ended after {self.options.limit} s:")
            print_states(process_tree(job.pid))
            return "it hangs"

    def kill(self, job):
        for pid in marked(self.mark) + [job.pid]:
            send(pid, signal.SIGKILL)
        job.wait()

    def left(self):
        end = time.time() + 60   # mpiexec does not wait for some processes, such as the guardian of a daemon
        while (left := marked(self.mark)) and time.time() < end:
            time.sleep(0.05)
        if left:
            print("Left behind:")
            print_states(left)
            for pid in left:
                send(pid, signal.SIGKILL)
        return "it left processes behind" if left else ""


def main():
    options = arguments()
    options.build = os.path.abspath(options.build)
    options.node_counts = [int(n) for n in options.nodes.split(",")]
    options.programs = programs(options.build, options.filter)
    if not options.programs:
        sys.exit("storm.py: there is no such program; tests/smoke.sh builds the programs")
    seed = options.seed if options.seed is not None else random.randrange(1_000_000)
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        options.agent = os.path.join(folder, "agent")
        with open(options.agent, "w") as agent:
            agent.write(AGENT)
        os.chmod(options.agent, 0o755)
        return carry_out_all(options, seed)


def carry_out_all(options, seed):
    """Returns True if a run failed. Without --keep-going, no further run begins after a failure."""
    failures, deadlocks, stops, done = 0, 0, 0, 0
    numbers = iter(range(options.runs))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        start = lambda number: pool.submit(Run(options, f"{seed} {number}", number).carry_out)
        running = {start(number): number for number in itertools.islice(numbers, options.jobs)}
        while running:
            for ended in concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED).done:
                number, run = running.pop(ended), ended.result()
                stops, done = stops + run.stops, done + 1
                if run.wrong:
                    failures, deadlocks = failures + 1, deadlocks + run.deadlock
                    print(f"WRONG: run {number} of seed {seed}, {run.words}: {run.wrong}", flush=True)
                if options.keep_going or failures == 0:
                    running.update((start(number), number) for number in itertools.islice(numbers, 1))
    print(f"{done} runs, {stops} stops, {failures} wrong ({deadlocks} false reports of a deadlock), seed {seed}")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
