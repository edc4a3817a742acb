// SPDX-License-Identifier: BSD-3-Clause
// Writes events into the ring. What they refer to is written once, before the first event that refers to it.
#include "runtime/state/tracer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "runtime/base/clock.hpp"
#include "runtime/state/call_site.hpp"
#include "topo/files.hpp"

// Calls that a trace omits or merges, by name.

namespace tutti {

/// Returns true for a call that only queries or describes something at its own rank: there are many, and they take no
/// time.
inline bool is_local(Function call) {
    constexpr std::string_view beginnings[] = {
        "MPI_Type_",       "MPI_Group_",       "MPI_Get_",         "MPI_Info_",        "MPI_Comm_rank",
        "MPI_Comm_size",   "MPI_Comm_get_",    "MPI_Comm_set_",    "MPI_Comm_group",   "MPI_Comm_compare",
        "MPI_Comm_test_",  "MPI_Comm_remote_", "MPI_Comm_compa",   "MPI_Wtime",        "MPI_Wtick",
        "MPI_Initialized", "MPI_Finalized",    "MPI_Query_thread", "MPI_Is_thread_m",  "MPI_Error_",
        "MPI_Errhandler_", "MPI_Op_",          "MPI_Pack",         "MPI_Unpack",       "MPI_Address",
        "MPI_Status_",     "MPI_Attr_",        "MPI_Keyval_",      "MPI_Cart_",        "MPI_Cartdim_get",
        "MPI_Dims_",       "MPI_Topo_test",    "MPI_Win_get_",     "MPI_Win_set_",     "MPI_Free_mem",
        "MPI_Alloc_mem",   "MPI_Pcontrol",     "MPI_Test_cancel",  "MPI_Request_get_", "MPI_Comm_delete_",
        "MPI_Aint_",       "MPI_Comm_free_k",  "MPI_Buffer_",      "MPI_Add_error",    "MPI_Win_call_",
    };
    constexpr Function exceptions[] = {"MPI_Get_accumulate", "MPI_Cart_create", "MPI_Cart_sub"};
    if (std::ranges::find(exceptions, call) != std::end(exceptions)) return false;
    std::string_view const name = call.name();
    return std::ranges::any_of(beginnings, [name](std::string_view b) { return name.starts_with(b); });
}

/// Returns true for a call that programs repeat until it finds something.
inline bool is_polling(std::string_view call) {
    return call.starts_with("MPI_Test") || call == "MPI_Iprobe" || call == "MPI_Improbe" ||
           call == "MPI_Request_get_status" || call == "MPI_Win_test";
}

namespace {

constexpr std::int64_t poll_gap_ns = 20'000;   // between two calls of a loop that only polls

template <std::size_t n>
void copy_text(std::string_view from, char (&to)[n]) {
    std::size_t const bytes = std::min(from.size(), n - 1);
    std::memcpy(to, from.data(), bytes);
    to[bytes] = 0;
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 29;
}

/// Formats ranks as "0-3,8", truncated to `room`.
std::string ranges_of(std::span<int const> ranks, std::size_t room) {
    std::string text;
    for (std::size_t i = 0; i < ranks.size();) {
        std::size_t last = i;
        while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
        std::string next = (i ? "," : "") + std::to_string(ranks[i]);
        if (last > i) next += "-" + std::to_string(ranks[last]);
        if (text.size() + next.size() + 5 > room) return text + (i ? ",…" : "…");
        text += next;
        i = last + 1;
    }
    return text;
}

std::uintptr_t this_thread() { return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()); }

}   // namespace

Tracer::Tracer(Trace& trace) : trace_(trace) {
    new_text("?");
    read_maps();
}

void Tracer::add(TraceEvent const& event) {
    trace_.ring()[next_] = event;
    if (++next_ == trace_.capacity) next_ = 0;
    trace_.events.store(++events_, std::memory_order_release);
}

/// Fills in what the record of a call refers to.
void Tracer::describe(OpenCall& call, Function function, void const* site) {
    Text const text = text_of(function.name(), [&] {
        bool const local = is_local(function);
        return Text{local ? std::uint16_t{0} : new_text(function.name()), local};
    });
    call.site = text.local ? 0 : program_call_site(reinterpret_cast<std::uint64_t>(site));
    call.thread = thread_number();
    call.text = text.number;
}

