/*
 * crash_states.cpp - tests the states that a loss of power may leave, at every flush of every commit: all single
 * faults, and random subsets.
 */

#include "simulation.h"

#include <algorithm>
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
static std::string list(const std::vector<Content>& all) {
    std::string text;
    for (auto& c : all) text += (text.empty() ? "" : " or ") + text_of(c);
    return text;
}

// ---- One state --------------------------------------------------------------------------------------------------------------------

Examiner::Examiner(const std::string& folder, Random& random) : world(folder, random), process(processes[process_limit - 1]) {
    mkdir(folder.c_str(), 0755);
}

/* A hash of the files that hold data; the library makes all other files again. */
static uint64_t hash(const Image& image) {
    uint64_t h = 14695981039346656037u;
    for (auto& [file, content] : image) {
        if (file.size() > 5 && file.compare(file.size() - 5, 5, ".lock") == 0) continue;
        mix(h, file.data(), file.size());
        mix(h, content.data(), content.size());
    }
    return h;
}
/* Changes an image so that commit records lead nowhere, as for an engine that does not know them. Returns whether it
   had any. */
static bool forget_records(Image& image) {
    static const char magic[] = "CRealmR2";
    bool were_there = false;
    for (auto& [file, content] : image) {
        uint8_t *at = content.data(), *end = at + content.size();
        while ((at = (uint8_t*)memmem(at, (size_t)(end - at), magic, sizeof magic - 1))) *at = '-', were_there = true;
    }
    return were_there;
}

void Examiner::examine(const Image& image, const std::string& name, const std::vector<Secret>& secrets, const Survivors& allowed,
                       const std::string& what, bool with_schema) {
    counts->states++;
    judge(image, name, secrets, allowed.newest, what, with_schema, true);
    Image same = image;
    if (!forget_records(same)) return;
    std::vector<Content> all = allowed.newest;
    all.insert(all.end(), allowed.older.begin(), allowed.older.end());
    counts->without_records++;
    judge(same, name, secrets, all, what + ", for an engine without commit records", with_schema, false);
}

