# SPDX-License-Identifier: BSD-3-Clause
"""Packs an installation of Tutti as a wheel; called by packaging/wheel.sh, which sets TUTTI_PREFIX and TUTTI_VERSION.

Every file of the prefix becomes "data" of the wheel, which installers put into the same place below the prefix of the
Python environment: programs into its bin/, libraries into its lib/. So all paths between them stay as they are, and the
environment's lib/ is where packages that need a library with MPICH's ABI, such as mpi4py, look for one.
"""
import os
import re
import subprocess

from setuptools import setup
from wheel.bdist_wheel import bdist_wheel

PREFIX = os.environ["TUTTI_PREFIX"]
# What a wheel for manylinux may need of the system, of the libraries that the profiles of PEP 600 allow.
SYSTEM_LIBRARIES = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "libstdc++.so.6", "libgcc_s.so.1"}
# The versions of the compiler's libraries in all distributions whose C library is 2.34 or newer: those of GCC 11.
NEWEST = {"GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13), "GCC": (11, 0, 0)}


def files():
    for folder, _, names in sorted(os.walk(PREFIX)):
        if names:
            yield folder, sorted(names)


def is_elf(file):
    with open(file, "rb") as content:
        return content.read(4) == b"\x7fELF"


def platform():
    """Returns the tag of the platform: the newest version of the C library of which a file needs a symbol.

    PEP 600 defines manylinux_2_XX as: runs where the C library is 2.XX or newer. Raises an error if a file needs a
    library, or a version of the compiler's libraries, that such a system may not have.
    """
    programs = [os.path.join(folder, name) for folder, names in files() for name in names]
    programs = [file for file in programs if is_elf(file)]
    own = {os.path.basename(file) for file in programs}
    newest = 0
    for file in programs:
        text = subprocess.run(["readelf", "--wide", "--dynamic", "--version-info", file], check=True,
                              stdout=subprocess.PIPE, text=True, env={**os.environ, "LC_ALL": "C"}).stdout
        foreign = set(re.findall(r"\(NEEDED\).*\[(.+)\]", text)) - own - SYSTEM_LIBRARIES
        for library, version in re.findall(r"Name: (GLIBCXX|CXXABI|GCC)_([\d.]+)", text):
            if tuple(map(int, version.split("."))) > NEWEST[library]:
                foreign.add(f"{library}_{version}")
        if foreign:
            raise SystemExit(f"{file} needs {', '.join(sorted(foreign))}, which other systems may not have")
        if "GLIBC_ABI_DT_RELR" in text:
            newest = max(newest, 36)
        newest = max([newest, *(int(minor) for minor in re.findall(r"Name: GLIBC_2\.(\d+)", text))])
    return f"manylinux_2_{newest}_x86_64"


class PlatformWheel(bdist_wheel):
    """A wheel for any Python of one platform."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", platform()


setup(
    version=os.environ["TUTTI_VERSION"],
    packages=[],
    py_modules=[],
    data_files=[(os.path.relpath(folder, PREFIX), [os.path.join(folder, name) for name in names])
                for folder, names in files()],
    license_files=["LICENSE*"],
    cmdclass={"bdist_wheel": PlatformWheel},
)
