// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/serve/pmix_server.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <span>
#include <sstream>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/base/job.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/memory_file.hpp"

namespace tutti::launcher {
namespace {

constexpr std::chrono::seconds last_answer_timeout{2};

/// libpmix passes no pointer of ours to the functions that it calls, and its thread runs until the process ends.
std::mutex server_mutex;
PmixServer* running_server = nullptr;

pmix_proc_t process_of(ServedJob const& job, int rank) {
    pmix_proc_t process{};
    std::strncpy(process.nspace, job.name.c_str(), PMIX_MAX_NSLEN);
    process.rank = static_cast<pmix_rank_t>(rank);
    return process;
}

/// Returns libpmix's notation of a list. It may be compressed, which not every type of value can transport.
std::string notation(pmix_status_t (*generate)(char const*, char**), std::string const& list) {
    char* text = nullptr;
    if (generate(list.c_str(), &text) != PMIX_SUCCESS || !text) return "raw:" + list;
    std::string const result = text;
    std::free(text);
    return result.starts_with("blob") ? "raw:" + list : result;
}

/// Collects what this process prints to standard error while the object exists: libpmix prints pages about errors,
/// which not every job needs to know.
class DivertedErrors {
public:
    DivertedErrors() {
        if (!file_ || !kept_) return;
        std::fflush(stderr);
        dup2(file_.get(), STDERR_FILENO);
    }
    ~DivertedErrors() {
        if (!file_ || !kept_) return;
        std::fflush(stderr);
        dup2(kept_.get(), STDERR_FILENO);
    }
    DivertedErrors(DivertedErrors const&) = delete;
    DivertedErrors& operator=(DivertedErrors const&) = delete;

    /// Returns the first paragraph as one line, without lines of dashes.
    std::string first_paragraph() const {
        std::fflush(stderr);
        char bytes[4096];
        ssize_t const n = file_ ? pread(file_.get(), bytes, sizeof bytes, 0) : 0;
        std::istringstream lines(std::string(bytes, static_cast<std::size_t>(std::max<ssize_t>(n, 0))));
        std::string text;
        for (std::string line; std::getline(lines, line) && (!line.empty() || text.empty());)
            if (line.find_first_not_of('-') != line.npos) text += (text.empty() ? "" : " ") + line;
        return text;
    }

private:
    Descriptor file_{create_memory_file("errors", MFD_CLOEXEC)}, kept_{fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)};
};

}   // namespace

struct PmixServer::Callbacks {
    static pmix_status_t connected(pmix_proc_t const* process, void*, pmix_info_t*, std::size_t, pmix_op_cbfunc_t done,
                                   void* done_data) {
        return report(Event::Kind::initialised, process, done, done_data);
    }
    static pmix_status_t finalized(pmix_proc_t const* process, void*, pmix_op_cbfunc_t done, void* done_data) {
        return report(Event::Kind::finalised, process, done, done_data);
    }
    /// The rank has printed its message.
    static pmix_status_t abort(pmix_proc_t const* process, void*, int status, char const*, pmix_proc_t*, std::size_t,
                               pmix_op_cbfunc_t done, void* done_data) {
        return report(Event::Kind::aborted, process, done, done_data, status);
    }
    static pmix_status_t spawn(pmix_proc_t const* process, pmix_info_t const*, std::size_t, pmix_app_t const*,
                               std::size_t, pmix_spawn_cbfunc_t, void*) {
        report(Event::Kind::spawn, process, nullptr, nullptr);
        return PMIX_ERR_NOT_SUPPORTED;
    }
    /// libpmix itself handles requests to remove files when the rank has ended, but only if there is this function.
    static pmix_status_t control(pmix_proc_t const*, pmix_proc_t const*, std::size_t, pmix_info_t const*, std::size_t,
                                 pmix_info_cbfunc_t, void*) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    /// `data` becomes ours.
    static pmix_status_t fence(pmix_proc_t const* processes, std::size_t count, pmix_info_t const*, std::size_t,
                               char* data, std::size_t bytes, pmix_modex_cbfunc_t done, void* done_data) {
        Event event{.kind = Event::Kind::fence, .data = std::string(data ? data : "", data ? bytes : 0)};
        std::free(data);
        event.fence_done = done;
        event.done_data = done_data;
        for (pmix_proc_t const& process : std::span(processes, count)) {
            if (process.rank == PMIX_RANK_WILDCARD) {
                event.ranks.clear();
                break;
            }
            event.ranks.push_back(static_cast<int>(process.rank));
        }
        return add(std::move(event));
    }

private:
    static pmix_status_t report(Event::Kind kind, pmix_proc_t const* process, pmix_op_cbfunc_t done, void* done_data,
                                int code = 0) {
        return add({.kind = kind,
                    .rank = static_cast<int>(process->rank),
                    .code = code,
                    .done = done,
                    .done_data = done_data});
    }
    static pmix_status_t add(Event event) {
        std::lock_guard const lock(server_mutex);
        if (running_server) running_server->add(std::move(event));
        return PMIX_SUCCESS;
    }
};

