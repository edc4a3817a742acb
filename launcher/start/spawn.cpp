// SPDX-License-Identifier: BSD-3-Clause
// Starts the process of one rank by vfork. Nothing is copied, and because parent and child share memory until the
// exec, the child reports errors by writing to that memory. Between vfork and exec only system calls are allowed, so
// everything is prepared beforehand.
#include "launcher/start/spawn.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <string_view>

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "launcher/base/job.hpp"
#include "launcher/start/commands.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/memory_file.hpp"
#include "runtime/base/process_identity.hpp"
#include "runtime/settings/launch.hpp"
#include "topo/text.hpp"

namespace tutti::launcher {
namespace {

struct Failure {
    char const* step = nullptr;
    int error = 0;
};

std::vector<char*> pointers(std::vector<std::string> const& words) {
    std::vector<char*> all;
    for (std::string const& word : words) all.push_back(const_cast<char*>(word.c_str()));
    all.push_back(nullptr);
    return all;
}

/// Builds a kernel mask of any size, so that machines with more than CPU_SETSIZE processing units work.
std::vector<unsigned long> cpu_mask(std::vector<int> const& cpus) {
    constexpr std::size_t bits = 8 * sizeof(unsigned long);
    std::vector<unsigned long> mask;
    for (int cpu : cpus) {
        std::size_t word = static_cast<std::size_t>(cpu) / bits;
        if (mask.size() <= word) mask.resize(word + 1);
        mask[word] |= 1UL << (static_cast<std::size_t>(cpu) % bits);
    }
    return mask;
}

struct ExecArguments {
    SpawnOptions const& start;
    std::vector<char*> argv, environment, shell_argv;
    std::vector<unsigned long> mask;
    pid_t launcher;
    rlimit descriptors;
    Failure failure;
};

void move_descriptor(int from, int to) {
    if (from == to) fcntl(to, F_SETFD, 0);
    else dup2(from, to);
}

/// A rank is in the background of the terminal. It would be stopped when it changes the terminal's settings or reads
/// from it, which programs do that prompt for a password. Without a terminal they prompt on standard input. A session
/// per rank would have the same effect, but ranks of different sessions do not yield cores to each other.
void detach_from_terminal() {
    int const terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (terminal < 0) return;
    ioctl(terminal, TIOCNOTTY);
    close(terminal);
}

/// Kernels before 5.11 need a call for each descriptor. The limit may be a billion, of which mpiexec uses few.
void close_all_on_exec(rlimit const& limit) {
    if (close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
    rlim_t const end = std::min<rlim_t>(limit.rlim_cur, 65536);
    for (rlim_t one = STDERR_FILENO + 1; one < end; ++one) fcntl(static_cast<int>(one), F_SETFD, FD_CLOEXEC);
}

/// Runs in the child. Returns only if something failed.
void become_rank(ExecArguments& p) {
    SpawnOptions const& start = p.start;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != p.launcher) _exit(1);   // the launcher died before the line above
    if (start.detach_terminal) detach_from_terminal();
    move_descriptor(start.input, STDIN_FILENO);
    move_descriptor(start.output, STDOUT_FILENO);
    move_descriptor(start.error, STDERR_FILENO);
    if (start.closes_others) close_all_on_exec(p.descriptors);
    for (int descriptor : start.inherited_descriptors) fcntl(descriptor, F_SETFD, 0);
    if (start.descriptor_limit) setrlimit(RLIMIT_NOFILE, start.descriptor_limit);
    if (!p.mask.empty())
        sched_setaffinity(0, p.mask.size() * sizeof(unsigned long), reinterpret_cast<cpu_set_t*>(p.mask.data()));
    if (!start.directory.empty() && chdir(start.directory.c_str()) != 0) {
        p.failure = {"the folder", errno};
        return;
    }
    if (start.signal_mask) sigprocmask(SIG_SETMASK, start.signal_mask, nullptr);
    execve(start.path.c_str(), p.argv.data(), p.environment.data());
    if (errno == ENOEXEC && !p.shell_argv.empty()) execve("/bin/sh", p.shell_argv.data(), p.environment.data());
    p.failure = {"the program", errno};
}

/// Must not be inlined: what the child does to the stack must not affect the caller's variables.
__attribute__((noinline)) pid_t start_child(ExecArguments& p) {
    pid_t pid = vfork();
    if (pid == 0) {
        become_rank(p);
        _exit(127);
    }
    return pid;
}

[[noreturn]] void throw_spawn_error(SpawnOptions const& start, Failure const& failure) {
    bool folder = std::strcmp(failure.step, "the folder") == 0;
    bool interpreter = !folder && failure.error == ENOENT && access(start.path.c_str(), F_OK) == 0;
    throw LaunchError(join(failure.step, " ", folder ? start.directory : start.path,
                           folder ? " cannot be entered: " : " cannot be started: ",
                           interpreter                ? "the interpreter or loader that it names does not exist"
                           : failure.error == ENOEXEC ? "it is neither a program for this machine nor a script"
                                                      : std::strerror(failure.error)),
                      failure.error == ENOENT ? 127 : 126);
}

}   // namespace

pid_t spawn(SpawnOptions const& start) {
    ExecArguments p{start, pointers(start.command), pointers(start.environment), {}, cpu_mask(start.cpus), getpid(), {},
                    {}};
    getrlimit(RLIMIT_NOFILE, &p.descriptors);
    if (may_be_shell_script(path_in(start.directory, start.path))) {   // without #!
        p.shell_argv = p.argv;
        p.shell_argv.insert(p.shell_argv.begin(), const_cast<char*>("sh"));
        p.shell_argv[1] = const_cast<char*>(start.path.c_str());
    }
    pid_t pid = start_child(p);
    if (pid < 0)
        throw LaunchError(join("another process cannot be started: ", std::strerror(errno),
                               errno == EAGAIN ? "; ulimit -u prints the limit of this user's processes" : ""),
                          1);
    if (p.failure.step) throw_spawn_error(start, p.failure);
    setpgid(pid, pid);   // as in the child, in case this process runs first
    return pid;
}

// Builds a rank's environment.

namespace {

using Inherit = EnvironmentRules::Inherit;
using EnvironmentMap = std::map<std::string, std::string>;

/// Returns true for variables by which an outer launcher is contacted, or recognised: a rank that used them would join
/// the outer job, or wait for it. Users set the parameters of PMIx, and where it is installed.
bool belongs_to_outer_launcher(std::string_view name) {
    constexpr std::array<std::string_view, 4> names = {"PMI_FD", "PMI_PORT", "PMI_ID", "JSM_JSRUN_PORT"};
    bool const is_setting = name.starts_with("PMIX_MCA_") || name.ends_with("_PREFIX");
    return std::ranges::find(names, name) != names.end() || (name.starts_with("PMIX_") && !is_setting);
}

void inherit(EnvironmentMap& out, char const* const* environment, EnvironmentRules const& rules) {
    if (rules.inherit == Inherit::none) return;
    for (; environment && *environment; ++environment) {
        std::string_view entry = *environment;
        std::size_t equals = entry.find('=');
        if (equals == std::string_view::npos) continue;
        std::string name(entry.substr(0, equals));
        bool listed = std::find(rules.list.begin(), rules.list.end(), name) != rules.list.end();
        if (rules.inherit == Inherit::listed && !listed) continue;
        if (!belongs_to_outer_launcher(name)) out[name] = entry.substr(equals + 1);
    }
}

void set_rank_variables(EnvironmentMap& out, RankFacts const& facts) {
    std::string rank = std::to_string(facts.rank), ranks = std::to_string(facts.ranks);
    std::string local_rank = std::to_string(facts.local_rank), local_ranks = std::to_string(facts.local_ranks);
    out[launch::segment_variable] = std::to_string(facts.segment);
    out[launch::segment_inode_variable] = std::to_string(memory_file(facts.segment).inode);
    out[launch::rank_variable] = local_rank;
    out[launch::launcher_variable] = facts.launcher;
    // those of an outer job
    for (char const* outer : {launch::listen_variable, launch::parent_variable}) out.erase(outer);
    std::string& listeners = out[launch::listen_variable];
    for (int descriptor : facts.listeners) listeners += (listeners.empty() ? "" : ",") + std::to_string(descriptor);
    if (listeners.empty()) out.erase(launch::listen_variable);
    for (char const* name : {"PMI_RANK", "OMPI_COMM_WORLD_RANK"}) out[name] = rank;
    for (char const* name : {"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_NODE_RANK"})
        out[name] = local_rank;
    for (char const* name : {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "OMPI_UNIVERSE_SIZE"}) out[name] = ranks;
    for (char const* name : {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"}) out[name] = local_ranks;
    out["PMI_APPNUM"] = std::to_string(facts.program);
    for (auto const& [name, value] : facts.server_variables) out[name] = value;
}

/// Assigns each rank of a node its own GPUs, chosen from those that the variable already names, if any.
void assign_gpus(EnvironmentMap& out, RankFacts const& facts) {
    if (facts.gpus < 0) return;
    for (char const* variable : {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ZE_AFFINITY_MASK"}) {
        auto const given = out.find(variable);
        std::vector<std::string> const all = given == out.end() || given->second.empty()
                                                 ? std::vector<std::string>()
                                                 : topo::split_words(given->second, ",");
        std::string chosen;
        for (int i = facts.local_rank * facts.gpus; i < (facts.local_rank + 1) * facts.gpus; ++i) {
            auto const at = static_cast<std::size_t>(i);
            if (!all.empty() && at >= all.size())
                throw LaunchError(join("-gpus-per-proc: ", variable, " names ", all.size(),
                                       all.size() == 1 ? " GPU" : " GPUs", ", and ranks of this node need at least ",
                                       i + 1));
            chosen += (chosen.empty() ? "" : ",") + (all.empty() ? std::to_string(i) : all[at]);
        }
        out[variable] = facts.gpus == 0 ? "-1" : chosen;
    }
}

void add(EnvironmentMap& out, char const* list, std::string const& front, std::string const& back) {
    std::string& value = out[list];
    if (!front.empty()) value = front + (value.empty() ? "" : ":") + value;
    if (!back.empty()) value += (value.empty() ? "" : ":") + back;
}

/// The user's preloaded libraries stay first: the user's allocator replaces ours, and a tool that wraps MPI functions
/// calls ours as PMPI functions. In a job within one of our jobs (a rank runs mpiexec), our libraries may already be
/// in the list.
void prepend_libraries(EnvironmentMap& out, LibraryOverrides const& library) {
    if (!library.folder.empty()) add(out, "LD_LIBRARY_PATH", library.folder, {});
    std::string const mpi = library.folder + "/libmpi.so.12:" + library.folder + "/libmpich.so.12";
    std::string const& ours = library.preload ? mpi : library.arena;
    if (!ours.empty() && out["LD_PRELOAD"].find(ours) == std::string::npos) add(out, "LD_PRELOAD", {}, ours);
}

}   // namespace

std::string launcher_name(int process) { return join(process, "@", pid_namespace()); }

std::vector<std::string> rank_environment(char const* const* inherited, EnvironmentRules const& all_programs,
                                          EnvironmentRules const& own, RankFacts const& facts,
                                          LibraryOverrides const& library) {
    EnvironmentMap all;
    inherit(all, inherited, own.inherit == Inherit::unspecified ? all_programs : own);
    for (auto const& [name, value] : all_programs.set) all[name] = value;
    for (auto const& [name, value] : own.set) all[name] = value;
    assign_gpus(all, facts);
    prepend_libraries(all, library);
    set_rank_variables(all, facts);
    std::vector<std::string> entries;
    for (auto const& [name, value] : all) entries.push_back(name + "=" + value);
    return entries;
}

}   // namespace tutti::launcher
