// SPDX-License-Identifier: BSD-3-Clause
// Attribute storage: order of callbacks, failing callbacks, callbacks that modify the attributes, lifetime of keys.
#include "runtime/objects/attribute.hpp"

#include <functional>
#include <vector>

#include <gmock/gmock.h>

#include "runtime/base/error.hpp"

using namespace tutti;
using testing::ElementsAre;

namespace {

struct Thing final : Object {};

/// A key whose callbacks record their values and may run `then`.
struct TestKey final : Keyval {
    TestKey() : Keyval(ObjectKind::comm) {}
    ~TestKey() override {
        if (ended) *ended = true;
    }
    int copy(Object&, AttributeValue const& value, AttributeValue& copied, bool& wanted) override {
        copies.push_back(value.bits);
        copied = {value.bits + 100, value.as};
        wanted = wants;
        return copy_code;
    }
    int remove(Object&, AttributeValue const& value) override {
        removals.push_back(value.bits);
        if (log) log->push_back(value.bits);
        if (then) then();
        return remove_code;
    }

    std::vector<std::intptr_t> copies, removals;
    std::vector<std::intptr_t>* log = nullptr;
    std::function<void()> then;
    int copy_code = 0, remove_code = 0;
    bool wants = true;
    bool* ended = nullptr;
};

AttributeValue value(std::intptr_t bits) { return {bits, AttributeForm::pointer}; }

}   // namespace

TEST(Attributes, FindExactlyTheValuesThatWereSet) {
    Thing thing;
    TestKey key, other;
    Attributes attributes;
    EXPECT_EQ(attributes.find(key), nullptr);
    attributes.set(thing, key, {7, AttributeForm::integer});
    ASSERT_NE(attributes.find(key), nullptr);
    EXPECT_EQ(attributes.find(key)->bits, 7);
    EXPECT_EQ(attributes.find(key)->as, AttributeForm::integer);
    EXPECT_EQ(attributes.find(other), nullptr);
    attributes.erase(thing, key);
    EXPECT_EQ(attributes.find(key), nullptr);
    EXPECT_THROW(attributes.erase(thing, key), Error);
}

TEST(Attributes, SettingAgainRemovesTheOldValueFirst) {
    Thing thing;
    TestKey key;
    Attributes attributes;
    attributes.set(thing, key, value(1));
    attributes.set(thing, key, value(2));
    EXPECT_THAT(key.removals, ElementsAre(1));
    EXPECT_EQ(attributes.find(key)->bits, 2);
    attributes.clear(thing);
}

TEST(Attributes, AFailingRemovalKeepsTheAttribute) {
    Thing thing;
    TestKey key;
    Attributes attributes;
    attributes.set(thing, key, value(1));
    key.remove_code = 42;
    try {
        attributes.set(thing, key, value(2));
        FAIL() << "the callback's error code was lost";
    } catch (Error const& error) { EXPECT_EQ(error.user_code, 42); }
    EXPECT_THROW(attributes.erase(thing, key), Error);
    EXPECT_THROW(attributes.clear(thing), Error);
    EXPECT_EQ(attributes.find(key)->bits, 1);
    key.remove_code = 0;
    attributes.clear(thing);
}

TEST(Attributes, AreClearedInReverseOrderOfSetting) {
    Thing thing;
    std::vector<TestKey> keys(5);
    std::vector<std::intptr_t> log;
    Attributes attributes;
    for (int i : {3, 0, 4, 1, 2}) attributes.set(thing, keys[i], value(i));
    for (TestKey& key : keys) key.log = &log;
    attributes.set(thing, keys[0], value(10));   // set again: now the last one
    EXPECT_THAT(log, ElementsAre(0));
    attributes.clear(thing);
    EXPECT_THAT(log, ElementsAre(0, 10, 2, 1, 4, 3));
    EXPECT_TRUE(attributes.empty());
}

TEST(Attributes, CopyCallsEachCallbackAndStopsAtAFailure) {
    Thing from, to;
    TestKey wanted, unwanted, failing;
    unwanted.wants = false;
    Attributes original, copy, second;
    original.set(from, wanted, {1, AttributeForm::address});
    original.set(from, unwanted, value(2));
    original.copy_to(from, copy);
    EXPECT_EQ(copy.find(wanted)->bits, 101);
    EXPECT_EQ(copy.find(wanted)->as, AttributeForm::address);
    EXPECT_EQ(copy.find(unwanted), nullptr);
    EXPECT_THAT(unwanted.copies, ElementsAre(2));

    failing.copy_code = 9;
    original.set(from, failing, value(3));
    EXPECT_THROW(original.copy_to(from, second), Error);
    original.clear(from);
    copy.clear(to);
    second.clear(to);
}

TEST(Attributes, CallbacksMayChangeTheAttributesThatAreBeingCleared) {
    Thing thing;
    TestKey first, second, third;
    Attributes attributes;
    attributes.set(thing, first, value(1));
    attributes.set(thing, second, value(2));
    second.then = [&] {
        attributes.erase(thing, first);
        attributes.set(thing, third, value(3));
        second.then = nullptr;
    };
    attributes.clear(thing);
    EXPECT_TRUE(attributes.empty());
    EXPECT_THAT(first.removals, ElementsAre(1));
    EXPECT_THAT(second.removals, ElementsAre(2));
    EXPECT_THAT(third.removals, ElementsAre(3));
}

TEST(Attributes, ARemovalThatSetsTheSameKeyDoesNotStoreItTwice) {
    Thing thing;
    TestKey key;
    Attributes attributes;
    attributes.set(thing, key, value(1));
    bool once = true;
    key.then = [&] {
        if (!once) return;
        once = false;
        attributes.set(thing, key, value(5));
    };
    attributes.set(thing, key, value(2));
    key.then = nullptr;
    EXPECT_EQ(attributes.find(key)->bits, 2);
    attributes.erase(thing, key);
    EXPECT_EQ(attributes.find(key), nullptr);
}

TEST(Attributes, KeepAFreedKeyUntilItsLastAttributeIsDeleted) {
    Thing thing;
    bool ended = false;
    auto* key = new TestKey;
    key->ended = &ended;
    Attributes attributes;
    attributes.set(thing, *key, value(1));
    bool inside = true;
    key->then = [&] { inside = ended; };
    Ref<Keyval>::release(key);   // MPI_Comm_free_keyval by the user
    EXPECT_FALSE(ended);
    attributes.erase(thing, *key);
    EXPECT_FALSE(inside);
    EXPECT_TRUE(ended);
}