void Tracer::enter(Function function, void const* site) {
    auto* const end = trace_.open + Trace::max_open;
    auto* free = trace_.open;
    if (open_calls_ != 0)
        free = std::find_if(free, end, [](OpenCall const& c) { return c.begin.load(std::memory_order_relaxed) == 0; });
    if (free == end) return;
    ++open_calls_;
    newest_call_ = free;
    free->text = 0;   // as for a local call: without memory to describe it, this call leaves no event either
    unless_out_of_memory([&] { return describe(*free, function, site), true; });
    free->waited = 0;
    free->events = events_;
    free->stack = this_thread();
    free->begin.store(now_ns(), std::memory_order_release);
}

/// Returns this thread's open call; of nested calls, as in a callback, the innermost.
OpenCall* Tracer::open_call() {
    OpenCall* found = nullptr;
    std::uintptr_t const thread = this_thread();
    if (open_calls_ == 1 && newest_call_->stack == thread && newest_call_->begin.load(std::memory_order_relaxed) != 0)
        return newest_call_;
    for (OpenCall& c : trace_.open)
        if (c.stack == thread && c.begin.load(std::memory_order_relaxed) != 0)
            if (!found || c.begin.load(std::memory_order_relaxed) >= found->begin.load(std::memory_order_relaxed))
                found = &c;
    return found;
}

void Tracer::leave() {
    OpenCall* const call = open_call();
    if (!call) return;
    std::int64_t const now = now_ns(), begin = call->begin.load(std::memory_order_relaxed);
    if (call->text != 0 && !merge_poll(*call, now)) {
        TraceEvent event;
        event.time = begin;
        event.amount = now - begin;
        event.waited = std::min(call->waited, event.amount);
        event.where = call->site;
        event.tag = 1;
        event.text = call->text;
        event.kind = TraceKind::call;
        event.thread = call->thread;
        add(event);
    }
    call->begin.store(0, std::memory_order_release);
    --open_calls_;
}

std::int64_t Tracer::begin_time() {
    OpenCall const* const call = open_call();
    bool const unchanged = call && call->events == events_ && call->waited == 0;
    return unchanged ? call->begin.load(std::memory_order_relaxed) : now_ns();
}

/// Merges a poll into the last event if possible. A polling program must not fill its trace: polls that find nothing
/// become one event.
bool Tracer::merge_poll(OpenCall const& call, std::int64_t now) {
    if (events_ == 0 || call.events != events_) return false;
    TraceEvent& last = trace_.ring()[(next_ == 0 ? trace_.capacity : next_) - 1];
    bool const same =
        last.kind == TraceKind::call && last.text == call.text && last.where == call.site && last.thread == call.thread;
    std::int64_t const begin = call.begin.load(std::memory_order_relaxed);
    if (!same || begin - (last.time + last.amount) > poll_gap_ns) return false;
    if (!is_polling(trace_.texts[call.text])) return false;
    last.amount = now - last.time;
    last.waited += call.waited;
    ++last.tag;
    return true;
}

void Tracer::waited(std::int64_t nanoseconds) {
    if (OpenCall* const call = open_call()) call->waited += nanoseconds;
}

/// Returns how often it was called before with this key.
std::int64_t Tracer::count(std::uint64_t key) {
    auto& recent = recent_counts_[slot_of(key)];
    if (!recent.value || recent.key != key) recent = {key, &counts_[key]};
    return (*recent.value)++;
}

/// `key` identifies the messages that are numbered together.
void Tracer::message(TraceEvent event, std::uint64_t key, std::uint64_t context, int tag, std::size_t bytes) {
    unless_out_of_memory([&] {
        event.amount = static_cast<std::int64_t>(bytes);
        event.waited = count(key);
        event.where = context;
        event.tag = tag;
        event.thread = thread_number();
        return add(event), true;
    });
}

void Tracer::sent(std::int64_t when, std::uint64_t context, int source, int tag, int world_dest, std::size_t bytes) {
    auto const key =
        mixed(mixed(mixed(1, context), static_cast<std::uint32_t>(source)),
              std::uint64_t{static_cast<std::uint32_t>(tag)} << 32 | static_cast<std::uint32_t>(world_dest));
    TraceEvent event;
    event.time = when;
    event.peer = world_dest;
    event.kind = TraceKind::sent;
    message(event, key, context, tag, bytes);
}

