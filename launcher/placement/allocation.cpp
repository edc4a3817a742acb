// SPDX-License-Identifier: BSD-3-Clause
// The assignment of ranks to nodes, and the parsers of host lists and host files.
#include "launcher/placement/allocation.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>

#include "launcher/base/text.hpp"
#include "runtime/base/error.hpp"
#include "topo/text.hpp"

namespace tutti::launcher {
namespace {

struct HostSlots {
    std::string name;
    bool is_local = false;
    int slots = 0, max_slots = 0;   ///< max_slots: 0 means no limit
    int used = 0;
    int node = -1;   ///< its number in the job, once it has a rank

    bool is_full() const { return max_slots > 0 && used >= max_slots; }
};

class RankAssigner {
public:
    RankAssigner(Job const& job, std::string const& own) : job_(job), own_(own) {}

    /// Returns the indices of these hosts in hosts_; all names of one node share one entry.
    std::vector<std::size_t> host_indices(std::vector<Host> const& hosts) {
        std::vector<std::size_t> list;
        for (Host const& host : hosts) {
            std::size_t const at = find_or_add(host.name);
            bool const again = std::find(list.begin(), list.end(), at) != list.end();
            if (!again) list.push_back(at);
            add_slots(hosts_[at], host, again);
        }
        if (list.empty()) {
            list.push_back(find_or_add(own_));
            hosts_[list[0]].slots = 1;
        }
        return list;
    }

    std::size_t assigned() const { return out_.node_of.size(); }

    void assign(std::vector<std::size_t> const& list, int ranks) {
        for (int i = 0; i < ranks; ++i) out_.node_of.push_back(assign_next(list));
    }

    /// Puts the next rank on this node, as a rank file says, regardless of slots.
    void assign_to(std::string const& name) {
        HostSlots& host_entry = hosts_[find_or_add(name)];
        ++host_entry.used;
        out_.node_of.push_back(node_index_of(host_entry));
    }

    /// Renumbers the ranks from `first` on across nodes: the first rank of each node, then the second of each.
    void number_across_nodes(std::size_t first) {
        std::vector<int> left(out_.nodes.size());
        for (std::size_t r = first; r < out_.node_of.size(); ++r) ++left[static_cast<std::size_t>(out_.node_of[r])];
        for (std::size_t r = first, node = 0; r < out_.node_of.size(); node = (node + 1) % left.size())
            if (left[node]-- > 0) out_.node_of[r++] = static_cast<int>(node);
    }

