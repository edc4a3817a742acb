// SPDX-License-Identifier: BSD-3-Clause
// An error report contains the call with its arguments. Calls each function that mpi.h declares before MPI_Init, in a
// process of its own, with distinct numbers, invalid handles and unmapped addresses: the report must have the numbers
// in parameter order. With an argument, the program makes one wrong call, whose report call_words_test.sh compares.
// ranks: 1
// nodes: one, each call has a process of its own
#include <cstring>

#include <sys/wait.h>
#include <unistd.h>

#include "tests/ranks/errors/functions.hpp"

namespace {

constexpr int first_number = 101;
constexpr Word no_memory = 0x10000;   // unmapped, but not an obviously invalid pointer

bool pointer(Parameter const& p) { return p.type.back() == '*'; }
bool number(Parameter const& p) { return p.type == "int" || p.type == "MPI_Aint" || p.type == "MPI_Count"; }

/// Returns false for functions that start MPI, cannot fail, or report errors only by their code.
bool reports(Function const& f) {
    static constexpr std::string_view silent = " MPI_Init MPI_Wtime MPI_Wtick MPI_Aint_add MPI_Aint_diff MPIR_Dup_fn ";
    bool const converts = (f.ends("_c2f") || f.ends("_f2c")) && !f.starts("MPI_Status_");
    return !f.starts("MPI_T_") && !converts && silent.find(" " + std::string(f.name) + " ") == silent.npos;
}

void call(Function const& f, Word address) {
    std::vector<Word> words(f.parameters.size() + 1);
    for (std::size_t i = 0; i < f.parameters.size(); ++i)
        words[i] = pointer(f.parameters[i]) ? address : number(f.parameters[i]) ? first_number + i : 0x7fff0000 + i;
    f.call(words.data());
}

/// Returns the output of a process of this program that makes the call.
std::string report_of(Function const& f, Word address) {
    int ends[2];
    CHECK(pipe(ends) == 0, "no pipe");
    pid_t const child = fork();
    if (child == 0) {
        dup2(ends[1], 1), dup2(ends[1], 2), close(ends[0]), close(ends[1]);
        std::string const name(f.name), where = std::to_string(address);
        char diagnosis[] = "TUTTI_DIAGNOSIS=no";   // no diagnosis process
        char* const environment[] = {diagnosis, nullptr};
        execle("/proc/self/exe", "call_words", "call", name.c_str(), where.c_str(), nullptr, environment);
        _exit(127);
    }
    close(ends[1]);
    std::string text;
    char part[4096];
    for (ssize_t got; (got = read(ends[0], part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(got));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) text += "signal " + std::to_string(WTERMSIG(status));
    return text;
}

void check(Function const& f, std::string const& text) {
    std::string const name(f.name);
    std::size_t at = text.find("  rank 0  " + name + "(");
    CHECK(at != text.npos, "%s is reported without its arguments: %s", name.c_str(), text.c_str());
    std::string const line = text.substr(at, text.find('\n', at) - at);
    CHECK(line.find("…") == line.npos, "an ellipsis in '%s'", line.c_str());
    at = 0;
    for (std::size_t i = 0; i < f.parameters.size(); ++i) {
        if (!number(f.parameters[i])) continue;
        std::string const value = std::to_string(first_number + static_cast<int>(i));
        at = line.find(value, at);
        CHECK(at != line.npos, "%s, which is %s, is missing or out of order in '%s'",
              std::string(f.parameters[i].name).c_str(), value.c_str(), line.c_str());
    }
}

void check_all() {
    int checked = 0;
    for (Function const& f : functions) {
        if (!reports(f)) continue;
        ++checked;
        std::string const text = report_of(f, 0);
        check(f, text);
        // Functions that may be called at any time use the address.
        if (text.find(" was called before MPI_Init") != text.npos) check(f, report_of(f, no_memory));
    }
    CHECK(checked > 250, "only %d functions were checked", checked);
}

/// Makes one wrong call; does nothing at a rank that has no part in the error.
void make(std::string_view error, int rank) {
    int numbers[8] = {1, 1, 1, 1}, results[8], flag;
    MPI_Comm named, pair;
    MPI_Comm_dup(MPI_COMM_WORLD, &named);
    MPI_Comm_set_name(named, "grid");
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &pair);
    MPI_Win win;
    MPI_Win_create(numbers, sizeof numbers, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_name(win, "w");
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype type;
    MPI_Info info;
    MPI_Group group;
    if (error == "send") MPI_Send(numbers, 4, MPI_INT, 7, 3, pair);
    if (error == "receive") MPI_Recv(results, -1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, named, MPI_STATUS_IGNORE);
    if (error == "sendrecv")
        MPI_Sendrecv(numbers, 1, MPI_INT, MPI_PROC_NULL, 0, results, 2, MPI_FLOAT, 1, -7, named, MPI_STATUS_IGNORE);
    if (error == "probe") MPI_Probe(9, 3, named, MPI_STATUS_IGNORE);
    if (error == "gatherv") MPI_Gatherv(numbers, 4, MPI_INT, results, numbers, numbers, MPI_INT, 7, MPI_COMM_WORLD);
    if (error == "scatterv") MPI_Scatterv(numbers, numbers, numbers, MPI_INT, results, -4, MPI_INT, 0, named);
    if (error == "alltoallv")
        MPI_Alltoallv(numbers, numbers, numbers, MPI_INT, nullptr, numbers, numbers, MPI_FLOAT, named);
    if (error == "allreduce") MPI_Allreduce(MPI_IN_PLACE, results, -1, MPI_INT, MPI_SUM, named);
    if (error == "barrier") MPI_Barrier(MPI_COMM_NULL);
    if (error == "put") MPI_Put(numbers, 1, MPI_INT, 1, -1, 1, MPI_INT, win);
    if (error == "get") MPI_Get(numbers, 4, MPI_INT, 9, 0, 2, MPI_DOUBLE, win);
    if (error == "accumulate") MPI_Accumulate(numbers, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_NO_OP, win);
    if (error == "fetch") MPI_Fetch_and_op(numbers, results, MPI_INT, 1, -2, MPI_SUM, win);
    if (error == "lock") MPI_Win_lock(MPI_LOCK_SHARED, 9, MPI_MODE_NOCHECK, win);
    if (error == "win_free") MPI_Win_lock_all(0, win), MPI_Win_free(&win);
    if (error == "wait") {
        if (rank == 1) MPI_Send(numbers, 2, MPI_INT, 0, 5, MPI_COMM_WORLD);
        if (rank == 0)
            MPI_Irecv(results, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &request), MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (error == "waitall" && rank == 0) {
        MPI_Request two[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Isend(numbers, 2, MPI_INT, 0, 5, MPI_COMM_WORLD, &two[0]);
        MPI_Irecv(results, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &two[1]);
        MPI_Waitall(2, two, MPI_STATUSES_IGNORE);
    }
    if (error == "test") request = 55, MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    if (error == "start") MPI_Start(nullptr);
    if (error == "vector") MPI_Type_vector(2, -3, 4, MPI_INT, &type);
    if (error == "type_free") type = MPI_INT, MPI_Type_free(&type);
    if (error == "info") MPI_Info_create(&info), MPI_Info_set(info, "", "a value\n");
    if (error == "split") MPI_Comm_split(named, -7, 0, &pair);
    if (error == "comm_free") named = MPI_COMM_WORLD, MPI_Comm_free(&named);
    if (error == "group") MPI_Comm_group(named, &group), MPI_Group_incl(group, 9, numbers, &group);
    if (error == "blocked_free" || error == "blocked_fence") {
        if (rank == 1) MPI_Recv(results, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        error == "blocked_free" ? MPI_Win_free(&win) : MPI_Win_fence(0, win);
    }
    if (error == "abort") MPI_Abort(named, 3);
    if (error == "errhandler") MPI_Comm_call_errhandler(named, MPI_ERR_OTHER);
    MPI_Finalize();
    if (error == "after") MPI_Comm_rank(MPI_COMM_WORLD, &flag);
}

}   // namespace

int main(int argc, char** argv) {
    std::string_view const what = argc > 1 ? argv[1] : "";
    if (what == "call") {
        for (Function const& f : functions)
            if (f.name == argv[2]) call(f, std::strtoul(argv[3], nullptr, 10));
        return 0;
    }
    if (argc == 1) check_all();
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1) make(what, rank);
    else MPI_Finalize();
    return 0;
}
