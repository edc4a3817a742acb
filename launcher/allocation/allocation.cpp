// SPDX-License-Identifier: BSD-3-Clause
// Dealing ranks out over nodes.
#include "launcher/allocation/allocation.hpp"

#include <algorithm>

#include "launcher/allocation/hosts.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

struct HostSlots {
    std::string name;
    bool here = false;
    int slots = 0, most = 0;   ///< most: 0 is no limit
    int used = 0;
    int node = -1;   ///< its number in the job, once it has a rank

    bool full() const { return most > 0 && used >= most; }
};

class Dealer {
public:
    Dealer(Job const& job, std::string const& own) : job_(job), own_(own) {}

    /// The places of these hosts; names of one node are one place.
    std::vector<std::size_t> places_of(std::vector<Host> const& hosts) {
        std::vector<std::size_t> list;
        for (Host const& host : hosts) {
            std::size_t const at = find_or_add(host.name);
            bool const again = std::find(list.begin(), list.end(), at) != list.end();
            if (!again) list.push_back(at);
            add_slots(places_[at], host, again);
        }
        if (list.empty()) {
            list.push_back(find_or_add(own_));
            places_[list[0]].slots = 1;
        }
        return list;
    }

    std::size_t dealt() const { return out_.node_of.size(); }

    void deal(std::vector<std::size_t> const& list, int ranks) {
        for (int i = 0; i < ranks; ++i) out_.node_of.push_back(next(list));
    }

    /// As a rank file says, whatever the slots.
    void put(std::string const& name) {
        HostSlots& place = places_[find_or_add(name)];
        ++place.used;
        out_.node_of.push_back(number_of(place));
    }

    /// Numbers the ranks from `first` on across nodes: the first of each node, then the second of each.
    void number_across_nodes(std::size_t first) {
        std::vector<int> left(out_.nodes.size());
        for (std::size_t r = first; r < out_.node_of.size(); ++r) ++left[static_cast<std::size_t>(out_.node_of[r])];
        for (std::size_t r = first, node = 0; r < out_.node_of.size(); node = (node + 1) % left.size())
            if (left[node]-- > 0) out_.node_of[r++] = static_cast<int>(node);
    }

    Allocation take() && { return std::move(out_); }

private:
    int next(std::vector<std::size_t> const& list) {
        bool const dealing = job_.map.unit == topo::Unit::node && job_.map.per_unit == 0;
        HostSlots* best = nullptr;
        long least = 0;
        for (std::size_t at : list) {
            HostSlots& place = places_[at];
            long const rounds = place.used / place.slots;
            long const cost = rounds * 1'000'000 + (dealing ? std::min(place.used % place.slots, 999'999) : 0);
            if (place.full() || (best && cost >= least)) continue;
            best = &place;
            least = cost;
        }
        if (!best) throw Complaint("there are more ranks than the hosts may have (max-slots)");
        if (job_.no_oversubscribe && best->used >= best->slots && list.size() > 1)
            throw Complaint("there are more ranks than the hosts have slots, which --nooversubscribe forbids");
        ++best->used;
        return number_of(*best);
    }

    std::size_t find_or_add(std::string const& name) {
        bool const here = means_this_node(name, own_);
        for (std::size_t i = 0; i < places_.size(); ++i)
            if (places_[i].here ? here : same_node(places_[i].name, name)) return i;
        places_.push_back({here ? own_ : name, here});
        return places_.size() - 1;
    }

    // A host named twice has the slots of both; one that a second program names keeps what it has.
    void add_slots(HostSlots& place, Host const& host, bool again) {
        if (job_.slots_per_node() > 0) place.slots = job_.slots_per_node();
        else if (again || place.slots == 0) place.slots += std::max(1, host.slots);
        if (host.most > 0) place.most = again ? place.most + host.most : host.most;
    }

    int number_of(HostSlots& place) {
        if (place.node < 0) {
            place.node = static_cast<int>(out_.nodes.size());
            out_.nodes.push_back(place.name);
            if (place.here) out_.here = place.node;
        }
        return place.node;
    }

    Job const& job_;
    std::string own_;
    std::vector<HostSlots> places_;
    Allocation out_;
};

Allocation allocate_by_file(Dealer dealer, Job const& job) {
    auto const named = static_cast<int>(job.rank_places.size());
    if (job.ranks() != named)
        throw Complaint(join(job.rank_file.empty() ? "the list of hosts" : "--rankfile: it", " names ", named,
                             " ranks, and ", job.ranks(), " are to start"));
    for (RankPlace const& rank : job.rank_places) dealer.put(rank.host);
    return std::move(dealer).take();
}

}   // namespace

std::vector<int> Allocation::ranks_on(int node) const {
    std::vector<int> ranks;
    for (std::size_t r = 0; r < node_of.size(); ++r)
        if (node_of[r] == node) ranks.push_back(static_cast<int>(r));
    return ranks;
}

Allocation allocate(Job const& job, std::string const& own) {
    Dealer dealer(job, own);
    if (!job.rank_places.empty()) return allocate_by_file(std::move(dealer), job);
    std::vector<std::size_t> const everywhere = dealer.places_of(job.hosts);
    for (Program const& program : job.programs) {
        bool const own_hosts = !program.hosts.empty();
        std::size_t const first = dealer.dealt();
        dealer.deal(own_hosts ? dealer.places_of(program.hosts) : everywhere, program.ranks);
        if (job.rank_by_node) dealer.number_across_nodes(first);
    }
    return std::move(dealer).take();
}

int slots_of_all(std::vector<Host> const& hosts, int per_node, std::string const& own) {
    int sum = 0;
    std::vector<std::string> seen;
    for (Host const& host : hosts) {
        bool const here = means_this_node(host.name, own);
        std::string const name = here ? own : host.name;
        bool const again = std::any_of(seen.begin(), seen.end(), [&](auto const& s) { return same_node(s, name); });
        if (!again) seen.push_back(name);
        if (per_node == 0) sum += std::max(1, host.slots);
        else if (!again) sum += per_node;
    }
    return std::max({1, sum, hosts.empty() ? per_node : 0});
}

}   // namespace tutti::launcher
