// SPDX-License-Identifier: BSD-3-Clause
// The work of MPI_Init and MPI_Finalize.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "coll/call/collectives.hpp"
#include "coll/choice/comm_state.hpp"
#include "coll/comm/create.hpp"
#include "mpi_h/entry/entry.hpp"
#include "mpi_h/entry/errors.hpp"
#include "mpi_h/entry/library_state.hpp"
#include "mpi_h/entry/usage_checks.hpp"
#include "p2p/p2p.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/diagnostic.hpp"
#include "runtime/job/join_job.hpp"
#include "runtime/job/last_call.hpp"
#include "runtime/job/launcher_found.hpp"
#include "runtime/job/lost_job.hpp"
#include "runtime/memory/arena/arena.hpp"
#include "runtime/settings/launch.hpp"
#include "runtime/state/call_site.hpp"
#include "runtime/wait/progress_thread.hpp"
#include "topo/text.hpp"
#include "topo/text_streams.hpp"

namespace tutti {
namespace {

/// Returns the number in an environment variable, or −1 if it is not set or not a number.
int environment_number(char const* variable) { return topo::variable_number(std::getenv(variable)); }

/// Removes the launch variables, because processes that this rank starts are not ranks of the job: each is a world of
/// its own, and can report why.
void unset_launch_variables(int rank) {
    for (char const* variable : {launch::segment_variable, launch::segment_inode_variable, launch::rank_variable,
                                 launch::listen_variable, launch::launcher_variable})
        unsetenv(variable);
    forget_servers();
    setenv(launch::parent_variable, std::to_string(rank).c_str(), 1);
}

bool is_listening(int descriptor) {
    int answer = 0;
    socklen_t length = sizeof answer;
    return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &answer, &length) == 0 && answer != 0;
}

/// Returns the sockets on which other nodes connect to this rank. Programs that the rank starts do not inherit them.
std::vector<int> inherited_listeners() {
    std::vector<int> descriptors;
    char const* const text = std::getenv(launch::listen_variable);
    TextReader list(text ? text : "");
    for (int descriptor; list >> descriptor; list.ignore(1, ',')) {
        if (!is_listening(descriptor))
            fail(ErrorClass::other, "socket ", descriptor,
                 ", on which other nodes connect to this rank, was closed between ",
                 "mpiexec and this program; make the command that starts the program keep it open (close_fds=False in ",
                 "Python, sudo -C ", descriptor + 1, "), or start mpiexec with that command");
        fcntl(descriptor, F_SETFD, FD_CLOEXEC);
        descriptors.push_back(descriptor);
    }
    return descriptors;
}

/// For a rank started by mpiexec, which has prepared everything.
void join_launched(LibraryState& f, int descriptor, unsigned local_rank) {
    f.segment = std::make_unique<Segment>(Segment::attach(inherited_segment(descriptor)));
    if (local_rank >= f.segment->ranks())
        fail(ErrorClass::other, launch::rank_variable, "=", local_rank, " is not a rank of this job");
    RankState& rank_state = f.segment->rank_state(local_rank);
    std::int32_t previous = 0;
    if (!rank_state.pid.compare_exchange_strong(previous, getpid()))
        fail(ErrorClass::other, "rank ", rank_state.world_rank, " of this job has already run an MPI program (process ",
             previous, "); a rank can run only one");
    unset_launch_variables(rank_state.world_rank);
}

/// Fails if this process was meant to be a rank of a job of mpiexec. If mpiexec is not visible here, or a script
/// ignores the failure, mpiexec finds the mark of mark_singleton_output().
void fail_if_lost_rank() {
    std::optional<LostJob> const job = find_lost_job();
    mark_singleton_output();
    if (job)
        fail(ErrorClass::other, "process ", job->launcher, " (", job->name, ") started this program as a rank of its ",
             "job, but a command in between, such as sudo, su - or env -i, has removed the rank's environment ",
             "variables. Put that command in front of mpiexec, or make it keep the environment (sudo -E, su without ",
             "-). Use mpiexec -n 1 for a program that runs alone");
}

/// Returns the server of the launcher; null if there is none. Fails if this process is one of several that another
/// launcher has started and that it cannot join: it would be rank 0 of 1, like each of the others.
std::unique_ptr<JobServer> find_job_server(Variables const& variables, std::vector<std::string>& diagnostics) {
    LauncherFound const launcher = find_launcher();   // not our mpiexec
    // One process needs no server, and several programs may run one after the other.
    if (launcher.is_alone) {
        unset_launch_variables(0);
        return nullptr;
    }
    try {
        if (launcher.chosen == JobInterface::pmi)
            return connect_pmi(PmiPlace::of_this_process(std::chrono::seconds(variables.start_timeout)));
        if (launcher.chosen == JobInterface::pmix) return connect_pmix();
    } catch (Error const& error) {
        fail(ErrorClass::other, launcher.name.empty() ? "a launcher" : launcher.name, " has started this process (",
             launcher.variables, "), but it cannot be reached by ", name_of(launcher.chosen), ": ", error.what(),
             launcher.advice.empty() ? "" : ". To run the program, ", launcher.advice);
    }
    // The launch variables of the rank that has started this program do not apply to it.
    if (int const parent = environment_number(launch::parent_variable); parent >= 0) {
        diagnostics.push_back(
            join("started by rank ", parent,
                 " of an MPI program, but not as a rank of it: it is rank 0 of 1; use mpiexec to start more ranks"));
        return nullptr;
    }
    fail_if_lost_rank();
    if (launcher.is_lost())
        fail(ErrorClass::other, launcher.name, " has started this process",
             launcher.processes > 1 ? join(" as one of ", launcher.processes) : "", " (", launcher.variables,
             "), but without an interface by which its processes find each other. To run the program, ",
             launcher.advice);
    return nullptr;
}

struct JoinedSegment {
    unsigned local_rank;
    std::vector<int> listeners{};   ///< sockets on which other nodes connect to this rank
};

/// Opens the arena of a process that mpiexec has not started, for its peers; empty if the settings disable it.
ArenaWindow open_arena(Variables const& variables) {
    if (!variables.arena) return {};
    tutti_arena()->open();
    return tutti_arena()->arena->window();
}

/// Joins the job's segment and returns this process's local rank; creates a segment if there is no launcher. Appends
/// problems with settings to `diagnostics`, information on how this process was started to `notes`.
JoinedSegment join_segment(LibraryState& f, Variables const& variables, std::vector<std::string>& diagnostics,
                           std::vector<std::string>& notes) {
    int const descriptor = environment_number(launch::segment_variable),
              local_rank = environment_number(launch::rank_variable);
    std::vector<int> listeners = inherited_listeners();
    if (descriptor >= 0 && local_rank >= 0) {
        join_launched(f, descriptor, static_cast<unsigned>(local_rank));
        if (variables.arena) tutti_arena()->open();
        return {static_cast<unsigned>(local_rank), std::move(listeners)};
    }
    ArenaWindow const arena = open_arena(variables);
    job_server() = find_job_server(variables, notes);
    if (!job_server()) {
        f.segment = std::make_unique<Segment>(Segment::create(1, {}, {}, {}, SegmentCreator::rank));
        f.segment->publish_arena(0, arena);
        return {0};
    }
    JoinedJob joined = join_job(*job_server(), variables, arena);
    unset_launch_variables(job_server()->rank());
    f.segment = std::make_unique<Segment>(std::move(joined.segment));
    diagnostics.insert(diagnostics.end(), joined.diagnostics.begin(), joined.diagnostics.end());
    if (!variables.topology.empty())
        diagnostics.push_back(
            "TUTTI_TOPOLOGY has no effect under this launcher: only Tutti's mpiexec can simulate a machine");
    return {joined.local_rank, std::move(joined.listeners)};
}

void place_predefined_objects(LibraryState& f) {
    Process& process = *f.process;
    auto handler = [&](Errhandler::Kind kind, int handle) {
        auto* h = new Errhandler;
        h->kind = kind;
        h->predefined = true;
        f.tables.errhandlers.place(handle, h);
        return h;
    };
    std::string const& first = process.variables.initial_errhandler;
    Errhandler* const fatal = handler(Errhandler::Kind::fatal, MPI_ERRORS_ARE_FATAL);
    Errhandler* const returning = handler(Errhandler::Kind::returning, MPI_ERRORS_RETURN);
    Errhandler* const aborting = handler(Errhandler::Kind::fatal, MPI_ERRORS_ABORT);
    Errhandler* const chosen = first == "return" ? returning : first == "abort" ? aborting : fatal;
    for (auto [comm, handle] : {std::pair{process.world.get(), MPI_COMM_WORLD}, {process.self.get(), MPI_COMM_SELF}}) {
        comm->errhandler = Ref<Errhandler>::share(chosen);
        comm->predefined = true;
        f.tables.comms.place(handle, comm);
    }
    auto* empty = new Group({}, process.rank());
    empty->predefined = true;
    f.tables.groups.place(MPI_GROUP_EMPTY, empty);
    place_predefined_types(f.tables);
    place_predefined_ops(f.tables);
    place_info_env(f);
}

/// Processes forked by a rank share the job's memory and connections but are not ranks: none of their calls may use
/// these. They do not wait for the lock either, which a thread that does not exist in the child may have held.
void watch_forks() {
    pthread_atfork(nullptr, nullptr, [] {
        LibraryState& f = library();
        if (f.stage != Stage::running) return;
        f.stage = Stage::forked_child;
        f.call_waiter = nullptr;
        unlocked_library_state = nullptr;
    });
}

/// TUTTI_STRICT: problems that are otherwise warnings end the job before the program has done anything.
[[noreturn]] void fail_strict(std::vector<std::string> const& diagnostics) {
    std::string all;
    for (std::string const& one : diagnostics) all += (all.empty() ? "" : "; ") + one;
    fail(ErrorClass::other, all, " (the job ends because TUTTI_STRICT is set)");
}

/// --check: thread levels below MPI_THREAD_MULTIPLE, and all handles.
void start_checks(LibraryState& f) {
    f.freed_handles = std::make_shared<FreedHandles>();
    if (f.process->thread_multiple) return;
    f.thread_check = std::make_shared<ThreadCheck>(*f.process, f.thread_level, f.main_thread);
    f.process->waiter.observers().calls = f.thread_check.get();
    p2p::engine(*f.process).checks()->call_order.enable();
    f.call_waiter = &f.process->waiter;
}

}   // namespace

