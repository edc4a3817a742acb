// SPDX-License-Identifier: BSD-3-Clause
// Laying out a table; choosing units.
#include "launcher/base/table.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

std::string with_unit(double value, char const* unit) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %s", value, unit);
    return text;
}

}   // namespace

std::string Table::text() const {
    std::vector<std::size_t> widths(rows_.front().size());
    for (auto const& row : rows_)
        for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    std::string all;
    for (auto const& row : rows_) {
        for (std::size_t c = 0; c < row.size(); ++c) {
            std::string const fill(widths[c] - row[c].size(), ' ');
            all += "  " + (c < left_ ? row[c] + fill : fill + row[c]);
        }
        all.erase(all.find_last_not_of(' ') + 1);
        all += "\n";
    }
    return all;
}

std::string size_words(std::uint64_t bytes) {
    if (bytes == 0) return "0";
    if (bytes < 1024) return join(bytes, " B");
    double value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    constexpr std::array names = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    for (; value >= 1024 && unit + 1 < names.size(); ++unit) value /= 1024;
    return with_unit(value, names[unit]);
}

std::string time_words(std::uint64_t nanoseconds) {
    if (nanoseconds == 0) return "0";
    if (nanoseconds < 1000) return join(nanoseconds, " ns");
    double value = static_cast<double>(nanoseconds) / 1000;
    std::size_t unit = 0;
    constexpr std::array names = {"us", "ms", "s"};
    for (; value >= 1000 && unit + 1 < names.size(); ++unit) value /= 1000;
    return with_unit(value, names[unit]);
}

}   // namespace tutti::launcher
