// SPDX-License-Identifier: BSD-3-Clause
// Describes calls: prototypes from mpi.h, then a text for each kind of argument.
#include "mpi_h/entry/call_words.hpp"

#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include <sys/uio.h>
#include <unistd.h>

#include "coll/match/call_record.hpp"
#include "mpi_h/entry/entry.hpp"

namespace tutti {
namespace {

/// By the number of the function: "MPI_Comm,comm;int *,size;".
constexpr std::string_view parameters_of[] = {
    "",
#define PARAMETER(type, name) #type "," #name ";"
#define FUNCTION(name, parameters) "" parameters,
#include "prototypes.inc"
#undef FUNCTION
#undef PARAMETER
};

struct Argument {
    std::string_view type, name;
    std::intptr_t value;

    bool is_one_of(std::string_view names) const { return names.find(join(" ", name, " ")) != names.npos; }
    bool name_ends_with(std::string_view with) const { return name.ends_with(with); }
    int number() const { return static_cast<int>(value); }
    bool is_pointer() const { return type.ends_with('*'); }
};

/// Returns an empty list if the values do not match the parameters; only trailing addresses of results may be missing.
std::vector<Argument> arguments_of(Function function, std::span<std::intptr_t const> values) {
    std::string_view rest = parameters_of[function.number()];
    std::vector<Argument> all;
    for (std::intptr_t const value : values) {
        std::size_t const comma = rest.find(','), end = rest.find(';');
        if (end == rest.npos) return {};
        all.push_back({rest.substr(0, comma), rest.substr(comma + 1, end - comma - 1), value});
        rest.remove_prefix(end + 1);
    }
    for (; !rest.empty(); rest.remove_prefix(rest.find(';') + 1))
        if (!rest.substr(0, rest.find(',')).ends_with('*')) return {};
    return all;
}

/// Copies memory of this process that may be unmapped; returns the number of bytes read. The pages are separate
/// requests, so that the first one is read if the second one is unmapped.
std::size_t read_memory(std::intptr_t address, void* to, std::size_t bytes) {
    constexpr std::size_t page = 4096;
    if (Call::no_address(reinterpret_cast<void const*>(address))) return 0;
    std::size_t const in_first = std::min(bytes, page - static_cast<std::size_t>(address) % page);
    auto* const from = reinterpret_cast<char*>(address);
    iovec const here{to, bytes}, there[] = {{from, in_first}, {from + in_first, bytes - in_first}};
    ssize_t const got = process_vm_readv(getpid(), &here, 1, there, in_first < bytes ? 2 : 1, 0);
    return got < 0 ? 0 : static_cast<std::size_t>(got);
}

/// Returns the handle or number at an address; none if it cannot be read.
std::optional<int> number_at(std::intptr_t address) {
    int number = 0;
    if (read_memory(address, &number, sizeof number) != sizeof number) return {};
    return number;
}

/// Returns a string of the program, quoted and cut after `most` bytes; "NULL", or empty if it cannot be read.
std::string text_at(std::intptr_t address) {
    constexpr std::size_t most = 40;
    if (address == 0) return "NULL";
    char text[most + 1] = {};
    std::size_t const got = read_memory(address, text, sizeof text), length = strnlen(text, got);
    if (got == 0) return "";
    for (char& c : text)
        if (static_cast<unsigned char>(c) < ' ') c = c ? '?' : c;
    return length <= most ? join('"', std::string_view(text, length), '"')
                          : join('"', std::string_view(text, most), "…\"");
}

struct Constant {
    std::string_view parameters;   ///< with a blank around each
    int value;
    char const* name;
};
constexpr Constant constants[] = {
    {" lock_type ", MPI_LOCK_EXCLUSIVE, "MPI_LOCK_EXCLUSIVE"},
    {" lock_type ", MPI_LOCK_SHARED, "MPI_LOCK_SHARED"},
    {" split_type ", MPI_COMM_TYPE_SHARED, "MPI_COMM_TYPE_SHARED"},
    {" split_type ", MPI_COMM_TYPE_HW_GUIDED, "MPI_COMM_TYPE_HW_GUIDED"},
    {" split_type ", MPI_COMM_TYPE_HW_UNGUIDED, "MPI_COMM_TYPE_HW_UNGUIDED"},
    {" split_type ", MPI_COMM_TYPE_RESOURCE_GUIDED, "MPI_COMM_TYPE_RESOURCE_GUIDED"},
    {" split_type color p r ", MPI_UNDEFINED, "MPI_UNDEFINED"},
    {" required ", MPI_THREAD_SINGLE, "MPI_THREAD_SINGLE"},
    {" required ", MPI_THREAD_FUNNELED, "MPI_THREAD_FUNNELED"},
    {" required ", MPI_THREAD_SERIALIZED, "MPI_THREAD_SERIALIZED"},
    {" required ", MPI_THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE"},
    {" order ", MPI_ORDER_C, "MPI_ORDER_C"},
    {" order ", MPI_ORDER_FORTRAN, "MPI_ORDER_FORTRAN"},
    {" rank ", MPI_PROC_NULL, "MPI_PROC_NULL"},
};

std::string assertion_text(int assertions) {
    constexpr std::pair<int, char const*> bits[] = {{MPI_MODE_NOCHECK, "MPI_MODE_NOCHECK"},
                                                    {MPI_MODE_NOSTORE, "MPI_MODE_NOSTORE"},
                                                    {MPI_MODE_NOPUT, "MPI_MODE_NOPUT"},
                                                    {MPI_MODE_NOPRECEDE, "MPI_MODE_NOPRECEDE"},
                                                    {MPI_MODE_NOSUCCEED, "MPI_MODE_NOSUCCEED"}};
    std::string text;
    for (auto const& [bit, name] : bits)
        if (assertions & bit) text += join(text.empty() ? "" : " | ", name), assertions &= ~bit;
    return assertions == 0 ? text : text.empty() ? join("assert ", assertions) : join(text, " | ", assertions);
}

std::string number_text(Argument const& a) {
    if (a.name == "assert") return a.value == 0 ? "" : assertion_text(a.number());
    for (Constant const& constant : constants)
        if (a.is_one_of(constant.parameters) && a.value == constant.value)
            return a.is_one_of(" color rank p r ") ? join(a.name, " ", constant.name) : constant.name;
    return join(a.name, " ", a.value);
}

// Objects by their handles, which may be invalid. Before MPI_Init no object exists, but predefined handles are
// described.

std::string type_text(int handle) {
    if (handle == MPI_DATATYPE_NULL) return "MPI_DATATYPE_NULL";
    Datatype const* const type = library().tables.datatypes.find(handle);
    if (!type) return library().tables.datatypes.is_builtin_handle(handle) ? "a predefined datatype" : "no datatype";
    return type->name.empty() ? "a datatype of the program" : type->name;
}

std::string amount_text(std::intptr_t count, int handle) {
    std::string const type = type_text(handle);
    return join(count, type.starts_with("no ") || type.starts_with("a ") ? " of " : " ", type);
}

std::string comm_text(int handle) {
    if (handle == MPI_COMM_NULL) return "MPI_COMM_NULL";
    Comm const* const comm = library().tables.comms.find(handle);
    if (comm) return comm->description();
    return handle == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : handle == MPI_COMM_SELF ? "MPI_COMM_SELF" : "no communicator";
}

std::string window_text(int handle) {
    if (handle == MPI_WIN_NULL) return "MPI_WIN_NULL";
    rma::Window const* const window = library().tables.wins.find(handle);
    return window ? window->description() : "no window";
}

std::string group_text(int handle) {
    if (handle == MPI_GROUP_NULL) return "MPI_GROUP_NULL";
    if (handle == MPI_GROUP_EMPTY) return "MPI_GROUP_EMPTY";
    Group const* const group = library().tables.groups.find(handle);
    return !group ? "no group" : join("a group of ", group->size(), group->size() == 1 ? " rank" : " ranks");
}

std::string op_text(int handle) {
    if (handle == MPI_OP_NULL) return "MPI_OP_NULL";
    Op const* const op = library().tables.ops.find(handle);
    return op                                               ? coll::op_description(coll::recorded_op(*op))
           : library().tables.ops.is_builtin_handle(handle) ? "a predefined operator"
                                                            : "no operator";
}

std::string info_text(int handle) {
    if (handle == MPI_INFO_NULL) return "MPI_INFO_NULL";
    if (handle == MPI_INFO_ENV) return "MPI_INFO_ENV";
    Info const* const info = library().tables.infos.find(handle);
    if (!info) return "no info object";
    return join("an info object of ", info->entries.size(), info->entries.size() == 1 ? " key" : " keys");
}

std::string errhandler_text(int handle) {
    if (handle == MPI_ERRHANDLER_NULL) return "MPI_ERRHANDLER_NULL";
    Errhandler const* const errhandler = library().tables.errhandlers.find(handle);
    if (!errhandler) return "no error handler";
    return errhandler->kind == Errhandler::Kind::user    ? "an error handler of the program"
           : errhandler->kind == Errhandler::Kind::fatal ? "MPI_ERRORS_ARE_FATAL"
                                                         : "MPI_ERRORS_RETURN";
}

std::string request_text(int handle) {
    if (handle == MPI_REQUEST_NULL) return "MPI_REQUEST_NULL";
    Request const* const request = library().tables.requests.find(handle);
    if (!request) return "no request";
    BlockedCall blocked;
    request->describe(blocked);
    return blocked.call;
}

std::string message_text(int handle) {
    return handle == MPI_MESSAGE_NULL                          ? "MPI_MESSAGE_NULL"
           : handle == MPI_MESSAGE_NO_PROC                     ? "MPI_MESSAGE_NO_PROC"
           : library().tables.requests.find(handle) == nullptr ? "no message"
                                                               : "a message";
}

struct HandleKind {
    std::string_view type;
    std::string (*text)(int handle);
};
constexpr HandleKind handle_kinds[] = {
    {"MPI_Comm", comm_text},       {"MPI_Win", window_text},      {"MPI_Group", group_text},
    {"MPI_Op", op_text},           {"MPI_Info", info_text},       {"MPI_Errhandler", errhandler_text},
    {"MPI_Request", request_text}, {"MPI_Message", message_text}, {"MPI_Datatype", type_text},
};

HandleKind const* kind_of(std::string_view type) {
    for (HandleKind const& kind : handle_kinds)
        if (kind.type == type) return &kind;
    return nullptr;
}

std::string rank_text(int rank) {
    switch (rank) {
    case MPI_PROC_NULL: return "MPI_PROC_NULL";
    case MPI_ANY_SOURCE: return "any source";
    case MPI_ROOT: return "MPI_ROOT";
    default: return join("rank ", rank);
    }
}

class CallDescriber {
public:
    CallDescriber(std::string_view function, std::vector<Argument> arguments, std::string const& request)
        : function_(function), arguments_(std::move(arguments)), request_(request) {}

    std::string text() {
        for (std::size_t i = 0; i < arguments_.size(); ++i) add(i);
        std::string call = join(function_, "(");
        for (Part const& part : parts_)
            call += join(&part == &parts_.front() ? "" : part.follows_amount ? " " : ", ", part.text);
        return call + ")";
    }

private:
    struct Part {
        std::string text;
        bool amount = false;           ///< an amount of data
        bool follows_amount = false;   ///< belongs to the part before, which is an amount
    };

    void add_part(std::string text) {
        if (!text.empty()) parts_.push_back({std::move(text)});
    }
    Argument const* next(std::size_t i) const { return i + 1 < arguments_.size() ? &arguments_[i + 1] : nullptr; }
    bool has(std::string_view text) const { return function_.find(text) != function_.npos; }
    Argument const* find(std::string_view name) const {
        for (Argument const& a : arguments_)
            if (a.name == name) return &a;
        return nullptr;
    }

    void add(std::size_t i) {
        Argument const& a = arguments_[i];
        if (a.is_pointer()) return add_pointer(a);
        if (a.type == "MPI_Datatype") return add_type(i);
        if (HandleKind const* const kind = kind_of(a.type)) return add_part(kind->text(a.number()));
        if (a.is_one_of(" dest source target_rank ")) return add_peer(a);
        if (a.name == "root") return add_part(a.value < 0 ? join("root ", rank_text(a.number())) : number_text(a));
        if (a.is_one_of(" tag sendtag recvtag "))
            return add_part(a.value == MPI_ANY_TAG ? "any tag" : join("tag ", a.value));
        if (a.name == "target_disp") return add_part(join("displacement ", a.value));
        if (a.name_ends_with("count"))
            if (Argument const* const of = next(i)) {
                if (of->type == "MPI_Datatype") return;   // the type is described with its count
                if (of->type == "MPI_Request *") {
                    add_part(join(a.value, a.value == 1 ? " request" : " requests"));
                    return add_part(request_);
                }
            }
        add_part(number_text(a));
    }

    /// Adds "4 MPI_INT"; without the number if an array contains the counts of all ranks.
    void add_type(std::size_t i) {
        Argument const& a = arguments_[i];
        Argument const* const count = i > 0 && arguments_[i - 1].name_ends_with("count") ? &arguments_[i - 1] : nullptr;
        if (!significant(a)) return;
        std::string text = count ? amount_text(count->value, a.number()) : type_text(a.number());
        Part* const other = a.is_one_of(" recvtype target_datatype result_datatype ") ? amount() : nullptr;
        if (other && !has("endrecv")) {
            if (other->text == text || other->text.ends_with(" " + text)) return;
            if (text.ends_with(" " + other->text)) return void(other->text = text);
            text = join(a.name == "recvtype" ? "received as " : a.name == "result_datatype" ? "result " : "as ", text);
        }
        parts_.push_back({text, true, false});
    }

    /// Returns false for the datatype of a side that is not significant: the root's side on other ranks, or the send
    /// side with MPI_IN_PLACE.
    bool significant(Argument const& a) const {
        Argument const *const root = find("root"), *const comm = find("comm"), *const sendbuf = find("sendbuf");
        if (a.name == "sendtype" && sendbuf && sendbuf->value == reinterpret_cast<std::intptr_t>(MPI_IN_PLACE))
            return false;
        if (!root || !comm || !a.is_one_of(has("catter") ? " sendtype " : " recvtype ")) return true;
        Comm const* const c = library().tables.comms.find(comm->number());
        return !c || root->value == (c->is_inter() ? MPI_ROOT : c->rank());
    }

    Part* amount() {
        for (Part& part : parts_)
            if (part.amount) return &part;
        return nullptr;
    }

    void add_peer(Argument const& a) {
        bool const gets = has("MPI_Get") || has("MPI_Rget") || has("_and_");
        char const* const direction = a.name == "dest"            ? "to "
                                      : a.name == "source"        ? "from "
                                      : !gets                     ? "to "
                                      : function_.ends_with("et") ? "from "
                                                                  : "at ";
        bool const follows = !parts_.empty() && parts_.back().amount;
        parts_.push_back({join(direction, rank_text(a.number())), false, follows});
    }

    void add_pointer(Argument const& a) {
        std::string_view const target = a.type.substr(0, a.type.find_last_not_of("* ") + 1);
        if (a.is_one_of(" buf buffer sendbuf recvbuf inbuf outbuf inoutbuf ") &&
            a.value == reinterpret_cast<std::intptr_t>(MPI_IN_PLACE))
            return add_part("MPI_IN_PLACE");
        if (a.type == "const char *") {
            if (std::string const text = text_at(a.value); !text.empty()) add_part(join(a.name, " ", text));
            return;
        }
        bool const wrong = Call::no_address(reinterpret_cast<void const*>(a.value));
        if (wrong && a.value == 0 && !a.is_one_of(" argc argv ") && a.type.find("void") == a.type.npos)
            return add_part(join(a.name, " NULL"));
        if (wrong || !uses_handle()) return;
        HandleKind const* const kind = kind_of(target);
        bool const single = !a.name.starts_with("array") && a.type.find("**") == a.type.npos;
        if (kind && single && !request_.empty() && target == "MPI_Request") return add_part(request_);
        std::optional<int> const handle = kind && single ? number_at(a.value) : std::nullopt;
        if (handle) add_part(kind->text(*handle));
    }

    /// Returns true if the call uses the handles at the addresses that it receives, rather than writing them.
    bool uses_handle() const {
        static constexpr std::string_view names =
            " MPI_Wait MPI_Test MPI_Start MPI_Cancel MPI_Mrecv MPI_Imrecv MPI_Type_commit MPI_Comm_disconnect ";
        return function_.ends_with("_free") || names.find(join(" ", function_, " ")) != names.npos;
    }

    std::string_view function_;
    std::vector<Argument> arguments_;
    std::string const& request_;
    std::vector<Part> parts_;
};

}   // namespace

std::string describe_call(Function function, std::span<std::intptr_t const> arguments, std::string const& request) {
    std::vector<Argument> list = arguments_of(function, arguments);
    if (list.empty() && !arguments.empty()) return function.name();
    return CallDescriber(function.name(), std::move(list), request).text();
}

}   // namespace tutti
