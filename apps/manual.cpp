// SPDX-License-Identifier: BSD-3-Clause
#include "manual.hpp"

#include <cctype>
#include <cstdio>
#include <filesystem>
#include <stdexcept>

namespace apps {

Entry entry_of(Option const& option) { return {option.name, option.argument, option.description, option.summary}; }

std::vector<Entry> entries_of(std::vector<Option> const& options) {
    std::vector<Entry> all;
    for (Option const& option : options) all.push_back(entry_of(option));
    return all;
}

namespace {

/// Returns the folder of the guides: that of the installation, else that of the sources; empty if neither exists.
std::string find_documents() {
    std::error_code error;
    std::filesystem::path const program = std::filesystem::read_symlink("/proc/self/exe", error);
    for (char const* place : {TUTTI_DOCUMENTS_FROM_PROGRAMS, TUTTI_SOURCES_FROM_BUILD}) {
        std::filesystem::path const guides = (program.parent_path() / place / "guides").lexically_normal();
        if (std::filesystem::is_directory(guides, error)) return guides.parent_path();
    }
    return "";
}

}   // namespace

std::string with_documents(std::string text, std::string const& folder) {
    for (std::size_t at = 0; (at = text.find("guides/", at)) != text.npos && text.find(".md", at) != text.npos;) {
        std::size_t const size = text.find(".md", at) + 3 - at;
        bool const in_parentheses = at >= 2 && text.compare(at - 2, 2, " (") == 0 && text[at + size] == ')';
        if (!folder.empty()) text.insert(at, folder + "/"), at += folder.size() + 1 + size;
        else if (in_parentheses) text.erase(at - 2, size + 3), at -= 2;
        else at += size;
    }
    return text;
}

// The paragraphs of a text, for the help and the man page.

namespace {

struct Paragraph {
    std::string text;
    bool verbatim;
};

std::vector<Paragraph> paragraphs_of(std::string const& text) {
    std::vector<Paragraph> all;
    bool begins = true;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        bool const verbatim = line.compare(0, 4, "    ") == 0;
        if (line.empty()) begins = true;
        if (line.empty()) continue;
        if (begins || all.back().verbatim != verbatim) all.push_back({"", verbatim});
        all.back().text += line + "\n";
        begins = false;
    }
    return all;
}

}   // namespace

std::string wrapped_paragraphs(std::string const& text) {
    std::string all;
    for (Paragraph const& one : paragraphs_of(text))
        all += (all.empty() ? "" : "\n") + (one.verbatim ? one.text : wrapped(one.text, 0));
    return all;
}

namespace {

constexpr std::size_t column = 30;

std::string joined_names(Entry const& entry) { return entry.names + argument_text(entry.argument); }

std::string text_of(Entry const& entry) { return help_entry(joined_names(entry), entry.description, column); }

std::string text_of(Section const& section) {
    std::string all = section.title + ":\n";
    if (section.kind == Section::Kind::options) all = section.title + " (--help " + section.topic + "):\n";
    if (!section.text.empty()) all += wrapped_paragraphs(section.text);
    if (!section.text.empty() && !section.entries.empty()) all += "\n";
    for (Entry const& entry : section.entries) all += text_of(entry);
    return all;
}

std::string examples_of(Manual const& manual, std::size_t most) {
    std::size_t widest = 0;
    most = std::min(most, manual.examples.size());
    for (std::size_t i = 0; i < most; ++i) widest = std::max(widest, manual.examples[i].command.size());
    std::string all;
    constexpr std::size_t least_width = 24;   // of descriptions beside the commands; else they are below
    std::size_t const beside = widest + 6, indent = beside + least_width <= text_width() ? beside : 8;
    for (std::size_t i = 0; i < most; ++i)
        all += help_entry("  " + manual.examples[i].command, manual.examples[i].description, indent);
    return all;
}

std::string usage_of(Manual const& manual) {
    std::string all;
    for (std::string const& line : manual.usage) all += (all.empty() ? "Usage: " : "       ") + wrapped(line, 7);
    return all;
}

bool is_option(std::string const& name) { return name.size() > 1 && name[0] == '-'; }

/// True if `word` names the entry; an option may be named with any number of dashes.
bool is_named(Entry const& entry, std::string const& word) {
    for (std::string const& name : names_of(entry.names))
        if (name == word || (is_option(name) && without_dashes(name) == without_dashes(word))) return true;
    return false;
}

std::string text_with_parts(Entry const& entry) {
    std::string all = text_of(entry);
    for (Entry const& part : entry.parts) all += text_of(part);
    return all;
}

std::string list_of(std::vector<std::string> const& words, char const* separator = ", ") {
    std::string all;
    for (std::string const& word : words) all += (all.empty() ? "" : separator) + word;
    return all;
}

/// Returns the manual with the paths of the guides in this folder.
Manual located(Manual manual, std::string const& folder) {
    manual.description = with_documents(manual.description, folder);
    for (Section& section : manual.sections) {
        section.text = with_documents(section.text, folder);
        for (Entry& entry : section.entries) entry.description = with_documents(entry.description, folder);
    }
    return manual;
}

std::string full_help(Manual const& manual) {
    std::string all = manual.name + " " + wrapped(manual.purpose + ".", manual.name.size() + 1) + "\n" +
                      usage_of(manual) + "\n" + examples_of(manual, manual.examples.size());
    if (!manual.description.empty()) all += "\n" + wrapped_paragraphs(manual.description);
    for (Section const& section : manual.sections)
        if (section.kind <= Section::Kind::terms) all += "\n" + text_of(section);
    return all + "\n" +
           wrapped(
               "See also: " + manual.see_also + "; --help TOPIC with " + list_of(topics_of(manual)) + ", or an option.",
               0);
}

}   // namespace

