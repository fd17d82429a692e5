/*
 * rules.cpp - the changes and the checks of files with rules: automatic numbers, unique values, a condition, deletions
 * that take others along or are forbidden, times and revisions, savepoints, refused commits.
 */

#include "simulation.h"
#include "values.h"

#include <algorithm>
#include <cctype>
#include <set>

const char* const declared_rules =
    "{\"Team\": {\"properties\": {\"id\": {\"auto\": true}, \"revision\": {\"revision\": true}}},"
    " \"Member\": {\"properties\": {\"id\": {\"auto\": true}, \"team\": {\"on_target_delete\": \"deny\"},"
    "   \"parts\": {\"on_delete\": \"cascade\"}, \"created\": {\"created\": true}, \"modified\": {\"modified\": true},"
    "   \"revision\": {\"revision\": true}},"
    "  \"unique\": [[\"row\", \"seat\"]],"
    "  \"checks\": [{\"name\": \"possible age\", \"condition\": \"age >= 0 AND age <= 120\"}]},"
    " \"Part\": {\"properties\": {\"number\": {\"auto\": true}, \"boss\": {\"on_target_delete\": \"cascade\"},"
    "   \"modified\": {\"modified\": true}, \"revision\": {\"revision\": true}},"
    "  \"unique\": [{\"properties\": [\"label\"], \"ignore_case\": true}]}}";

enum { rows = 4, seats = 6, labels = 30, oldest = 120, most_members = 16, most_parts = 20, most_teams = 5 };
/* The time of day before the first transaction. */
static constexpr int64_t first_second = 1000000000;
static constexpr int64_t none = INT64_MIN;

/* An object as it was read. What its class does not have is `none`. */
struct Realm::Row {
    realm_class_key_t table = 0;
    realm_object_key_t key = 0;
    int64_t number = none, row = none, seat = none, age = none, created = none, modified = none, revision = none;
    realm_object_key_t link = -1; /* a member's team, a part's boss */
    std::string label;
    bool is_labelled = false;
    std::set<realm_object_key_t> parts;
};

/* A finding, unless a planned fault explains it. */
bool Realm::wrong(const char* what) {
    if (!process.dead && !process.plan.fired) found("%s (error %d %s)", what, last.code, last.message.c_str());
    return false;
}
bool Realm::find_keys_of_rules() {
    auto& t = k.of_team;
    auto& m = k.of_member;
    auto& p = k.of_part;
    auto& h = k.of_highest;
    const struct {
        const char* name;
        realm_class_key_t* key;
        std::vector<std::pair<const char*, realm_property_key_t*>> properties;
    } classes[] = {
        {"Team", &k.team, {{"id", &t.id}, {"touch", &t.touch}, {"revision", &t.revision}}},
        {"Member", &k.member,
         {{"id", &m.id}, {"touch", &m.touch}, {"row", &m.row}, {"seat", &m.seat}, {"age", &m.age}, {"team", &m.team},
          {"favorite", &m.favorite}, {"parts", &m.parts}, {"created", &m.created}, {"modified", &m.modified},
          {"revision", &m.revision}}},
        {"Part", &k.part,
         {{"number", &p.number}, {"touch", &p.touch}, {"label", &p.label}, {"boss", &p.boss}, {"modified", &p.modified},
          {"revision", &p.revision}}},
        {"Highest", &k.highest, {{"team", &h.team}, {"member", &h.member}, {"part", &h.part}}}};
    for (auto& c : classes) {
        if (!table_of(c.name, *c.key)) return false;
        for (auto& [name, key] : c.properties)
            if (!key_of(*c.key, name, *key)) return false;
    }
    return true;
}

// ---- Times and revisions ----------------------------------------------------------------------------------------

