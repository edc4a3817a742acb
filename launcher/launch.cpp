// SPDX-License-Identifier: BSD-3-Clause
// Runs a job on this node: checks everything that can be wrong, creates the segment, starts the ranks, supervises them.
#include "launcher/launch.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "launcher/base/text.hpp"
#include "launcher/placement/allocation.hpp"
#include "launcher/placement/placement.hpp"
#include "launcher/report/statistics.hpp"
#include "launcher/report/write_report.hpp"
#include "launcher/serve/rank_servers.hpp"
#include "launcher/start/commands.hpp"
#include "launcher/start/programs.hpp"
#include "launcher/start/spawn.hpp"
#include "launcher/supervise/guardian.hpp"
#include "launcher/supervise/other_nodes.hpp"
#include "launcher/supervise/supervisor.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"
#include "runtime/job/interfaces.hpp"
#include "runtime/memory/placement.hpp"
#include "runtime/memory/xpmem.hpp"
#include "runtime/settings/tuning_file.hpp"

namespace tutti::launcher {
namespace {

/// Opens descriptors 0 to 2 if they are closed, so that no pipe gets one of these numbers. They are opened read-only:
/// writing to a closed standard output then fails, and the output is reported as lost.
void open_standard_descriptors() {
    for (int number = 0; number <= 2; ++number)
        if (fcntl(number, F_GETFD) < 0) [[maybe_unused]]
            int filled = open("/dev/null", O_RDONLY);
}

/// Raises the limit of descriptors. A rank needs two pipe ends, two output files, a socket for PMI, a connection for
/// PMIx per process that uses it, and in a job on several nodes a listener per address of this node. Returns the old
/// limit, which ranks get back.
rlimit raise_descriptor_limit(std::size_t ranks, std::size_t nodes) {
    constexpr rlim_t per_rank = 8, per_node = 4, others = 64;
    std::size_t const listeners = nodes > 1 ? interfaces().size() : 0;
    rlimit old{};
    getrlimit(RLIMIT_NOFILE, &old);
    rlim_t const needed = ranks * (per_rank + listeners) + nodes * per_node + others;
    rlimit const wanted{std::max(old.rlim_cur, std::min(needed, old.rlim_max)), old.rlim_max};
    setrlimit(RLIMIT_NOFILE, &wanted);
    return old;
}

Sink& sink_for(Job const& job, Output& output, std::string const& host, int rank, bool error) {
    if (job.output_from >= 0 && rank != job.output_from) return output.file("/dev/null");
    std::string const& pattern = error && !job.merge_errors ? job.err_pattern : job.out_pattern;
    if (!pattern.empty()) return output.file(expand_pattern(pattern, rank, host));
    return error && !job.merge_errors ? output.standard_error() : output.standard_output();
}

/// A rank of this node that has not been started yet.
struct PlannedRank {
    int rank;   ///< in MPI_COMM_WORLD
    std::size_t program;
};

std::vector<PlannedRank> local_ranks(Job const& job, Allocation const& allocation) {
    std::vector<PlannedRank> ranks;
    int rank = 0;
    for (std::size_t p = 0; p < job.programs.size(); ++p)
        for (int i = 0; i < job.programs[p].ranks; ++i, ++rank)
            if (allocation.node_of[static_cast<std::size_t>(rank)] == allocation.local_node) ranks.push_back({rank, p});
    return ranks;
}

class Launch {
public:
    Launch(Job const& job, Allocation const& allocation, OtherNodes* other_nodes)
        : job_(job), allocation_(allocation), other_nodes_(other_nodes), ranks_(job.ranks()),
          node_(allocation.local_node), planned_(local_ranks(job, allocation)),
          world_ranks_(allocation.ranks_on(allocation.local_node)),
          host_(planned_.empty() ? host_name() : allocation.local_host()),
          placed_(place_ranks(job, planned_.empty() ? std::vector<int>{0} : world_ranks_)),
          old_limit_(raise_descriptor_limit(planned_.size(), allocation.nodes.size())), output_(job.on_terminal),
          input_(job.input, world_ranks_, other_nodes ? other_nodes->input_nodes() : std::vector<int>{}) {
        adopt_orphans();
    }
    ~Launch() {
        if (other_nodes_) unless_out_of_memory([this] { return other_nodes_->shut_down_daemons(), true; });
    }

