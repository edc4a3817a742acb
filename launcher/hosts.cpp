// SPDX-License-Identifier: BSD-3-Clause
// Names of nodes, lists and files of them.
#include "launcher/hosts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>

#include <unistd.h>

#include "runtime/error.hpp"
#include "runtime/interfaces.hpp"

namespace tutti::launcher {
namespace {

int slots_of(std::string_view text, std::string_view of) {
    int slots = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), slots);
    if (error != std::errc{} || end != text.data() + text.size() || slots < 1)
        throw Complaint(join("host ", of, " cannot have '", text, "' slots"));
    return slots;
}

/// An agent would take it for an option of its own.
std::string checked_name(std::string_view name) {
    if (name.empty() || name.starts_with('-')) throw Complaint(join("'", name, "' is not the name of a host"));
    return std::string(name);
}

// An address of the sixth version has several colons and no slots behind them, unless it stands in brackets.
Host read_host(std::string_view text) {
    std::size_t bracket = text.find(']');
    if (text.starts_with('[') && bracket != std::string_view::npos) {
        std::string_view name = text.substr(1, bracket - 1), rest = text.substr(bracket + 1);
        return {checked_name(name), rest.starts_with(':') ? slots_of(rest.substr(1), name) : 0};
    }
    std::size_t colon = text.find(':');
    if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos)
        return {checked_name(text), 0};
    return {checked_name(text.substr(0, colon)), slots_of(text.substr(colon + 1), text.substr(0, colon))};
}

// What else Open MPI or MPICH write behind a name (a network to bind to, a user) does not matter here.
void read_host_line(std::vector<Host>& hosts, std::string const& line) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) return;
    Host host = read_host(word);
    while (words >> word) {
        std::size_t const equals = word.find('=');
        std::string const key = word.substr(0, equals);
        if (equals == std::string::npos) continue;
        std::string_view const value = std::string_view(word).substr(equals + 1);
        if (key == "slots" || key == "cpu" || key == "count") host.slots = slots_of(value, host.name);
        if (key == "max-slots" || key == "max_slots") host.most = slots_of(value, host.name);
    }
    if (host.most > 0 && host.slots > host.most)
        throw Complaint(join("host ", host.name, " has ", host.slots, " slots and at most ", host.most));
    hosts.push_back(host);
}


// Only a number is looked for among the interfaces: a job on this node alone, by its name, opens no socket.
bool is_own_address(std::string_view name) {
    auto const address = IpAddress::from_text(name);
    if (!address || address->loopback()) return false;
    std::vector<Interface> const all = interfaces();
    return std::any_of(all.begin(), all.end(), [&](Interface const& i) { return i.address.host() == address->host(); });
}

}  // namespace

std::string host_name() {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == 0) return "localhost";
    return name.data();
}

bool same_node(std::string_view a, std::string_view b) {
    if (a == b) return true;
    if (IpAddress::from_text(a) || IpAddress::from_text(b)) return false;
    auto short_form = [](std::string_view n) { return n.substr(0, n.find('.')); };
    bool one_is_short = a.find('.') == std::string_view::npos || b.find('.') == std::string_view::npos;
    return one_is_short && short_form(a) == short_form(b);
}

bool means_this_node(std::string_view name, std::string_view own) {
    constexpr std::array<std::string_view, 8> local = {"localhost",     "localhost.localdomain", "localhost4",
                                                       "localhost6",    "ip6-localhost",         "ip6-loopback",
                                                       "127.0.0.1",     "::1"};
    if (name.find('@') != std::string_view::npos) return false;   // another user's processes are not ours to start
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

void add_host_file(std::vector<Host>& hosts, std::string const& file) {
    std::ifstream in(file);
    if (!in) throw Complaint(join("the host file ", file, " cannot be read"));
    std::size_t const before = hosts.size();
    for (std::string line; std::getline(in, line);) read_host_line(hosts, line);
    if (hosts.size() == before) throw Complaint(join("the host file ", file, " names no host"));
}

}  // namespace tutti::launcher
