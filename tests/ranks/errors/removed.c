/* SPDX-License-Identifier: BSD-3-Clause */
/* Error classes, codes and strings that the program added can be removed, in the order string, code, class. */
// ranks: 1 2 4
#include <string.h>

#include "tests/ranks/check.h"

static int last_used(void) {
    int *last = NULL, flag = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
    CHECK(flag, "no MPI_LASTUSEDCODE: %d", flag);
    return *last;
}

int main(int argc, char **argv) {
    int class, code, other, again, length, before;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    before = last_used();
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_code(MPI_ERR_OTHER, &other);
    MPI_Add_error_string(class, "the class");
    MPI_Add_error_string(code, "the code");

    FAILS(MPI_ERR_ARG, MPI_Remove_error_class(class));         /* it has a code */
    FAILS(MPI_ERR_ARG, MPI_Remove_error_code(code));           /* it has a string */
    FAILS(MPI_ERR_ARG, MPI_Remove_error_code(class));
    FAILS(MPI_ERR_ARG, MPI_Remove_error_class(other));
    FAILS(MPI_ERR_ARG, MPI_Remove_error_class(MPI_ERR_OTHER));
    FAILS(MPI_ERR_ARG, MPI_Remove_error_code(MPI_ERR_OTHER));
    FAILS(MPI_ERR_ARG, MPI_Remove_error_string(MPI_ERR_OTHER));
    FAILS(MPI_ERR_ARG, MPI_Remove_error_string(other));        /* it has no string */

    CHECK(MPI_Remove_error_string(code) == MPI_SUCCESS, "string of code %x", code);
    MPI_Error_string(code, text, &length);
    CHECK(length == 0 && text[0] == '\0', "'%s' is left", text);
    FAILS(MPI_ERR_ARG, MPI_Remove_error_string(code));
    CHECK(MPI_Remove_error_code(code) == MPI_SUCCESS, "code %x", code);
    FAILS(MPI_ERR_ARG, MPI_Error_class(code, &again));
    FAILS(MPI_ERR_ARG, MPI_Add_error_string(code, "gone"));
    FAILS(MPI_ERR_ARG, MPI_Remove_error_code(code));
    CHECK(last_used() == other, "last used is %x, not %x", last_used(), other);

    FAILS(MPI_ERR_ARG, MPI_Remove_error_class(class));         /* it has a string */
    CHECK(MPI_Remove_error_string(class) == MPI_SUCCESS, "string of class %x", class);
    CHECK(MPI_Remove_error_class(class) == MPI_SUCCESS, "class %x", class);
    FAILS(MPI_ERR_ARG, MPI_Add_error_code(class, &again));

    /* Numbers are reused, and MPI_LASTUSEDCODE is an existing number. */
    MPI_Add_error_class(&again);
    CHECK(again == class, "the new class is %x, not %x", again, class);
    CHECK(MPI_Remove_error_code(other) == MPI_SUCCESS && last_used() == again, "last used is %x", last_used());
    CHECK(MPI_Remove_error_class(again) == MPI_SUCCESS && last_used() == before, "last used is %x", last_used());
    MPI_Finalize();
    return 0;
}
