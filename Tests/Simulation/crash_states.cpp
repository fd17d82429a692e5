/*
 * crash_states.cpp - what a loss of power may leave, at every flush of every commit: all single faults, and random subsets.
 */

#include "simulation.h"

#include <cstring>
#include <set>
#include <sys/stat.h>

std::string text_of(const World::Choice& c) {
    static const char* const names[] = {"none", "all", "prefix", "without", "only", "without sector", "only sector", "subset"};
    return std::string(names[c.kind]) + " " + std::to_string(c.change) + "." + std::to_string(c.sector);
}
std::string text_of(const Content& c) {
    char text[64];
    snprintf(text, sizeof text, "%lld:%08llx", (long long)c.stamp, (unsigned long long)(c.digest & 0xFFFFFFFF));
    return text;
}
Image moved(const Image& image, const std::string& from, const std::string& to) {
    Image result;
    for (auto& [name, content] : image) result[to + name.substr(from.size())] = content;
    return result;
}
static std::string list(const std::vector<Content>& all) {
    std::string text;
    for (auto& c : all) text += (text.empty() ? "" : " or ") + text_of(c);
    return text;
}

// ---- One state --------------------------------------------------------------------------------------------------------------------

Examiner::Examiner(const std::string& folder, Random& random) : world(folder, random), process(processes[process_limit - 1]) {
    mkdir(folder.c_str(), 0755);
}

Content Examiner::examine(const Image& image, const std::string& name, const std::vector<Secret>& secrets,
                          const std::vector<Content>& allowed, const std::string& what, bool with_schema) {
    std::string path = world.folder + name;
    Random& random = world.random;
    world.restart(image);
    process.revive(world);
    number++;
    counts->states++;
    // Power may go while the file is opened, more than once.
    for (int again = 0; again < 3 && random.chance(6); again++) {
        process.plan = Plan{Fault::power, 0, all_calls, random.below(90)};
        { Realm realm(process, path, secrets[random.below(secrets.size())], Realm::writing, with_schema); }
        process.plan = Plan();
        if (!world.is_off) world.cut_power();
        world.restart(world.after(random.chance(30) ? World::Choice{World::Choice::all, 0, 0, random.next()} : world.subset()));
        process.revive(world);
        counts->recoveries++;
    }
    Content content;
    Outcome why;
    for (auto& secret : secrets) {
        Realm realm(process, path, secret, Realm::writing, with_schema);
        why = realm.outcome();
        if (!realm.is_open()) continue;
        if (!realm.read(content)) found("%s: cannot be read: %d %s", what.c_str(), realm.outcome().code, realm.outcome().message.c_str());
        bool is_allowed = false;
        for (auto& c : allowed) is_allowed |= c == content;
        if (!is_allowed) found("%s: holds %s, not %s", what.c_str(), text_of(content).c_str(), list(allowed).c_str());
        std::string report;
        if (number % 8 == 0 && !realm.verify(report)) found("%s: not sound: %s", what.c_str(), report.c_str());
        if (number % 4 == 0 && with_schema) {
            // A commit without changes must show the same content; then one with changes, which a new process must find.
            Content after;
            bool is_empty = number % 8 == 0;
            bool good = realm.begin_write() && (is_empty || realm.change(random, content.stamp + 1000)) && realm.read(after);
            if (good && is_empty && after != content)
                found("%s: shows %s, and %s to a writer", what.c_str(), text_of(content).c_str(), text_of(after).c_str());
            if (!good || !realm.commit()) found("%s: takes no commit: %d %s", what.c_str(), realm.outcome().code, realm.outcome().message.c_str());
            realm.close();
            Realm again(process, path, secret);
            Content reopened;
            if (!again.is_open() || !again.read(reopened)) found("%s: after a commit: %s", what.c_str(), again.outcome().message.c_str());
            if (reopened != after) found("%s: after a commit: %s, not %s", what.c_str(), text_of(reopened).c_str(), text_of(after).c_str());
            if (!again.verify(report)) found("%s: not sound after a commit: %s", what.c_str(), report.c_str());
        }
        return content;
    }
    found("%s: does not open: %d %s", what.c_str(), why.code, why.message.c_str());
}

// ---- All states of some commits ---------------------------------------------------------------------------------------------------

namespace {
struct Explorer {
    Random random;
    World world;
    Examiner examiner;
    Process *writer = &processes[0], *spare = &processes[1];
    std::string name = "file.realm";
    std::vector<Secret> secrets;
    std::vector<Content> allowed;
    std::set<uint64_t> seen;
    std::string where = "at first";
    bool is_inside = false;
    unsigned small_commits = 10; /* percent */
    int flushes = 0; /* of the operation */
    int round = 0; /* 0: creation; then commits and other operations */

