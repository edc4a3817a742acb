#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the manual pages of the functions: an installation has one for each function that mpi.h declares, and MPI(3);
# their macros are correct; one page is compared. The program that writes them refuses texts that do not fit mpi.h.
# tests/ranks/errors/arguments.cpp compares the errors that the pages state with those that calls return.
. "$(dirname "$0")/lib.sh" "$1"
need_package mandoc mandoc
need_package groff-base groff
install_and_move prefix
pages=$moved/share/man/man3

rendered() { mandoc -T ascii -O width=78 "$1" | sed 's/.\x08//g'; }

{ sed -nE 's/^[A-Za-z_]+ (MPI_(T_|[A-Z])[a-z]\w*)\(.*/\1/p' "$source/mpi_h/include/mpi.h"; echo MPI; } | sort >"$work/functions"
find "$pages" -type f -printf '%f\n' | sed 's/\.3$//' | sort | diff "$work/functions" - ||
    wrong "functions (<) and pages (>) differ"
# Pages have no date, so that two builds of the same sources are equal.
mandoc -T lint -W warning "$pages"/*.3 | grep -v 'WARNING: missing date' && wrong "mandoc reports the lines above"
for page in "$pages"/*.3; do rendered "$page" | awk -v page="${page##*/}" 'length > 78 { print page ": " $0 }'; done |
    grep . && wrong "these lines are too long for a terminal of 80 columns"
equal "errors of groff" "" "$(groff -ww -man -Tutf8 -z "$pages"/*.3 2>&1)"
equal "divided words" "" "$(groff -man -Tutf8 "$pages"/*.3 | grep $'\u2010$')"
# Links: names behind .BR, which are bold and have a section.
sed -nE 's/^\.BR (\w+) \(3\).*/\1/p' "$pages"/*.3 | sort -u | comm -23 - "$work/functions" | grep . &&
    wrong "SEE ALSO names these pages, which do not exist"

# Commands of tutti-info that pages name.
commands=$(cat "$pages"/*.3 | tr '\n' ' ' | sed 's/\\//g' | grep -oE 'tutti-info --[a-z]+( [a-z_]+ lists)?' | sed 's/ lists//' | sort -u)
has "commands" "tutti-info --algorithms neighbor_alltoall" "$commands"
while read -r command; do
    # shellcheck disable=SC2086  # words of the command
    "$build/bin/"$command >"$work/out" 2>&1 || wrong "$command, which pages name: $(cat "$work/out")"
done <<<"$commands"

rendered "$pages/MPI_Allreduce.3" >"$work/page"
equal "sections" "NAME SYNOPSIS DESCRIPTION SEMANTICS PARAMETERS RETURN VALUE ERRORS NOTES STANDARDS SEE ALSO" \
    "$(grep -E '^[A-Z ]+$' "$work/page" | paste -sd ' ')"
has "the signature" "int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count,
           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);" "$(cat "$work/page")"
has "the errors" "       MPI_ERR_COUNT
              count is negative." "$(cat "$work/page")"
has "the family" "MPI_Allreduce_init(3), MPI_Iallreduce(3)" "$(cat "$work/page")"

# A small mpi.h with texts that fit it.
cat >"$work/mpi.h" <<'END'
/* int MPI_Comment(void); */
#define MPI_ERR_ARG 12
typedef int MPI_Comm;
int MPI_One(const int counts[], MPI_Comm comm);
double MPI_Two(void);
extern __typeof__(MPI_One) PMPI_One;
extern __typeof__(MPI_Two) PMPI_Two;
END
cat >"$work/overview.txt" <<'END'
@chapter all functions
Text.
@return
MPI_ERR_ARG or 0.
@semantics local
It does not wait.
END
cat >"$work/texts.txt" <<'END'
@chapter First
@parameter * const int *
@wrong MPI_ERR_ARG is null
@parameter counts
Numbers.
@parameter comm MPI_Comm
Ranks.
@family both
Shared.
@semantics local
@standard 1.2
@note
A note.
@function MPI_One  do one thing
First.
@uses both
Adds `counts`:
    a-b \ c
