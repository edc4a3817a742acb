#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The recipes for Spack and conda-forge, and the action, are correct Python and YAML, name options and programs that
# exist, and need the libraries that the build needs. Spack and rattler-build are not here.
. "$(dirname "$0")/common.sh" "$1"
need_package python3-yaml "/usr/lib/python3/dist-packages/yaml/__init__.py"
for recipe in package.py recipe.yaml; do
    sed "s|@VERSION@|$version|g; s|@URL@|https://example.org/tutti.tar.xz|g; s|@SHA256@|$(sha256sum </dev/null | cut -d ' ' -f 1)|g" \
        "$source/packaging/recipes/$recipe.in" >"$folder/$recipe"
    if grep -n '@[A-Z]*@' "$folder/$recipe"; then wrong "$recipe has a place that packaging/release.sh does not fill"; fi
done
/usr/bin/python3 - "$source" "$folder" "$version" <<'END' || wrong "the recipes"
import ast, re, sys, yaml
source, folder, version = sys.argv[1:]
read = lambda file: open(file, encoding="utf-8").read()
build = read(f"{source}/CMakeLists.txt") + read(f"{source}/launcher/CMakeLists.txt")
options = set(re.findall(r"^option\((\w+)", build, re.M)) | {"CMAKE_UNITY_BUILD"}
wrong = []
# The names of the libraries that the build looks for, in each system of packages.
names = {"hwloc": ("hwloc", "libhwloc"), "libsodium": ("libsodium",) * 2, "pmix": ("pmix", "libpmix-devel"),
         "numa": ("numactl",) * 2, "libdw": ("elfutils",) * 2, "nlohmann_json": ("nlohmann-json", "nlohmann_json")}
required = re.findall(r"pkg_check_modules\(\w+ REQUIRED (?:IMPORTED_TARGET )?([\w-]+)\)", build)
required += re.findall(r"find_package\((nlohmann_json) REQUIRED\)", build)

module = ast.parse(read(f"{folder}/package.py"))
(package,) = [node for node in module.body if isinstance(node, ast.ClassDef)]
calls = [node for node in ast.walk(package) if isinstance(node, ast.Call)]
first = lambda name: [c.args[0].value for c in calls if getattr(c.func, "id", getattr(c.func, "attr", "")) == name]
if (package.name, first("version")) != ("Tutti", [version]):
    wrong.append(f"package.py is of {package.name} {first('version')}")
recipe = yaml.safe_load(read(f"{folder}/recipe.yaml"))
if (recipe["package"]["name"], recipe["package"]["version"]) != ("tutti", version):
    wrong.append(f"recipe.yaml is of {recipe['package']}")
if len(set(required)) != len(names):
    wrong.append(f"the build needs {required}, the test knows {list(names)}")
for library in sorted(set(required)):
    spack, conda = names[library]
    if spack not in first("depends_on"):
        wrong.append(f"package.py does not depend on {spack}")
    if conda not in recipe["requirements"]["host"]:
        wrong.append(f"recipe.yaml does not need {conda}")
used = set(first("define")) | {o for line in recipe["build"]["script"] for o in re.findall(r"-D(\w+)=", line)}
if not used or not used <= options:
    wrong.append(f"options that the build does not have: {used - options}")
action = yaml.safe_load(read(f"{source}/packaging/action/action.yml"))
if action["runs"]["using"] != "composite" or list(action["inputs"]) != ["release"]:
    wrong.append("action.yml")
print("\n".join(wrong))
sys.exit(bool(wrong))
END
finish
