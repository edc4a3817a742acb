// SPDX-License-Identifier: BSD-3-Clause
// The values that arguments.cpp passes for a parameter, by its type and name in mpi.h: valid or spoiled. Spoiled values
// never point to unmapped memory that a call would access. If no check can detect a wrong value (such as a count larger
// than its buffer), the test must be sure that another argument is refused first.
#pragma once

#include <climits>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <string_view>

#include "tests/ranks/errors/argument_objects.hpp"
#include "tests/ranks/errors/functions.hpp"

/// fine: valid. odd: may be refused. bad: must be refused if no other argument is odd. wild: no check can detect it.
enum class Quality { fine, odd, bad, wild };

struct Value {
    Word word;
    Quality quality;
};

class Values {
public:
    explicit Values(std::uint64_t seed) : random_(seed) {
        for (int k = 0; k <= static_cast<int>(Kind::keyval); ++k) handles_[static_cast<Kind>(k)] = handles_of(Kind(k));
        MPI_T_cvar_handle_alloc(0, nullptr, &cvar_, &ignored_);
        MPI_T_pvar_session_create(&session_);
        MPI_T_pvar_handle_alloc(session_, 0, nullptr, &pvar_, &ignored_);
        MPI_Datatype type;
        MPI_T_enum items = MPI_T_ENUM_NULL;
        int pvars = 0;
        MPI_T_pvar_get_num(&pvars);
        for (int i = 0; i < pvars && !items; ++i) {
            MPI_T_pvar_get_info(i, nullptr, nullptr, nullptr, nullptr, &type, &items, nullptr, nullptr, nullptr,
                                nullptr, nullptr, nullptr);
        }
        items_ = items;
    }
    ~Values() {
        for (auto& [kind, handles] : handles_)
            for (auto* list : {&handles.fine, &handles.odd, &handles.wild})
                for (int handle : *list) end_object(kind, handle);
        MPI_T_pvar_session_free(&session_);
        MPI_T_cvar_handle_free(&cvar_);
    }
    Values(Values const&) = delete;
    Values& operator=(Values const&) = delete;

    unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
    Value pick(Function const& f, std::size_t index, bool spoil);
    /// Frees the objects and memory that the last call has stored.
    void clean_up();

private:
    template <class T>
    T one_of(std::initializer_list<T> list) {
        return list.begin()[below(static_cast<unsigned>(list.size()))];
    }
    static Word word(int n) { return static_cast<Word>(static_cast<std::intptr_t>(n)); }
    template <class T>
    static Word word(T* p) {
        return reinterpret_cast<Word>(p);
    }

    Value number(Function const& f, Parameter const& p, bool spoil);
    Value handle(Kind kind, Function const& f, bool spoil);
    int wrong_handle(Kind kind);
    Value tool_handle(Word fine, bool spoil) { return spoil ? no_address(Quality::bad) : Value{fine, Quality::fine}; }
    Value pointer(Function const& f, Parameter const& p, std::size_t index, bool spoil);
    std::optional<Value> special(Function const& f, Parameter const& p, std::size_t index, bool spoil);
    Value buffer(Function const& f, Parameter const& p, bool spoil);
    Value text(Parameter const& p, bool spoil);
    Value function(Parameter const& p, bool spoil);
    Value status(Function const& f, std::size_t index, bool spoil);
    Value numbers(Function const& f, Parameter const& p, std::size_t index, bool spoil);
    Value handle_slot(Kind kind, Function const& f, Parameter const& p, std::size_t index, bool spoil);
    Value no_address(Quality null) {
        if (below(3) == 0) return {0, null};
        return {word(one_of({1, -1, 2, 4095, -4096, INT_MIN})), Quality::bad};
    }
    int any_number() {
        return one_of({0,
                       1,
                       2,
                       3,
                       7,
                       64,
                       -1,
                       -2,
                       -3,
                       -7,
                       1000,
                       1 << 20,
                       INT_MAX,
                       INT_MAX - 1,
                       INT_MIN,
                       INT_MIN + 1,
                       MPI_UNDEFINED,
                       MPI_ORDER_C,
                       MPI_ORDER_FORTRAN,
                       MPI_DISTRIBUTE_BLOCK,
                       MPI_DISTRIBUTE_NONE,
                       MPI_DISTRIBUTE_CYCLIC,
                       MPI_DISTRIBUTE_DFLT_DARG,
                       MPI_COMM_WORLD,
                       MPI_ERR_LASTCODE});
    }

    struct Left {
        Kind kind;
        int* at;
        int handles;
    };