- an item
@error MPI_ERR_ARG They differ.
@function MPI_Two  do two things
@uses both
Returns 2.
END
mkdir "$work/made"
write() { "$build/mpi_h/write_manual" "$work/mpi.h" 1.2 "$work/made" "$work/errors" "$work/overview.txt" "$1" 2>&1; }
equal "texts that fit" "" "$(write "$work/texts.txt")"
equal "stated errors" 'ERROR(MPI_One, "counts", MPI_ERR_ARG) ERROR(MPI_One, "", MPI_ERR_ARG)' \
    "$(grep ERROR "$work/errors" | paste -sd ' ')"
mandoc -T lint -W warning "$work"/made/*.3 | grep -v 'WARNING: missing date' && wrong "mandoc reports the lines above"
equal "the small page" "$(cat <<'END'
NAME
       MPI_One - do one thing

SYNOPSIS
       #include <mpi.h>

       int MPI_One(const int counts[], MPI_Comm comm);

DESCRIPTION
       First.

       Shared.

       Adds counts:

           a-b \ c

       o an item

SEMANTICS
       It does not wait.

PARAMETERS
       counts Numbers.

       comm   Ranks.

RETURN VALUE
       MPI_ERR_ARG or 0.

ERRORS
       MPI_ERR_ARG
              counts is null.
              They differ.

NOTES
       A note.

STANDARDS
       MPI 4.1, section 1.2.

SEE ALSO
       MPI_Two(3), MPI(3)
END
)" "$(rendered "$work/made/MPI_One.3" | sed '1,2d' | head -n -2)"

sed 's/^@standard.*/@standard 7/' "$work/texts.txt" >"$work/changed.txt"
equal "a chapter of the standard" "" "$(write "$work/changed.txt")"
has "a chapter of the standard" "MPI 4.1, chapter 7." "$(rendered "$work/made/MPI_One.3")"

sed 's/^A note\.$/&\nIt ends./' "$work/texts.txt" >"$work/changed.txt"
equal "a paragraph of two lines" "" "$(write "$work/changed.txt")"
has "one space between sentences" "A note. It ends." "$(rendered "$work/made/MPI_One.3")"

# refuses SED MESSAGE: the texts, changed by a command of sed, are refused with this message.
refuses() {
    sed "$1" "$work/texts.txt" >"$work/changed.txt"
    local said code=0
    said=$(write "$work/changed.txt") || code=$?
    has "$1" "$2" "$said"
    equal "exit code for $1" 1 "$code"
}
refuses '/^@function MPI_Two/,$d' 'mpi.h: MPI_Two has no page'
refuses 's/MPI_Two/MPI_Three/' 'changed.txt:21: mpi.h declares no function MPI_Three'
refuses 's/MPI_Two/MPI_One/' 'changed.txt:21: MPI_One is described twice'
refuses '/^Numbers/d' 'changed.txt:13: counts (const int *) is not described'
refuses 's/comm MPI_Comm/comm MPI_Win/' 'parameters: no page uses what is said about comm MPI_Win'
refuses '/^@standard/a@parameter counts\nOthers.' 'parameters: no page uses what is said about counts'
refuses 's/`counts`/`count`/' 'changed.txt:14: `count` is not a parameter of MPI_One'
refuses 's/Returns 2/Returns MPI_NO/' 'changed.txt:21: MPI_NO is not defined in mpi.h'
refuses 's/^@uses both/@uses all/' 'changed.txt:14: there is no family all'
refuses '/^@uses both/d' 'changed.txt:8: no function uses the family both'
refuses '$a@see MPI_Three' 'changed.txt:21: @see MPI_Three, which has no page'
refuses '$a@parameter comm' 'changed.txt:21: MPI_Two has no parameter comm'
refuses 's/^@standard.*//' 'changed.txt:14: has no @standard'
refuses 's/^@semantics.*//' 'changed.txt:14: has no @semantics'
refuses 's/^@semantics.*/@semantics loud/' 'changed.txt:14: there is no @semantics loud'
refuses 's/^@semantics.*/@semantics loud/' 'semantics: no page uses @semantics local'
refuses 's/^    a-b/&'"$(printf '%068d' 0)/" 'changed.txt:14: a line of code has more than 67 characters: '
refuses 's/^@note/@nota/' 'changed.txt:12: there is no directive @nota'
refuses 's/do two things/&./' 'changed.txt:21: the purpose must have 1 to 70 characters and no full stop'
refuses 's/Returns 2/Returns \xc2\xb2/' 'changed.txt:23: has a character that is not ASCII'
refuses "s/Returns 2/$(printf '%0121d' 0)/" 'changed.txt:23: has more than 120 characters'
finish