    int run() {
        prepare_programs();
        if (other_nodes_) other_nodes_->start_daemons(objects_);
        print_placement();
        std::string drawing;
        if (job_.show_hierarchy && !planned_.empty()) drawing = draw_hierarchy(job_, placed_, world_ranks_);
        std::optional<ClusterInfo> info;
        if (other_nodes_) info = exchange_facts(placed_.machine, drawing);
        if (print("mpiexec", info ? info->drawings : drawing) != 0) return 1;
        if (!job_.has_program() || job_.do_not_launch) return 0;
        if (info && !planned_.empty()) host_ = info->cluster.node(info->cluster.this_node()).name;
        std::optional<Segment> segment;
        if (!planned_.empty()) segment = make_segment(info);
        Segment* const shared = segment ? &*segment : nullptr;
        Supervisor supervisor(job_, shared, objects_, host_, other_nodes_);
        supervisor.set_loader_error_finder([this](std::size_t local_rank) { return loader_error_of(local_rank); });
        if (variables_of(job_).diagnosis != "no") supervisor.enable_diagnosis();
        if (segment) start_servers(info, supervisor);
        if (segment) start_all(supervisor, *segment);
        listeners_.clear();
        input_.ranks_are_started();
        int code = supervisor.run();
        servers_.stop();
        if (job_.statistics && shared) survey(*shared);
        if (other_nodes_) other_nodes_->finish(supervisor, shared);
        if (job_.statistics) print_statistics(shared, code);
        report_not_freed(shared);
        if (job_.traced() && (!other_nodes_ || other_nodes_->is_root())) report(supervisor, shared, code);
        return code;
    }

private:
    /// Exchanges facts with the other nodes. Each rank's listening socket exists before its port is announced.
    ClusterInfo exchange_facts(topo::Machine const& machine, std::string const& drawing) {
        NodeFacts facts;
        facts.host = host_name();
        facts.drawing = drawing;
        facts.mpi_library = programs_.mpi_library();
        facts.offer = servers_.offer();
        Variables const variables = variables_of(job_);
        if (!planned_.empty()) facts.addresses = host_addresses(variables.network);   // login nodes may lack it
        for (std::size_t i = 0; i < planned_.size(); ++i) {
            Listener const listener = listen_on(facts.addresses, variables.port_range);
            facts.ports.push_back(listener.port);
            std::vector<Descriptor>& sockets = listeners_.emplace_back();
            for (int descriptor : listener.descriptors) sockets.emplace_back(descriptor);
        }
        return other_nodes_->exchange_facts(facts, tuning(machine));
    }

    /// Prints the counts of all nodes' ranks. A daemon has passed its counts on to mpiexec and prints nothing.
    void print_statistics(Segment const* segment, int& code) {
        AllRankCounts counts = segment ? counts_of(*segment) : AllRankCounts{};
        if (other_nodes_) counts = other_nodes_->with_others(std::move(counts));
        std::string message;
        bool const is_decider = !other_nodes_ || other_nodes_->is_root();
        if (counts.empty() && segment && is_decider)
            message = "the ranks do not use Tutti's library, so there are no statistics";
        if (!counts.empty() && !write_statistics(job_, counts, message) && code == 0) code = 1;
        if (!message.empty()) output_.print_message(message);
    }

    /// Reports MPI objects that were not freed if standard error is a terminal, unless --check has already reported
    /// where they were created.
    void report_not_freed(Segment const* segment) {
        NotFreedCounts counts = segment ? not_freed_on(*segment) : NotFreedCounts{};
        if (other_nodes_) counts = other_nodes_->with_others(std::move(counts));
        Variables const variables = variables_of(job_);
        bool const wanted = output_.standard_error().terminal() && !job_.quiet && !variables.quiet &&
                            !job_.json_messages && variables.diagnosis != "no" && variables.diagnosis != "full";
        std::string const message = wanted ? not_freed_message(counts) : "";
        if (!message.empty()) output_.print_message(message);
    }

    /// Writes the files of --report and --trace, and names them.
    void report(Supervisor const& supervisor, Segment const* segment, int& code) {
        ReportContext context;
        context.failure = supervisor.end_reason();
        context.exit_code = code;
        context.reports = supervisor.reports();
        Recording recording;
        if (segment) {
            recording.ranks = read_traces(*segment, job_.traced_events, node_, host_, now_ns());
            recording.nodes.push_back(
                {node_, host_, placed_.machine, placed_.plan.placement, world_ranks_, placed_.usable_cores});
        }
        if (other_nodes_) recording = other_nodes_->with_others(std::move(recording));
        context.nodes = recording.nodes;
        WrittenReports const files = write_reports(job_, std::move(recording), std::move(context));
        if (!job_.quiet)
            for (std::string const& message : files.written) output_.print_message(message);
        for (std::string const& message : files.errors) output_.print_message(message);
        if (code == 0 && !files.errors.empty()) code = 1;
    }