    static constexpr std::size_t room = 1 << 14, data_room = 1 << 20, most_parameters = 16, list_room = 64;
    std::mt19937_64 random_;
    std::map<Kind, Handles> handles_;
    std::vector<Left> left_;
    std::vector<void*> memory_;    ///< from MPI_Alloc_mem
    void** allocated_ = nullptr;   ///< where the tested call stores an address from MPI_Alloc_mem
    int ignored_ = 0;
    MPI_T_cvar_handle cvar_ = MPI_T_CVAR_HANDLE_NULL;
    MPI_T_pvar_handle pvar_ = MPI_T_PVAR_HANDLE_NULL;
    MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
    MPI_T_enum items_ = MPI_T_ENUM_NULL;
    alignas(64) unsigned char slots_[most_parameters][room] = {};
    alignas(64) unsigned char data_[2][data_room] = {};
    alignas(64) unsigned char attached_[1 << 16] = {};
    std::string long_text_ = std::string(100000, 'x');
};

inline std::optional<Kind> kind_of(std::string_view type) {
    static std::map<std::string_view, Kind> const kinds = {{"MPI_Comm", Kind::comm},
                                                           {"MPI_Group", Kind::group},
                                                           {"MPI_Datatype", Kind::datatype},
                                                           {"MPI_Op", Kind::op},
                                                           {"MPI_Request", Kind::request},
                                                           {"MPI_Message", Kind::message},
                                                           {"MPI_Info", Kind::info},
                                                           {"MPI_Errhandler", Kind::errhandler},
                                                           {"MPI_Win", Kind::win},
                                                           {"MPI_T_cvar_handle", Kind::cvar},
                                                           {"MPI_T_pvar_handle", Kind::pvar},
                                                           {"MPI_T_pvar_session", Kind::session}};
    auto const found = kinds.find(type);
    return found == kinds.end() ? std::nullopt : std::optional(found->second);
}

inline Value Values::pick(Function const& f, std::size_t index, bool spoil) {
    Parameter p = f.parameters[index];
    if (p.type.substr(0, 6) == "const ") p.type.remove_prefix(6);
    if (p.type.back() == '*') return pointer(f, p, index, spoil);
    if (p.type == "MPI_T_enum") return tool_handle(word(items_), spoil);
    auto const kind = kind_of(p.type);
    if (!kind) return number(f, p, spoil);
    switch (*kind) {
    case Kind::cvar: return tool_handle(word(cvar_), spoil);
    case Kind::pvar: return tool_handle(word(below(2) ? pvar_ : MPI_T_PVAR_ALL_HANDLES), spoil);
    case Kind::session: return tool_handle(word(session_), spoil);
    default: return handle(*kind, f, spoil);
    }
}

inline Value Values::number(Function const& f, Parameter const& p, bool spoil) {
    auto const made = [&](int fine, std::initializer_list<int> odd, std::initializer_list<int> bad, Quality huge) {
        if (!spoil) return Value{word(fine), Quality::fine};
        unsigned const choice = below(4);
        if (choice == 0) return Value{word(one_of(odd)), Quality::odd};
        if (choice == 1) return Value{word(one_of({INT_MAX, INT_MAX - 7, 1 << 30})), huge};
        return Value{word(one_of(bad)), Quality::bad};
    };
    bool const lists = f.starts("MPI_Type_") || f.starts("MPI_Status_") || f.ends("_size") || f.starts("MPI_Dims");
    if (f.starts("MPI_Status_set_") && !p.is(" count "))   // any number can be stored
        return {word(any_number()), spoil ? Quality::odd : Quality::fine};
    if (p.is(" count incount outcount sendcount recvcount origin_count target_count result_count "))
        return made(1 + static_cast<int>(below(3)), {0}, {-1, INT_MIN, -100},
                    lists && p.type == "int" && f.parameters[1].type == "MPI_Datatype" ? Quality::odd : Quality::wild);
    if (p.is(" n ndims indegree outdegree ")) return made(1, {0, 2, 3}, {-1, INT_MIN}, Quality::wild);
    if (p.is(" nnodes ") && !lists) return made(1, {0}, {-1, INT_MIN, 100}, Quality::wild);
    if (p.is(" dest source root local_leader remote_leader target_rank ") || (p.is(" rank ") && f.starts("MPI_Win_")))
        return made(0, {-1, -2, -3}, {2, 100, INT_MIN, -4}, Quality::bad);
    if (p.is(" tag sendtag recvtag ")) return made(7, {-1, 0}, {-2, INT_MIN}, Quality::odd);
    if (p.is(" insize outsize ")) return made(1000, {0, 3}, {-1, INT_MIN}, Quality::wild);
    if (f.starts("MPI_Buffer_attach")) return made(4096, {0, 1, 96, 100}, {-1, INT_MIN}, Quality::wild);
    if (p.is(" disp_unit ")) return made(1, {2, 8}, {0, -1, INT_MIN}, Quality::odd);
    if (p.is(" assert ")) return made(0, {MPI_MODE_NOCHECK, MPI_MODE_NOPUT}, {1, -1, 1 << 20}, Quality::bad);
    if (p.is(" lock_type ")) return made(MPI_LOCK_SHARED, {MPI_LOCK_EXCLUSIVE}, {0, 1, -1}, Quality::bad);
    if (p.name.find("keyval") != p.name.npos) return handle(Kind::keyval, f, spoil);
    if (p.name.substr(0, 3) == "max" || p.is(" len valuelen "))
        return spoil ? Value{word(any_number()), Quality::odd} : Value{word(10), Quality::fine};
    if (f.starts("MPI_Win_") && p.is(" size ") && !spoil) return {64, Quality::fine};
    if ((f.starts("MPI_Alloc_mem") || f.starts("MPI_Win_")) && spoil)
        return {static_cast<Word>(one_of({0L, 1L, -1L, LONG_MIN, LONG_MAX, 1L << 40, 1L << 62})), Quality::odd};
    if (spoil && (p.type == "MPI_Aint" || p.type == "MPI_Count") && below(2))
        return {static_cast<Word>(one_of({LONG_MIN, LONG_MAX, 1L << 61, -(1L << 61), 1L << 40, 3L})), Quality::odd};
    if (spoil) return {word(any_number()), Quality::odd};
    if (p.is(" order ")) return {word(MPI_ORDER_C), Quality::fine};
    return {word(f.starts("MPI_Type_create_darray") ? !p.is(" rank ") : static_cast<int>(below(4))), Quality::fine};
}

