// SPDX-License-Identifier: BSD-3-Clause
// Reads a program's dynamic section as the loader does.
#include "launcher/start/drop_in.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "launcher/base/job.hpp"
#include "runtime/base/descriptor.hpp"
#include "runtime/base/error.hpp"
#include "topo/files.hpp"

namespace tutti::launcher {
namespace {

/// Mapped, because an interpreter has millions of bytes, of which the loader's part is small.
class ElfFile : public MappedFile {
public:
    using MappedFile::MappedFile;

    bool valid() const {
        Elf64_Ehdr head{};
        return get(0, head) && std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
               head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_phentsize == sizeof(Elf64_Phdr);
    }

    std::vector<Elf64_Phdr> segments() const {
        Elf64_Ehdr head{};
        get(0, head);
        std::vector<Elf64_Phdr> all(head.e_phnum);
        for (std::size_t i = 0; i < all.size(); ++i) get(head.e_phoff + i * sizeof(Elf64_Phdr), all[i]);
        return all;
    }

    template <class T>
    bool get(std::uint64_t offset, T& out) const {
        if (offset > bytes().size() || bytes().size() - offset < sizeof out) return false;
        std::memcpy(&out, bytes().data() + offset, sizeof out);
        return true;
    }

    std::string text(std::uint64_t offset) const {
        if (offset >= bytes().size()) return {};
        return std::string(bytes().substr(offset, bytes().find('\0', offset) - offset));
    }
};

std::uint64_t offset_of(std::vector<Elf64_Phdr> const& segments, std::uint64_t address) {
    for (Elf64_Phdr const& s : segments)
        if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz)
            return address - s.p_vaddr + s.p_offset;
    return ~std::uint64_t{0};
}

void read_dynamic(ElfFile const& elf, std::vector<Elf64_Phdr> const& segments, Elf64_Phdr const& dynamic,
                  Linkage& out) {
    std::vector<std::uint64_t> needed;
    std::uint64_t strings = 0, rpath = 0, runpath = 0;
    bool has_rpath = false, has_runpath = false;
    Elf64_Dyn entry{};
    for (std::uint64_t at = 0; at < dynamic.p_filesz && elf.get(dynamic.p_offset + at, entry) && entry.d_tag != DT_NULL;
         at += sizeof entry) {
        if (entry.d_tag == DT_NEEDED) needed.push_back(entry.d_un.d_val);
        if (entry.d_tag == DT_STRTAB) strings = offset_of(segments, entry.d_un.d_ptr);
        if (entry.d_tag == DT_RPATH) rpath = entry.d_un.d_val, has_rpath = true;
        if (entry.d_tag == DT_RUNPATH) runpath = entry.d_un.d_val, has_runpath = true;   // disables RPATH
    }
    for (std::uint64_t name : needed) out.libraries.push_back(elf.text(strings + name));
    if (has_rpath && !has_runpath) out.rpath = elf.text(strings + rpath);
    if (has_runpath) out.runpath = elf.text(strings + runpath);
}

/// Returns what executes the file: the program that the first line of a script names, or the file itself.
std::string interpreter_of(std::string const& file) {
    ElfFile const script(file);
    std::string_view line = script.bytes().substr(0, script.bytes().find('\n'));
    if (line.starts_with(ELFMAG)) return file;
    if (!line.starts_with("#!")) return "/bin/sh";
    line.remove_prefix(std::min(line.find_first_not_of(" \t", 2), line.size()));
    return std::string(line.substr(0, line.find_first_of(" \t\r")));
}

/// Sanitizers abort a program in which another library precedes them.
bool is_sanitizer(std::string_view library) {
    constexpr std::array<std::string_view, 5> names = {"libasan.", "libtsan.", "liblsan.", "libhwasan.",
                                                       "libclang_rt."};
    return std::any_of(names.begin(), names.end(), [&](auto name) { return library.starts_with(name); });
}

}   // namespace

MappedFile::MappedFile(std::string const& file) {
    Descriptor in(open(file.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat info {};
    if (!in || fstat(in.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) return;
    auto const size = static_cast<std::size_t>(info.st_size);
    void* at = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, in.get(), 0);
    if (at != MAP_FAILED) bytes_ = {static_cast<char const*>(at), size};
}

MappedFile::~MappedFile() {
    if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

std::string library_folder(std::string const& library) {
    std::error_code error;
    std::filesystem::path const bin = topo::program_folder();
    if (bin.empty()) return {};
    for (std::filesystem::path const& folder : {bin / ".." / "lib", bin / TUTTI_LIBRARIES_FROM_PROGRAMS}) {
        if (!std::filesystem::exists(folder / library, error)) continue;
        std::filesystem::path const shortest = std::filesystem::weakly_canonical(folder, error);
        return error ? folder : shortest;   // a container may forbid the system calls that this needs
    }
    return {};
}

Linkage read_linkage(std::string const& file) {
    Linkage linkage;
    ElfFile elf(file);
    if (!elf.valid()) return linkage;
    linkage.elf = true;
    std::vector<Elf64_Phdr> segments = elf.segments();
    for (Elf64_Phdr const& segment : segments) {
        if (segment.p_type == PT_INTERP) linkage.loader = elf.text(segment.p_offset);
        if (segment.p_type != PT_DYNAMIC) continue;
        linkage.dynamic = true;
        read_dynamic(elf, segments, segment, linkage);
    }
    return linkage;
}

bool needs_preload(std::string const& file) {
    Linkage linkage = read_linkage(file);
    if (linkage.elf && !linkage.dynamic)
        throw LaunchError(join("--drop-in: ", file, " is linked statically, so its MPI library cannot be replaced"),
                          126);
    for (std::string const& name : linkage.libraries)
        if (name.starts_with("libmpi.so.") && name != "libmpi.so.12")
            throw LaunchError(join("--drop-in: ", file, " was built against ", name,
                                   ", whose ABI is not MPICH's; compile it with our mpicc"),
                              126);
    return !linkage.rpath.empty();
}

bool needs_arena(std::string const& file) {
    Linkage const linkage = read_linkage(interpreter_of(file));
    if (linkage.loader.empty() || linkage.loader != read_linkage("/proc/self/exe").loader) return false;
    for (std::string const& name : linkage.libraries) {
        if (is_sanitizer(name) || name.starts_with("libmpi.so") || name.starts_with("libmpich.so")) return false;
        if (name.starts_with("libc.so")) return true;   // before the library that loads MPI
    }
    return true;
}

}   // namespace tutti::launcher