    Segment make_segment(std::optional<ClusterInfo> const& info) {
        Variables const variables = variables_of(job_);
        NumaHomes const homes = numa_homes(placed_);
        Segment segment = Segment::create(
            static_cast<unsigned>(planned_.size()), topo::NodeMap{placed_.machine, placed_.plan.placement}.to_text(),
            info ? info->tuning : tuning(placed_.machine), info ? info->cluster.to_text() : "",
            SegmentCreator::launcher, &homes, job_.traced() ? job_.traced_events : 0);
        segment.header().usable_cores = static_cast<std::uint32_t>(placed_.usable_cores);
        record_access(segment.header(), variables.arena, variables.cma, variables.xpmem);
        segment.header().reported_settings = reported_for_first_rank(job_);
        return segment;
    }

    void prepare_programs() {
        check_interface();
        if (!job_.has_program()) return;
        auto const has_ranks_here = [this](std::size_t number) {
            return std::ranges::any_of(planned_, [&](PlannedRank const& p) { return p.program == number; });
        };
        programs_.prepare(has_ranks_here, [this](std::string const& message) {
            if (!job_.quiet && (!other_nodes_ || other_nodes_->is_root())) output_.print_message(message);
        });
        servers_.prepare(programs_, ranks_, host_, node_);
        windows_.emplace(job_, world_ranks_, Programs::search_path());
    }

    void check_interface() const {
        if (job_.interface.empty() || planned_.empty()) return;
        try {
            host_addresses(job_.interface);
        } catch (Error const& error) { throw LaunchError(join("-iface: ", error.what())); }
    }

    /// Returns why the loader ended the rank with this local rank, or an empty string.
    std::string loader_error_of(std::size_t local_rank) const {
        std::string const error = programs_.loader_error_of(planned_[local_rank].program);
        return error.empty() ? "" : join("the loader cannot load ", error);
    }

    /// Returns the tuning file's name and text for the segment, or an empty string. Reports a file that cannot be
    /// used, or throws LaunchError if TUTTI_STRICT is set.
    std::string tuning(topo::Machine const& machine) {
        Variables const variables = variables_of(job_);
        TuningFile const file =
            find_tuning_file(variables.tuning, tuning_locations(TUTTI_CONFIGURATION_FROM_PROGRAMS), machine);
        if (!file.diagnostic.empty() && variables.strict)
            throw LaunchError(join(file.diagnostic, ": job not started because TUTTI_STRICT is set"));
        if (!file.diagnostic.empty() && !job_.quiet && !variables.quiet) output_.print_message(file.diagnostic);
        return file.text.empty() ? "" : file.name + "\n" + file.text;
    }

    void print_placement() {
        if (!placed_.plan.note.empty() && !job_.quiet && (job_.bind || job_.verbose)) {
            std::string const& note = placed_.plan.note;
            output_.print_message(note.substr(0, note.find_last_not_of('.') + 1));
        }
        if (job_.report_bindings) output_.print(binding_report(placed_, world_ranks_, other_nodes_ ? host_ : ""));
    }

    void start_all(Supervisor& supervisor, Segment const& segment) {
        std::size_t local_rank = 0;
        try {
            // Before any rank runs: throws if a file cannot be written.
            for (; local_rank < planned_.size(); ++local_rank)
                for (bool error : {false, true}) sink_for(job_, output_, host_, planned_[local_rank].rank, error);
            for (local_rank = 0; local_rank < planned_.size(); ++local_rank) {
                if (std::optional<int> const signal = supervisor.interrupted())
                    throw LaunchError(join("not started: mpiexec received ", describe_signal(*signal)), 128 + *signal);
                supervisor.add_rank(start(local_rank, segment, placed_.plan.cpus[local_rank]));
            }
        } catch (LaunchError const& error) {
            supervisor.fail({RankExit::Kind::failed, error.exit_code,
                             join("rank ", planned_[local_rank].rank, on_host(), ": ", error.what())});
        }
    }

    void start_servers(std::optional<ClusterInfo> const& info, Supervisor& supervisor) {
        ServedJob served{info ? info->job_name : job_name(), allocation_.nodes, allocation_.node_of, {}, node_};
        for (std::size_t p = 0; p < job_.programs.size(); ++p)
            served.program_of.insert(served.program_of.end(), static_cast<std::size_t>(job_.programs[p].ranks),
                                     static_cast<int>(p));
        ServiceOffer const& offer = info ? info->offer : servers_.offer();
        for (PreparedProgram const& one : programs_.all())
            if (job_.verbose && offer.service != Service::none && one.mpi.kind == LinkedMpi::Kind::foreign)
                output_.print_message(join(one.file, on_host(), " uses ", one.mpi.library.file, ", not Tutti's library",
                                           has_our_abi(one.mpi.library.name) ? "; --drop-in replaces it" : ""));
        servers_.start(std::move(served), offer);
        supervisor.set_servers(servers_);
    }