void Examiner::judge(const Image& image, const std::string& name, const std::vector<Secret>& secrets, const std::vector<Content>& allowed,
                     const std::string& what, bool with_schema, bool knows_records) {
    auto check = [&](const Content& content) {
        if (std::find(allowed.begin(), allowed.end(), content) == allowed.end())
            found("%s: holds %s, not %s", what.c_str(), text_of(content).c_str(), list(allowed).c_str());
    };
    Random& random = world.random;
    uint64_t id = hash(image);
    auto earlier = known.find(id);
    if (earlier == known.end()) (knows_records ? counts->distinct : counts->distinct_without_records)++;
    else if (!random.chance(2)) return check(earlier->second);
    std::string path = world.folder + name;
    world.restart(image);
    process.revive(world);
    number++;
    // Power may be lost while the file is opened, more than once.
    bool is_as_it_was = true;
    for (int again = 0; again < 3 && random.chance(6); again++) {
        process.plan = Plan{Fault::power, 0, all_calls, random.below(90)};
        { Realm realm(process, path, secrets[random.below(secrets.size())], Realm::writing, with_schema); }
        process.plan = Plan();
        if (!world.is_off) world.cut_power();
        world.restart(world.after(random.chance(30) ? World::Choice{World::Choice::all, 0, 0, random.next()} : world.subset()));
        process.revive(world);
        counts->recoveries++;
        is_as_it_was = false;
    }
    Content content;
    Outcome why;
    // A file that may be new gets its rules; the others have them.
    bool declares_rules = true;
    if (with_rules && std::all_of(allowed.begin(), allowed.end(), [](const Content& c) { return c.stamp > 0; }))
        declares_rules = random.chance(50);
    for (auto& secret : secrets) {
        auto opened = std::make_unique<Realm>(process, path, secret, Realm::writing, with_schema, declares_rules);
        Realm& realm = *opened;
        why = realm.outcome();
        if (!realm.is_open()) continue;
        if (!realm.read(content)) found("%s: cannot be read: %d %s", what.c_str(), realm.outcome().code, realm.outcome().message.c_str());
        check(content);
        if (is_as_it_was) known[id] = content;
        std::string report;
        bool is_verified = number % 8 == 0 || !knows_records || with_rules;
        if (is_verified && !realm.verify(report)) found("%s: not sound: %s", what.c_str(), report.c_str());
        if (number % 4 == 0 && with_schema) {
            // A commit without changes must show the same content; then a new process must find a commit with changes.
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
        if (with_rules && with_schema) {
            if (!realm.is_open()) opened = std::make_unique<Realm>(process, path, secret);
            judge_rules(std::move(opened), secret, what);
        }
        return;
    }
    found("%s: does not open: %d %s", what.c_str(), why.code, why.message.c_str());
}

void Examiner::judge_rules(std::unique_ptr<Realm> realm, Secret secret, const std::string& what) {
    std::string fault, path = realm->path;
    auto fail = [&](const char* when, const std::string& text) {
        found("%s: %s: %d %s", what.c_str(), when, realm->outcome().code, text.c_str());
    };
    auto check = [&](const char* when) {
        bool good = realm->is_open() && realm->check_rules(fault);
        if (!good) fail(when, fault.empty() ? realm->outcome().message : fault);
    };
    check("rules");
    Content before, after;
    bool good = realm->begin_write() && realm->write_under_rules(world.random) && realm->read(before);
    if (!good || !realm->commit()) fail("a transaction with rules", realm->outcome().message);
    check("rules after a transaction");
    if (world.random.chance(30)) {
        // Another process, which does not declare them.
        realm = std::make_unique<Realm>(process, path, secret, Realm::writing, true, false);
        check("rules of a new process");
    }
    std::string report;
    if (!realm->read(after)) fail("read after a transaction with rules", realm->outcome().message);
    if (after != before) fail("after a transaction with rules", text_of(after) + ", not " + text_of(before));
    if (!realm->verify(report)) fail("not sound after a transaction with rules", report);
}

static bool replace(Image& image, const std::string& from, const std::string& to) {
    bool was_there = false;
    for (auto& [file, content] : image) {
        uint8_t *at = content.data(), *end = at + content.size();
        while ((at = (uint8_t*)memmem(at, (size_t)(end - at), from.data(), from.size()))) {
            memcpy(at, to.data(), to.size());
            was_there = true;
        }
    }
    return was_there;
}
bool Examiner::break_rule(Image& image, const std::string& name, const std::string& rule, Content& content) {
    std::string path = world.folder + name;
    bool done = true;
    auto use = [&](bool is_writing) {
        world.restart(image);
        process.revive(world);
        {
            Realm realm(process, path, Secret{plain, 0}, Realm::writing, true, false);
            bool good = realm.is_open();
            if (good && is_writing)
                good = realm.begin_write() && realm.write_against_rules(rule, done) && realm.commit();
            if (!good || !realm.read(content))
                found("a deliberate fault: %d %s", realm.outcome().code, realm.outcome().message.c_str());
        }
        image = world.now();
    };
    // Closing the file writes the header to the disk, so that no record leads to the nodes that are changed now.
    use(false);
    if (rule == "index") return replace(image, "crealm_unique_", "hidden_unique_");
    if (!replace(image, "crealm_rules", "hidden_rules")) return false;
    use(true);
    replace(image, "hidden_rules", "crealm_rules");
    return done;
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
    Survivors allowed;
    std::string where = "at first";
    bool is_inside = false;
    /* In every second seed: mostly commits of one size, large relative to the file, so that each needs the space that
       an earlier one freed. */
    bool is_steady;
    size_t note_length; /* length of the note in those commits */
    int flushes = 0; /* number of flushes of the operation */
    int round = 0; /* 0: creation; then commits and other operations */

    Explorer(uint64_t seed, Form form, const std::string& folder)
        : random(seed), world(folder + "main/", random), examiner(folder + "side/", random), secrets{Secret{form, 0}} {
        mkdir(world.folder.c_str(), 0755);
        for (World* w : {&world, &examiner.world}) {
            w->rules.torn_sectors = options.torn;
            w->rules.flush_takes_names = !options.plain_names;
        }
        world.clear();
        is_steady = seed % 2;
        note_length = is_steady ? std::max<uint64_t>(2500, random.below(2000u << random.below(5))) : 0;
        writer->revive(world);
        spare->revive(world);
        world.before_call = [this](Process&, Call call) {
            if ((call != FLUSH && call != FLUSH_FOLDER) || is_inside) return;
            explore(40);
            flushes++;
            world.rules.ignore_flushes = round >= options.from && (options.lost_flush == 0 || options.lost_flush == flushes);
        };
    }
    void explore(int subsets) {
        if (round < options.from) return;
        is_inside = true;
        auto choices = world.choices(120);
        for (int i = 0; i < subsets; i++) choices.push_back(world.subset());
        // Different choices may leave the same state.
        std::set<uint64_t> seen;
        for (auto& choice : choices) {
            if (options.states && counts->states >= options.states) break;
            Image image = world.after(choice);
            if (seen.insert(hash(image)).second) examiner.examine(image, name, secrets, allowed, where + ", " + text_of(choice));
        }
        is_inside = false;
    }
    /* The examiner must find a deliberate fault. */
    void break_rule() {
        is_inside = true;
        Image image = world.after({World::Choice::all, 0, 0, 0});
        Content content;
        if (examiner.break_rule(image, name, options.broken_rule, content))
            examiner.examine(image, name, {Secret{plain, 0}}, {{content}, {}}, where + ", then against the rules");
        is_inside = false;
    }
    /* Runs an operation that changes the content. */
    void next(const std::string& what, const std::function<void()>& body) {
        where = what;
        note("%s", what.c_str());
        body();
        // Fewer contents are allowed now.
        where = "after " + what;
        explore(10);
        if (!options.broken_rule.empty() && secrets[0].form == plain) break_rule();
        round++;
        flushes = 0;
    }
};
}  // namespace

