// SPDX-License-Identifier: BSD-3-Clause
// Completion scripts for bash and zsh.
#include "manual.hpp"

#include <algorithm>
#include <cctype>

namespace apps {
namespace {

// How the argument of an option is completed. The kinds are used by both scripts.
//   files, folders            names of these
//   words a b c               one of the words
//   list a b c                words separated by commas
//   collectives, algorithms=  of tutti-info, separated by commas; collective and algorithm are separated by = or :
//   text                      not completed

bool is_word(std::string const& part) {
    return part.size() > 1 && std::none_of(part.begin(), part.end(), [](unsigned char c) { return std::isupper(c); });
}

/// Returns the words of an argument such as "none|core|user:LIST": "none core user:".
std::string words_of(std::string const& argument) {
    std::string all;
    std::istringstream parts(argument);
    for (std::string part; std::getline(parts, part, '|');) {
        const std::size_t mark = part.find_last_of(":=");
        if (!is_word(part))
            part = mark == part.npos ? "" : part.substr(0, std::min(part.find_first_of(":="), mark) + 1);
        if (is_word(part)) all += " " + part;
    }
    return all;
}

std::string kind_of(Manual const& manual, Entry const& entry) {
    const std::size_t begin = std::min(entry.argument.find_first_not_of("[="), entry.argument.size());
    const std::string argument = entry.argument.substr(begin, entry.argument.size() - begin - (begin > 0));
    auto begins = [&](char const* text) { return argument.rfind(text, 0) == 0; };
    if (argument == "TOPIC") {
        std::string words = "words";
        for (std::string const& topic : topics_of(manual)) words += " " + topic;
        return words;
    }
    if (!entry.parts.empty() && begins("LIST")) {
        std::string words = "list";
        for (Entry const& part : entry.parts)
            for (std::string const& name : names_of(part.names))
                words += " " + name + (part.argument.empty() || part.argument[0] == '[' ? "" : "=");
        return words;
    }
    if (begins("FILE")) return "files";
    if (begins("FOLDER")) return "folders";
    if (begins("COLLECTIVES")) return "collectives";
    if (begins("COLLECTIVE=ALGORITHM")) return "algorithms=";
    if (begins("ALGORITHMS")) return "algorithms:";
    const std::string words = words_of(argument);
    return words.empty() ? "text" : "words" + words;
}

/// Returns the number of arguments that follow the option as words of their own.
std::size_t arguments_after(Entry const& entry) {
    return entry.argument.compare(0, 2, "[=") == 0 ? 0 : names_of(entry.argument).size();
}

template <class Use>
void for_each_option(Manual const& manual, Use use) {
    for (Section const& section : manual.sections)
        for (Entry const& entry : section.entries)
            if (section.kind == Section::Kind::options && entry.names[0] == '-') use(entry);
}

std::string identifier(Manual const& manual) {
    std::string name = "_" + manual.name;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

std::string operands_of(Manual const& manual) {
    std::string all;
    for (Section const& section : manual.sections) {
        if (section.kind != Section::Kind::operands) continue;
        all += (all.empty() ? "" : " ") + section.topic;
        for (Entry const& entry : section.entries) all += " " + entry.names;
    }
    return all;
}

std::string replaced(std::string text, std::string const& mark, std::string const& by) {
    for (std::size_t at = 0; (at = text.find(mark, at)) != text.npos; at += by.size())
        text.replace(at, mark.size(), by);
    return text;
}

/// Prints the algorithms as COLLECTIVE=ALGORITHM.
constexpr char algorithms_command[] =
    R"("$info" --algorithms --markdown 2> /dev/null |
        awk -F '[][]' '/^## / { c = substr($0, 4) } /^\| \[/ { print c "=" $2 }')";

// NAME, OPTIONS, CASES, OPERANDS, ALGORITHMS and the lines that begin with PROGRAM: or WORDS: are replaced.
constexpr char bash_script[] = R"SCRIPT(# Completion for bash, made by `COMMAND --help=bash`.

# Sets `takes` to the number of arguments of an option, and `kind` to how they are completed.
NAME_option()
{
    local name=${1#-}
    takes=0 kind=
    case ${name#-} in
CASES    esac
}

# Prints the words of this kind that begin with $2.
NAME_words()
{
    local info=tutti-info before
    [[ $command != */* ]] || info=${command%/*}/tutti-info
    case $1 in
        files) compgen -f -- "$2" ;;
        folders) compgen -d -- "$2" ;;
        words\ *) compgen -W "${1#words }" -- "$2" ;;
        list\ *|collectives|algorithms?)
            before=${2%"${2##*,}"}
            case $1 in
                list*) set -- "${1#list }" "$2" ;;
                collectives) set -- "$(ALGORITHMS | sed 's/=.*//' | sort -u)" "$2" ;;
                *) set -- "$(ALGORITHMS | sed "s/=/${1#algorithms}/")" "$2" ;;
            esac
            compgen -P "$before" -W "$1" -- "${2##*,}" ;;
    esac
}

NAME()
{
    local IFS=$' \t\n' command=$1 words=() current kind takes i piece prefix= rest=${COMP_LINE:0:COMP_POINT}
    # Bash divides words at = and :, so they are joined again.
    for ((i = 0; i < COMP_CWORD; ++i)); do
        piece=${COMP_WORDS[i]}
        if [[ $i -gt 0 && $rest != [[:blank:]]* ]]; then words[-1]+=$piece; else words+=("$piece"); fi
        rest=${rest#*"$piece"}
    done
    current=${rest#"${rest%%[![:blank:]]*}"}
    if [[ $rest != [[:blank:]]* ]]; then current=${words[-1]}$rest; unset 'words[-1]'; fi

    kind=options
    for ((i = 1; i < ${#words[@]}; ++i)); do
        case ${words[i]} in
            --) kind=operands ;;
            -?*=*) continue ;;
            -?*)
                NAME_option "${words[i]}"
                if ((i + takes >= ${#words[@]})); then break; fi
                ((i += takes)) || true
                kind=options
                continue ;;
            *) kind=operands ;;
        esac
        PROGRAM: for ((; i < ${#words[@]}; ++i)); do
        PROGRAM:     if [[ ${words[i]} == : ]]; then kind=options; continue 2; fi
        PROGRAM: done
        PROGRAM: if [[ ${words[-1]} == -- ]]; then kind=operands; else kind=files; fi
        WORDS: kind=options
    done
    if [[ $kind == options && $current == -*=* ]]; then
        NAME_option "${current%%=*}"
        prefix=${current%%=*}= current=${current#*=}
    elif [[ $kind == options && $current == -* ]]; then
        kind='words OPTIONS'
    elif [[ $kind == options ]]; then
        kind=operands
    fi
    PROGRAM: if [[ $kind == operands ]]; then
    PROGRAM:     mapfile -t COMPREPLY < <(compgen -c -- "$current"; compgen -f -- "$current")
    PROGRAM:     compopt -o filenames 2> /dev/null
    PROGRAM:     return
    PROGRAM: fi
    WORDS: if [[ $kind == operands ]]; then kind='words OPERANDS'; fi
    mapfile -t COMPREPLY < <(NAME_words "$kind" "$current")
    if [[ $kind == files || $kind == folders ]]; then compopt -o filenames 2> /dev/null; fi
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=:] ]]; then compopt -o nospace 2> /dev/null; fi
    # Bash replaces only what follows the last = or :.
    prefix=${current%"${current##*[=:]}"}
    COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
}

complete -F NAME COMMANDS
)SCRIPT";

std::string chosen_lines(std::string const& script, Operands operands) {
    std::string all;
    std::istringstream lines(script);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t program = line.find("PROGRAM:"), words = line.find("WORDS:");
        if (program != line.npos && operands != Operands::program) continue;
        if (words != line.npos && operands == Operands::program) continue;
        if (program != line.npos) line.erase(program, std::min<std::size_t>(9, line.size() - program));
        if (words != line.npos) line.erase(words, std::min<std::size_t>(7, line.size() - words));
        all += line + "\n";
    }
    return all;
}

/// Replaces what depends only on the names of the tool.
std::string with_names(std::string const& script, Manual const& manual) {
    std::string text = replaced(replaced(script, "COMMANDS", all_names(manual, " ")), "COMMAND", manual.name);
    return replaced(replaced(text, "NAME", identifier(manual)), "ALGORITHMS", algorithms_command);
}

}   // namespace

std::string bash_completion(Manual const& manual) {
    std::string cases, options;
    for_each_option(manual, [&](Entry const& entry) {
        std::string names;
        for (std::string const& name : names_of(entry.names)) {
            options += (options.empty() ? "" : " ") + name;
            names += (names.empty() ? "" : "|") + (name == "-?" ? "\\?" : without_dashes(name));
        }
        if (!entry.argument.empty())
            cases += "        " + names + ") takes=" + std::to_string(arguments_after(entry)) + " kind='" +
                     kind_of(manual, entry) + "' ;;\n";
    });
    std::string script = with_names(chosen_lines(bash_script, manual.operands), manual);
    script = replaced(script, "CASES", cases);
    script = replaced(script, "OPTIONS", options);
    return replaced(script, "OPERANDS", operands_of(manual));
}

// zsh: one specification of _arguments for each name of an option.

namespace {

std::string quoted(std::string const& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

/// Returns the first part of a description, without characters that have a meaning in a specification.
std::string brief(Entry const& entry) {
    std::string text = entry.summary.empty() ? entry.description : entry.summary, all;
    const std::size_t end = std::min({text.find(". "), text.find("; "), text.find(": ")});
    text = text.substr(0, end);
    if (!text.empty() && text.back() == '.') text.pop_back();
    for (char c : text) all += (c == '[' || c == ']' || c == ':' || c == '\\' ? "\\" : "") + std::string(1, c);
    return all;
}

/// After a blank, _arguments calls a function with these arguments alone.
std::string zsh_action(std::string const& kind, std::string const& function) {
    if (kind == "files") return "_files";
    if (kind == "folders") return "_files -/";
    if (kind == "text") return " ";
    if (kind.rfind("words ", 0) == 0) return "(" + replaced(kind.substr(6), ":", "\\:") + ")";
    if (kind.rfind("list ", 0) == 0) return " _sequence compadd - " + kind.substr(5);
    return " " + function + "_algorithms " + (kind == "collectives" ? "none" : kind.substr(10));
}

std::string zsh_argument(Manual const& manual, Entry const& entry, std::string const& function) {
    const std::string kind = kind_of(manual, entry);
    std::string all;
    for (std::string const& word : names_of(entry.argument)) {
        std::string message;
        for (char c : word.substr(0, word.find('|')))
            if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '=') message += c;
        all += (entry.argument[0] == '[' ? "::" : ":") + message + ":" + zsh_action(kind, function);
    }
    return all;
}

constexpr char zsh_script[] = R"SCRIPT(#compdef COMMANDS
# Completion for zsh, made by `COMMAND --help=zsh`.

# $1: what separates a collective from its algorithm; none: only the collectives.
NAME_algorithms()
{
    local info=tutti-info
    local -a all
    all=(${(f)"$(ALGORITHMS)"})
    if [[ $1 == none ]]; then all=(${(u)all%%=*}); else all=(${all/=/$1}); fi
    _sequence compadd - $all
}

PROGRAM: NAME_program()
PROGRAM: {
PROGRAM:     _command_names -e
PROGRAM:     _files
PROGRAM: }
PROGRAM:
_arguments -S \
SPECIFICATIONS
)SCRIPT";

}   // namespace

std::string zsh_completion(Manual const& manual) {
    const std::string function = identifier(manual);
    std::string all;
    for_each_option(manual, [&](Entry const& entry) {
        const std::string argument = zsh_argument(manual, entry, function);
        for (std::string const& name : names_of(entry.names)) {
            const std::size_t after = arguments_after(entry);
            const std::string mark = argument.empty() || after > 1 ? "" : after == 1 ? "=" : "=-";
            all += "    " + quoted("*" + replaced(name, "?", "\\?") + mark + "[" + brief(entry) + "]" + argument) +
                   " \\\n";
        }
    });
    if (manual.operands == Operands::program)
        all += "    '(-):program: " + function + "_program' \\\n    '*::argument:_normal'";
    else if (manual.operands == Operands::words) all += "    " + quoted("*:operation:(" + operands_of(manual) + ")");
    else all.resize(all.size() - 3);
    return replaced(with_names(chosen_lines(zsh_script, manual.operands), manual), "SPECIFICATIONS", all);
}

}   // namespace apps
