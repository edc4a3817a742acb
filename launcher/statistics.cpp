// SPDX-License-Identifier: BSD-3-Clause
// From the counters on the ranks' cards to a table.
#include "launcher/statistics.hpp"

#include <array>
#include <cstdio>

#include "runtime/error.hpp"

namespace tutti::launcher {
namespace {

struct Column {
    char const* title;
    Counter Counters::*counter;
    bool bytes;
};

constexpr std::array<Column, 8> columns = {{{"arenas", &Counters::direct, true},
                                            {"XPMEM", &Counters::attached, true},
                                            {"CMA", &Counters::cma, true},
                                            {"staged", &Counters::staged, true},
                                            {"maps", &Counters::maps, false},
                                            {"hits", &Counters::hits, false},
                                            {"own arena", &Counters::arena, true},
                                            {"at most", &Counters::arena_highest, true}}};

constexpr char meaning[] =
    R"(arenas, XPMEM: bytes that the rank could load and store in its peers' memory; reductions touch a share of them.
CMA: bytes that the kernel copied for it. staged: bytes that it copied into the segment, for peers to copy out.
maps, hits: how often it mapped memory of its peers, and used what it had mapped. own arena: its large blocks that
were not freed before MPI_Finalize; at most: how far the arena ever grew. Messages of a few KiB are not counted.
)";

std::string right(std::string const& text, std::size_t width) {
    return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::string line(std::string const& head, std::array<std::string, columns.size()> const& cells) {
    std::string all = right(head, 6);
    for (std::string const& cell : cells) all += right(cell, 12);
    return all + "\n";
}

}  // namespace

std::string size_words(std::uint64_t bytes) {
    if (bytes == 0) return "0";
    if (bytes < 1024) return join(bytes, " B");
    double value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    constexpr std::array names = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    for (; value >= 1024 && unit + 1 < names.size(); ++unit) value /= 1024;
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %s", value, names[unit]);
    return text;
}

std::string statistics(Segment const& segment) {
    std::array<std::string, columns.size()> cells;
    for (std::size_t c = 0; c < columns.size(); ++c) cells[c] = columns[c].title;
    std::string table = "Data that ranks got from each other, by the way it went:\n" + line("rank", cells);
    std::array<std::uint64_t, columns.size()> sums{};
    auto cell = [](Column const& c, std::uint64_t n) { return c.bytes ? size_words(n) : std::to_string(n); };
    for (unsigned r = 0; r < segment.ranks(); ++r) {
        for (std::size_t c = 0; c < columns.size(); ++c) {
            std::uint64_t const n = (segment.card(r).counters.*columns[c].counter).read();
            sums[c] += n;
            cells[c] = cell(columns[c], n);
        }
        table += line(std::to_string(r), cells);
    }
    for (std::size_t c = 0; c < columns.size(); ++c) cells[c] = cell(columns[c], sums[c]);
    return table + line("all", cells) + meaning;
}

}  // namespace tutti::launcher
