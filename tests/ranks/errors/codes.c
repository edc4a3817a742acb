// SPDX-License-Identifier: BSD-3-Clause
// Error classes, codes and strings, and those that a program adds.
// ranks: 1 2
#include <string.h>

#include "tests/ranks/check.h"

static char text[MPI_MAX_ERROR_STRING];

static const char *string_of(int code) {
    int length = -1;
    int result = MPI_Error_string(code, text, &length);
    CHECK(result == MPI_SUCCESS && length == (int)strlen(text), "length %d of '%s'", length, text);
    return text;
}

static int class_of(int code) {
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

static void every_class_has_a_message(void) {
    const int classes[] = {MPI_SUCCESS, MPI_ERR_BUFFER, MPI_ERR_RANK, MPI_ERR_TRUNCATE, MPI_ERR_KEYVAL, MPI_ERR_NO_MEM,
                           MPI_ERR_WIN, MPI_ERR_FILE, MPI_ERR_VALUE_TOO_LARGE};
    for (unsigned i = 0; i < sizeof classes / sizeof *classes; ++i) {
        CHECK(class_of(classes[i]) == classes[i], "class of class %d is %d", classes[i], class_of(classes[i]));
        CHECK(strlen(string_of(classes[i])) > 10, "'%s'", text);
    }
    CHECK(strstr(string_of(MPI_ERR_RANK), "MPI_ERR_RANK"), "'%s'", text);
    int length;
    CHECK(class_of(MPI_Error_string(-5, text, &length)) == MPI_ERR_ARG, "a string for code -5");
    CHECK(class_of(MPI_Error_string(0x7fffffff, text, &length)) == MPI_ERR_ARG, "a string for an unknown code");
    int code = MPI_Comm_free(NULL), class, others[] = {code + 0x10000, code + 1, code | 0x80, code ^ 0x100000};
    CHECK(class_of(code) == MPI_ERR_ARG, "the last error has class %d", class_of(code));
    for (unsigned i = 0; i < sizeof others / sizeof *others; ++i) {
        CHECK(class_of(MPI_Error_string(others[i], text, &length)) == MPI_ERR_ARG, "a string for code %x", others[i]);
        CHECK(class_of(MPI_Error_class(others[i], &class)) == MPI_ERR_ARG, "a class for code %x", others[i]);
    }
}

static void codes_keep_their_message(void) {
    int size, value = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int first = MPI_Send(&value, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
    int second = MPI_Send(&value, -3, MPI_INT, 0, 0, MPI_COMM_WORLD);
    CHECK(class_of(first) == MPI_ERR_RANK && class_of(second) == MPI_ERR_COUNT, "%x %x", first, second);
    char expected[20];
    snprintf(expected, sizeof expected, "is %d but", size + 5);
    CHECK(strstr(string_of(first), "MPI_Send") && strstr(text, expected), "'%s'", text);
    CHECK(strstr(string_of(second), "-3"), "'%s'", text);
    for (int i = 0; i < 1000; ++i) MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    CHECK(strncmp(string_of(first), "MPI_ERR_RANK", 12) == 0, "the message of an old code is '%s'", text);
}

static void added_codes(void) {
    int class, code, other, flag, *last;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
    CHECK(flag && *last >= MPI_ERR_LASTCODE, "MPI_LASTUSEDCODE is %x", *last);
    int before = *last;
    MPI_Add_error_class(&class);
    CHECK(class > before && *last == class, "new class %x, last used %x", class, *last);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_code(MPI_ERR_OTHER, &other);
    CHECK(*last == other && code != class && other > code, "codes %x %x, last used %x", code, other, *last);
    CHECK(class_of(class) == class && class_of(code) == class && class_of(other) == MPI_ERR_OTHER, "classes");
    CHECK(strcmp(string_of(code), "") == 0, "no string yet, but '%s'", text);
    MPI_Add_error_string(class, "my class");
    MPI_Add_error_string(code, "my code");
    CHECK(strcmp(string_of(class), "my class") == 0, "'%s'", text);
    CHECK(strcmp(string_of(code), "my code") == 0, "'%s'", text);
    CHECK(class_of(MPI_Add_error_string(MPI_ERR_RANK, "x")) == MPI_ERR_ARG, "a string for a predefined class");
    CHECK(class_of(MPI_Add_error_code(other + 100, &code)) == MPI_ERR_ARG, "a code of an unknown class");
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    every_class_has_a_message();
    codes_keep_their_message();
    added_codes();
    MPI_Finalize();
    return 0;
}