std::string all_names(Manual const& manual, std::string const& separator) {
    std::string all = manual.name;
    for (std::string const& alias : manual.aliases) all += separator + alias;
    return all;
}

std::vector<std::string> topics_of(Manual const& manual) {
    std::vector<std::string> all;
    for (Section const& section : manual.sections)
        if (all.empty() || all.back() != section.topic) all.push_back(section.topic);
    for (char const* generated : {"man", "bash", "zsh"}) all.push_back(generated);
    return all;
}

std::string short_help(Manual const& manual) {
    std::size_t widest = 0;
    auto head = [](Entry const& entry) {
        const std::string argument = argument_text(entry.argument);
        const std::size_t bar = argument.find('|', argument.find('|') + 1);   // of many words, two are shown
        return names_of(entry.names)[0] + (bar == argument.npos ? argument : argument.substr(0, bar + 1) + "…");
    };
    std::vector<Entry> common;
    for (Section const& section : manual.sections)
        for (Entry const& entry : section.entries)
            if (!entry.summary.empty()) common.push_back(entry), widest = std::max(widest, characters(head(entry)));
    std::string all =
        manual.name + " " + wrapped(manual.purpose + ".", manual.name.size() + 1) + usage_of(manual) + "\n";
    for (Entry const& entry : common) all += help_entry(head(entry), entry.summary, widest + 4);
    all += "\n" + examples_of(manual, 4) + "\n";
    return all + wrapped("All options: " + manual.name + " --help, or man " + manual.name +
                             ". One topic: --help TOPIC with an option, or " + list_of(topics_of(manual)) + ".",
                         0);
}

std::string help_on(Manual const& described, std::string const& topic) {
    if (topic == "man") return man_page(described);
    if (topic == "bash") return bash_completion(described);
    if (topic == "zsh") return zsh_completion(described);
    Manual const manual = located(described, find_documents());
    if (topic.empty()) return full_help(manual);
    std::vector<std::string> known = topics_of(manual);
    std::string text;
    for (Section const& section : manual.sections)
        if (section.topic == topic) text += (text.empty() ? "" : "\n") + text_of(section);
    if (!text.empty()) return text;
    for (Section const& section : manual.sections)
        for (Entry const& entry : section.entries) {
            if (is_named(entry, topic)) return text_with_parts(entry);
            for (std::string const& name : names_of(entry.names))
                known.push_back(is_option(topic) ? name : without_dashes(name));
        }
    const std::string hint = tutti::topo::nearest_hint(topic, known);
    throw std::invalid_argument("--help " + topic + ": there is no such topic" +
                                (hint.empty() ? "; the topics are " : hint + " The topics are ") +
                                list_of(topics_of(manual)) + ", and the options");
}

std::string version_text(std::string const& program) { return program + " of Tutti " TUTTI_VERSION "\n"; }

