// SPDX-License-Identifier: BSD-3-Clause
// Calls each function that mpi.h declares with all kinds of wrong arguments under MPI_ERRORS_RETURN: no call may crash
// or hang, an argument that is certainly wrong must be refused, the message must name the call, and the manual page of
// the function must state the class of the error. The arguments are random but determined by the seed; a crash reports
// seed, function and arguments. MPI_Abort, MPI_Finalize and MPI_T_finalize are left out, as are PMPI_ names, which are
// the same functions. Manual use: `arguments SEED CALLS [FUNCTION]`.
// ranks: 1 2
// args: 1 60
// nodes: one, all communication is of a rank with itself
// unchecked: arguments are wrong on purpose, and the calls leave requests and messages over
// may warn: T07
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include <unistd.h>

#include "tests/ranks/errors/argument_memory.hpp"

/// The test requests huge sizes, which AddressSanitizer otherwise reports as an error of the library.
extern "C" __attribute__((visibility("default"))) char const* __asan_default_options() {
    return "allocator_may_return_null=1";
}

namespace {

/// These functions end the job or MPI_T, or have no parameters.
bool apart(Function const& f) {
    return f.name == "MPI_Abort" || f.name == "MPI_Finalize" || f.name == "MPI_T_finalize" || f.parameters.empty();
}

/// With valid arguments, these functions wait for a message or for a receiver.
bool waits(Function const& f) {
    static std::string_view const names =
        " MPI_Recv MPI_Bsend MPI_Ibsend MPI_Ssend MPI_Rsend MPI_Irsend MPI_Sendrecv MPI_Sendrecv_replace MPI_Isendrecv "
        "MPI_Isendrecv_replace MPI_Probe MPI_Mprobe MPI_Win_complete MPI_Win_wait ";
    return names.find(" " + std::string(f.name) + " ") != names.npos;
}

/// The result of these functions is not an error code.
bool converts(Function const& f) { return (f.ends("_c2f") || f.ends("_f2c")) && !f.starts("MPI_Status_"); }

/// An error that the manual page of a function states; an empty parameter: it is not of one.
struct StatedError {
    std::string_view function, parameter;
    int error_class;
};

inline constexpr StatedError stated_errors[] = {
#define ERROR(function, parameter, error_class) {#function, parameter, error_class},
#include "manual_errors.inc"
#undef ERROR
};

struct Call {
    Function const* function = nullptr;
    std::vector<Value> values;
    std::vector<Word> words;
    unsigned bad = 0, odd = 0, wild = 0;
};

Call now;   // read by the signal handler
long seed = 1;
unsigned number = 0;

void say(std::string const& text) {
    if (write(2, text.data(), text.size()) < 0) _exit(3);
}

std::string described() {
    std::string text = std::string(now.function->name) + "(";
    for (std::size_t i = 0; i < now.words.size(); ++i) {
        char word[40];
        std::snprintf(word, sizeof word, "=0x%lx", static_cast<unsigned long>(now.words[i]));
        text += (i ? ", " : "") + std::string(now.function->parameters[i].name) + word;
        text += now.values[i].quality == Quality::bad    ? " (bad)"
                : now.values[i].quality == Quality::odd  ? " (odd)"
                : now.values[i].quality == Quality::wild ? " (wild)"
                                                         : "";
    }
    return text + "), seed " + std::to_string(seed) + ", call " + std::to_string(number);
}

extern "C" void on_signal(int signal) {
    say("signal " + std::to_string(signal) + (signal == SIGALRM ? " (nothing happened for 20 s)" : "") + " in " +
        described() + "\n");
    _exit(2);
}

void catch_signals() {
    static char stack[1 << 16];
    stack_t alternative = {};
    alternative.ss_sp = stack;
    alternative.ss_size = sizeof stack;
    sigaltstack(&alternative, nullptr);
    struct sigaction action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) sigaction(signal, &action, nullptr);
}

void choose(Values& values, Function const& f) {
    std::size_t const n = f.parameters.size();
    std::vector<bool> spoiled(n);
    unsigned const few = values.below(4);   // number of spoiled arguments: 0: none; 1, 2: one; 3: any
    if (few == 1 || few == 2) spoiled[values.below(static_cast<unsigned>(n))] = true;
    else if (few == 3)
        for (std::size_t i = 0; i < n; ++i) spoiled[i] = values.below(2);
    now.function = &f;
    now.values.clear();
    now.words.clear();
    now.bad = now.odd = now.wild = 0;
    for (std::size_t i = 0; i < n; ++i) {
        Value const value = values.pick(f, i, spoiled[i]);
        now.bad += value.quality == Quality::bad;
        now.odd += value.quality == Quality::odd;
        now.wild += value.quality == Quality::wild;
        now.values.push_back(value);
        now.words.push_back(value.word);
    }
}

