// SPDX-License-Identifier: BSD-3-Clause
// Words of an agent's command.
#include "launcher/start/agent.hpp"

#include <filesystem>

namespace tutti::launcher {

std::vector<std::string> agent_words(std::string const& text) {
    std::vector<std::string> words = config_arguments(text.empty() ? ssh_agent : text);
    if (words.empty()) throw Complaint("the launcher's agent is an empty command");
    return words;
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

}   // namespace tutti::launcher
