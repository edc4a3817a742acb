// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/serve/rank_server.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <utility>

#include <unistd.h>

#include "launcher/base/job.hpp"
#include "launcher/base/pack.hpp"
#include "launcher/placement/allocation.hpp"
#include "launcher/start/spawn.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {

std::vector<int> ServedJob::ranks_on(int of_node) const {
    std::vector<int> ranks;
    for (int rank = 0; rank < size(); ++rank)
        if (node_of[static_cast<std::size_t>(rank)] == of_node) ranks.push_back(rank);
    return ranks;
}

std::vector<int> ServedJob::all_nodes() const {
    std::vector<int> all(nodes.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
}

// The time distinguishes containers with equal host names and process ids.
std::string job_name() {
    std::string name = join("tutti-", host_name(), "-", getpid(), "-", now_ns() % 1'000'000'007);
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.') c = '-';
    return name;
}

std::string server_folder_prefix(pid_t launcher) {
    namespace fs = std::filesystem;
    char const* const set = std::getenv("TMPDIR");
    std::error_code error;
    fs::path folder = fs::absolute(set ? set : "", error);
    if (!set || !*set || error || !fs::is_directory(folder, error)) folder = "/tmp";
    return join((folder / "tutti-pmix-").string(), launcher_name(launcher), "-");
}

std::string make_server_folder() {
    std::string folder = server_folder_prefix(getpid()) + "XXXXXX";   // mkdtemp replaces the end
    if (!mkdtemp(folder.data()))
        throw LaunchError(
            join("the folder ", folder, " for the PMIx server cannot be created (TMPDIR): ", std::strerror(errno)), 1);
    return folder;
}

std::optional<std::string> Exchanges::answer(NameRequest request) {
    auto const found = ports_.find(request.name);
    bool const is_published = found != ports_.end();
    if (is_published == (request.kind == NameRequest::Kind::publish)) return {};
    if (!is_published) return ports_[request.name] = std::move(request.port);
    std::string port = found->second;
    if (request.kind == NameRequest::Kind::unpublish) ports_.erase(found);
    return port;
}

std::optional<Exchanged> Exchanges::add(Contribution part) {
    if (part.exchange == NameRequest::exchange_name)
        return Exchanged{part.exchange, {packed(answer(unpacked<NameRequest>(part.bytes)))}};
    auto& parts = parts_[part.exchange];
    parts[part.node] = std::move(part.bytes);
    if (parts.size() < part.nodes.size()) return {};
    Exchanged result{part.exchange, {}};
    for (auto& [node, bytes] : parts) result.parts.push_back(std::move(bytes));
    parts_.erase(part.exchange);
    return result;
}

}   // namespace tutti::launcher