std::unique_ptr<JobServer>& job_server() {
    static std::unique_ptr<JobServer> one;
    return one;
}

namespace {

/// Held during the last call to the server.
std::mutex& last_call_to_server() {
    static std::mutex one;
    return one;
}

void finish_job_server() {
    if (!job_server()) return;
    std::lock_guard const last(last_call_to_server());
    std::unique_ptr<JobServer> const server = std::move(job_server());
    server->finish();
}

}   // namespace

void abort_by_job_server(int code, std::string const& message) noexcept {
    std::unique_lock const last(last_call_to_server(), std::try_to_lock);
    if (!last || !job_server()) return;
    try {
        job_server()->abort(code, message);
    } catch (...) {}   // the server has ended, or there is no memory; the launcher detects the exit code
}

RankState* launcher_rank_state() try {
    int const descriptor = environment_number(launch::segment_variable),
              local_rank = environment_number(launch::rank_variable);
    if (descriptor < 0 || local_rank < 0) return nullptr;
    static Segment const segment = Segment::attach(inherited_segment(descriptor));
    return static_cast<unsigned>(local_rank) < segment.ranks() ? &segment.rank_state(static_cast<unsigned>(local_rank))
                                                               : nullptr;
} catch (Error const&) {
    return nullptr;   // the variables are those of another job, or invalid
}