inline int Values::wrong_handle(Kind kind) {
    switch (below(4)) {
    case 0:
        return one_of({MPI_COMM_NULL, MPI_GROUP_NULL, MPI_DATATYPE_NULL, MPI_OP_NULL, MPI_REQUEST_NULL, MPI_INFO_NULL,
                       MPI_ERRHANDLER_NULL, MPI_KEYVAL_INVALID, MPI_WIN_NULL});
    case 1: return one_of({0, -1, 1, INT_MAX, INT_MIN, 0x12345678});
    case 2: {   // a handle of this kind that was never created
        unsigned const bits = kind == Kind::message             ? 11u
                              : static_cast<unsigned>(kind) < 3 ? unsigned(kind) + 1
                              : kind == Kind::op                ? 6u
                              : kind == Kind::request           ? 11u
                              : kind == Kind::info              ? 7u
                              : kind == Kind::errhandler        ? 5u
                              : kind == Kind::win               ? 8u
                                                                : 9u;
        return static_cast<int>(one_of({0x40000000u, 0x80000000u, 0xc0000000u}) | bits << 26 |
                                one_of({0xfeu, 0xfffffu, 0x3ffffffu}));
    }
    default: break;
    }
    Kind const other = one_of({Kind::comm, Kind::group, Kind::datatype, Kind::op, Kind::info, Kind::errhandler});
    std::vector<int> const& all = handles_[other == kind ? Kind::keyval : other].fine;
    return all[below(static_cast<unsigned>(all.size()))];
}

inline Value Values::handle(Kind kind, Function const& f, bool spoil) {
    Handles const& all = handles_[kind];
    auto const any = [&](std::vector<int> const& list) {
        return list.empty() ? wrong_handle(kind) : list[below(static_cast<unsigned>(list.size()))];
    };
    if (kind == Kind::request || kind == Kind::message) {
        int const made = spoil ? wrong_handle(kind) : fresh_object(kind, below(100));
        static int places[most_parameters];
        left_.push_back({kind, &(places[left_.size() % most_parameters] = made), 1});
        return {word(made), spoil ? Quality::odd : Quality::fine};
    }
    if (!spoil) return {word(any(all.fine)), Quality::fine};
    if (kind == Kind::comm && below(4) == 0) {   // a freed handle
        int freed = fresh_object(kind, 0);
        end_object(kind, freed);
        return {word(freed), Quality::odd};
    }
    if (!all.wild.empty() && below(5) == 0)
        return {word(any(all.wild)), f.starts("MPI_Type_") || f.starts("MPI_Win_") ? Quality::odd : Quality::wild};
    if (!all.odd.empty() && below(4) == 0) return {word(any(all.odd)), Quality::odd};
    int const wrong = wrong_handle(kind);
    bool const named =
        f.ends("_get_name") && (wrong == MPI_COMM_NULL || wrong == MPI_DATATYPE_NULL || wrong == MPI_WIN_NULL);
    bool const may_be_null = named || (wrong == MPI_INFO_NULL && kind == Kind::info);
    return {word(wrong), may_be_null ? Quality::odd : Quality::bad};
}