/* Notes the objects at the beginning of a write transaction; each one happens in a second of its own. */
bool Realm::note_objects() {
    int64_t& now = process.world->seconds;
    now = std::max(now, first_second) + 1;
    Content content;
    return scan(content, Stamps::noted);
}
bool Realm::read_stamped(realm_object_t* object, realm_class_key_t table, const realm_property_info_t* all,
                         size_t count, Stamps stamps, uint64_t& digest) {
    uint64_t own = 1;
    Noted now = {0, none, none, none};
    for (size_t i = 0; i < count; i++) {
        const std::string name = all[i].name;
        int64_t* place = name == "created"    ? &now.created
                         : name == "modified" ? &now.modified
                         : name == "revision" ? &now.revision
                                              : nullptr;
        if (!place) {
            if (!read_property(object, all[i], own)) return false;
            continue;
        }
        realm_value_t v;
        if (!did(l.realm_get_value(object, all[i].key, &v))) return false;
        bool is_second = v.type == RLM_TYPE_TIMESTAMP && v.timestamp.nanoseconds == 0;
        *place = v.type == RLM_TYPE_INT ? v.integer : is_second ? v.timestamp.seconds : -1;
    }
    now.digest = own;
    auto id = std::make_pair(table, l.realm_object_get_key(object));
    if (stamps == Stamps::noted) base[id] = now;
    if (stamps == Stamps::predicted) {
        auto before = base.find(id);
        bool is_new = before == base.end();
        if (is_new || before->second.digest != own) {
            if (now.created != none && is_new) now.created = process.world->seconds;
            if (now.modified != none) now.modified = process.world->seconds;
            now.revision = is_new ? 1 : before->second.revision + 1;
        }
    }
    for (int64_t number : {(int64_t)own, now.created, now.modified, now.revision}) mix(digest, number);
    return true;
}

// ---- Objects ------------------------------------------------------------------------------------------------------

bool Realm::load(realm_class_key_t table, std::vector<Row>& all) {
    all.clear();
    Held<realm_results_t> objects{l, l.realm_object_find_all(realm, table)};
    size_t count = 0;
    if (!did(objects.p && l.realm_results_count(objects, &count))) return false;
    auto read = [&](realm_object_t* o, realm_property_key_t key, int64_t& to) {
        realm_value_t v;
        if (!did(l.realm_get_value(o, key, &v))) return false;
        to = v.type == RLM_TYPE_INT         ? v.integer
             : v.type == RLM_TYPE_TIMESTAMP ? v.timestamp.seconds
             : v.type == RLM_TYPE_LINK      ? v.link.target
                                            : none;
        return true;
    };
    for (size_t i = 0; i < count; i++) {
        Held<realm_object_t> o{l, l.realm_results_get_object(objects, i)};
        if (!did(o.p != nullptr)) return false;
        Row r;
        r.table = table;
        r.key = l.realm_object_get_key(o);
        int64_t link = none;
        if (table == k.team) {
            if (!read(o, k.of_team.id, r.number) || !read(o, k.of_team.revision, r.revision)) return false;
        } else if (table == k.member) {
            auto& m = k.of_member;
            if (!read(o, m.id, r.number) || !read(o, m.row, r.row) || !read(o, m.seat, r.seat) ||
                !read(o, m.age, r.age) || !read(o, m.team, link) || !read(o, m.created, r.created) ||
                !read(o, m.modified, r.modified) || !read(o, m.revision, r.revision))
                return false;
            Held<realm_list_t> list{l, l.realm_get_list(o, m.parts)};
            size_t size = 0;
            if (!did(list.p && l.realm_list_size(list, &size))) return false;
            for (size_t n = 0; n < size; n++) {
                realm_value_t v;
                if (!did(l.realm_list_get(list, n, &v))) return false;
                r.parts.insert(v.link.target);
            }
        } else {
            auto& p = k.of_part;
            realm_value_t v;
            if (!read(o, p.number, r.number) || !read(o, p.boss, link) || !read(o, p.modified, r.modified) ||
                !read(o, p.revision, r.revision) || !did(l.realm_get_value(o, p.label, &v)))
                return false;
            r.is_labelled = v.type == RLM_TYPE_STRING;
            if (r.is_labelled) r.label.assign(v.string.data, v.string.size);
        }
        if (link != none) r.link = link;
        all.push_back(r);
    }
    return true;
}
realm_object_t* Realm::get_object(const Row& row) { return l.realm_get_object(realm, row.table, row.key); }
bool Realm::touch(realm_object_t* object, realm_class_key_t table) {
    auto key = table == k.team ? k.of_team.touch : table == k.member ? k.of_member.touch : k.of_part.touch;
    int64_t now = 0;
    return get(object, key, now) && set(object, key, integer(now + 1));
}
bool Realm::link_to(realm_object_t* object, realm_property_key_t key, const Row* target) {
    if (!target) return set(object, key, null());
    Held<realm_object_t> other{l, get_object(*target)};
    realm_value_t v = null();
    v.type = RLM_TYPE_LINK;
    if (!did(other.p != nullptr)) return false;
    v.link = l.realm_object_as_link(other);
    return set(object, key, v);
}
/* The object with these values of the class's unique rule; -1: none. */
bool Realm::find(realm_class_key_t table, const std::vector<realm_value_t>& values, realm_object_key_t& key) {
    static const char* const of_member[] = {"row", "seat"};
    static const char* const of_part[] = {"label"};
    bool is_there = false;
    const char* const* names = table == k.member ? of_member : of_part;
    Held<realm_object_t> o{
        l, l.crealm_object_find_by_unique(realm, table, names, values.data(), values.size(), &is_there)};
    key = o.p ? l.realm_object_get_key(o) : -1;
    if (o.p) return is_there || wrong("an object was found, and is not there");
    realm_error_t e;
    return did(!is_there && !l.realm_get_last_error(&e));
}
/* The place of the greatest number of a class. */
bool Realm::find_highest(realm_class_key_t table, Held<realm_object_t>& object, realm_property_key_t& key) {
    object.p = l.realm_object_find_with_primary_key(realm, k.highest, integer(0), nullptr);
    if (!object.p) {
        l.realm_clear_last_error();
        object.p = l.realm_object_create_with_primary_key(realm, k.highest, integer(0));
    }
    key = table == k.team ? k.of_highest.team : table == k.member ? k.of_highest.member : k.of_highest.part;
    return did(object.p != nullptr);
}
/* more: how much greater than the greatest the number is that the program gives; 0: the library makes it. */
bool Realm::create(realm_class_key_t table, Held<realm_object_t>& object, int64_t more) {
    auto key = table == k.team ? k.of_team.id : table == k.member ? k.of_member.id : k.of_part.number;
    Held<realm_object_t> greatest{l, nullptr};
    realm_property_key_t place = 0;
    int64_t highest = 0, number = 0;
    if (!find_highest(table, greatest, place) || !get(greatest, place, highest)) return false;
    bool has_key = more > 0 && table != k.part;
    object.p = has_key ? l.realm_object_create_with_primary_key(realm, table, integer(highest + more))
                       : l.realm_object_create(realm, table);
    if (!did(object.p != nullptr) || !get(object, key, number)) return false;
    // From now on all automatic numbers must be greater.
    if (number <= highest) {
        char text[100];
        snprintf(text, sizeof text, "a new number is %lld, after %lld", (long long)number, (long long)highest);
        return wrong(text);
    }
    if (more > 0 && !has_key && !set(object, key, integer(number += more))) return false;
    return set(greatest, place, integer(number));
}