    Allocation result() && { return std::move(out_); }

private:
    int assign_next(std::vector<std::size_t> const& list) {
        bool const round_robin = job_.map.unit == topo::Unit::node && job_.map.per_unit == 0;
        HostSlots* best = nullptr;
        long least = 0;
        for (std::size_t at : list) {
            HostSlots& host_entry = hosts_[at];
            long const rounds = host_entry.used / host_entry.slots;
            long const cost =
                rounds * 1'000'000 + (round_robin ? std::min(host_entry.used % host_entry.slots, 999'999) : 0);
            if (host_entry.is_full() || (best && cost >= least)) continue;
            best = &host_entry;
            least = cost;
        }
        if (!best) throw LaunchError("there are more ranks than the hosts allow (max-slots)");
        if (job_.no_oversubscribe && best->used >= best->slots && list.size() > 1)
            throw LaunchError("there are more ranks than the hosts have slots, which --nooversubscribe forbids");
        ++best->used;
        return node_index_of(*best);
    }

    std::size_t find_or_add(std::string const& name) {
        bool const here = is_this_node(name, own_);
        for (std::size_t i = 0; i < hosts_.size(); ++i)
            if (hosts_[i].is_local ? here : same_node(hosts_[i].name, name)) return i;
        hosts_.push_back({here ? own_ : name, here});
        return hosts_.size() - 1;
    }

    /// A host named twice in one list has the slots of both entries; a host that a second program names keeps its
    /// slots.
    void add_slots(HostSlots& host_entry, Host const& host, bool again) {
        if (job_.slots_per_node() > 0) host_entry.slots = job_.slots_per_node();
        else if (again || host_entry.slots == 0) host_entry.slots += std::max(1, host.slots);
        if (host.max_ranks > 0) host_entry.max_slots = again ? host_entry.max_slots + host.max_ranks : host.max_ranks;
    }

    int node_index_of(HostSlots& host_entry) {
        if (host_entry.node < 0) {
            host_entry.node = static_cast<int>(out_.nodes.size());
            out_.nodes.push_back(host_entry.name);
            if (host_entry.is_local) out_.local_node = host_entry.node;
        }
        return host_entry.node;
    }

    Job const& job_;
    std::string own_;
    std::vector<HostSlots> hosts_;
    Allocation out_;
};

Allocation allocate_by_rank_file(RankAssigner assigner, Job const& job) {
    auto const named = static_cast<int>(job.rank_file_entries.size());
    if (job.ranks() != named)
        throw LaunchError(join(job.rank_file.empty() ? "the list of hosts" : "--rankfile: it", " names ", named,
                               " ranks, but ", job.ranks(), " are to start"));
    for (RankFileEntry const& rank : job.rank_file_entries) assigner.assign_to(rank.host);
    return std::move(assigner).result();
}

}   // namespace

std::vector<int> Allocation::ranks_on(int node) const {
    std::vector<int> ranks;
    for (std::size_t r = 0; r < node_of.size(); ++r)
        if (node_of[r] == node) ranks.push_back(static_cast<int>(r));
    return ranks;
}

Allocation allocate(Job const& job, std::string const& own) {
    RankAssigner assigner(job, own);
    if (!job.rank_file_entries.empty()) return allocate_by_rank_file(std::move(assigner), job);
    std::vector<std::size_t> const all_hosts = assigner.host_indices(job.hosts);
    for (Program const& program : job.programs) {
        bool const own_hosts = !program.hosts.empty();
        std::size_t const first = assigner.assigned();
        assigner.assign(own_hosts ? assigner.host_indices(program.hosts) : all_hosts, program.ranks);
        if (job.rank_by_node) assigner.number_across_nodes(first);
    }
    return std::move(assigner).result();
}

int total_slots(std::vector<Host> const& hosts, int per_node, std::string const& own) {
    int sum = 0;
    std::vector<std::string> seen;
    for (Host const& host : hosts) {
        bool const here = is_this_node(host.name, own);
        std::string const name = here ? own : host.name;
        bool const again = std::any_of(seen.begin(), seen.end(), [&](auto const& s) { return same_node(s, name); });
        if (!again) seen.push_back(name);
        if (per_node == 0) sum += std::max(1, host.slots);
        else if (!again) sum += per_node;
    }
    return std::max({1, sum, hosts.empty() ? per_node : 0});
}

// Names of nodes: lists and files of hosts.

namespace {

constexpr int max_host_slots = 1'000'000;

int parse_slots(std::string_view text, std::string_view of) {
    auto const slots = topo::parse_number(text, 1, max_host_slots);
    if (!slots)
        throw LaunchError(join("the slots of host ", of, " must be a whole number from 1 to ", max_host_slots,
                               ", not '", printable(text), "'"));
    return *slots;
}

/// Returns `name` if it has only the characters of host names, container names and addresses, optionally with a user
/// in front. Throws LaunchError otherwise: an agent would take a leading dash for an option, and a shell might execute
/// the rest.
std::string checked_host_name(std::string_view name) {
    auto const fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("._-@:%").find(c) != std::string_view::npos;
    };
    if (name.empty() || name.starts_with('-') || !std::all_of(name.begin(), name.end(), fits))
        throw LaunchError(join("'", printable(name), "' is not the name of a host"));
    return std::string(name);
}

/// An IPv6 address contains several colons; slots can follow it only if it is in brackets.
Host read_host(std::string_view text) {
    std::size_t bracket = text.find(']');
    if (text.starts_with('[') && bracket != std::string_view::npos) {
        std::string_view name = text.substr(1, bracket - 1), rest = text.substr(bracket + 1);
        return {checked_host_name(name), rest.starts_with(':') ? parse_slots(rest.substr(1), name) : 0};
    }
    std::size_t colon = text.find(':');
    if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos)
        return {checked_host_name(text), 0};
    return {checked_host_name(text.substr(0, colon)), parse_slots(text.substr(colon + 1), text.substr(0, colon))};
}

constexpr std::string_view host_line_format = "a line is NAME, NAME:SLOTS or NAME slots=SLOTS max-slots=MOST";

void apply_host_setting(Host& host, std::string const& word, std::vector<std::string>& notes) {
    std::size_t const equals = word.find('=');
    std::string const key = word.substr(0, equals);
    std::string_view const value = equals == std::string::npos ? "" : std::string_view(word).substr(equals + 1);
    bool const slots = key == "slots" || key == "cpu" || key == "count";
    bool const most = key == "max-slots" || key == "max_slots" || key == "slots-max" || key == "slots_max";
    bool const user = key == "user" || key == "username" || key == "user-name" || key == "user_name";
    if (equals == std::string::npos)
        throw LaunchError(join("'", printable(word), "' is not understood; ", host_line_format));
    if (slots) host.slots = parse_slots(value, host.name);
    else if (most) host.max_ranks = parse_slots(value, host.name);
    else if (user && host.name.find('@') == std::string::npos)
        host.name = checked_host_name(join(value, "@", host.name));
    else if (key == "ifname")
        notes.push_back(join("host ", host.name, ": ", printable(word),
                             " has no effect; use -iface to choose the network for ", "all nodes"));
    else if (key == "binding" || key == "bind_to" || key == "map_by")
        notes.push_back(join("host ", host.name, ": ", printable(word),
                             " has no effect; use --bind-to and --map-by for all nodes, ",
                             "or --rankfile for each rank"));
    else if (!user) throw LaunchError(join("'", printable(word), "' is not understood; ", host_line_format));
}

void read_host_line(std::vector<Host>& hosts, std::string const& line, std::vector<std::string>& notes) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) return;
    Host host = read_host(word);
    while (words >> word) apply_host_setting(host, word, notes);
    if (host.max_ranks > 0 && host.slots > host.max_ranks)
        throw LaunchError(join("host ", host.name, " has ", host.slots, " slots, but max-slots is ", host.max_ranks));
    hosts.push_back(host);
}