    Explorer(uint64_t seed, Form form, const std::string& folder)
        : random(seed), world(folder + "main/", random), examiner(folder + "side/", random), secrets{Secret{form, 0}} {
        mkdir(world.folder.c_str(), 0755);
        for (World* w : {&world, &examiner.world}) {
            w->rules.torn_sectors = options.torn;
            w->rules.flush_takes_names = !options.plain_names;
        }
        world.clear();
        if (seed % 2) small_commits = 80;
        writer->revive(world);
        spare->revive(world);
        world.before_call = [this](Process&, Call call) {
            if ((call != FLUSH && call != FLUSH_FOLDER) || is_inside) return;
            explore(40);
            flushes++;
            world.rules.ignore_flushes = round >= options.from && (options.lost_flush == 0 || options.lost_flush == flushes);
        };
    }
    static uint64_t hash(const Image& image) {
        uint64_t h = 14695981039346656037u;
        for (auto& [file, content] : image) {
            if (file.size() > 5 && file.compare(file.size() - 5, 5, ".lock") == 0) continue;
            h = (h ^ content.size()) * 1099511628211u;
            for (size_t i = 0; i + 8 <= content.size(); i += 8) {
                uint64_t v;
                memcpy(&v, &content[i], 8);
                h = (h ^ v) * 0x9E3779B97F4A7C15u, h ^= h >> 29;
            }
        }
        return h;
    }
    void explore(int subsets) {
        if (round < options.from) return;
        is_inside = true;
        auto choices = world.choices(120);
        for (int i = 0; i < subsets; i++) choices.push_back(world.subset());
        for (auto& choice : choices) {
            if (options.states && counts->states >= options.states) break;
            Image image = world.after(choice);
            if (!seen.insert(hash(image)).second && !random.chance(2)) continue;
            counts->distinct++;
            std::string what = where + ", " + text_of(choice);
            examiner.examine(moved(image, world.folder, examiner.world.folder), name, secrets, allowed, what);
        }
        is_inside = false;
    }
    /* Runs something that ends with other content. */
    void next(const std::string& what, const std::function<void()>& body) {
        where = what;
        note("%s", what.c_str());
        body();
        // Fewer contents are allowed now: the same states count anew.
        where = "after " + what;
        seen.clear();
        explore(10);
        seen.clear();
        round++;
        flushes = 0;
    }
};
}  // namespace

void run_crash_states(uint64_t seed, Form form, const std::string& folder) {
    Explorer e(seed, form, folder);
    std::string path = e.world.folder + e.name;
    // What a new file holds, whatever of it is there.
    {
        e.is_inside = true;
        e.examiner.world.clear();
        processes[process_limit - 1].revive(e.examiner.world);
        Realm empty(processes[process_limit - 1], e.examiner.world.folder + "empty.realm", e.secrets[0]);
        Content content;
        if (!empty.is_open() || !empty.read(content)) found("a new file: %s", empty.outcome().message.c_str());
        e.allowed = {content};
        e.is_inside = false;
    }
    std::unique_ptr<Realm> realm;
    auto must = [&](bool good, const char* what) {
        if (!good) found("%s: %d %s", what, realm ? realm->outcome().code : 0, realm ? realm->outcome().message.c_str() : "no realm");
    };
    auto open = [&] {
        realm = std::make_unique<Realm>(*e.writer, path, e.secrets[0]);
        must(realm->is_open(), "open");
    };
    e.next("creation", open);
    for (int i = 1; i <= options.commits; i++) {
        switch (i > 2 ? e.random.below(12) : 11) {
            case 0:
                e.next("compaction", [&] {
                    bool done = false;
                    must(realm->compact(done) && done, "compact");
                });
                break;
            case 1: {
                Secret now = e.secrets[0], other{(Form)e.random.below(form_count), now.key + 1};
                e.secrets.push_back(other);
                e.next(std::string("change of key to ") + form_names[other.form], [&] { must(realm->change_key(other), "change key"); });
                e.secrets = {other};
                e.explore(10);
                break;
            }
            case 2:
                e.next("closing and opening", [&] {
                    realm.reset();
                    open();
                });
                break;
            case 3: case 4: {
                // A commit is cut short; the next process goes on, and no other opened the file in between.
                auto second = std::make_unique<Realm>(*e.spare, path, e.secrets[0]);
                if (!second->is_open()) found("a second process: %s", second->outcome().message.c_str());
                Content cut, seen, next;
                must(realm->begin_write() && realm->change(e.random, i) && realm->read(cut), "change");
                std::vector<Content> before = e.allowed;
                e.allowed.push_back(cut);
                bool is_dead = false;
                e.next("a commit cut short", [&] {
                    e.writer->plan = Plan{e.random.chance(50) ? Fault::killed : Fault::killed_after, 0, all_calls, e.random.below(9)};
                    bool good = realm->commit();
                    is_dead = e.writer->dead;
                    e.writer->plan = Plan();
                    if (!is_dead) must(good, "commit"), e.allowed = {cut};
                });
                realm.reset();
                e.writer->revive(e.world);
                std::swap(e.writer, e.spare);
                realm = std::move(second);
                must(realm->begin_write() && realm->read(seen), "begin write after a commit that was cut short");
                if (seen != cut && options.strict) e.allowed = before;
                if (seen != cut && (seen != before[0] || !is_dead)) found("after a commit that was cut short: %s", text_of(seen).c_str());
                must(realm->change(e.random, ++i) && realm->read(next), "change");
                e.allowed.push_back(next);
                e.next("the commit after it", [&] {
                    must(realm->commit(), "commit");
                    e.allowed = {next};
                });
                counts->kills += is_dead;
                break;
            }
            default: {
                Content content;
                bool is_small = i > 1 && e.random.chance(e.small_commits), is_large = e.random.chance(8);
                must(realm->begin_write(), "begin write");
                must(is_small ? realm->change_stamp(i) : realm->change(e.random, i, is_large), "change");
                must(realm->read(content), "read");
                e.allowed.push_back(content);
                e.next("commit " + std::to_string(i), [&] {
                    must(realm->commit(), "commit");
                    e.allowed = {content};
                    Content same;
                    must(realm->read(same) && same == content, "read after the commit");
                });
                counts->commits++;
            }
        }
    }
}
