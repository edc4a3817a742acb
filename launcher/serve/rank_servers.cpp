// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/serve/rank_servers.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <ifaddrs.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/serve/pmix_server.hpp"
#include "launcher/start/mpi_library.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

/// Returns true if there is an address on which libpmix can listen, of the loopback interface or another one.
bool has_network() {
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) return false;
    std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> const owned(all, freeifaddrs);
    for (ifaddrs const* one = all; one; one = one->ifa_next)
        if ((one->ifa_flags & IFF_UP) && one->ifa_addr &&
            (one->ifa_addr->sa_family == AF_INET || one->ifa_addr->sa_family == AF_INET6))
            return true;
    return false;
}

/// Throws LaunchError if this node cannot offer PMIx. libpmix itself would print a page about the first two obstacles.
std::unique_ptr<PmixServer> start_pmix(std::string const& host, int node) {
    try {
        PmixLibrary::get();
    } catch (LaunchError const& error) {
        throw LaunchError(join(error.what(), "; install PMIx (Debian: libpmix2)"), error.exit_code);
    }
    if (Descriptor const listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); !listener)
        throw LaunchError(join("its server needs a socket: ", std::strerror(errno)), 1);
    if (!has_network()) throw LaunchError("its server needs a network interface, such as lo, that is up", 1);
    return std::make_unique<PmixServer>(host, node);
}

bool can_offer_pmi() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
    Descriptor const closed[] = {Descriptor(ends[0]), Descriptor(ends[1])};
    return true;
}

}   // namespace

RankServers::RankServers() = default;
RankServers::~RankServers() = default;

/// Whether an interpreter or a script will use another library is not known before it does, when it is too late for a
/// server. It is offered what the node can offer; where that is nothing, Tutti's programs still run.
void RankServers::prepare(Programs const& programs, int ranks, std::string const& host, int node) {
    bool const is_ours = programs.mpi_library() == Programs::our_library;
    bool const is_needed = std::ranges::any_of(programs.all(), &PreparedProgram::may_be_foreign);
    if (ranks == 1 || is_ours || !is_needed) return;
    bool const is_foreign = std::ranges::any_of(
        programs.all(), [](PreparedProgram const& one) { return one.mpi.kind == LinkedMpi::Kind::foreign; });
    offer_.service = is_foreign || can_offer_pmi() ? Service::pmi : Service::none;
    bool const may_use_pmix = std::ranges::any_of(programs.all(), [](PreparedProgram const& one) {
        return one.may_be_foreign() && (one.mpi.kind == LinkedMpi::Kind::none || one.mpi.needs_pmix);
    });
    if (!may_use_pmix) return;
    try {
        pmix_ = start_pmix(host, node);
        offer_.service = Service::pmix;
    } catch (LaunchError const& error) { offer_.obstacle = error.what(); }
    for (PreparedProgram const& one : programs.all())
        if (!pmix_ && uses_pmix(one.mpi.library.name))
            throw LaunchError(join(one.file, " is linked with ", one.mpi.library.name, ", and the loader finds ",
                                   one.mpi.library.file, " for it, whose ranks can join a job only by PMIx, but ",
                                   offer_.obstacle, ", or compile the program with Tutti's mpicc"),
                              126);
}

void RankServers::start(ServedJob job, ServiceOffer common) {
    offer_ = std::move(common);
    if (offer_.service != Service::pmix) pmix_.reset();
    if (offer_.service == Service::none) return;
    job_ = std::move(job);
    pmi_.emplace(job_);
    if (pmix_) pmix_->serve_job(job_);
}

void RankServers::stop() {
    pmix_.reset();
    pmi_.reset();
}

RankServers::Access RankServers::connect(std::size_t local_rank) {
    Access access;
    access.descriptor = pmi_->connect(local_rank);
    access.variables = {{"PMI_FD", std::to_string(access.descriptor.get())}, {"PMI_SPAWNED", "0"}};
    if (pmix_)
        for (auto& variable : pmix_->connect(local_rank)) access.variables.push_back(std::move(variable));
    return access;
}

bool RankServers::serves(std::string_view library) const {
    std::size_t const slash = library.rfind('/');
    if (slash != std::string_view::npos) library.remove_prefix(slash + 1);
    return pmix_ || (pmi_ && !uses_pmix(library));
}

void RankServers::watch(std::vector<pollfd>& set) const {
    if (pmi_) pmi_->watch(set);
    if (pmix_) set.push_back({pmix_->descriptor(), POLLIN, 0});
}

void RankServers::serve(std::vector<pollfd> const& set, ServerOwner& owner) {
    if (pmi_) pmi_->serve(set, owner);
    if (pmix_) pmix_->serve(owner);
}

void RankServers::serve_rank(std::size_t local_rank, ServerOwner& owner) {
    if (pmi_) pmi_->serve_rank(local_rank, owner);
    if (pmix_) pmix_->serve(owner);
}

void RankServers::complete(Exchanged const& result) {
    if (pmi_ && result.exchange == PmiServer::exchange_name) pmi_->complete(result);
    else if (pmi_ && result.exchange == NameRequest::exchange_name) pmi_->complete_name(result);
    else if (pmix_) pmix_->complete(result);
}

}   // namespace tutti::launcher