// ---- Changes ------------------------------------------------------------------------------------------------------

/* A seat that no member has; the look-up must agree. */
bool Realm::free_seat(Random& random, Seat& seat) {
    std::vector<Row> members;
    if (!load(k.member, members)) return false;
    for (int i = 0; i < 6; i++) {
        seat = {(int64_t)random.below(rows), (int64_t)random.below(seats)};
        realm_object_key_t other = -1, key = -1;
        for (auto& m : members)
            if (m.row == seat.row && m.seat == seat.seat) other = m.key;
        if (!find(k.member, {integer(seat.row), integer(seat.seat)}, key)) return false;
        if (key != other) return wrong(other != -1 ? "a writer does not find a member" : "a writer finds a free seat");
        if (other == -1) return true;
    }
    seat.seat = none;
    return true;
}
static std::string folded(std::string text) {
    for (char& c : text) c = (char)tolower(c);
    return text;
}
static std::string label_of(uint64_t number) {
    return "Label " + std::string(1 + number / 26, (char)('a' + number % 26));
}
/* A label that no part has, or an empty one. */
bool Realm::free_label(Random& random, std::string& label) {
    std::vector<Row> parts;
    if (!load(k.part, parts)) return false;
    for (int i = 0; i < 6; i++) {
        label = label_of(random.below(labels));
        if (random.chance(50))
            for (char& c : label) c = (char)toupper(c);
        bool is_taken = false;
        for (auto& p : parts) is_taken |= p.is_labelled && folded(p.label) == folded(label);
        realm_object_key_t key = -1;
        if (!find(k.part, {string(label)}, key)) return false;
        if (is_taken && key == -1) return wrong("a writer does not find a part by its label");
        if (!is_taken && key != -1) return wrong("a writer finds a free label");
        if (!is_taken) return true;
    }
    label = "";
    return true;
}
bool Realm::sit(realm_object_t* object, Seat seat) {
    auto& m = k.of_member;
    realm_value_t place = seat.seat == none ? null() : integer(seat.seat);
    return set(object, m.row, integer(seat.row)) && set(object, m.seat, place) && touch(object, k.member);
}
bool Realm::create_member(Random& random, const Seat* wanted) {
    Seat seat;
    std::vector<Row> teams;
    if (wanted) seat = *wanted;
    else if (!free_seat(random, seat)) return false;
    Held<realm_object_t> o{l, nullptr};
    int64_t more = random.chance(15) ? 1 + (int64_t)random.below(5) : 0;
    if (!load(k.team, teams) || !create(k.member, o, more) || !sit(o, seat)) return false;
    if (!set(o, k.of_member.age, integer((int64_t)random.below(oldest + 1)))) return false;
    return teams.empty() || random.chance(40) || link_to(o, k.of_member.team, &teams[random.below(teams.size())]);
}
bool Realm::create_part(Random& random) {
    std::vector<Row> members;
    if (!load(k.member, members)) return false;
    if (members.empty()) return create_member(random);
    std::string label;
    Held<realm_object_t> o{l, nullptr}, owner{l, get_object(members[random.below(members.size())])};
    int64_t more = random.chance(15) ? 1 + (int64_t)random.below(5) : 0;
    if (!did(owner.p != nullptr) || !free_label(random, label) || !create(k.part, o, more)) return false;
    if (!touch(o, k.part) || !set(o, k.of_part.label, label.empty() ? null() : string(label))) return false;
    if (!link_to(o, k.of_part.boss, &members[random.below(members.size())])) return false;
    realm_value_t v = null();
    v.type = RLM_TYPE_LINK;
    v.link = l.realm_object_as_link(o);
    Held<realm_list_t> list{l, l.realm_get_list(owner, k.of_member.parts)};
    return did(list.p && l.realm_list_insert(list, 0, v)) && touch(owner, k.member);
}
bool Realm::remove_member(const Row& member) {
    std::vector<Row> members, parts, left;
    if (!load(k.part, parts) || !load(k.member, members)) return false;
    std::set<realm_object_key_t> stay;
    for (auto& p : parts)
        if (p.link != member.key && !member.parts.count(p.key)) stay.insert(p.key);
    Held<realm_object_t> o{l, get_object(member)};
    if (!did(o.p && l.realm_object_delete(o)) || !load(k.part, left)) return false;
    bool is_right = left.size() == stay.size();
    for (auto& p : left) is_right &= stay.count(p.key) == 1;
    if (!is_right) return wrong("a deleted member takes other parts along than the rules say");
    return load(k.member, left) && (left.size() + 1 == members.size() || wrong("a deleted member takes members along"));
}
bool Realm::remove_team(const Row& team) {
    std::vector<Row> members;
    if (!load(k.member, members)) return false;
    bool is_needed = false;
    for (auto& m : members) is_needed |= m.link == team.key;
    Held<realm_object_t> o{l, get_object(team)};
    if (!did(o.p != nullptr)) return false;
    if (!is_needed) return did(l.realm_object_delete(o));
    Content before, after;
    if (!scan(before, Stamps::stored)) return false;
    if (did(l.realm_object_delete(o))) return wrong("a team with members was deleted");
    if (last.code != CREALM_ERR_RULE_BROKEN) return wrong("the deletion of a team with members fails in another way");
    counts->refused_deletions++;
    return scan(after, Stamps::stored) && (before == after || wrong("a refused deletion has changed something"));
}
bool Realm::one_change(Random& random) {
    std::vector<Row> members, parts, teams;
    if (!load(k.member, members) || !load(k.part, parts) || !load(k.team, teams)) return false;
    if (teams.empty()) {
        Held<realm_object_t> o{l, nullptr};
        return create(k.team, o) && touch(o, k.team);
    }
    if (members.size() < 3) return create_member(random);
    if (members.size() > most_members) return remove_member(members[random.below(members.size())]);
    const Row a = members[random.below(members.size())], b = members[random.below(members.size())];
    Held<realm_object_t> first{l, get_object(a)}, second{l, get_object(b)};
    if (!did(first.p && second.p)) return false;
    auto& m = k.of_member;
    switch (random.below(13)) {
        case 0: case 1: return create_member(random);
        case 2: case 3: return parts.size() > most_parts ? remove_member(a) : create_part(random);
        case 4: case 5:
            // For a while two members have one seat.
            return sit(first, {b.row, b.seat}) && (a.key == b.key || sit(second, {a.row, a.seat}));
        case 6: {
            const Seat seat = {a.row, a.seat};
            return remove_member(a) && create_member(random, &seat);
        }
        case 7: {
            // The seat of one moves on to another.
            Seat seat;
            return free_seat(random, seat) && sit(first, seat) && (a.key == b.key || sit(second, {a.row, a.seat}));
        }
        case 8: {
            std::vector<Row>& all = parts.empty() ? teams : parts;
            const Row target = all[random.below(all.size())];
            if (parts.empty()) return link_to(first, m.team, &target) && touch(first, k.member);
            if (random.chance(50)) return link_to(first, m.favorite, &target) && touch(first, k.member);
            Held<realm_object_t> o{l, get_object(target)};
            return did(o.p && l.realm_object_delete(o));
        }
        case 9: {
            if (teams.size() > most_teams || random.chance(50)) return remove_team(teams[random.below(teams.size())]);
            Held<realm_object_t> o{l, nullptr};
            return create(k.team, o) && touch(o, k.team);
        }
        case 10: {
            const Row& team = teams[random.below(teams.size())];
            return link_to(first, m.team, random.chance(80) ? &team : nullptr) && touch(first, k.member);
        }
        case 11: {
            bool done = false, is_current = random.chance(50);
            realm_value_t age = integer((int64_t)random.below(oldest + 1));
            if (!did(l.crealm_object_set_if_version(first, m.age, age, a.revision - !is_current, &done))) return false;
            if (done != is_current) return wrong("a change on the condition of a revision");
            return !done || touch(first, k.member);
        }
        default: return set(first, m.age, integer((int64_t)random.below(oldest + 1))) && touch(first, k.member);
    }
}
/* Changes, also in savepoints, in savepoints. */
bool Realm::some_changes(Random& random, int depth) {
    if (depth == 3 || !random.chance(35)) return one_change(random);
    uint32_t savepoint = 0;
    Content before, after;
    bool is_undone = random.chance(50);
    if (!scan(before, Stamps::stored) || !did(l.crealm_begin_savepoint(realm, &savepoint))) return false;
    for (uint64_t i = 1 + random.below(3); i; i--)
        if (!some_changes(random, depth + 1)) return false;
    if (random.chance(10) && !refused_commit(random)) return false;
    // It may end with the one around it, or with the transaction.
    if (!is_undone) return random.chance(15) || did(l.crealm_release_savepoint(realm, savepoint));
    if (!did(l.crealm_rollback_savepoint(realm, savepoint)) || !scan(after, Stamps::stored)) return false;
    counts->savepoints++;
    return before == after || wrong("an undone savepoint has left changes");
}
bool Realm::change_under_rules(Random& random) {
    std::vector<Row> teams;
    if (!load(k.team, teams)) return false;
    if (teams.empty()) {
        Held<realm_object_t> o{l, nullptr};
        if (!create(k.team, o) || !touch(o, k.team)) return false;
        for (int i = 0; i < 8; i++)
            if (!(i < 5 ? create_member(random) : create_part(random))) return false;
    }
    for (uint64_t i = 1 + random.below(4); i; i--)
        if (!some_changes(random, 0)) return false;
    return !random.chance(15) || refused_commit(random);
}
/* Changes that make commits of one size: two members change their seats. */
bool Realm::change_alike_under_rules(int64_t stamp) {
    std::vector<Row> members;
    if (!load(k.member, members)) return false;
    if (members.size() < 2) return true;
    const Row &a = members[(size_t)stamp % members.size()], &b = members[(size_t)(stamp + 1) % members.size()];
    Held<realm_object_t> first{l, get_object(a)}, second{l, get_object(b)};
    return did(first.p && second.p) && sit(first, {b.row, b.seat}) && sit(second, {a.row, a.seat});
}
bool Realm::refused_commit(Random& random) {
    std::vector<Row> members, parts;
    if (!load(k.member, members) || !load(k.part, parts)) return false;
    if (members.empty()) return true;
    uint32_t savepoint = 0;
    bool with_savepoint = random.chance(50);
    if (with_savepoint && !did(l.crealm_begin_savepoint(realm, &savepoint))) return false;
    std::vector<Row> seated, labelled;
    for (auto& one : members)
        if (one.seat != none) seated.push_back(one);
    for (auto& p : parts)
        if (p.is_labelled) labelled.push_back(p);
    std::function<bool()> correct;
    uint64_t kind = random.below(3);
    if (kind == 0 && seated.size() > 1) {
        const Row a = seated[0], b = seated[1 + random.below(seated.size() - 1)];
        Held<realm_object_t> o{l, get_object(a)};
        if (!did(o.p != nullptr) || !sit(o, {b.row, b.seat})) return false;
        correct = [this, a] {
            Held<realm_object_t> o{l, get_object(a)};
            return did(o.p != nullptr) && sit(o, {a.row, a.seat});
        };
    } else if (kind == 1 && labelled.size() > 1) {
        const Row a = labelled[0], b = labelled[1 + random.below(labelled.size() - 1)];
        std::string label = b.label;
        for (char& c : label) c = (char)(isupper(c) ? tolower(c) : toupper(c));
        Held<realm_object_t> o{l, get_object(a)};
        if (!did(o.p != nullptr) || !set(o, k.of_part.label, string(label)) || !touch(o, k.part)) return false;
        correct = [this, a] {
            Held<realm_object_t> o{l, get_object(a)};
            return did(o.p != nullptr) && set(o, k.of_part.label, string(a.label)) && touch(o, k.part);
        };
    } else {
        const Row a = members[random.below(members.size())];
        Held<realm_object_t> o{l, get_object(a)};
        realm_value_t age = integer(random.chance(50) ? -1 : oldest + 1);
        if (!did(o.p != nullptr) || !set(o, k.of_member.age, age) || !touch(o, k.member)) return false;
        correct = [this, a] {
            Held<realm_object_t> o{l, get_object(a)};
            return did(o.p != nullptr) && set(o, k.of_member.age, integer(a.age)) && touch(o, k.member);
        };
    }
    Content before, after;
    if (!scan(before, Stamps::stored)) return false;
    // In a group, realm_commit() flushes the earlier commits of the group first.
    auto completed = [](realm_userdata_t, bool, const char*) {};
    bool is_async = is_in_group && random.chance(70);
    bool good = is_async ? l.realm_async_commit(realm, completed, nullptr, nullptr, true, nullptr)
                         : l.realm_commit(realm);
    if (did(good)) return wrong("a commit was not refused that breaks a rule");
    if (last.code != CREALM_ERR_RULE_BROKEN) return wrong("a commit that breaks a rule fails in another way");
    counts->refused_commits++;
    if (!is_writing()) return wrong("a refused commit has ended the transaction");
    if (!scan(after, Stamps::stored)) return false;
    if (before != after) return wrong("a refused commit has changed something");
    return with_savepoint ? did(l.crealm_rollback_savepoint(realm, savepoint)) : correct();
}
bool Realm::write_under_rules(Random& random) {
    std::vector<Row> members;
    if (!load(k.member, members)) return false;
    for (size_t i = members.size(); i < 2; i++)
        if (!create_member(random)) return false;
    Held<realm_object_t> team{l, nullptr};
    if (!create(k.team, team) || !touch(team, k.team) || !create_member(random) || !create_part(random)) return false;
    if (!load(k.member, members)) return false;
    size_t at = random.below(members.size());
    Held<realm_object_t> o{l, get_object(members[at])};
    Seat seat;
    if (!did(o.p != nullptr) || !free_seat(random, seat) || !sit(o, seat)) return false;
    if (!set(o, k.of_member.age, integer((int64_t)random.below(oldest + 1)))) return false;
    return remove_member(members[(at + 1) % members.size()]);
}

