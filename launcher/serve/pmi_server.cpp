// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/serve/pmi_server.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <sys/socket.h>

#include "launcher/base/job.hpp"
#include "launcher/base/pack.hpp"
#include "launcher/placement/allocation.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

// The limits that Hydra announces, with the terminating zero. Clients have buffers of these sizes.
constexpr std::size_t longest_name = 256, longest_key = 64, longest_value = 1024;

/// Consecutive ranks on one node, and how many nodes with as many ranks follow each other.
struct MappingBlock {
    int first_node, nodes, ranks;
};

bool has_valid_sizes(PmiMessage const& put) {
    std::size_t const key = put.text("key").size(), value = put.text("value").size();
    return key > 0 && key < longest_key && value < longest_value;
}

}   // namespace

std::string process_mapping(std::vector<int> const& node_of) {
    std::map<int, int> numbers;
    std::vector<MappingBlock> runs;
    for (int node : node_of) {
        int const number = numbers.try_emplace(node, static_cast<int>(numbers.size())).first->second;
        if (!runs.empty() && runs.back().first_node == number) ++runs.back().ranks;
        else runs.push_back({number, 1, 1});
    }
    std::vector<MappingBlock> blocks;
    for (MappingBlock const& run : runs) {
        bool const continues = !blocks.empty() && blocks.back().ranks == run.ranks &&
                               blocks.back().first_node + blocks.back().nodes == run.first_node;
        if (continues) ++blocks.back().nodes;
        else blocks.push_back(run);
    }
    std::string text = "(vector";
    for (MappingBlock const& block : blocks)
        text += join(",(", block.first_node, ",", block.nodes, ",", block.ranks, ")");
    return text + ")";
}

PmiServer::PmiServer(ServedJob const& job)
    : job_(job), mapping_(process_mapping(job.node_of)), local_ranks_(job.ranks_on(job.node).size()) {
    clients_.resize(local_ranks_);
    if (mapping_.size() >= longest_value) mapping_.clear();   // clients then compare the names of their hosts
}

PmiServer::~PmiServer() = default;

Descriptor PmiServer::connect(std::size_t local_rank) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw LaunchError(join("no socket for PMI can be created: ", std::strerror(errno)), 1);
    int const rank = job_.ranks_on(job_.node)[local_rank];
    clients_[local_rank] = std::make_unique<Client>(Client{local_rank, rank, Descriptor(ends[0])});
    return Descriptor(ends[1]);
}

void PmiServer::watch(std::vector<pollfd>& set) const {
    for (auto const& client : clients_)
        if (client && client->socket)
            set.push_back(
                {client->socket.get(), static_cast<short>(client->unsent.empty() ? POLLIN : POLLIN | POLLOUT), 0});
}

void PmiServer::serve(std::vector<pollfd> const& set, ServerOwner& owner) {
    for (pollfd const& one : set) {
        if (one.revents == 0) continue;
        auto const found = std::ranges::find_if(
            clients_, [&](auto const& client) { return client && client->socket.get() == one.fd; });
        if (found == clients_.end()) continue;
        if (one.revents & POLLOUT) send(**found, "");
        receive(**found, owner);
    }
}

void PmiServer::serve_rank(std::size_t local_rank, ServerOwner& owner) {
    if (local_rank < clients_.size() && clients_[local_rank]) receive(*clients_[local_rank], owner);
}

/// Processes that the rank has started may have inherited the other end, so that its end says nothing of the rank.
void PmiServer::receive(Client& client, ServerOwner& owner) {
    char buffer[4096];
    ssize_t n = 1;
    while (client.socket && n > 0) {
        n = recv(client.socket.get(), buffer, sizeof buffer, MSG_DONTWAIT);
        if (n > 0) client.received.append(buffer, static_cast<std::size_t>(n));
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) client.socket.reset();
    }
    try {
        while (auto const message = take_message(client.received, client.version)) answer(client, *message, owner);
    } catch (Error const& error) {
        client.socket.reset();
        owner.refuse(client.local_rank, join("has sent data over PMI_FD that are not PMI: ", error.what()));
    }
}

bool PmiServer::has_closed(std::size_t local_rank) const {
    Client const* const client = local_rank < clients_.size() ? clients_[local_rank].get() : nullptr;
    return client && client->is_finalized && !client->socket;
}

void PmiServer::answer(Client& client, PmiMessage const& request, ServerOwner& owner) {
    bool const known =
        client.version == 2 ? answer_version_two(client, request, owner) : answer_version_one(client, request, owner);
    if (known) return;
    client.socket.reset();
    owner.refuse(client.local_rank,
                 join("has sent the PMI request ", printable(request.command), ", which this mpiexec does not know"));
}

