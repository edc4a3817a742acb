// SPDX-License-Identifier: BSD-3-Clause
// A locale that a program sets before MPI_Init changes neither the data that ranks exchange nor the library's messages.
// Arguments: the digit separator of the C++ locale (default: a point; "none": the locale is not set), and a C locale.
// ranks: 1 2 4
// run comma: 1 2 ,
// run blank: 2 " "
#include <clocale>
#include <cstring>
#include <locale>
#include <sstream>
#include <string>

#include "tests/ranks/check.h"

struct Grouping : std::numpunct<char> {
    explicit Grouping(char s) : separator(s) {}
    char do_thousands_sep() const override { return separator; }
    char do_decimal_point() const override { return separator == ',' ? '.' : ','; }
    std::string do_grouping() const override { return "\1\2"; }   // groups of one and two digits
    char separator;
};

int main(int argc, char** argv) {
    std::string const separator = argc > 1 ? argv[1] : ".";
    if (separator != "none") std::locale::global(std::locale(std::locale::classic(), new Grouping(separator[0])));
    if (argc > 2 && !std::setlocale(LC_ALL, argv[2])) return std::fprintf(stderr, "no locale %s\n", argv[2]), 1;
    std::ostringstream sample;
    sample << 64;
    std::string const expected = separator == "none" ? "64" : "6" + separator + "4";
    CHECK(sample.str() == expected, "a stream of the program writes %s", sample.str().c_str());
    char const* const wait = std::getenv("TUTTI_WAIT");

    MPI_Init(&argc, &argv);
    int rank, size, sum = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size * (size - 1) / 2, "the sum is %d", sum);

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    char text[MPI_MAX_ERROR_STRING];
    int length = 0, code = MPI_Send(&rank, 1, MPI_INT, 98765, 0, MPI_COMM_WORLD);
    MPI_Error_string(code, text, &length);
    CHECK(std::strstr(text, "98765"), "the message is '%s'", text);

    if (wait) {   // a name with an i, whose capital is not I in each locale
        int provided, index, one = 0;
        char value[1024] = "";
        MPI_T_cvar_handle handle;
        MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
        CHECK(MPI_T_cvar_get_index("TUTTI_WAIT", &index) == MPI_SUCCESS, "TUTTI_WAIT is no control variable");
        MPI_T_cvar_handle_alloc(index, nullptr, &handle, &one);
        MPI_T_cvar_read(handle, value);
        CHECK(std::strcmp(value, wait) == 0, "TUTTI_WAIT is '%s' instead of '%s'", value, wait);
        MPI_T_cvar_handle_free(&handle);
        MPI_T_finalize();
    }
    MPI_Finalize();
    std::ostringstream again;
    again << 64;
    CHECK(again.str() == expected, "the library has changed the program's locale: %s", again.str().c_str());
}
