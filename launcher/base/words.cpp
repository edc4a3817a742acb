// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/base/words.hpp"

#include <algorithm>
#include <cctype>
#include <ctime>

#include "launcher/base/job.hpp"
#include "runtime/base/error.hpp"
#include "topo/base/text_file.hpp"
#include "topo/binding/binding.hpp"

namespace tutti::launcher {

std::vector<std::string> config_arguments(std::string_view text) {
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
    if (quote) throw Complaint("a quote in the configuration file is not closed");
    end_line();
    if (!arguments.empty()) arguments.pop_back();   // the colon behind the last line
    return arguments;
}

std::string named_file(std::string_view what, std::string const& file) {
    topo::Result<std::string> text = topo::read_text_file(file, topo::most_list_bytes);
    if (!text) throw Complaint(join(what, file, " cannot be read: ", text.error()));
    return std::move(*text);
}

std::string shell_word(std::string_view word) {
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

std::string expanded(std::string const& pattern, int rank, std::string const& host) {
    std::string name;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        char c = pattern[i], kind = c == '%' && i + 1 < pattern.size() ? pattern[i + 1] : 0;
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
