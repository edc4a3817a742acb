// SPDX-License-Identifier: BSD-3-Clause
// Writes the recording as an OTF2 archive: the events of each location by time, and the definitions. Times are
// nanoseconds since the start of the recording.
#include "launcher/report/write_report.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#if TUTTI_OTF2
#include <otf2/otf2.h>
#endif

#include "launcher/base/job.hpp"
#include "launcher/base/text.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {

bool names_otf2_archive(std::string_view file) { return file.ends_with(".otf2"); }

#if !TUTTI_OTF2
void check_otf2_archive(std::string const& file) {
    throw Error(ErrorClass::other,
                join(file, " cannot be written: Tutti was built without libotf2 (Debian's libotf2-trace-dev)"));
}
void write_otf2_archive(std::string const& file, Recording const&, Timeline const&) { check_otf2_archive(file); }
#else

namespace {

namespace fs = std::filesystem;

/// The files at an archive's place: those of an earlier archive, which may be removed, and others.
struct FilesInPlace {
    std::vector<fs::path> earlier, foreign;
};
FilesInPlace files_in_place(fs::path const& anchor) {
    std::error_code error;
    bool const exists = fs::exists(anchor) && fs::file_size(anchor, error) > 0;
    FilesInPlace files;
    auto const add = [&](fs::path const& file, bool part) {
        (exists && part ? files.earlier : files.foreign).push_back(file);
    };
    fs::directory_iterator entry(fs::path(anchor).replace_extension(), error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error))
        add(entry->path(), entry->path().extension() == ".evt" || entry->path().extension() == ".def");
    fs::path const definitions = fs::path(anchor).replace_extension(".def");
    if (fs::exists(definitions, error)) add(definitions, true);
    if (exists) add(anchor, true);
    return files;
}

/// Error callback of libotf2: stores the message for the exception instead of printing it to standard error.
OTF2_ErrorCode store_message(void* message, char const*, std::uint64_t, char const*, OTF2_ErrorCode code,
                             char const* format, va_list arguments) {
    char text[512];
    std::vsnprintf(text, sizeof text, format, arguments);
    unless_out_of_memory([&] {   // no exception may pass through the library
        std::string& description = *static_cast<std::string*>(message);
        description = join(OTF2_Error_GetDescription(code), ": ", text);
        while (description.ends_with('.')) description.pop_back();
        return true;
    });
    return code;
}

