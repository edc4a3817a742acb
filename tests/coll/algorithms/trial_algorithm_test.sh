#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Follows coll/adding-an-algorithm.md literally in a scratch copy of the tree: after one new file and one new line, the
# algorithm appears in the help, the settings, the tests and the benchmark.
# cores: 1
. "$(dirname "$0")/../../common.sh" "$1"
is_sanitized && skip "the plain build runs this test"
need_package make make
need_package gnuplot-nox gnuplot
copy=$folder/tree
mkdir "$copy"
tar -C "$source" --exclude=./build* --exclude=./.git -cf - . | tar -C "$copy" -xf - || exit 1
cd "$copy" || exit 1
# Compiles only the new file, alone also in a unity build, and the two sources that include the list; the other objects
# come from the existing build.
sed -i 's|^    set(group rest)$|    if(source MATCHES "/bcast/relay[.]cpp$")\n      continue()\n    endif()\n&|' CMakeLists.txt
# Makefiles compare time stamps alone, and therefore accept these objects.
if [ -f "$build/build.ninja" ]; then
    knowing=$(ninja -C "$build" -t deps | awk '/^[^ ]/ {sub(":.*", ""); sub(".*/", ""); object = $0}
                                               /\/algorithms\.def$/ {print object}' | sort | xargs)
    [ "$knowing" = "all_algorithms.cpp.o thread_algorithms.cpp.o" ] ||
        { echo "These sources include the list: $knowing"; exit 1; }
fi
unity=$(sed -n "s/^CMAKE_UNITY_BUILD:[A-Z]*=//p" "$build/CMakeCache.txt")
cat > seeded_build.sh << END
set -e
cmake -G "Unix Makefiles" -B build -DTUTTI_TESTS=ON -DCMAKE_UNITY_BUILD=$unity . > /dev/null
(cd "$build" && find . \( -name '*.o' -o -name '*.gch' \) ! -name '*_algorithms.cpp.o' \
    \( ! -path './tests/*' -o -path '*/tests_coll*.dir/*' -o -path '*/thread_*.dir/*' -o -path '*/coll_world.dir/*' \
    -o -path '*/test_headers.dir/*' \)) > objects
tar -C "$build" -cf - -T objects | tar -C build -xf -
find build -name '*.gch' -exec touch {} +
find build -name '*.o' -exec touch {} +
make -C build -j2 mpi mpiexec tutti-info tutti-tune tutti-bench tests_coll tests_coll_threads > build/log 2>&1 ||
    { tail -50 build/log; exit 1; }
! grep -q 'allreduce' build/log
END
grep -qw relay coll/algorithms/algorithms.def && { echo "the page's example algorithm is already in the tree"; exit 1; }
# apps/demo.sh configures the build folder without tests: the page's own command enables them again.
cmake -G Ninja -B demo -DTUTTI_TESTS=OFF . > /dev/null || exit 1
bash -c "$(grep '^cmake ' coll/adding-an-algorithm.md | sed 's/-B build/-B demo/')" || exit 1
ninja -C demo -t targets all | grep -q '^tests_coll_threads:' ||
    { echo "after apps/demo.sh, the page's command does not enable the tests"; exit 1; }
unset TUTTI_COLL
export TUTTI_TUNING=none
if command -v clang-format-14 >/dev/null; then   # with other versions, another layout is right
    sed -n '/^```cpp$/,/^```$/p' coll/adding-an-algorithm.md | sed '1d; $d' > coll/algorithms/bcast/relay.cpp
    clang-format-14 --dry-run -Werror coll/algorithms/bcast/relay.cpp || { echo "the page's code is not formatted"; exit 1; }
    rm coll/algorithms/bcast/relay.cpp
fi
python3 "$source/tests/guides/run_page.py" coll/adding-an-algorithm.md --build "bash seeded_build.sh" --least 8 || exit 1

wrong() { echo "WRONG: $*"; exit 1; }
build/bin/tutti-info --algorithms --markdown > page.md
grep -q '^| \[relay\](algorithms/bcast/relay.cpp) |' page.md || wrong "the page of all algorithms"
build/bin/tests_coll --gtest_filter='Settings*' --gtest_brief=1 > /dev/null || wrong "the tests of the settings"
build/bin/tutti-tune -n 2 --collectives bcast --dry-run | grep -q ' relay' || wrong "tutti-tune"
[ -s relay.svg ] || wrong "there is no plot"

# relays that never publish: the report names the algorithm and the flag, and not the program's order of calls
python3 - << 'END'
path = "coll/algorithms/bcast/relay.cpp"
text = open(path).read()
head, tail = text.rsplit("        env.publish();\n", 1)
open(path, "w").write(head + tail)
END
make -C build -j2 mpi > build/log 2>&1 || wrong "the build without the relays' publish: $(tail -5 build/log)"
cat > broadcast.c << 'END'
#include <mpi.h>
int main(void) {
    int x = 0;
    MPI_Init(0, 0);
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
END
build/bin/mpicc broadcast.c -o broadcast || wrong "mpicc"
report=$(build/bin/mpiexec -n 4 --coll bcast=relay ./broadcast 2>&1) && wrong "a broadcast without the relays' publish ended"
expected="deadlock: rank 3 waits in algorithm relay of bcast until flag 'publish' of rank 1 reaches step 1; it is at 0"
[[ "$report" == *"error[T21] $expected"*"the algorithm is wrong"* ]] || wrong "the report of a flag that is never written: $report"

# a misspelt name in the list does not become a library
sed -i 's/ALGORITHM(bcast, relay)/ALGORITHM(bcast, relais)/' coll/algorithms/algorithms.def
make -C build mpi > build/log 2>&1 && wrong "libmpi.so.12 was linked without an algorithm of its list"
grep -q "undefined reference to .*relais_algorithm" build/log || wrong "the message about a misspelt name: $(tail -5 build/log)"
