// SPDX-License-Identifier: BSD-3-Clause
// Words of an agent's command.
#include "launcher/nodes/agent.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "launcher/options/options.hpp"

namespace tutti::launcher {

std::vector<std::string> agent_words(std::string const& text) {
    std::vector<std::string> words = config_arguments(text.empty() ? ssh_agent : text);
    if (words.empty()) throw Complaint("the launcher's agent is an empty command");
    return words;
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

std::string program_folder() {
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

std::vector<std::string> agent_command(Job const& job, std::string const& host) {
    std::vector<std::string> words = agent_words(job.agent);
    words.push_back(host);
    words.push_back(shell_word(job.daemon.empty() ? program_folder() + "/tutti-daemon" : job.daemon));
    return words;
}

}  // namespace tutti::launcher
