// SPDX-License-Identifier: BSD-3-Clause
// Names of nodes and files of them.
#include "launcher/hosts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <sstream>

#include <unistd.h>

#include "runtime/error.hpp"

namespace tutti::launcher {
namespace {

int slots_of(std::string_view text, std::string_view of) {
    int slots = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), slots);
    if (error != std::errc{} || end != text.data() + text.size() || slots < 1)
        throw Complaint(join("host ", of, " cannot have '", text, "' slots"));
    return slots;
}

// An address of the sixth version has several colons and no slots behind them.
Host read_host(std::string_view text) {
    std::size_t colon = text.find(':');
    if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos)
        return {std::string(text), 0};
    return {std::string(text.substr(0, colon)), slots_of(text.substr(colon + 1), text.substr(0, colon))};
}

void read_host_line(Job& job, std::string line) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) return;
    Host host = read_host(word);
    while (words >> word)
        if (word.starts_with("slots=")) host.slots = slots_of(std::string_view(word).substr(6), host.name);
    job.hosts.push_back(host);
}

}  // namespace

std::string host_name() {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == 0) return "localhost";
    return name.data();
}

bool means_this_node(std::string_view name, std::string_view own) {
    constexpr std::array<std::string_view, 7> local = {
        "localhost", "localhost.localdomain", "localhost4", "localhost6", "ip6-localhost", "ip6-loopback", "::1"};
    if (std::find(local.begin(), local.end(), name) != local.end() || name.starts_with("127.")) return true;
    auto short_form = [](std::string_view n) { return n.substr(0, n.find('.')); };
    if (name == own) return true;
    bool one_is_short = name.find('.') == std::string_view::npos || own.find('.') == std::string_view::npos;
    return one_is_short && short_form(name) == short_form(own);
}

void add_host_list(Job& job, std::string_view text) {
    while (!text.empty()) {
        std::size_t comma = std::min(text.find(','), text.size());
        if (comma > 0) job.hosts.push_back(read_host(text.substr(0, comma)));
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
}

void add_host_file(Job& job, std::string const& file) {
    std::ifstream in(file);
    if (!in) throw Complaint(join("the host file ", file, " cannot be read"));
    for (std::string line; std::getline(in, line);) read_host_line(job, line);
}

void require_this_node(Job const& job) {
    std::string own = host_name();
    for (Host const& host : job.hosts)
        if (!means_this_node(host.name, own))
            throw Complaint(join("host ", host.name, " is not this node (", own,
                                 "), and jobs over several nodes are not there yet"));
}

}  // namespace tutti::launcher