void start(LibraryState& f, int thread_level) {
    std::vector<std::string> diagnostics, notes;
    Variables variables = read_variables(environ, diagnostics);
    std::size_t const setting_diagnostics = diagnostics.size();
    std::uint64_t const settings = fingerprint(diagnostics);
    bool const launched =
        environment_number(launch::segment_variable) >= 0 && environment_number(launch::rank_variable) >= 0;
    JoinedSegment const mine = join_segment(f, variables, diagnostics, notes);
    if (!variables.registration_cache && f.segment->header().xpmem_absent != 0) diagnostics.push_back(no_registrations);
    if (settings == f.segment->header().reported_settings)   // mpiexec reported them before the start
        diagnostics.erase(diagnostics.begin(), diagnostics.begin() + static_cast<std::ptrdiff_t>(setting_diagnostics));
    f.rank_state = &f.segment->rank_state(mine.local_rank);
    f.check_arguments = variables.check_arguments;
    f.thread_level = thread_level;
    f.main_thread = static_cast<std::uint64_t>(pthread_self());
    f.process = std::make_unique<Process>(*f.segment, mine.local_rank, std::move(variables));
    f.process->is_supervised = launched;
    if (f.process->variables.arena) f.process->arena = tutti_arena()->arena;
    f.process->end_job = [](int code, std::string const& message) {
        abort_job(code, [&] {
            return AbortReport{code, message, error_name(MPI_ERR_OTHER), library().process->call_function.name()};
        });
    };
    if (!launched && f.process->variables.diagnosis != "no")
        f.process->watchdog = std::make_unique<Watchdog>(*f.segment, f.process->waiter, f.process->end_job);
    f.process->on_lock_enabled = [](Process& process) {
        // A call that is observed has passed the lock, which was not enabled yet, and will release it at its end.
        if (process.waiter.observers().observes_calls()) process.lock.enter();
        library().call_waiter = &process.waiter;
        unlocked_library_state = nullptr;
    };
    f.process->thread_multiple = thread_level == MPI_THREAD_MULTIPLE;
    if (f.process->thread_multiple) f.process->lock.enable();
    p2p::start(*f.process, mine.listeners);
    coll::initialize(*f.process, diagnostics);
    if (f.process->variables.strict && !diagnostics.empty()) fail_strict(diagnostics);
    coll::state_of(*f.process).call_matcher->predefined_type = [](unsigned number) -> Datatype const* {
        return library().tables.datatypes.builtin_at(number);
    };
    p2p::engine(*f.process).predefined_type = coll::state_of(*f.process).call_matcher->predefined_type;
    if (job_server()) f.process->waiter.observers().exempt(job_server()->threads());
    publish_program(f.rank_state->last_call);
    if (f.process->variables.diagnosis != "no") {
        install_crash_handlers(f.rank_state->last_call, *f.segment, launched ? nullptr : Watchdog::start_in_handler);
        if (!launched && f.process->size() > 1) watch_for_exit();
    }
    f.tables.record_sites(f.process->call_site);
    place_predefined_objects(f);
    if (f.process->variables.progress_thread) f.process->start_progress_thread();
    if (f.process->variables.diagnosis != "no") f.fortran_call_sites = FortranCallSites::find();
    if (f.process->waiter.must_wrap_calls() || f.fortran_call_sites) f.call_waiter = &f.process->waiter;
    if (f.process->variables.diagnosis == "full") start_checks(f);
    watch_forks();
    if (!f.process->waiter.must_wrap_calls()) unlocked_library_state = &f;
    f.stage = Stage::running;
    diagnostics.insert(diagnostics.end(), notes.begin(), notes.end());
    if (f.process->rank() == 0)
        for (std::string const& c : diagnostics) f.process->warn(c);
}