bool PmiServer::answer_version_one(Client& client, PmiMessage const& request, ServerOwner& owner) {
    std::string const& command = request.command;
    if (command == "init") start(client, request, owner);
    else if (command == "get_maxes")
        reply(client, "maxes",
              {{"kvsname_max", std::to_string(longest_name)},
               {"keylen_max", std::to_string(longest_key)},
               {"vallen_max", std::to_string(longest_value)}});
    else if (command == "get_appnum")
        reply(client, "appnum", {{"appnum", std::to_string(job_.program_of[static_cast<std::size_t>(client.rank)])}});
    else if (command == "get_my_kvsname") reply(client, "my_kvsname", {{"kvsname", job_.name}});
    else if (command == "get_universe_size") reply(client, "universe_size", {{"size", std::to_string(job_.size())}});
    else if (command == "put") put(client, request);
    else if (command == "get") get(client, request, find(request.text("key")));
    else if (command == "barrier_in") enter_barrier(client, request, owner);
    else if (command == "finalize") finalize(client, request, owner);
    else if (command == "abort") owner.abort(client.local_rank, request.number("exitcode", 1), "");
    else if (command == "spawn") refuse_spawn(client, request, owner);
    else if (command == "publish_name") ask(client, request, NameRequest::Kind::publish, owner);
    else if (command == "unpublish_name") ask(client, request, NameRequest::Kind::unpublish, owner);
    else if (command == "lookup_name") ask(client, request, NameRequest::Kind::look_up, owner);
    else return false;
    return true;
}

bool PmiServer::answer_version_two(Client& client, PmiMessage const& request, ServerOwner& owner) {
    std::string const& command = request.command;
    std::string const key = request.text("key");
    if (command == "fullinit") {
        owner.enter(client.local_rank, RankPhase::initialised);
        reply_two(client, request,
                  {{"pmi-version", "2"},
                   {"pmi-subversion", "0"},
                   {"rank", std::to_string(client.rank)},
                   {"size", std::to_string(job_.size())},
                   {"appnum", std::to_string(job_.program_of[static_cast<std::size_t>(client.rank)])},
                   {"debugged", "FALSE"},
                   {"pmiverbose", "FALSE"}});
    } else if (command == "job-getid") {
        reply_two(client, request, {{"jobid", job_.name}});
    } else if (command == "info-getjobattr") {
        std::string const universe = std::to_string(job_.size());
        get(client, request, key == "universeSize" ? &universe : key == "PMI_process_mapping" ? find(key) : nullptr);
    } else if (command == "info-putnodeattr") put_attribute(client, request);
    else if (command == "info-getnodeattr") {
        if (!get_attribute(client, request)) client.attributes.push_back(request);
    } else if (command == "kvs-put") put(client, request);
    else if (command == "kvs-get") get(client, request, find(key));
    else if (command == "kvs-fence") enter_barrier(client, request, owner);
    else if (command == "finalize") finalize(client, request, owner);
    else if (command == "abort") owner.abort(client.local_rank, 1, request.text("msg"));   // there is no code
    else if (command == "spawn") refuse_spawn(client, request, owner);
    else if (command == "name-publish") ask(client, request, NameRequest::Kind::publish, owner);
    else if (command == "name-unpublish") ask(client, request, NameRequest::Kind::unpublish, owner);
    else if (command == "name-lookup") ask(client, request, NameRequest::Kind::look_up, owner);
    else if (command == "job-connect" || command == "job-disconnect") report_failure(client, request);
    else return false;
    return true;
}

/// The first message of either version has the form of version 1.
void PmiServer::start(Client& client, PmiMessage const& request, ServerOwner& owner) {
    bool const two = request.number("pmi_version", 1) == 2;
    reply(client, "response_to_init",
          {{"pmi_version", two ? "2" : "1"}, {"pmi_subversion", two ? "0" : "1"}, {"rc", "0"}});
    if (two) client.version = 2;
    client.is_finalized = false;
    owner.enter(client.local_rank, RankPhase::initialised);
}

/// A script may start another program, which chooses its version again.
void PmiServer::finalize(Client& client, PmiMessage const& request, ServerOwner& owner) {
    owner.enter(client.local_rank, RankPhase::finalised);
    if (client.version == 2) reply_two(client, request, {});
    else reply(client, "finalize_ack", {});
    client.version = 1;
    client.is_finalized = true;
}

void PmiServer::put(Client& client, PmiMessage const& request) {
    bool const fits = has_valid_sizes(request);
    if (fits) {
        std::string const key = request.text("key"), value = request.text("value");
        keys_[key] = value;
        new_keys_.emplace_back(key, value);
    }
    if (client.version == 2) return reply_two(client, request, {}, fits ? 0 : 1);
    reply(client, "put_result", {{"rc", fits ? "0" : "-1"}, {"msg", fits ? "success" : "too_long"}});
}

std::string const* PmiServer::find(std::string const& key) const {
    if (key == "PMI_process_mapping") return mapping_.empty() ? nullptr : &mapping_;
    auto const at = keys_.find(key);
    return at == keys_.end() ? nullptr : &at->second;
}

