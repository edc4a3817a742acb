// SPDX-License-Identifier: BSD-3-Clause
// Formatting of tables and quantities, parsing of configuration files, quoting, and expansion of patterns.
#include "launcher/base/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <ctime>

#include "launcher/base/job.hpp"
#include "runtime/base/error.hpp"
#include "topo/binding.hpp"
#include "topo/files.hpp"

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
            all += "  " + (c < left_columns_ ? row[c] + fill : fill + row[c]);
        }
        all.erase(all.find_last_not_of(' ') + 1);
        all += "\n";
    }
    return all;
}

std::string format_size(std::uint64_t bytes) {
    if (bytes == 0) return "0";
    if (bytes < 1024) return join(bytes, " B");
    double value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    constexpr std::array names = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    for (; value >= 1024 && unit + 1 < names.size(); ++unit) value /= 1024;
    return with_unit(value, names[unit]);
}

std::string format_time(std::uint64_t nanoseconds) {
    if (nanoseconds == 0) return "0";
    if (nanoseconds < 1000) return join(nanoseconds, " ns");
    double value = static_cast<double>(nanoseconds) / 1000;
    std::size_t unit = 0;
    constexpr std::array names = {"us", "ms", "s"};
    for (; value >= 1000 && unit + 1 < names.size(); ++unit) value /= 1000;
    return with_unit(value, names[unit]);
}

std::vector<std::string> parse_config_arguments(std::string_view text, std::string_view source) {
    std::vector<std::string> arguments;
    std::string word;
    bool in_word = false;
    char quote = 0;
    auto end_word = [&] {
        if (in_word) arguments.push_back(word);
        word.clear();
        in_word = false;
    };
    auto end_line = [&] {
        end_word();
        if (!arguments.empty() && arguments.back() != ":") arguments.emplace_back(":");
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (quote) {
            if (c == quote) quote = 0;
            else word += c;
        } else if (c == '"' || c == '\'') {
            quote = c, in_word = true;
        } else if (c == '\\' && i + 1 < text.size()) {
            if (text[++i] != '\n') word += text[i], in_word = true;
        } else if (c == '\n') {
            end_line();
        } else if (c == '#' && !in_word) {
            i = std::min(text.find('\n', i), text.size()) - 1;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            end_word();
        } else {
            word += c, in_word = true;
        }
    }
    if (quote) throw LaunchError(join(source, ": a quote is not closed"));
    end_line();
    if (!arguments.empty()) arguments.pop_back();   // the colon after the last line
    return arguments;
}

std::string read_user_file(std::string_view what, std::string const& file) {
    topo::Result<std::string> text = topo::read_text_file(file, topo::max_list_bytes);
    if (!text) throw LaunchError(join(what, file, " cannot be read: ", text.error()));
    return std::move(*text);
}

void check_output_file(std::string const& option, std::string const& file, apps::IsEarlier const& is_earlier) {
    std::string const error = apps::output_error(file, "mpiexec " + option, is_earlier, apps::Writing::in_place);
    if (!error.empty()) throw LaunchError(option + ": " + error);
}

std::string shell_quoted(std::string_view word) {
    auto plain = [](unsigned char c) {
        return std::isalnum(c) || std::string_view("/._-+=:,@%^").find(static_cast<char>(c)) != std::string_view::npos;
    };
    if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return std::string(word);
    std::string out = "'";
    for (char c : word) {
        if (c == '\'') out += "'\\''";
        else out += c;
    }
    return out + "'";
}

std::string rank_ranges(std::vector<int> ranks) {
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return (ranks.size() == 1 ? "rank " : "ranks ") + topo::ranges(ranks);
}

std::string expand_pattern(std::string const& pattern, int rank, std::string const& host) {
    std::string name;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        char c = pattern[i], kind = c == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
        if (kind == 'r') name += std::to_string(rank);
        else if (kind == 'h') name += host;
        else if (kind == 'g' || kind == 'p') name += '0';   // MPICH's process group and proxy: there is one of each
        else if (kind == 't') name += std::to_string(std::time(nullptr));
        else if (kind == '%') name += '%';
        else kind = 0, name += c;
        if (kind) ++i;
    }
    return name;
}

}   // namespace tutti::launcher