/// Returns whether the call can neither access unmapped memory nor wait for a message that is never sent.
bool admissible() {
    bool const sure = now.bad > 0 && now.odd == 0;
    return sure || (now.wild == 0 && !waits(*now.function));
}

/// Whether the page of the function states this class: for the parameter that the message begins with ("count is -1"),
/// for any parameter if there is none, or for no parameter. The page of MPI itself states that each call may run out of
/// memory.
bool is_stated(int error_class, std::string_view message) {
    std::string_view const name = now.function->name;
    std::string_view const reason = message.substr(message.starts_with(name) ? name.size() + 2 : 0);   // behind ": "
    std::string_view const named = reason.substr(0, reason.find(' '));
    bool any = true;
    for (Parameter const& p : now.function->parameters) any = any && p.name != named;
    for (StatedError const& e : stated_errors)
        if (e.function == name && e.error_class == error_class && (any || e.parameter == named || e.parameter.empty()))
            return true;
    return error_class == MPI_ERR_NO_MEM;
}

void check(int code) {
    Function const& f = *now.function;
    if (converts(f)) return;
    if (code == MPI_SUCCESS) {
        bool const sure = now.bad > 0 && now.odd == 0;
        CHECK(!sure, "accepted: %s", described().c_str());
        return;
    }
    bool const of_tools = f.starts("MPI_T_");   // returns classes, which have no message
    char text[MPI_MAX_ERROR_STRING] = "";
    int length, error_class = code;
    if (!of_tools) MPI_Error_class(code, &error_class), MPI_Error_string(code, text, &length);
    CHECK(of_tools || std::strstr(text, std::string(f.name).c_str()), "'%s' for %s", text, described().c_str());
    CHECK(is_stated(error_class, text), "its page does not state class %d, '%s', for %s", error_class, text,
          described().c_str());
}

/// Returns the window handle among the call's arguments, or MPI_WIN_NULL.
MPI_Win window() {
    for (std::size_t i = 0; i < now.words.size(); ++i)
        if (now.function->parameters[i].type == "MPI_Win") return static_cast<MPI_Win>(now.words[i]);
    return MPI_WIN_NULL;
}

/// Most window calls need an epoch.
bool needs_epoch(Function const& f) {
    return window() != MPI_WIN_NULL && (!f.starts("MPI_Win_") || f.starts("MPI_Win_flush") || f.ends("_sync"));
}

/// Ends the epoch that a call has started, so that the next call finds the window unchanged.
void end_epochs() {
    std::string_view const name = now.function->name;
    MPI_Win const win = window();
    auto const group = static_cast<MPI_Group>(now.words[0]);
    bool const starts = name == "MPI_Win_start", posts = name == "MPI_Win_post";
    if (starts) MPI_Win_post(group, 0, win);
    if (posts) MPI_Win_start(group, 0, win);
    if (starts || posts) MPI_Win_complete(win), MPI_Win_wait(win);
    if (name == "MPI_Win_lock") MPI_Win_unlock(static_cast<int>(now.words[1]), win);
    if (name == "MPI_Win_lock_all") MPI_Win_unlock_all(win);
    if (name == "MPI_Win_fence") MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    if (name == "MPI_Win_attach") MPI_Win_detach(win, reinterpret_cast<void*>(now.words[1]));
}

void try_one(Values& values, Function const& f) {
    for (int attempt = 0; attempt < 50; ++attempt) {
        choose(values, f);
        if (admissible()) {
            alarm(20);
            bool const opened = needs_epoch(f) && MPI_Win_lock_all(0, window()) == MPI_SUCCESS;
            int const code = f.call(now.words.data());
            check(code);
            if (code == MPI_SUCCESS) end_epochs();
            if (opened) MPI_Win_unlock_all(window());
            values.clean_up();
            alarm(0);
            return;
        }
        values.clean_up();
    }
}

/// Receives the messages that the calls have sent to this rank.
void drain() {
    static char memory[1 << 16];
    for (int here = 1; here;) {
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &here, &status);
        if (here) MPI_Recv(memory, sizeof memory, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_SELF, &status);
    }
}

}   // namespace

int main(int argc, char** argv) {
    seed = argc > 1 ? std::atol(argv[1]) : 1;
    unsigned const calls = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 60;
    std::string const only = argc > 3 ? argv[3] : "";
    int provided;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    catch_signals();
    for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    static unsigned const group_size = 20;
    for (unsigned group = 0; group < calls; group += group_size) {
        auto values = std::make_unique<Values>(static_cast<std::uint64_t>(seed) * 1000 + group);
        for (Function const& f : functions) {
            if (apart(f) || (!only.empty() && f.name != only)) continue;
            for (unsigned i = 0; i < group_size; ++i, ++number) try_one(*values, f);
        }
        drain();
        void* memory;
        int size;
        MPI_Buffer_detach(&memory, &size);
        for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    }
    MPI_Finalize();
    MPI_T_finalize();
    return 0;
}
