// SPDX-License-Identifier: BSD-3-Clause
// Text form of an announcement: REALM NAME PORT UNIT,UNIT,… PROCESS DESCRIPTOR INODE BASE BYTES CMA XPMEM ADDRESS …
#include "runtime/job/rank_announcement.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <unistd.h>

#include "runtime/base/error.hpp"
#include "topo/files.hpp"
#include "topo/text.hpp"
#include "topo/text_streams.hpp"

namespace tutti {
namespace {

/// Returns the kernel's name of a namespace of this process; empty without /proc.
std::string namespace_of(char const* link) {
    char name[64];
    auto const length = readlink(link, name, sizeof name);
    return length > 0 ? std::string(name, static_cast<std::size_t>(length)) : "";
}

}   // namespace

std::string RankAnnouncement::to_text() const {
    TextWriter out;
    out << realm << ' ' << name << ' ' << port << ' ';
    for (std::size_t i = 0; i < units.size(); ++i) out << (i ? "," : "") << units[i];
    out << ' ' << arena.file.process << ' ' << arena.file.descriptor << ' ' << arena.file.inode << ' ' << arena.base
        << ' ' << arena.bytes << ' ' << int{cma} << ' ' << int{xpmem};
    for (std::string const& address : addresses) out << ' ' << address;
    return out.str();
}

topo::Result<RankAnnouncement> RankAnnouncement::from_text(std::string_view text) {
    auto failure = [&] { return topo::Result<RankAnnouncement>::failure(join("not a rank announcement: ", text)); };
    TextReader in{std::string(text)};
    RankAnnouncement announcement;
    std::string units;
    if (!(in >> announcement.realm >> announcement.name >> announcement.port >> units)) return failure();
    for (std::string const& word : topo::split_words(units, ",")) {
        auto const unit = topo::whole_number(word);
        if (!unit) return failure();
        announcement.units.push_back(*unit);
    }
    ArenaWindow& arena = announcement.arena;
    int cma = 0, xpmem = 0;
    if (!(in >> arena.file.process >> arena.file.descriptor >> arena.file.inode >> arena.base >> arena.bytes >> cma >>
          xpmem))
        return failure();
    announcement.cma = cma != 0, announcement.xpmem = xpmem != 0;
    for (std::string address; in >> address;) announcement.addresses.push_back(address);
    return announcement;
}

std::string realm_of(int first_rank) {
    std::string const pids = namespace_of("/proc/self/ns/pid"), users = namespace_of("/proc/self/ns/user");
    if (pids.empty()) return join(first_rank, "/process", getpid());   // a realm of its own
    // The first namespaces of a machine have the same numbers on all machines.
    std::string const boot = topo::read_system_file("/proc/sys/kernel/random/boot_id", 1);
    return join(first_rank, '/', topo::trimmed(boot), '/', pids, '/', users);
}

std::vector<std::string> divided_nodes(std::vector<RankAnnouncement> const& all) {
    std::map<std::string, std::string> realm_of_first;   // by the first rank of a launcher's node
    std::set<std::string> divided, names;
    for (RankAnnouncement const& one : all) {
        std::string const first = one.realm.substr(0, one.realm.find('/'));
        if (realm_of_first.try_emplace(first, one.realm).first->second == one.realm) continue;
        if (divided.insert(first).second) names.insert(one.name);
    }
    return {names.begin(), names.end()};
}

std::vector<int> nodes_of(std::vector<RankAnnouncement> const& all) {
    std::map<std::string, int> numbers;
    std::vector<int> nodes;
    for (RankAnnouncement const& one : all)
        nodes.push_back(numbers.try_emplace(one.realm, static_cast<int>(numbers.size())).first->second);
    return nodes;
}

Cluster cluster_of(std::vector<RankAnnouncement> const& all, int here, JobKey const& key) {
    std::vector<Cluster::Node> nodes;
    std::vector<Cluster::Rank> ranks;
    std::vector<int> ranks_on;   // per node
    std::vector<int> const node = nodes_of(all);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        auto const n = static_cast<std::size_t>(node[rank]);
        if (n == nodes.size()) {
            nodes.push_back({all[rank].name, all[rank].addresses});
            ranks_on.push_back(0);
        }
        ranks.push_back({node[rank], ranks_on[n]++, all[rank].port});
    }
    if (nodes.size() == 1) return Cluster::one_node(static_cast<int>(all.size()));
    return Cluster(std::move(nodes), std::move(ranks), here, key);
}

std::vector<int> units_of(std::vector<RankAnnouncement> const& on_node) {
    std::set<int> units;
    for (RankAnnouncement const& one : on_node) units.insert(one.units.begin(), one.units.end());
    return {units.begin(), units.end()};
}

topo::Placement placement_of(std::vector<RankAnnouncement> const& on_node, topo::Machine const& machine) {
    auto const has_equal_units = [&](RankAnnouncement const& one) { return one.units == on_node.front().units; };
    if (machine.core_count() > 1 && std::all_of(on_node.begin(), on_node.end(), has_equal_units))
        return topo::place_in_order(machine, static_cast<int>(on_node.size()));
    topo::Placement placement{{}, true};
    for (RankAnnouncement const& one : on_node) {
        auto const allowed = [&](topo::Pu const& pu) {
            return std::find(one.units.begin(), one.units.end(), pu.os) != one.units.end();
        };
        auto const first = std::find_if(machine.pus.begin(), machine.pus.end(), allowed);
        placement.pu.push_back(static_cast<int>(first - machine.pus.begin()));
        for (topo::Pu const& pu : machine.pus)
            if (allowed(pu) && pu.core != first->core) placement.fixed = false;
    }
    return placement;
}

}   // namespace tutti
