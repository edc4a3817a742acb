# SPDX-License-Identifier: BSD-3-Clause
"""Control groups with the cpu controller, of either version of cgroups, for jobs that this process starts."""
import os
import time

PERIOD = 100_000   # period of a quota, in microseconds


def mounts():
    """Yields (type, options, folder) of each mounted hierarchy of control groups."""
    with open("/proc/self/mountinfo") as lines:
        for line in lines:
            before, _, after = line.partition(" - ")
            kind, _, options = after.split()
            if kind in ("cgroup", "cgroup2"):
                yield kind, options.split(","), before.split()[4]


def own_paths():
    """Returns {controllers (a tuple, empty for version 2): path of the group of this process}."""
    with open("/proc/self/cgroup") as lines:
        split = [line.rstrip("\n").split(":", 2) for line in lines]
    return {tuple(name for name in names.split(",") if name): path for _, names, path in split}


def candidates():
    """Yields (version, folder) of groups below which a new group may be created, the nearest first."""
    for kind, options, folder in mounts():
        for controllers, path in own_paths().items():
            if kind == "cgroup" and "cpu" in options and "cpu" in controllers or kind == "cgroup2" and not controllers:
                own = os.path.normpath(folder + path)
                yield 2 if kind == "cgroup2" else 1, own
                if kind == "cgroup2" and own != folder:   # a group with processes cannot enable controllers for subgroups
                    yield 2, os.path.dirname(own)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


class Groups:
    """A control group with subgroups for each job. `reason`: why no group could be created; else empty."""

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
        """Returns the folder of the group with this name, created if needed; `quota`: in percent of a core."""
        folder = os.path.join(self.top, name)
        os.makedirs(folder, exist_ok=True)
        if self.version == 2 and quota is None:   # groups of single ranks are created below it
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
        """Removes a group and its subgroups; all groups by default. Retries, because processes may still be ending."""
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