void record_arena_use(RankState& rank_state) {
    arena::Arena& arena = *tutti_arena()->arena;
    if (arena.state() != arena::State::open) return;
    arena::Arena::Usage const use = arena.usage();
    rank_state.counters.arena.set(use.in_use);
    rank_state.counters.arena_highest.set(use.highest);
}

void finish(LibraryState& f) {
    Process& process = *f.process;
    process.self->attributes.clear(*process.self);   // before anything else (MPI 3.1, 8.7.1)
    process.world->attributes.clear(*process.world);
    process.progress_thread.reset();
    if (p2p::Checks* checks = p2p::engine(process).checks()) checks->on_finalize();
    coll::record_call(*process.world, "MPI_Finalize");
    coll::finish_comparing_between_nodes(process);
    coll::stop_call_statistics(process);
    // Until the first barrier other ranks may request messages that this rank has offered; after it, these are in
    // transfer or will never be requested, and the second barrier keeps this rank's memory until they have arrived.
    for (int round = 0; round < 2; ++round) {
        p2p::drain_sends(process, "MPI_Finalize");
        coll::barrier(*process.world);
        if (round == 0) coll::compare_calls(process);   // all calls of all ranks have been recorded
    }
    check_at_finalize(f);
    p2p::shut_down(process, "MPI_Finalize");
    process.single_copy.revoke_cma();
    RankState& rank_state = process.rank_state();
    record_arena_use(rank_state);
    process.waiter.record_run_delay();
    rank_state.times.ended.set(static_cast<std::uint64_t>(now_ns()));
    rank_state.state.store(RankPhase::finalised, std::memory_order_release);
    print_warnings(process);
    finish_job_server();
    unlocked_library_state = nullptr;
    f.stage = Stage::after_finalize;
}

}   // namespace tutti
