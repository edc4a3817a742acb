# SPDX-License-Identifier: BSD-3-Clause
"""Control groups with the cpu controller, of either version of cgroups, for jobs that this process starts."""
import os
import time

PERIOD = 100_000   # of a quota, in microseconds


def mounts():
    """(type, options, folder) of each mounted hierarchy of control groups."""
    with open("/proc/self/mountinfo") as lines:
        for line in lines:
            before, _, after = line.partition(" - ")
            kind, _, options = after.split()
            if kind in ("cgroup", "cgroup2"):
                yield kind, options.split(","), before.split()[4]


def own_paths():
    """Controllers (a tuple, empty for version 2) to the path of this process's group."""
    with open("/proc/self/cgroup") as lines:
        split = [line.rstrip("\n").split(":", 2) for line in lines]
    return {tuple(name for name in names.split(",") if name): path for _, names, path in split}


def candidates():
    """(version, folder) of groups below which a group of ours may be made, the nearest first."""
    for kind, options, folder in mounts():
        for controllers, path in own_paths().items():
            if kind == "cgroup" and "cpu" in options and "cpu" in controllers or kind == "cgroup2" and not controllers:
                own = os.path.normpath(folder + path)
                yield 2 if kind == "cgroup2" else 1, own
                if kind == "cgroup2" and own != folder:   # a group with processes of its own can hand on no controller
                    yield 2, os.path.dirname(own)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


class Groups:
    """One group of ours, below which each job gets some. `reason` says why there is none; empty if there is."""

    def __init__(self):
        self.top, self.reason = None, ""
        reasons = []
        for version, above in candidates():
            top = os.path.join(above, f"tutti-scheduling-{os.getpid()}")
            try:
                os.mkdir(top)
                if version == 2:
                    write(os.path.join(top, "cgroup.subtree_control"), "+cpu")
            except OSError as error:
                reasons.append(f"{above}: {error.strerror}")
                if os.path.isdir(top):
                    os.rmdir(top)
                continue
            self.version, self.top = version, top
            return
        self.reason = "; ".join(reasons) or "no hierarchy of control groups with the cpu controller is mounted"

    def make(self, name, quota=None):
        """The folder of a new group, or of the one of that name; `quota`: in percent of a core."""
        folder = os.path.join(self.top, name)
        os.makedirs(folder, exist_ok=True)
        if self.version == 2 and quota is None:   # the ranks' own groups lie below it
            write(os.path.join(folder, "cgroup.subtree_control"), "+cpu")
        elif quota is not None:
            microseconds = quota * PERIOD // 100
            if self.version == 2:
                write(os.path.join(folder, "cpu.max"), f"{microseconds} {PERIOD}")
            else:
                write(os.path.join(folder, "cpu.cfs_period_us"), str(PERIOD))
                write(os.path.join(folder, "cpu.cfs_quota_us"), str(microseconds))
        return folder

    def remove(self, folder=None):
        """A group and those below it; all by default. Processes that are about to end may hold it for a moment."""
        folder = folder or self.top
        if folder is None:
            return
        for entry in os.scandir(folder):
            if entry.is_dir(follow_symlinks=False):
                self.remove(entry.path)
        for _ in range(100):
            try:
                os.rmdir(folder)
                return
            except OSError:
                time.sleep(0.05)
        print(f"The control group {folder} could not be removed.")
