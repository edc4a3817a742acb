// SPDX-License-Identifier: BSD-3-Clause
// Runs one of the rank programs of a topic, which are linked into one executable. The name under which the executable
// is called, ranks_TOPIC_NAME, selects the program; symbolic links beside it have these names. CMake defines TOPIC and
// PROGRAMS, a list of PROGRAM(name), and compiles each program's main as main_name.
#include <stdio.h>
#include <string.h>

#define PROGRAM(name) int main_##name(int argc, char **argv);
PROGRAMS
#undef PROGRAM

static struct {
    char const *name;
    int (*run)(int argc, char **argv);
} const programs[] = {
#define PROGRAM(name) {"ranks_" TOPIC "_" #name, main_##name},
    PROGRAMS
};

int main(int argc, char **argv) {
    char const *const slash = strrchr(argv[0], '/'), *const called = slash ? slash + 1 : argv[0];
    for (size_t i = 0; i < sizeof programs / sizeof *programs; ++i)
        if (strcmp(called, programs[i].name) == 0) return programs[i].run(argc, argv);
    fprintf(stderr, "%s is the name of no program of tests/ranks/" TOPIC "\n", called);
    return 2;
}