bool is_text(std::string_view line) {
    return std::none_of(line.begin(), line.end(), [](char c) {
        return (static_cast<unsigned char>(c) < 32 && c != '\t' && c != '\r') || c == 127;
    });
}

/// Looks up only numeric addresses among the interfaces, so that a job that names this node by its name opens no
/// socket.
bool is_own_address(std::string_view name) {
    auto const address = IpAddress::from_text(name);
    if (!address || address->is_loopback()) return false;
    std::vector<Interface> const all = interfaces();
    return std::any_of(all.begin(), all.end(), [&](Interface const& i) { return i.address.host() == address->host(); });
}

}   // namespace

std::string printable(std::string_view text) {
    constexpr std::size_t most = 60;
    constexpr char digits[] = "0123456789abcdef";
    std::string out;
    for (char c : text.substr(0, most)) {
        auto const byte = static_cast<unsigned char>(c);
        if (byte >= 32 && byte < 127) out += c;
        else out += {'\\', 'x', digits[byte / 16], digits[byte % 16]};
    }
    return text.size() > most ? out + "…" : out;
}

bool same_node(std::string_view a, std::string_view b) {
    if (a == b) return true;
    if (IpAddress::from_text(a) || IpAddress::from_text(b)) return false;
    auto short_form = [](std::string_view n) { return n.substr(0, n.find('.')); };
    bool one_is_short = a.find('.') == std::string_view::npos || b.find('.') == std::string_view::npos;
    return one_is_short && short_form(a) == short_form(b);
}

bool is_this_node(std::string_view name, std::string_view own) {
    constexpr std::array<std::string_view, 8> local = {
        "localhost",     "localhost.localdomain", "localhost4", "localhost6",
        "ip6-localhost", "ip6-loopback",          "127.0.0.1",  "::1"};
    if (name.find('@') != std::string_view::npos) return false;   // we cannot start another user's processes
    if (std::find(local.begin(), local.end(), name) != local.end()) return true;
    return same_node(name, own) || is_own_address(name);
}

void add_host_list(std::vector<Host>& hosts, std::string_view text) {
    while (!text.empty()) {
        std::size_t comma = std::min(text.find(','), text.size());
        std::string_view word = text.substr(0, comma);
        word.remove_prefix(std::min(word.find_first_not_of(" \t\n"), word.size()));
        word = word.substr(0, word.find_last_not_of(" \t\n") + 1);
        if (!word.empty()) hosts.push_back(read_host(word));
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
}

void add_host_file(std::vector<Host>& hosts, std::string const& file, std::vector<std::string>& notes) {
    std::istringstream in(read_user_file("the host file ", file));
    std::size_t const before = hosts.size();
    int number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        if (!is_text(line))
            throw LaunchError(
                join("the host file ", file, " is not a text file: line ", number, " contains control characters"));
        try {
            read_host_line(hosts, line, notes);
        } catch (LaunchError const& error) {
            throw LaunchError(join("the host file ", file, ", line ", number, ": ", error.what()));
        }
    }
    if (hosts.size() == before) throw LaunchError(join("the host file ", file, " names no host"));
}

}   // namespace tutti::launcher