void Tracer::received(std::uint64_t context, int source, int tag, std::size_t bytes, bool receive_first) {
    auto const key =
        mixed(mixed(mixed(2, context), static_cast<std::uint32_t>(source)), static_cast<std::uint32_t>(tag));
    TraceEvent event;
    event.time = now_ns();
    event.peer = source;
    event.kind = TraceKind::received;
    event.flags = receive_first ? TraceEvent::receive_first : 0;
    message(event, key, context, tag, bytes);
}

void Tracer::begin_collective(std::uint64_t context, int root, std::size_t bytes, std::uint16_t text) {
    TraceEvent event;
    event.time = begin_time();
    event.amount = static_cast<std::int64_t>(bytes);
    event.waited = count(mixed(3, context));
    event.where = context;
    event.peer = root;
    event.text = text;
    event.kind = TraceKind::collective;
    event.thread = thread_number();
    add(event);
}

void Tracer::communicator(std::uint64_t context, int rank, std::span<int const> members, std::string_view name) {
    unless_out_of_memory([&] { return add_communicator(context, rank, members, name), true; });
}

void Tracer::add_communicator(std::uint64_t context, int rank, std::span<int const> members, std::string_view name) {
    auto [known, fresh] = comms_.try_emplace(context, static_cast<std::uint32_t>(comms_.size()));
    if (known->second >= Trace::max_comms) return;
    TracedComm& comm = trace_.comms[known->second];
    copy_text(name, comm.name);
    if (!fresh) return;
    comm.context = context;
    comm.size = static_cast<std::int32_t>(members.size());
    comm.rank = rank;
    copy_text(ranges_of(members, sizeof comm.members), comm.members);
    trace_.comms_used.store(known->second + 1, std::memory_order_release);
}

/// Returns the index of a text; equal texts share one.
std::uint16_t Tracer::new_text(std::string_view text) {
    std::uint32_t const used = trace_.texts_used.load(std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < used; ++i)
        if (text == trace_.texts[i]) return static_cast<std::uint16_t>(i);
    if (used == Trace::max_texts) return 0;
    copy_text(text, trace_.texts[used]);
    trace_.texts_used.store(used + 1, std::memory_order_release);
    return static_cast<std::uint16_t>(used);
}

/// Returns the call site in the program. MPI functions that Fortran calls return into an MPI library, so the
/// program's frame lies further up.
std::uint64_t Tracer::program_call_site(std::uint64_t site) {
    if (is_program_code(site)) return site;
    std::array<std::uint64_t, 8> stack{};
    std::size_t const known = program_stack(stack);
    for (std::size_t i = 0; i < known; ++i)
        if (is_program_code(stack[i])) return stack[i];
    return site;
}

/// Returns true if the address belongs to the program. Rereads the maps for libraries that were loaded in the
/// meantime.
bool Tracer::is_program_code(std::uint64_t address) {
    auto const holds = [address](auto const& range) { return range.first <= address && address < range.second; };
    if (holds(last_code_)) return true;
    for (int attempt = 0; attempt < 2 && !unknown_.contains(address); ++attempt) {
        auto const found = std::ranges::find_if(code_, holds);
        if (found != code_.end()) {
            last_code_ = *found;
            return true;
        }
        if (attempt == 0) read_maps();
    }
    unknown_.insert(address);
    return false;
}

void Tracer::read_maps() {
    std::string const maps = topo::read_system_file("/proc/self/maps");
    std::string file_maps;
    code_.clear();
    topo::for_each_mapping(maps, [&](topo::Mapping const& mapping) {
        if (!mapping.is_file() || file_maps.size() + mapping.line.size() + 1 > Trace::max_maps) return;
        file_maps.append(mapping.line).append("\n");
        bool const is_mpi_library = mapping.name.find("/libmpi") != mapping.name.npos || in_this_library(mapping.begin);
        if (mapping.executable() && !is_mpi_library) code_.emplace_back(mapping.begin, mapping.end);
    });
    file_maps.copy(trace_.maps, file_maps.size());
    trace_.maps_bytes.store(static_cast<std::uint32_t>(file_maps.size()), std::memory_order_release);
}

std::uint32_t Tracer::thread_number() {
    std::uintptr_t const thread = this_thread();
    if (thread == last_thread_) return last_thread_number_;
    auto found = std::ranges::find(threads_, thread);
    if (found == threads_.end()) found = threads_.insert(found, thread);
    last_thread_ = thread;
    return last_thread_number_ = static_cast<std::uint32_t>(found - threads_.begin());
}

}   // namespace tutti