    pid_t start(std::size_t local_rank, Segment const& segment, std::vector<int> const& cpus) {
        auto const [rank, p] = planned_[local_rank];
        Program const& program = job_.programs[p];
        Sink& out_sink = sink_for(job_, output_, host_, rank, false);
        Sink& error_sink = sink_for(job_, output_, host_, rank, true);
        Pipe out = Pipe::make(), error = Pipe::make();
        std::vector<int> listeners;
        if (!listeners_.empty())
            for (Descriptor const& one : listeners_[local_rank]) listeners.push_back(one.get());
        PreparedProgram const& prepared = programs_[p];
        RankServers::Access servers;
        if (servers_.is_started() && prepared.may_be_foreign()) servers = servers_.connect(local_rank);
        std::vector<int> inherited = users_descriptors_;
        inherited.insert(inherited.end(), listeners.begin(), listeners.end());
        inherited.push_back(segment.descriptor());
        if (servers.descriptor) inherited.push_back(servers.descriptor.get());
        RankFacts const facts{.rank = rank,
                              .ranks = ranks_,
                              .local_rank = static_cast<int>(local_rank),
                              .local_ranks = static_cast<int>(planned_.size()),
                              .listeners = listeners,
                              .program = static_cast<int>(p),
                              .segment = segment.descriptor(),
                              .launcher = launcher_name(getpid()),
                              .gpus = job_.gpus_per_rank,
                              .server_variables = std::move(servers.variables)};
        SpawnOptions start{
            .path = prepared.file,
            .command = program.command,
            .environment = rank_environment(environ, job_.environment, program.environment, facts, prepared.library),
            .directory = program.directory,
            .cpus = cpus,
            .input = input_.descriptor_for(rank),
            .output = out.write.get(),
            .error = error.write.get(),
            .inherited_descriptors = std::move(inherited),
            .closes_others = true,   // libpmix has some without close-on-exec: connections with ranks that already run
            .signal_mask = &signals_.original_mask(),
            .descriptor_limit = &old_limit_,
            .detach_terminal = true};
        if (job_.index_argv) start.command[0] += join("-", rank);
        windows_->wrap_command(start, rank, host_);
        pid_t pid = spawn(start);
        if (job_.verbose) output_.print_message(join("rank ", rank, on_host(), " is process ", pid, ": ", start.path));
        LinePrefix const prefix{expand_pattern(job_.prefix, rank, host_), job_.timestamps};
        output_.add(std::move(out.read), out_sink, prefix, rank);
        output_.add(std::move(error.read), error_sink, prefix, rank,
                    &segment.rank_state(static_cast<unsigned>(local_rank)));
        return pid;
    }

    /// The host as part of a message; empty in a job on one node.
    std::string on_host() const { return other_nodes_ ? " on " + host_ : ""; }

    Job const& job_;
    Allocation const& allocation_;
    OtherNodes* other_nodes_;
    std::vector<int> users_descriptors_ = inheritable_descriptors();   ///< before this object opens its own
    int ranks_;                                                        ///< in MPI_COMM_WORLD
    int node_;                                                         ///< number of this node, −1 if it has no rank
    std::vector<PlannedRank> planned_;                                 ///< by local rank
    std::vector<int> world_ranks_;                                     ///< world ranks, by local rank
    std::string host_;
    NodePlacement placed_;   ///< before signals are blocked: detecting a large machine takes a while
    rlimit old_limit_;
    Signals signals_;
    Guardian guardian_{ranks_ == 1};
    Output output_;
    Input input_;
    LauncherObjects objects_{guardian_, signals_, output_, input_};
    std::vector<std::vector<Descriptor>> listeners_;   ///< by local rank; empty in a job on one node
    Programs programs_{job_};
    RankServers servers_;   ///< not started if all ranks use Tutti's library, or there is only one
    std::optional<TerminalWindows> windows_;
};

}   // namespace

int launch(Job const& job, Allocation const& allocation, OtherNodes* other_nodes) {
    open_standard_descriptors();
    return Launch(job, allocation, other_nodes).run();
}

}   // namespace tutti::launcher