void run_crash_states(uint64_t seed, Form form, const std::string& folder) {
    Explorer e(seed, form, folder);
    std::string path = e.world.folder + e.name;
    // The content of a new file, in each state of its creation.
    {
        e.is_inside = true;
        e.examiner.world.clear();
        processes[process_limit - 1].revive(e.examiner.world);
        Realm empty(processes[process_limit - 1], e.examiner.world.folder + "empty.realm", e.secrets[0]);
        Content content;
        if (!empty.is_open() || !empty.read(content)) found("a new file: %s", empty.outcome().message.c_str());
        e.allowed.newest = {content};
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
    // A commit of a group is flushed alone when it moves nodes, to make the file shorter, and when a commit that waits
    // for the disk follows. Called for the kth commit; `last` is the content before it.
    auto flushed_alone = [&](int k, const Content& last, int& flushes, std::vector<Content>& alone) {
        if (k > 0 && e.flushes > flushes) alone.push_back(last);
        flushes = e.flushes;
    };
    e.next("creation", open);
    for (int i = 1; i <= options.commits; i++) {
        if (shrinking_size && i > 2 && e.random.chance(20)) {
            e.next("online compaction", [&] {
                must(realm->compact_online(), "compact online");
                Content same;
                must(realm->read(same) && same == e.allowed.newest[0], "read after the compaction");
            });
            continue;
        }
        if (with_rules && i > 2 && e.random.chance(8)) {
            // A refused commit, and the transaction is rolled back; the next one goes on.
            e.next("a refused commit", [&] {
                Content same;
                must(realm->begin_write() && realm->change(e.random, i), "change");
                must(realm->refused_commit(e.random) && realm->rollback(), "refused commit");
                must(realm->read(same) && same == e.allowed.newest[0], "read after a refused commit");
            });
            continue;
        }
        switch (i > 2 ? e.random.below(e.is_steady ? 36 : 12) : i == 2 ? 5 : 11) {
            case 0:
                e.next("compaction", [&] {
                    bool done = false;
                    must(realm->compact(done) && done, "compact");
                    e.allowed.older.clear();
                });
                break;
            case 1: {
                Secret now = e.secrets[0], other{(Form)e.random.below(form_count), now.key + 1};
                e.secrets.push_back(other);
                e.next(std::string("change of key to ") + form_names[other.form], [&] {
                    must(realm->change_key(other), "change key");
                    e.allowed.older.clear();
                });
                e.secrets = {other};
                e.explore(10);
                break;
            }
            case 2:
                e.next("closing and opening", [&] {
                    realm.reset();
                    // A closed file has its header on the disk.
                    e.allowed.older.clear();
                    open();
                });
                break;
            case 3: case 4: {
                // A commit is cut short; the next process continues, and no other opened the file in between.
                auto second = std::make_unique<Realm>(*e.spare, path, e.secrets[0]);
                if (!second->is_open()) found("a second process: %s", second->outcome().message.c_str());
                Content cut, seen, next;
                must(realm->begin_write() && realm->change(e.random, i) && realm->read(cut), "change");
                Content before = e.allowed.newest[0];
                e.allowed.newest.push_back(cut);
                bool is_dead = false;
                e.next("a commit cut short", [&] {
                    e.writer->plan = Plan{e.random.chance(50) ? Fault::killed : Fault::killed_after, 0, all_calls, e.random.below(9)};
                    bool good = realm->commit();
                    is_dead = e.writer->dead;
                    e.writer->plan = Plan();
                    if (!is_dead) must(good, "commit"), e.allowed = {{cut}, {before}};
                });
                realm.reset();
                e.writer->revive(e.world);
                std::swap(e.writer, e.spare);
                realm = std::move(second);
                must(realm->begin_write() && realm->read(seen), "begin write after a commit that was cut short");
                if (seen != cut && (seen != before || !is_dead)) found("after a commit that was cut short: %s", text_of(seen).c_str());
                // A commit that this writer does not find can never appear later.
                if (seen != cut) e.allowed.newest = {before};
                else e.allowed = {{cut}, {before}};
                must(realm->change(e.random, ++i) && realm->read(next), "change");
                e.allowed.newest.push_back(next);
                e.next("the commit after it", [&] {
                    must(realm->commit(), "commit");
                    e.allowed = {{next}, {seen}};
                });
                counts->kills += is_dead;
                break;
            }
            case 5: case 6: {
                // Commits that become visible one by one, but after a crash are all in the file or none is. In
                // encrypted files each is flushed separately.
                Content before = e.allowed.newest[0], last = before;
                int count = 2 + (int)e.random.below(5);
                bool is_plain = e.secrets[0].form == plain, is_alike = e.random.chance(50);
                size_t length = e.random.below(2000u << e.random.below(5));
                std::vector<Content> alone;
                int flushes = 0;
                e.next("a group of " + std::to_string(count) + " commits", [&] {
                    must(realm->commit_group(count, [&](int k) {
                        Content content;
                        int64_t stamp = i * 100 + k;
                        if (!(is_alike ? realm->change_note(stamp, length) : realm->change(e.random, stamp)) || !realm->read(content)) return false;
                        flushed_alone(k, last, flushes, alone);
                        e.allowed = is_plain ? Survivors{{before, content}, e.allowed.older} : Survivors{{last, content}, {before, last}};
                        if (is_plain) e.allowed.newest.insert(e.allowed.newest.end(), alone.begin(), alone.end());
                        if (!is_plain && k > 0) e.allowed.older.push_back(before);
                        last = content;
                        return true;
                    }), "group");
                    e.allowed = {{last}, {before}};
                    e.allowed.older.insert(e.allowed.older.end(), alone.begin(), alone.end());
                    if (!is_plain) e.allowed.newest = {last};
                    Content same;
                    must(realm->read(same) && same == last, "read after the group");
                });
                counts->commits += (uint64_t)count;
                break;
            }
            case 7: {
                // A group is cut short while another process has the file open: that process finds the published
                // commits.
                if (e.secrets[0].form != plain) break;
                auto second = std::make_unique<Realm>(*e.spare, path, e.secrets[0]);
                if (!second->is_open()) found("a second process: %s", second->outcome().message.c_str());
                Content before = e.allowed.newest[0], seen, next;
                std::vector<Content> all = {before};
                Survivors earlier = e.allowed;
                std::vector<Content> alone;
                int flushes = 0;
                bool is_dead = false;
                e.next("a group cut short", [&] {
                    bool good = realm->commit_group(3, [&](int k) {
                        Content content;
                        if (!realm->change(e.random, i * 100 + k) || !realm->read(content)) return false;
                        flushed_alone(k, all.back(), flushes, alone);
                        all.push_back(content);
                        e.allowed.newest = {before, content};
                        e.allowed.newest.insert(e.allowed.newest.end(), alone.begin(), alone.end());
                        if (k == 2) e.writer->plan = Plan{e.random.chance(50) ? Fault::killed : Fault::killed_after, 0, all_calls, e.random.below(12)};
                        return true;
                    });
                    is_dead = e.writer->dead;
                    e.writer->plan = Plan();
                    if (!is_dead) must(good, "group");
                });
                realm.reset();
                e.writer->revive(e.world);
                std::swap(e.writer, e.spare);
                realm = std::move(second);
                // The last commit may not have been published.
                e.allowed.newest = {before, all[2], all[3]};
                e.allowed.newest.insert(e.allowed.newest.end(), alone.begin(), alone.end());
                must(realm->begin_write() && realm->read(seen), "begin write after a group that was cut short");
                if (seen != all[3] && (seen != all[2] || !is_dead)) found("after a group that was cut short: %s", text_of(seen).c_str());
                e.allowed = {{seen}, {before}};
                e.allowed.older.insert(e.allowed.older.end(), earlier.older.begin(), earlier.older.end());
                e.allowed.older.insert(e.allowed.older.end(), alone.begin(), alone.end());
                must(realm->change(e.random, ++i) && realm->read(next), "change");
                e.allowed.newest.push_back(next);
                e.next("the commit after it", [&] {
                    must(realm->commit(), "commit");
                    e.allowed = {{next}, {seen}};
                });
                counts->kills += is_dead;
                break;
            }
            default: {
                Content content;
                bool is_alike = i > 1 && e.random.chance(e.is_steady ? 95 : 10), is_large = !e.is_steady && e.random.chance(8);
                must(realm->begin_write(), "begin write");
                must(is_alike ? realm->change_note(i, e.note_length) : realm->change(e.random, i, is_large), "change");
                must(realm->read(content), "read");
                Content before = e.allowed.newest[0];
                e.allowed.newest.push_back(content);
                e.next("commit " + std::to_string(i), [&] {
                    must(realm->commit(), "commit");
                    e.allowed = {{content}, {before}};
                    Content same;
                    must(realm->read(same) && same == content, "read after the commit");
                });
                counts->commits++;
            }
        }
    }
}
