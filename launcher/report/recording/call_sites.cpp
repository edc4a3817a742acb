// SPDX-License-Identifier: BSD-3-Clause
// From addresses to files and offsets, and from these to words.
#include "launcher/report/recording/call_sites.hpp"

#include <algorithm>
#include <cstdio>

#include "launcher/source/source_lines.hpp"

namespace tutti::launcher {
namespace {

struct MappedRange {
    std::uint64_t begin, end;
    std::string path;
};

std::vector<MappedRange> files_in(std::string_view maps) {
    std::vector<MappedRange> files;
    while (!maps.empty()) {
        std::size_t const end = maps.find('\n');
        std::string const line(maps.substr(0, end));
        maps.remove_prefix(end == maps.npos ? maps.size() : end + 1);
        MappedRange file{};
        std::size_t const path = line.find('/');
        if (path == line.npos || std::sscanf(line.c_str(), "%lx-%lx", &file.begin, &file.end) != 2) continue;
        file.path = line.substr(path);
        if (!files.empty() && files.back().path == file.path) files.back().end = file.end;
        else files.push_back(std::move(file));
    }
    return files;
}

}   // namespace

std::vector<std::pair<std::uint64_t, std::string>> CallSites::words_for(std::string_view maps,
                                                                        std::vector<std::uint64_t> addresses) {
    std::ranges::sort(addresses);
    addresses.erase(std::ranges::unique(addresses).begin(), addresses.end());
    std::vector<MappedRange> const files = files_in(maps);
    SourceLines lines{std::string(maps)};
    std::vector<std::pair<std::uint64_t, std::string>> all;
    for (std::uint64_t address : addresses) {
        auto const file =
            std::ranges::find_if(files, [&](MappedRange const& f) { return f.begin <= address && address < f.end; });
        if (file == files.end()) {
            all.emplace_back(address, "");
            continue;
        }
        auto [found, fresh] = known_.try_emplace({file->path, address - file->begin});
        if (fresh) found->second = words(lines.at(address));
        all.emplace_back(address, found->second);
    }
    return all;
}

}   // namespace tutti::launcher