void PmiServer::get(Client& client, PmiMessage const& request, std::string const* value) {
    if (client.version == 2)
        return reply_two(client, request,
                         value ? Fields{{"found", "TRUE"}, {"value", *value}} : Fields{{"found", "FALSE"}});
    if (value) return reply(client, "get_result", {{"rc", "0"}, {"msg", "success"}, {"value", *value}});
    reply(client, "get_result", {{"rc", "-1"}, {"msg", "key_not_found"}, {"value", "unknown"}});
}

/// Attributes of the node are visible to its ranks immediately.
void PmiServer::put_attribute(Client& client, PmiMessage const& request) {
    if (!has_valid_sizes(request)) return reply_two(client, request, {}, 1);
    attributes_[request.text("key")] = request.text("value");
    reply_two(client, request, {});
    for (auto const& other : clients_)
        if (other) std::erase_if(other->attributes, [&](PmiMessage const& one) { return get_attribute(*other, one); });
}

bool PmiServer::get_attribute(Client& client, PmiMessage const& request) {
    auto const at = attributes_.find(request.text("key"));
    if (at == attributes_.end() && request.text("wait") == "TRUE") return false;
    get(client, request, at == attributes_.end() ? nullptr : &at->second);
    return true;
}

void PmiServer::enter_barrier(Client& client, PmiMessage const& request, ServerOwner& owner) {
    if (!client.barrier) ++in_barrier_;
    client.barrier = request;
    if (in_barrier_ < local_ranks_) return;
    owner.exchange({exchange_name, job_.all_nodes(), job_.node, packed(std::exchange(new_keys_, {}))});
}

void PmiServer::complete(Exchanged const& result) {
    for (std::string const& part : result.parts)
        for (auto& [key, value] : unpacked<std::vector<std::pair<std::string, std::string>>>(part))
            keys_[key] = std::move(value);
    in_barrier_ = 0;
    for (auto const& client : clients_) {
        if (!client || !client->barrier) continue;
        PmiMessage const request = *std::exchange(client->barrier, std::nullopt);
        if (client->version == 2) reply_two(*client, request, {});
        else reply(*client, "barrier_out", {{"rc", "0"}});
    }
}

void PmiServer::ask(Client& client, PmiMessage const& request, NameRequest::Kind kind, ServerOwner& owner) {
    NameRequest const asked{kind, request.text(client.version == 2 ? "name" : "service"), request.text("port")};
    if (asked.name.size() >= longest_name || asked.port.size() >= longest_value) return report_failure(client, request);
    name_requests_.emplace_back(&client, request);
    owner.exchange({NameRequest::exchange_name, {job_.node}, job_.node, packed(asked)});
}

void PmiServer::complete_name(Exchanged const& result) {
    auto const [client, request] = std::move(name_requests_.front());
    name_requests_.pop_front();
    auto const port = unpacked<std::optional<std::string>>(result.parts.front());
    if (!port) return report_failure(*client, request);
    if (client->version == 2)
        return reply_two(*client, request, {{"found", "TRUE"}, {"value", *port}, {"port", *port}});
    std::string const name = request.command.substr(0, request.command.find('_'));
    reply(*client, name + "_result", {{"info", "ok"}, {"port", *port}, {"rc", "0"}});
}

/// A request may consist of several messages, after the last of which the client expects the answer.
void PmiServer::refuse_spawn(Client& client, PmiMessage const& request, ServerOwner& owner) {
    owner.refuse_spawn(client.local_rank);
    if (client.version == 2 || request.number("spawnssofar", 1) >= request.number("totspawns", 1))
        report_failure(client, request);
}

void PmiServer::report_failure(Client& client, PmiMessage const& request) {
    if (client.version == 2) return reply_two(client, request, {{"found", "FALSE"}, {"errmsg", "failed"}}, 1);
    std::string const& command = request.command;
    std::string const name = command.substr(0, command.find('_'));
    reply(client, join(name, "_result"), {{"rc", "-1"}, {"info", "failed"}, {"status", "error"}});
}

void PmiServer::reply(Client& client, std::string const& command, Fields fields) {
    send(client, message_bytes({command, std::move(fields)}, client.version));
}

/// Clients of several threads number their requests.
void PmiServer::reply_two(Client& client, PmiMessage const& request, Fields fields, int error) {
    if (std::string const* const thread = request.find("thrid"))
        fields.emplace_back("thrid", thread->substr(0, longest_key));
    fields.emplace_back("rc", std::to_string(error));
    reply(client, request.command + "-response", std::move(fields));
}

void PmiServer::send(Client& client, std::string const& bytes) {
    client.unsent += bytes;
    while (client.socket && !client.unsent.empty()) {
        ssize_t const n =
            ::send(client.socket.get(), client.unsent.data(), client.unsent.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno != EAGAIN) client.unsent.clear();   // it is read until its end, which follows
        if (n <= 0) return;
        client.unsent.erase(0, static_cast<std::size_t>(n));
    }
}

}   // namespace tutti::launcher
