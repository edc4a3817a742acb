// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/serve/rank_servers.hpp"

#include <algorithm>

#include "launcher/serve/pmix_server.hpp"
#include "launcher/start/mpi_library.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {

/// Whether an interpreter or a script will use Open MPI's library is not known before it does, when it is too late for
/// a server: it is offered one if libpmix is there.
Service service_for(Programs const& programs, int ranks) {
    bool const is_ours = programs.mpi_library() == Programs::our_library;
    bool const is_needed = std::ranges::any_of(programs.all(), &PreparedProgram::may_be_foreign);
    if (ranks == 1 || is_ours || !is_needed) return Service::none;
    std::string error;
    try {
        PmixLibrary::get();
    } catch (LaunchError const& failure) { error = failure.what(); }
    bool may_use_pmix = false;
    for (PreparedProgram const& one : programs.all()) {
        may_use_pmix |= one.may_be_foreign() && (one.mpi.kind == LinkedMpi::Kind::none || one.mpi.needs_pmix);
        if (!error.empty() && uses_pmix(one.mpi.library.name))
            throw LaunchError(
                join(one.file, " is linked with ", one.mpi.library.name, ", and the loader finds ",
                     one.mpi.library.file, " for it, whose ranks can join a job only by PMIx, but ", error,
                     "; install PMIx (Debian: libpmix2), or compile the program with Tutti's mpicc"),
                126);
    }
    return error.empty() && may_use_pmix ? Service::pmix : Service::pmi;
}

RankServers::RankServers(ServedJob job, Service service) : job_(std::move(job)) {
    if (service == Service::pmix) pmix_ = std::make_unique<PmixServer>(job_);
}

RankServers::~RankServers() = default;

RankServers::Access RankServers::connect(std::size_t local_rank) {
    Access access;
    access.descriptor = pmi_.connect(local_rank);
    access.variables = {{"PMI_FD", std::to_string(access.descriptor.get())}, {"PMI_SPAWNED", "0"}};
    if (pmix_)
        for (auto& variable : pmix_->connect(local_rank)) access.variables.push_back(std::move(variable));
    return access;
}

bool RankServers::serves(std::string_view library) const {
    std::size_t const slash = library.rfind('/');
    if (slash != std::string_view::npos) library.remove_prefix(slash + 1);
    return pmix_ || !uses_pmix(library);
}

void RankServers::watch(std::vector<pollfd>& set) const {
    pmi_.watch(set);
    if (pmix_) set.push_back({pmix_->descriptor(), POLLIN, 0});
}

void RankServers::serve(std::vector<pollfd> const& set, ServerOwner& owner) {
    pmi_.serve(set, owner);
    if (pmix_) pmix_->serve(owner);
}

void RankServers::serve_rank(std::size_t local_rank, ServerOwner& owner) {
    pmi_.serve_rank(local_rank, owner);
    if (pmix_) pmix_->serve(owner);
}

void RankServers::complete(Exchanged const& result) {
    if (result.exchange == PmiServer::exchange_name) pmi_.complete(result);
    else if (pmix_) pmix_->complete(result);
}

}   // namespace tutti::launcher