PmixServer::PmixServer(std::string const& host, int node) : folder_(make_server_folder()), wakeup_(Pipe::make()) {
    fcntl(wakeup_.read.get(), F_SETFL, O_NONBLOCK);
    fcntl(wakeup_.write.get(), F_SETFL, O_NONBLOCK);
    {
        std::lock_guard const lock(server_mutex);
        running_server = this;
    }
    PmixInfos own;
    own.add(PMIX_SERVER_TMPDIR, folder_);
    own.add(PMIX_SYSTEM_TMPDIR, folder_);
    own.add(PMIX_SERVER_NSPACE, job_name() + "-server");
    own.add_rank(PMIX_SERVER_RANK, node);
    own.add(PMIX_HOSTNAME, host);
    static pmix_server_module_t module{};
    module.client_connected2 = Callbacks::connected;
    module.client_finalized = Callbacks::finalized;
    module.abort = Callbacks::abort;
    module.fence_nb = Callbacks::fence;
    module.spawn = Callbacks::spawn;
    module.job_control = Callbacks::control;
    DivertedErrors printed;
    pmix_status_t const status = pmix_.init(&module, own.data(), own.size());
    std::string const reason = printed.first_paragraph();
    if (status == PMIX_SUCCESS) return;
    stop();
    throw LaunchError(join("the PMIx server of this node failed in PMIx_server_init: ", pmix_.error_string(status),
                           reason.empty() ? "" : ", \"", reason, reason.empty() ? "" : "\""),
                      1);
}

void PmixServer::serve_job(ServedJob job) {
    job_ = std::move(job);
    local_ranks_ = job_.ranks_on(job_.node);
    PmixInfos infos;
    describe_job(infos);
    PmixCompletion completion;
    pmix_status_t const returned =
        pmix_.register_nspace(process_of(job_, 0).nspace, static_cast<int>(local_ranks_.size()), infos.data(),
                              infos.size(), PmixCompletion::done, &completion);
    pmix_.check(completion.wait(returned), "PMIx_server_register_nspace");
    deregistered_ = std::make_unique<PmixCompletion>();
    register_ranks();
}

/// Waits once for all ranks: libpmix answers by its thread, which wakes up late where all cores are busy.
void PmixServer::register_ranks() {
    std::deque<PmixCompletion> completions;
    std::vector<pmix_status_t> returned;
    for (int rank : local_ranks_) {
        mkdir(rank_folder(rank).c_str(), 0700);   // ranks store files there without creating it
        pmix_proc_t const process = process_of(job_, rank);
        returned.push_back(pmix_.register_client(&process, geteuid(), getegid(), nullptr, PmixCompletion::done,
                                                 &completions.emplace_back()));
    }
    for (std::size_t i = completions.size(); i-- > 0;)   // the last one first: the others are complete then
        returned[i] = completions[i].wait(returned[i]);
    for (pmix_status_t one : returned) pmix_.check(one, "PMIx_server_register_client");
}