// ---- Checks -------------------------------------------------------------------------------------------------------

bool Realm::check_rules(std::string& fault) {
    fault = "";
    auto bad = [&](const std::string& what) {
        fault = what;
        return false;
    };
    if (!did(l.realm_begin_read(realm) || is_writing())) return false;
    crealm_broken_rules_t* broken = nullptr;
    if (!did(l.crealm_get_broken_rules(realm, 10, &broken))) return false;
    std::string list;
    for (size_t i = 0; i < broken->count; i++) list += std::string(list.empty() ? "" : "; ") + broken->rules[i].message;
    bool is_broken = broken->count > 0;
    l.realm_free(broken);
    if (is_broken) return bad("broken rules: " + list);

    std::vector<Row> teams, members, parts;
    if (!load(k.team, teams) || !load(k.member, members) || !load(k.part, parts)) return false;
    int64_t highest[3] = {0, 0, 0};
    {
        Held<realm_object_t> h{l, l.realm_object_find_with_primary_key(realm, k.highest, integer(0), nullptr)};
        l.realm_clear_last_error();
        auto& of = k.of_highest;
        if (h.p && !(get(h, of.team, highest[0]) && get(h, of.member, highest[1]) && get(h, of.part, highest[2])))
            return false;
    }
    // Without the library's help.
    std::map<Seat, realm_object_key_t> taken;
    std::map<std::string, realm_object_key_t> named;
    std::set<realm_object_key_t> all_members, all_teams;
    std::set<int64_t> numbers[3];
    for (auto& t : teams) all_teams.insert(t.key);
    for (auto& m : members) all_members.insert(m.key);
    for (int i = 0; i < 3; i++)
        for (auto& r : i == 0 ? teams : i == 1 ? members : parts) {
            std::string who = std::string(i == 0 ? "team " : i == 1 ? "member " : "part ") + std::to_string(r.number);
            bool is_new = numbers[i].insert(r.number).second;
            if (r.number < 1 || r.number > highest[i] || !is_new) return bad(who + ": a wrong number");
            if (r.revision < 1) return bad(who + ": revision " + std::to_string(r.revision));
            if (i > 0 && r.modified < first_second) return bad(who + ": modified " + std::to_string(r.modified));
            if (i == 1) {
                if (r.created < first_second) return bad(who + ": created " + std::to_string(r.created));
                if (r.age < 0 || r.age > oldest) return bad(who + ": age " + std::to_string(r.age));
                if (r.link != -1 && !all_teams.count(r.link)) return bad(who + ": its team is gone");
                bool is_free = r.seat == none || taken.insert({{r.row, r.seat}, r.key}).second;
                if (!is_free) return bad(who + ": its seat is taken");
            }
            if (i == 2) {
                if (!all_members.count(r.link)) return bad(who + ": its boss is gone");
                bool is_free = !r.is_labelled || named.insert({folded(r.label), r.key}).second;
                if (!is_free) return bad(who + ": its label is taken");
            }
        }
    // The indexes.
    realm_object_key_t key = -1;
    for (int64_t row = -1; row <= rows; row++)
        for (int64_t seat = -1; seat <= seats; seat++) {
            auto at = taken.find({row, seat});
            if (!find(k.member, {integer(row), integer(seat)}, key)) return false;
            if (key != (at == taken.end() ? -1 : at->second))
                return bad("the index finds object " + std::to_string(key) + " at seat " + std::to_string(row) + " " +
                           std::to_string(seat));
        }
    if (!find(k.member, {integer(0), null()}, key)) return false;
    if (key != -1) return bad("the index finds a member without a seat");
    for (uint64_t i = 0; i <= labels; i++)
        for (std::string label : {label_of(i), folded(label_of(i))}) {
            auto at = named.find(folded(label));
            if (!find(k.part, {string(label)}, key)) return false;
            if (key != (at == named.end() ? -1 : at->second))
                return bad("the index finds object " + std::to_string(key) + " for '" + label + "'");
        }
    counts->rule_checks++;
    return true;
}

bool Realm::write_against_rules(const std::string& rule, bool& done) {
    std::vector<Row> members, seated;
    if (!load(k.member, members)) return false;
    for (auto& m : members)
        if (m.seat != none) seated.push_back(m);
    done = seated.size() > 1;
    if (!done) return true;
    Held<realm_object_t> o{l, get_object(seated[0])}, h{l, nullptr};
    realm_property_key_t place = 0;
    int64_t highest = 0;
    if (!did(o.p != nullptr) || !find_highest(k.member, h, place)) return false;
    if (rule == "unique") return sit(o, {seated[1].row, seated[1].seat});
    if (rule == "check") return set(o, k.of_member.age, integer(-5));
    return get(h, place, highest) && set(h, place, integer(highest + 1000));
}