/// Returns OTF2's name of a collective, or nullopt if the format has none (neighborhood collectives).
std::optional<OTF2_CollectiveOp> operation_of(std::string_view collective) {
    static std::map<std::string_view, OTF2_CollectiveOp> const operations{
        {"barrier", OTF2_COLLECTIVE_OP_BARRIER},
        {"bcast", OTF2_COLLECTIVE_OP_BCAST},
        {"gather", OTF2_COLLECTIVE_OP_GATHER},
        {"gatherv", OTF2_COLLECTIVE_OP_GATHERV},
        {"scatter", OTF2_COLLECTIVE_OP_SCATTER},
        {"scatterv", OTF2_COLLECTIVE_OP_SCATTERV},
        {"allgather", OTF2_COLLECTIVE_OP_ALLGATHER},
        {"allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV},
        {"alltoall", OTF2_COLLECTIVE_OP_ALLTOALL},
        {"alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV},
        {"alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW},
        {"allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE},
        {"reduce", OTF2_COLLECTIVE_OP_REDUCE},
        {"reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
        {"reduce_scatter_block", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
        {"scan", OTF2_COLLECTIVE_OP_SCAN},
        {"exscan", OTF2_COLLECTIVE_OP_EXSCAN},
    };
    auto const found = operations.find(collective);
    return found == operations.end() ? std::nullopt : std::optional(found->second);
}

/// An event inside a call.
struct CallEvent {
    enum class Kind { collective, sent, received } kind{};
    std::int64_t time = 0;
    std::size_t index = 0;   ///< in Timeline's list
};
using EventsByCall = std::map<std::pair<int, CallIndex>, std::vector<CallEvent>>;   ///< by world rank and call

/// Collects the messages whose two calls are both recorded, and the collectives.
EventsByCall collect_events(Timeline const& timeline) {
    EventsByCall calls;
    for (std::size_t i = 0; i < timeline.collectives.size(); i++) {
        RecordedCollective const& c = timeline.collectives[i];
        if (!operation_of(timeline.algorithms[static_cast<std::size_t>(c.algorithm)].collective)) continue;
        for (CollectiveEntry const& e : c.entries)
            if (timeline.call(e.rank, e.call))
                calls[{e.rank, e.call}].push_back({CallEvent::Kind::collective, e.entry, i});
    }
    for (std::size_t i = 0; i < timeline.messages.size(); i++) {
        RecordedMessage const& m = timeline.messages[i];
        if (!timeline.call(m.from, m.send_call) || !timeline.call(m.to, m.receive_call)) continue;
        calls[{m.from, m.send_call}].push_back({CallEvent::Kind::sent, m.sent, i});
        calls[{m.to, m.receive_call}].push_back({CallEvent::Kind::received, m.received, i});
    }
    for (auto& [call, events] : calls) std::ranges::stable_sort(events, {}, &CallEvent::time);
    return calls;
}

class Archive {
public:
    Archive(std::string const& file, Recording const& recording, Timeline const& timeline)
        : file_(file), recording_(recording), timeline_(timeline), events_by_call_(collect_events(timeline)) {
        earlier_callback_ = OTF2_Error_RegisterCallback(store_message, &error_);
        fs::path const path(file);
        remove_earlier(path);
        std::string const folder = path.has_parent_path() ? path.parent_path().string() : ".";
        archive_ = OTF2_Archive_Open(folder.c_str(), path.stem().c_str(), OTF2_FILEMODE_WRITE, 1 << 20, 4 << 20,
                                     OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
        if (!archive_) fail();
        static OTF2_FlushCallbacks const flush{
            [](auto...) -> OTF2_FlushType { return OTF2_FLUSH; },
            [](auto...) -> OTF2_TimeStamp { return 0; },
        };
        check(OTF2_Archive_SetFlushCallbacks(archive_, &flush, nullptr));
        check(OTF2_Archive_SetSerialCollectiveCallbacks(archive_));
        check(OTF2_Archive_SetCreator(archive_, join("Tutti ", TUTTI_VERSION).c_str()));
    }
    Archive(Archive const&) = delete;
    ~Archive() {
        if (archive_) OTF2_Archive_Close(archive_);
        OTF2_Error_RegisterCallback(earlier_callback_, nullptr);
    }

    void write() {
        collect_locations();
        check(OTF2_Archive_OpenEvtFiles(archive_));
        check(OTF2_Archive_OpenDefFiles(archive_));
        for (Location& l : locations_) write_events(l);
        check(OTF2_Archive_CloseDefFiles(archive_));
        check(OTF2_Archive_CloseEvtFiles(archive_));
        definitions_ = OTF2_Archive_GetGlobalDefWriter(archive_);
        if (!definitions_) fail();
        define_clock();
        define_attributes();
        define_locations();
        define_regions();
        define_comms();
        check(OTF2_Archive_CloseGlobalDefWriter(archive_, definitions_));
        check(OTF2_Archive_Close(std::exchange(archive_, nullptr)));
    }

private:
    struct Location {
        int rank = 0, thread = 0;   ///< world rank; thread of the rank
        std::uint64_t events = 0;
    };
    enum Attribute : OTF2_AttributeRef { source_line_attribute, wait_cause_attribute };
    static constexpr OTF2_GroupRef all_locations = 0;   ///< the group of communicator i is i + 1

    [[noreturn]] void fail() const { throw Error(ErrorClass::other, join(file_, " cannot be written: ", error_)); }
    void check(OTF2_ErrorCode code) const {
        if (code != OTF2_SUCCESS) fail();
    }

    /// Removes the archive of this name: libotf2 refuses a name whose folder exists.
    static void remove_earlier(fs::path const& anchor) {
        std::error_code ignored;
        for (fs::path const& one : files_in_place(anchor).earlier) fs::remove(one, ignored);
        fs::remove(fs::path(anchor).replace_extension(), ignored);   // fails, as intended, if it contains other files
    }

    OTF2_StringRef string_number(std::string const& text) {
        auto const [entry, added] = strings_.try_emplace(text, static_cast<OTF2_StringRef>(strings_.size()));
        if (added) string_list_.push_back(&entry->first);
        return entry->second;
    }

    /// Numbers the locations, beginning with the first thread of every rank: these locations represent the members of
    /// communicators.
    void collect_locations() {
        for (RankTimeline const& line : timeline_.ranks) {
            std::vector<int> threads{line.calls.empty() ? 0 : line.calls.front().thread};
            for (RecordedCall const& c : line.calls)
                if (std::ranges::find(threads, c.thread) == threads.end()) threads.push_back(c.thread);
            member_of_[line.rank] = locations_.size();
            locations_.push_back({line.rank, threads.front()});
            for (std::size_t i = 1; i < threads.size(); i++) other_threads_.push_back({line.rank, threads[i]});
        }
        members_ = locations_.size();
        locations_.insert(locations_.end(), other_threads_.begin(), other_threads_.end());
    }

    void write_events(Location& location) {
        auto const number = static_cast<OTF2_LocationRef>(&location - locations_.data());
        OTF2_EvtWriter* const writer = OTF2_Archive_GetEvtWriter(archive_, number);
        if (!writer) fail();
        std::vector<std::pair<RecordedCall const*, std::int64_t>>
            open;   // nested calls, which callbacks made, with their ends
        auto const leave = [&] {
            check(OTF2_EvtWriter_Leave(writer, nullptr, stamp(open.back().second),
                                       static_cast<OTF2_RegionRef>(open.back().first->name)));
            open.pop_back();
        };
        std::vector<RecordedCall> const& calls = timeline_.rank_timeline(location.rank)->calls;
        std::int64_t now = 0;
        for (std::size_t i = 0; i < calls.size(); i++) {
            RecordedCall const& c = calls[i];
            if (c.thread != location.thread) continue;
            while (!open.empty() && open.back().second <= c.begin) leave();
            std::int64_t const end = open.empty() ? c.end() : std::min(c.end(), open.back().second);
            now = std::max(now, c.begin);
            enter(writer, c);
            open.emplace_back(&c, std::max(end, now));
            auto const events = events_by_call_.find({location.rank, static_cast<CallIndex>(i)});
            if (events != events_by_call_.end())
                for (CallEvent const& event : events->second) {
                    now = std::clamp(event.time, now, open.back().second);
                    write_event(writer, location.rank, event, now, open.back().second);
                    if (event.kind == CallEvent::Kind::collective) now = open.back().second;
                }
        }
        while (!open.empty()) leave();
        check(OTF2_EvtWriter_GetNumberOfEvents(writer, &location.events));
        check(OTF2_Archive_CloseEvtWriter(archive_, writer));
        OTF2_DefWriter* const local = OTF2_Archive_GetDefWriter(archive_, number);   // readers require the file
        if (!local) fail();
        check(OTF2_Archive_CloseDefWriter(archive_, local));
    }

    static OTF2_TimeStamp stamp(std::int64_t nanoseconds) { return static_cast<OTF2_TimeStamp>(nanoseconds); }

    void enter(OTF2_EvtWriter* writer, RecordedCall const& c) {
        std::unique_ptr<OTF2_AttributeList, decltype(&OTF2_AttributeList_Delete)> attributes(OTF2_AttributeList_New(),
                                                                                             OTF2_AttributeList_Delete);
        if (c.source_line > 0)
            check(OTF2_AttributeList_AddStringRef(
                attributes.get(), source_line_attribute,
                string_number(timeline_.source_lines[static_cast<std::size_t>(c.source_line)])));
        if (c.cause != WaitCause::none)
            check(OTF2_AttributeList_AddStringRef(attributes.get(), wait_cause_attribute,
                                                  string_number(std::string(name_of(c.cause)))));
        check(OTF2_EvtWriter_Enter(writer, attributes.get(), stamp(c.begin), static_cast<OTF2_RegionRef>(c.name)));
    }

    void write_event(OTF2_EvtWriter* writer, int rank, CallEvent const& event, std::int64_t begin, std::int64_t end) {
        if (event.kind == CallEvent::Kind::collective) {
            RecordedCollective const& c = timeline_.collectives[event.index];
            auto const bytes = static_cast<std::uint64_t>(c.bytes);
            check(OTF2_EvtWriter_MpiCollectiveBegin(writer, nullptr, stamp(begin)));
            check(OTF2_EvtWriter_MpiCollectiveEnd(
                writer, nullptr, stamp(end),
                *operation_of(timeline_.algorithms[static_cast<std::size_t>(c.algorithm)].collective),
                static_cast<OTF2_CommRef>(c.comm), rank_in(c.comm, c.root), bytes, bytes));
            return;
        }
        RecordedMessage const& m = timeline_.messages[event.index];
        bool const sent = event.kind == CallEvent::Kind::sent;
        auto const write = sent ? OTF2_EvtWriter_MpiSend : OTF2_EvtWriter_MpiRecv;
        check(write(writer, nullptr, stamp(begin), rank_in(m.comm, sent ? m.to : m.from),
                    static_cast<OTF2_CommRef>(m.comm), static_cast<std::uint32_t>(m.tag),
                    static_cast<std::uint64_t>(m.bytes)));
    }

    /// Translates a world rank to its rank in a communicator; OTF2_UNDEFINED_UINT32 if it is not a known member.
    std::uint32_t rank_in(int comm, int rank) const {
        std::vector<int> const& members = timeline_.comms[static_cast<std::size_t>(comm)].members;
        auto const found = std::ranges::find(members, rank);
        return found == members.end() ? OTF2_UNDEFINED_UINT32 : static_cast<std::uint32_t>(found - members.begin());
    }

    void define_clock() {
        auto const since_1970 = static_cast<std::uint64_t>(std::time(nullptr)) * 1'000'000'000;
        check(OTF2_GlobalDefWriter_WriteClockProperties(definitions_, 1'000'000'000, 0,
                                                        static_cast<std::uint64_t>(timeline_.length) + 1, since_1970));
    }

    /// Defines a string when a definition first needs it; strings that events refer to are defined before all others.
    OTF2_StringRef define_string(std::string const& text) {
        OTF2_StringRef const number = string_number(text);
        for (; strings_defined_ <= number; strings_defined_++)
            check(OTF2_GlobalDefWriter_WriteString(definitions_, strings_defined_,
                                                   string_list_[strings_defined_]->c_str()));
        return number;
    }

    void define_attributes() {
        check(OTF2_GlobalDefWriter_WriteAttribute(definitions_, source_line_attribute, define_string("place"),
                                                  define_string("source line of the call"), OTF2_TYPE_STRING));
        check(OTF2_GlobalDefWriter_WriteAttribute(definitions_, wait_cause_attribute, define_string("waited for"),
                                                  define_string("why the call waited"), OTF2_TYPE_STRING));
    }

    void define_locations() {
        OTF2_SystemTreeNodeRef const machine = 0;
        check(OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions_, machine, define_string("job"),
                                                       define_string("machine"), OTF2_UNDEFINED_SYSTEM_TREE_NODE));
        std::map<int, OTF2_SystemTreeNodeRef> nodes;
        for (RankRecording const& rank : recording_.ranks) {
            auto const [node, added] =
                nodes.try_emplace(rank.node, static_cast<OTF2_SystemTreeNodeRef>(nodes.size() + 1));
            if (added)
                check(OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions_, node->second, define_string(rank.host),
                                                               define_string("node"), machine));
            check(OTF2_GlobalDefWriter_WriteLocationGroup(
                definitions_, static_cast<OTF2_LocationGroupRef>(rank.rank), define_string(join("rank ", rank.rank)),
                OTF2_LOCATION_GROUP_TYPE_PROCESS, node->second, OTF2_UNDEFINED_LOCATION_GROUP));
        }
        for (std::size_t i = 0; i < locations_.size(); i++) {
            Location const& l = locations_[i];
            std::string const name =
                i < members_ ? join("rank ", l.rank) : join("rank ", l.rank, ", thread ", l.thread);
            check(OTF2_GlobalDefWriter_WriteLocation(definitions_, i, define_string(name),
                                                     OTF2_LOCATION_TYPE_CPU_THREAD, l.events,
                                                     static_cast<OTF2_LocationGroupRef>(l.rank)));
        }
    }

    void define_regions() {
        for (std::size_t i = 0; i < timeline_.names.size(); i++) {
            OTF2_StringRef const name = define_string(timeline_.names[i]);
            check(OTF2_GlobalDefWriter_WriteRegion(definitions_, static_cast<OTF2_RegionRef>(i), name, name,
                                                   define_string(""), OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_MPI,
                                                   OTF2_REGION_FLAG_NONE, define_string(""), 0, 0));
        }
    }

    void define_comms() {
        std::vector<std::uint64_t> members(members_);
        for (std::size_t i = 0; i < members_; i++) members[i] = i;
        check(OTF2_GlobalDefWriter_WriteGroup(definitions_, all_locations, define_string("ranks"),
                                              OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                              static_cast<std::uint32_t>(members.size()), members.data()));
        for (std::size_t i = 0; i < timeline_.comms.size(); i++) {
            members.clear();
            for (int rank : timeline_.comms[i].members)
                if (auto const found = member_of_.find(rank); found != member_of_.end())
                    members.push_back(found->second);
            auto const group = static_cast<OTF2_GroupRef>(all_locations + 1 + i);
            OTF2_StringRef const name = define_string(timeline_.comms[i].name);
            check(OTF2_GlobalDefWriter_WriteGroup(definitions_, group, name, OTF2_GROUP_TYPE_COMM_GROUP,
                                                  OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                                  static_cast<std::uint32_t>(members.size()), members.data()));
            check(OTF2_GlobalDefWriter_WriteComm(definitions_, static_cast<OTF2_CommRef>(i), name, group,
                                                 OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
        }
    }

    std::string file_, error_;
    Recording const& recording_;
    Timeline const& timeline_;
    EventsByCall events_by_call_;
    OTF2_ErrorCallback earlier_callback_ = nullptr;
    OTF2_Archive* archive_ = nullptr;
    OTF2_GlobalDefWriter* definitions_ = nullptr;
    std::vector<Location> locations_, other_threads_;
    std::size_t members_ = 0;                  ///< locations that are members of communicators
    std::map<int, std::uint64_t> member_of_;   ///< by world rank
    std::map<std::string, OTF2_StringRef> strings_;
    std::vector<std::string const*> string_list_;   ///< keys of `strings_`, by number
    OTF2_StringRef strings_defined_ = 0;            ///< number of strings already defined
};

}   // namespace

void check_otf2_archive(std::string const& file) {
    check_output_file("--trace", file, [](std::string_view begin) {   // the anchor file names its creator
        return begin.find("OTF2") != begin.npos && begin.find("Tutti ") != begin.npos;
    });
    std::vector<fs::path> const foreign = files_in_place(file).foreign;
    if (!foreign.empty())
        throw LaunchError(join("--trace: ", foreign.front().native(),
                               " exists and was not written by mpiexec --trace, and ", file,
                               " needs this place; remove it or choose another name"));
}

void write_otf2_archive(std::string const& file, Recording const& recording, Timeline const& timeline) {
    Archive(file, recording, timeline).write();
}
#endif

}   // namespace tutti::launcher