/// The end of a rank, which libpmix may not have noticed, makes it remove the files that a killed rank has registered,
/// such as Open MPI's shared memory. It answers in order, so the last answer is enough. The wait for it has a limit,
/// and PMIx_server_finalize is not called, because both may last without end if a rank was killed in the middle of a
/// request (PMIx 4.2).
PmixServer::~PmixServer() {
    if (deregistered_) {
        for (int rank : local_ranks_) {
            pmix_proc_t const process = process_of(job_, rank);
            pmix_.deregister_client(
                &process, [](pmix_status_t, void*) {}, nullptr);
        }
        pmix_.deregister_nspace(process_of(job_, 0).nspace, PmixCompletion::done, deregistered_.get());
        if (!deregistered_->wait_for(last_answer_timeout)) std::ignore = deregistered_.release();   // it may come later
    }
    stop();
}

void PmixServer::stop() {
    {
        std::lock_guard const lock(server_mutex);
        running_server = nullptr;
    }
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

std::string PmixServer::list_of_nodes() const {
    std::string list;
    for (std::string const& node : job_.nodes) list += (list.empty() ? "" : ",") + node;
    return list;
}

/// The ranks of each node, as in "0,1;2,3".
std::string PmixServer::list_of_ranks() const {
    std::string list;
    for (int node : job_.all_nodes()) {
        if (node > 0) list += ";";
        std::string ranks;
        for (int rank : job_.ranks_on(node)) ranks += join(ranks.empty() ? "" : ",", rank);
        list += ranks;
    }
    return list;
}

void PmixServer::describe_job(PmixInfos& infos) const {
    auto const size = static_cast<std::uint32_t>(job_.size());
    auto const local_size = static_cast<std::uint32_t>(local_ranks_.size());
    int const programs = *std::ranges::max_element(job_.program_of) + 1;
    std::string peers;
    for (int rank : local_ranks_) peers += join(peers.empty() ? "" : ",", rank);
    infos.add(PMIX_JOBID, job_.name);
    for (char const* key : {PMIX_JOB_SIZE, PMIX_UNIV_SIZE, PMIX_MAX_PROCS}) infos.add(key, size);
    infos.add(PMIX_JOB_NUM_APPS, static_cast<std::uint32_t>(programs));
    infos.add(PMIX_NUM_NODES, static_cast<std::uint32_t>(job_.nodes.size()));
    for (char const* key : {PMIX_LOCAL_SIZE, PMIX_NODE_SIZE}) infos.add(key, local_size);
    infos.add(PMIX_LOCAL_PEERS, peers);
    infos.add_rank(PMIX_LOCALLDR, local_ranks_.front());
    infos.add(PMIX_NODE_MAP, notation(pmix_.generate_regex, list_of_nodes()));
    infos.add(PMIX_PROC_MAP, notation(pmix_.generate_ppn, list_of_ranks()));
    infos.add(PMIX_TMPDIR, folder_);
    infos.add(PMIX_NSDIR, folder_);
    infos.add_flag(PMIX_TDIR_RMCLEAN, true);   // the launcher removes the folder
    for (int rank = 0; rank < job_.size(); ++rank) describe_rank(infos.add_array(PMIX_PROC_DATA), rank);
}

void PmixServer::describe_rank(PmixInfos& infos, int rank) const {
    auto const at = static_cast<std::size_t>(rank);
    int const node = job_.node_of[at], program = job_.program_of[at];
    auto const before = [&](std::vector<int> const& of, int value) {
        return static_cast<int>(std::count(of.begin(), of.begin() + rank, value));
    };
    int const local_rank = before(job_.node_of, node);
    infos.add_rank(PMIX_RANK, rank);
    infos.add_rank(PMIX_GLOBAL_RANK, rank);
    infos.add_rank(PMIX_APP_RANK, before(job_.program_of, program));
    infos.add(PMIX_APPNUM, static_cast<std::uint32_t>(program));
    infos.add_short(PMIX_LOCAL_RANK, static_cast<std::uint16_t>(local_rank));
    infos.add_short(PMIX_NODE_RANK, static_cast<std::uint16_t>(local_rank));
    infos.add(PMIX_NODEID, static_cast<std::uint32_t>(node));
    infos.add(PMIX_HOSTNAME, job_.nodes[static_cast<std::size_t>(node)]);
    if (node == job_.node) infos.add(PMIX_PROCDIR, rank_folder(rank));
}

std::vector<std::pair<std::string, std::string>> PmixServer::connect(std::size_t local_rank) {
    pmix_proc_t const process = process_of(job_, local_ranks_[local_rank]);
    char** entries = nullptr;
    pmix_.check(pmix_.setup_fork(&process, &entries), "PMIx_server_setup_fork");
    // Open MPI 4 takes a rank of an unknown launcher for a program that runs alone, even if it has a PMIx server. Of
    // the launchers that it knows, JSM is recognised by this variable, and has nothing else that ranks would use.
    std::vector<std::pair<std::string, std::string>> variables{{"JSM_JSRUN_PORT", "0"}};
    for (char** entry = entries; entry && *entry; ++entry) {
        std::string const text = *entry;
        std::size_t const equals = text.find('=');
        if (equals != text.npos) variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
        std::free(*entry);
    }
    std::free(entries);
    return variables;
}

/// Called by libpmix's thread, which holds server_mutex.
void PmixServer::add(Event event) {
    std::lock_guard const lock(mutex_);
    events_.push_back(std::move(event));
    [[maybe_unused]] ssize_t n = write(wakeup_.write.get(), "", 1);   // a full pipe is readable as well
}

void PmixServer::serve(ServerOwner& owner) {
    char bytes[256];
    while (read(wakeup_.read.get(), bytes, sizeof bytes) > 0) {}
    std::vector<Event> events;
    {
        std::lock_guard const lock(mutex_);
        events.swap(events_);
    }
    for (Event& event : events) {
        if (event.kind == Event::Kind::fence) {
            start_fence(std::move(event), owner);
            continue;
        }
        apply(event, owner);
        if (event.done) event.done(PMIX_SUCCESS, event.done_data);   // the rank continues
    }
}

void PmixServer::apply(Event const& event, ServerOwner& owner) const {
    auto const found = std::ranges::find(local_ranks_, event.rank);
    if (found == local_ranks_.end()) return;
    auto const local_rank = static_cast<std::size_t>(found - local_ranks_.begin());
    switch (event.kind) {
    case Event::Kind::initialised: return owner.enter(local_rank, RankPhase::initialised);
    case Event::Kind::finalised: return owner.enter(local_rank, RankPhase::finalised);
    case Event::Kind::aborted: return owner.abort(local_rank, event.code, "");
    case Event::Kind::spawn: return owner.refuse_spawn(local_rank);
    case Event::Kind::fence: return;
    }
}

/// The ranks that take part name a fence: one set of ranks is in one fence at a time.
void PmixServer::start_fence(Event event, ServerOwner& owner) {
    std::string name = "pmix";
    std::vector<int> nodes;
    for (int rank : event.ranks) {
        name += join(",", rank);
        if (rank >= 0 && rank < job_.size()) nodes.push_back(job_.node_of[static_cast<std::size_t>(rank)]);
    }
    std::ranges::sort(nodes);
    auto const repeated = std::ranges::unique(nodes);
    nodes.erase(repeated.begin(), repeated.end());
    if (nodes.empty()) nodes = job_.all_nodes();
    std::string data = std::move(event.data);
    fences_[name] = std::move(event);
    owner.exchange({name, std::move(nodes), job_.node, std::move(data)});
}

/// libpmix reads the data until it calls the last function.
void PmixServer::complete(Exchanged const& result) {
    auto const found = fences_.find(result.exchange);
    if (found == fences_.end()) return;
    Event const fence = std::move(found->second);
    fences_.erase(found);
    auto* const data = new std::string;
    for (std::string const& part : result.parts) *data += part;
    fence.fence_done(
        PMIX_SUCCESS, data->data(), data->size(), fence.done_data,
        [](void* kept) { delete static_cast<std::string*>(kept); }, data);
}

}   // namespace tutti::launcher