std::string information_text(Manual const& manual, Information const& requested) {
    return requested.version      ? version_text(manual.name)
           : requested.short_help ? short_help(manual)
                                  : help_on(manual, requested.topic.value_or(""));
}

// The man page.

namespace {

/// Returns `text` for roff: no character in it is a request or is changed by the formatter.
std::string roff(std::string const& text) {
    std::string all;
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto const c = static_cast<unsigned char>(text[i]);
        if (c == '\\') all += "\\e";
        else if (c == '-') all += "\\-";
        else if (c == '\'') all += "\\(aq";
        else if (c == '`') all += "\\(ga";
        else if (c == '^') all += "\\(ha";
        else if (c == '~') all += "\\(ti";
        else if (c < 0x80) all += text[i];
        else {   // UTF-8
            int const more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
            unsigned code = c & (0x3fu >> more);
            for (int k = 0; k < more && i + 1 < text.size(); ++k)
                code = code << 6 | (static_cast<unsigned char>(text[++i]) & 0x3fu);
            char number[16];
            std::snprintf(number, sizeof number, "\\[u%04X]", code);
            all += number;
        }
    }
    return all;
}

/// Returns the words of `text` as one line of roff; a period at its beginning would be a request.
std::string roff_line(std::string const& text) {
    const std::string all = roff(list_of(names_of(text), " "));
    return (all.compare(0, 1, ".") == 0 ? "\\&" : "") + all + "\n";
}

std::string roff_paragraphs(std::string const& text) {
    std::string all;
    for (Paragraph const& one : paragraphs_of(text)) {
        all += all.empty() ? "" : ".PP\n";
        if (one.verbatim) all += ".RS 4\n.nf\n";
        std::istringstream lines(one.text);
        for (std::string line; one.verbatim && std::getline(lines, line);) all += roff(line.substr(4)) + "\n";
        all += one.verbatim ? ".fi\n.RE\n" : roff_line(one.text);
    }
    return all;
}

std::string roff_entry(Entry const& entry) {
    std::string names;
    for (std::string const& name : names_of(entry.names))
        names += (names.empty() ? "\\fB" : is_option(name) ? ", \\fB" : " \\fB") + roff(name) + "\\fR";
    const std::string argument = argument_text(entry.argument);
    if (!argument.empty()) names += "\\fI" + roff(argument) + "\\fR";
    return ".TP\n" + names + "\n" + roff_line(entry.description);
}

std::string in_capitals(std::string text) {
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

std::string roff_section(Section const& section, std::string const& level) {
    std::string const title = level == ".SH" ? in_capitals(section.title) : section.title;
    std::string all = level + " " + roff(title) + "\n" + roff_paragraphs(section.text);
    for (Entry const& entry : section.entries) {
        all += roff_entry(entry);
        if (entry.parts.empty()) continue;
        all += ".RS\n";
        for (Entry const& part : entry.parts) all += roff_entry(part);
        all += ".RE\n";
    }
    return all;
}

}   // namespace

std::string man_page(Manual const& described) {
    Manual const manual = located(described, "share/doc/tutti");
    std::string all = ".TH " + roff(in_capitals(manual.name)) + " 1 \"\" \"Tutti " + roff(TUTTI_VERSION) +
                      "\" \"User Commands\"\n.nh\n.ad l\n.SH NAME\n" + roff(all_names(manual, ", ")) + " \\- " +
                      roff_line(manual.purpose) + ".SH SYNOPSIS\n";
    for (std::string const& line : manual.usage) all += (&line == &manual.usage[0] ? "" : ".br\n") + roff_line(line);
    all += ".SH DESCRIPTION\n" + roff_line(manual.name + " " + manual.purpose + ".");
    if (!manual.description.empty()) all += ".PP\n" + roff_paragraphs(manual.description);
    all += ".SH OPTIONS\n";
    for (Section const& section : manual.sections)
        if (section.kind == Section::Kind::options) all += roff_section(section, ".SS");
    for (Section const& section : manual.sections)
        if (section.kind != Section::Kind::options && section.kind != Section::Kind::on_request)
            all += roff_section(section, ".SH");
    all += ".SH EXAMPLES\n";
    for (Example const& example : manual.examples)
        all += ".TP\n\\fB" + roff(example.command) + "\\fR\n" + roff_line(example.description);
    return all + ".SH SEE ALSO\n" + roff_line(manual.see_also);
}

}   // namespace apps
