// SPDX-License-Identifier: BSD-3-Clause
// The main() of an executable that holds several programs of the corpus: `cases NAME [ARGUMENTS]` runs one of them.
// Compiled without -g, so that a report does not name it as the caller of a program's functions.
#include <stdio.h>
#include <string.h>

struct Case {
    char const* name;
    int (*main)(int argc, char** argv);
};

extern struct Case const cases[];   // written by extra.cmake; the last one has no name

int main(int argc, char** argv) {
    for (struct Case const* one = cases; argc > 1 && one->name; one++)
        if (strcmp(one->name, argv[1]) == 0) return one->main(argc - 1, argv + 1);
    fprintf(stderr, "%s: there is no case %s\n", argv[0], argc > 1 ? argv[1] : "without a name");
    return 2;
}
