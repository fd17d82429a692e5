/*
 * history.cpp - several processes that read and write one file, while calls fail, disks fill up, processes are killed
 * and power is lost. Invariants after every step: a commit that returned is visible in every process, for ever; a
 * commit that failed is not, except that after "outcome unknown" or a killed process it may be either, and then stays
 * so; a reader sees its version and no other; no other content is ever visible, whatever failed before; an operation
 * that failed because of a fault succeeds after the fault ends.
 */

#include "simulation.h"

#include <algorithm>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace {

struct History {
    /* A program that uses the file. */
    struct User {
        Process* process;
        std::unique_ptr<Realm> realm, older; /* `older` is never refreshed */
        Content seen, older_seen;            /* the contents they show */
        bool is_sure = true, is_older_sure = true; /* false: after an error they may be unreadable */
    };

    Random random;
    World world;
    Examiner examiner;
    std::string path, name = "file.realm";
    std::vector<User> users;
    Process& guest = processes[process_limit - 2]; /* opens, reads and closes */

    // Contents that may be visible.
    Content newest;
    std::vector<Content> undecided; /* commits of unknown outcome */
    Survivors survivors;            /* contents that may be found after a loss of power */
    std::vector<Secret> secrets;    /* one of them opens the file */
    bool after_power = false;       /* no process has read the file since */
    int64_t stamp = 0;
    // While a commit runs.
    const Content* coming = nullptr;
    bool was_revealed = false;
    int depth = 0; /* depth of actions of other processes inside a system call */
    Process* active = nullptr;

    History(uint64_t seed, Form form, const std::string& folder)
        : random(seed), world(folder + "main/", random), examiner(folder + "side/", random), path(world.folder + "file.realm"),
          secrets{Secret{form, 0}} {
        mkdir(world.folder.c_str(), 0755);
        for (World* w : {&world, &examiner.world}) {
            w->rules.torn_sectors = options.torn;
            w->rules.flush_takes_names = !options.plain_names;
        }
        world.clear();
        users.resize(2 + random.below(3));
        for (size_t i = 0; i < users.size(); i++) {
            users[i].process = &processes[i];
            users[i].process->revive(world);
        }
        guest.revive(world);
        world.before_call = [this](Process& p, Call) { meanwhile(p); };
    }

    // ---- Faults -------------------------------------------------------------------------------------------------------------------

    static constexpr int errors[] = {EIO, EIO, ENOSPC, EDQUOT, EACCES, EMFILE, ENOMEM, EINTR};

    /* A random fault for the next call of the library, often none. */
    Plan plan(unsigned percent) {
        Plan p;
        if (!random.chance(percent)) return p;
        // Most operations make few calls, so most faults come early.
        p.countdown = random.chance(70) ? random.below(25) : random.below(150);
        switch (random.below(12)) {
            case 0: p.fault = Fault::killed; break;
            case 1: p.fault = Fault::killed_after; break;
            case 2: p.fault = Fault::power; break;
            case 3: p.fault = Fault::partial; break;
            case 4: p.fault = Fault::nothing, p.countdown = random.below(6); break;
            case 5: p.fault = Fault::lost, p.kinds = 1u << FLUSH, p.countdown = random.below(3); break;
            case 6: p.fault = Fault::kept, p.kinds = 1u << FLUSH, p.countdown = random.below(3); break;
            case 7:
                p.fault = Fault::error, p.error = EIO, p.kinds = device_calls, p.lasting = true;
                p.countdown = random.below(12);
                break;
            case 8:
                p.fault = Fault::error, p.error = ENOSPC, p.kinds = 1u << WRITE | 1u << ALLOCATE, p.lasting = true;
                p.countdown = random.below(6);
                break;
            case 9: p.fault = Fault::error, p.error = EIO, p.kinds = 1u << WRITE | 1u << FLUSH | 1u << READ, p.countdown = random.below(8); break;
            default: p.fault = Fault::error, p.error = errors[random.below(sizeof errors / sizeof *errors)]; break;
        }
        // The library repeats interrupted calls, so the fault must end.
        if (p.error == EINTR) p.lasting = false;
        if (is_skipped(p.fault)) return Plan();
        return p;
    }
    /* Calls the library with a planned fault. Returns its result. */
    template <typename F> bool with(User& user, const Plan& p, F body) {
        user.process->plan = p;
        active = user.process;
        bool good = body();
        active = nullptr;
        if (user.process->plan.fired) {
            counts->faults++;
            const Plan& f = user.process->plan;
            note("    %s, error %d, at %s%s -> %s", fault_names[(int)f.fault], f.error, call_names[f.at], f.lasting ? ", lasting" : "",
                 good ? "true" : "false");
        }
        return good;
    }
    bool fired(User& user) {
        bool was = user.process->plan.fired;
        user.process->plan = Plan();
        return was || user.process->dead;
    }

    // ---- Visible contents ---------------------------------------------------------------------------------------------------------

    /* A process has read the newest version. */
    void observe(const Content& c, const char* who) {
        if (after_power) {
            if (std::find(survivors.newest.begin(), survivors.newest.end(), c) == survivors.newest.end())
                found("%s finds %s after a loss of power", who, text_of(c).c_str());
            after_power = false;
            newest = c;
            is_certain(c);
            undecided.clear();
            return;
        }
        if (coming && c == *coming) {
            was_revealed = true;
            return;
        }
        if (c == newest) {
            if (was_revealed) found("%s sees %s after a newer version was seen", who, text_of(c).c_str());
            return;
        }
        auto one = std::find(undecided.begin(), undecided.end(), c);
        if (one == undecided.end()) found("%s sees %s, not %s", who, text_of(c).c_str(), text_of(newest).c_str());
        note("    %s is there", text_of(c).c_str());
        newest = c;
        undecided.clear();
    }
    /* From now on only this content may appear; the header on the disk may still lead to earlier ones. */
    void is_certain(const Content& c) {
        survivors.older.insert(survivors.older.end(), survivors.newest.begin(), survivors.newest.end());
        survivors.newest = {c};
    }
    /* A writer has begun: a commit that it did not find can never appear later. */
    void settle() {
        auto& all = survivors.newest;
        for (auto& c : undecided) all.erase(std::remove(all.begin(), all.end(), c), all.end());
        undecided.clear();
    }

    /* Reads a handle that must show `expected`; after a fault the read may fail. */
    bool read_same(Realm& realm, const Content& expected, bool is_sure, const char* who) {
        Content c;
        if (!realm.read(c)) {
            if (realm.was_mixed()) found("%s: %s", who, realm.outcome().message.c_str());
            if (is_sure) found("%s cannot be read: %d %s", who, realm.outcome().code, realm.outcome().message.c_str());
            counts->refusals++;
            note("    %s refuses: %d %s", who, realm.outcome().code, realm.outcome().message.c_str());
            return false;
        }
        if (c != expected) found("%s shows %s, not %s", who, text_of(c).c_str(), text_of(expected).c_str());
        return true;
    }
    /* Reads the newest version through a handle that has just moved to it. */
    bool read_newest(User& user, bool is_sure, const char* who) {
        Content c;
        if (!user.realm->read(c)) {
            const Outcome& o = user.realm->outcome();
            if (user.realm->was_mixed() || is_sure) found("%s cannot be read: %d %s", who, o.code, o.message.c_str());
            counts->refusals++;
            user.is_sure = false;
            return false;
        }
        user.seen = c;
        user.is_sure = true;
        observe(c, who);
        return true;
    }
    std::string name_of(const User& user) { return "process " + std::to_string(user.process->number); }

    /* Other processes act inside a system call of one process. */
    void meanwhile(Process& p) {
        if (depth > 0 || after_power || &p != active || !random.chance(1)) return;
        User& other = users[random.below(users.size())];
        if (other.process == &p || other.process->dead || !other.realm || !other.is_sure) return;
        depth++;
        if (random.chance(50)) {
            if (!other.realm->refresh()) found("refresh meanwhile: %d %s", other.realm->outcome().code, other.realm->outcome().message.c_str());
            read_newest(other, true, "a reader meanwhile");
        } else {
            read_same(*other.realm, other.seen, true, "a reader meanwhile, at its version");
        }
        if (other.older && other.is_older_sure) read_same(*other.older, other.older_seen, true, "an older reader meanwhile");
        depth--;
    }

    // ---- Steps --------------------------------------------------------------------------------------------------------------------

    void forget(User& user) {
        user.older.reset();
        user.realm.reset();
    }
    /* The process is dead: its handles are released without effect, and a new process replaces it. */
    void bury(User& user) {
        if (!user.process->dead) return;
        counts->kills++;
        forget(user);
        if (!world.is_off) user.process->revive(world);
    }
    void power_off() {
        if (!world.is_off) world.cut_power();
        counts->power_cuts++;
        for (auto& user : users) forget(user);
        if (after_power) note("    again before anybody looked");
        // The states that it may have left; the history continues with one of them.
        Image chosen;
        for (int i = 0; i < 8; i++) {
            World::Choice choice = i == 0 ? World::Choice{World::Choice::all, 0, 0, random.next()} : world.subset();
            if (i == 1) choice = World::Choice{World::Choice::none, 0, 0, random.next()};
            Image image = world.after(choice);
            examiner.examine(image, name, secrets, survivors, "after a loss of power, " + text_of(choice));
            if (i == 0 || random.chance(30)) chosen = image;
        }
        world.restart(chosen);
        for (auto& user : users) user.process->revive(world);
        guest.revive(world);
        after_power = true;
    }

    void open(User& user, unsigned percent) {
        note("%s opens", name_of(user).c_str());
        Outcome why;
        bool was_faulty = false;
        for (int attempt = 0; attempt < 2; attempt++) {
            for (auto& secret : secrets) {
                with(user, attempt == 0 ? plan(percent) : Plan(), [&] {
                    user.realm = std::make_unique<Realm>(*user.process, path, secret);
                    return user.realm->is_open();
                });
                was_faulty |= fired(user);
                why = user.realm->outcome();
                if (world.is_off || user.process->dead) return;
                if (user.realm->is_open()) {
                    user.is_sure = true;
                    if (random.chance(25)) {
                        user.older = std::make_unique<Realm>(*user.process, path, secret);
                        if (!user.older->is_open()) found("a second instance does not open: %s", user.older->outcome().message.c_str());
                    }
                    read_newest(user, true, "who opens");
                    if (user.older) {
                        user.older_seen = user.seen;
                        user.is_older_sure = read_same(*user.older, user.seen, true, "a second instance");
                    }
                    if (secrets.size() > 1 && random.chance(50)) secrets = {secret};
                    return;
                }
                user.realm.reset();
            }
            if (!was_faulty) break;
            note("    did not open: %d %s", why.code, why.message.c_str());
        }
        found("%s does not open: %d %s", name_of(user).c_str(), why.code, why.message.c_str());
    }

    void write(User& user, bool is_empty) {
        Realm& realm = *user.realm;
        note("%s writes%s", name_of(user).c_str(), is_empty ? " nothing" : "");
        bool good = with(user, plan(12), [&] { return realm.begin_write(); });
        bool faulty = fired(user);
        if (world.is_off || user.process->dead) return;
        if (!good) {
            if (!faulty && user.is_sure) found("begin_write: %d %s", realm.outcome().code, realm.outcome().message.c_str());
            note("    begin_write: %d %s", realm.outcome().code, realm.outcome().message.c_str());
            return after_failure(user);
        }
        // (b) The newest version, through a handle that may have failed before.
        if (!read_newest(user, !faulty, "a writer")) {
            realm.rollback();
            return after_failure(user);
        }
        settle();
        Content before = user.seen, next = before;
        if (!is_empty) {
            good = with(user, plan(12), [&] { return realm.change(random, ++stamp, random.chance(5)); });
            faulty = fired(user);
            if (world.is_off || user.process->dead) return;
            if (!good) {
                if (!faulty) found("change: %d %s", realm.outcome().code, realm.outcome().message.c_str());
                note("    change: %d %s", realm.outcome().code, realm.outcome().message.c_str());
                return roll_back(user, before);
            }
            if (!realm.read(next)) found("a change cannot be read: %d %s", realm.outcome().code, realm.outcome().message.c_str());
            if (random.chance(10)) return roll_back(user, before);
        }
        uint64_t space = world.rules.space;
        if (random.chance(4)) world.rules.space = random.below(20000);
        coming = &next, was_revealed = false;
        Plan p = plan(30);
        good = with(user, p, [&] { return realm.commit(); });
        bool is_full = world.rules.space != UINT64_MAX && world.rules.space < 40000;
        world.rules.space = space;
        coming = nullptr;
        faulty = fired(user) || is_full;
        counts->commits++;
        bool was_seen = was_revealed;
        was_revealed = false;
        if (good && !user.process->dead) {
            newest = next;
            if (next == before) is_certain(next);
            else survivors = {{next}, {before}};
            undecided.clear();
            user.seen = next;
            // (a) The same handle.
            user.is_sure = read_same(realm, next, !faulty, "who committed");
            note("    committed %s", text_of(next).c_str());
            return;
        }
        counts->failed_commits++;
        if (user.process->dead || world.is_off) {
            // Its outcome is unknown; a commit that returned to a dead process counts as not returned.
            note("    dead while committing %s", text_of(next).c_str());
            if (was_seen) newest = next;
            else if (next != newest) undecided.push_back(next);
            survivors.newest.push_back(next);
            return;
        }
        Outcome why = realm.outcome();
        note("    commit of %s: %d %s", text_of(next).c_str(), why.code, why.message.c_str());
        if (!faulty) found("commit: %d %s", why.code, why.message.c_str());
        if (why.code == CREALM_ERR_COMMIT_OUTCOME_UNKNOWN) {
            counts->unknown++;
            if (was_seen) newest = next;
            else if (next != newest) undecided.push_back(next);
            survivors.newest.push_back(next);
            user.is_sure = false;
            return;
        }
        if (was_seen && next != before)
            found("a reader saw %s, whose commit then failed: %d %s", text_of(next).c_str(), why.code, why.message.c_str());
        after_failure(user);
        if (world.is_off || user.process->dead || random.chance(50)) return;
        // An empty commit through the handle that failed must not change the content.
        if (!realm.begin_write()) {
            note("    then begin_write: %d %s", realm.outcome().code, realm.outcome().message.c_str());
            return after_failure(user);
        }
        if (!read_newest(user, true, "a writer after a failed commit")) return;
        if (!realm.commit()) found("an empty commit after a failed one: %d %s", realm.outcome().code, realm.outcome().message.c_str());
        read_newest(user, true, "who committed nothing after a failed commit");
        is_certain(newest);
    }
    void roll_back(User& user, const Content& before) {
        Realm& realm = *user.realm;
        bool good = with(user, plan(10), [&] { return realm.rollback(); });
        bool faulty = fired(user);
        if (world.is_off || user.process->dead) return;
        if (!good && !faulty) found("rollback: %d %s", realm.outcome().code, realm.outcome().message.c_str());
        user.seen = before;
        user.is_sure = read_same(realm, before, !faulty, "who rolled back");
    }
    /* After an error, the handle shows the same content as before, or fails. */
    void after_failure(User& user) {
        if (user.realm->is_writing()) {
            user.realm->rollback();
        }
        Content c;
        if (user.realm->read(c)) {
            // A refresh that failed late may have moved on.
            if (c != user.seen) observe(c, "a handle after a failure");
            user.seen = c;
            user.is_sure = true;
        } else {
            if (user.realm->was_mixed()) found("a handle after a failure: mixed");
            counts->refusals++;
            note("    after the failure it refuses: %d %s", user.realm->outcome().code, user.realm->outcome().message.c_str());
            user.is_sure = false;
        }
    }

    void refresh(User& user) {
        note("%s refreshes", name_of(user).c_str());
        bool good = with(user, plan(20), [&] { return user.realm->refresh(); });
        bool faulty = fired(user);
        if (world.is_off || user.process->dead) return;
        if (!good) {
            if (!faulty && user.is_sure) found("refresh: %d %s", user.realm->outcome().code, user.realm->outcome().message.c_str());
            return after_failure(user);
        }
        read_newest(user, !faulty, "who refreshed");
    }

    void compact(User& user) {
        bool is_online = shrinking_size && random.chance(70);
        note("%s compacts%s", name_of(user).c_str(), is_online ? " online" : "");
        bool done = is_online;
        bool good = with(user, plan(40), [&] { return is_online ? user.realm->compact_online() : user.realm->compact(done); });
        bool faulty = fired(user);
        if (world.is_off || user.process->dead) return;
        if (!good && !faulty && user.is_sure) found("compact: %d %s", user.realm->outcome().code, user.realm->outcome().message.c_str());
        note("    %s%s", good ? done ? "done" : "not alone" : "failed: ", user.realm->outcome().message.c_str());
        if (is_online && !good) return after_failure(user);
        // The read transaction ended in any case.
        read_newest(user, !faulty, "who compacted");
    }

    void copy(User& user) {
        note("%s writes a copy", name_of(user).c_str());
        std::string other = world.folder + "copy-" + std::to_string(++stamp) + ".realm";
        Secret secret{(Form)random.below(form_count), 7};
        bool good = with(user, plan(40), [&] { return user.realm->copy_to(other, secret); });
        bool faulty = fired(user);
        bool is_there = access(other.c_str(), F_OK) == 0;
        if (good && !user.process->dead) {
            guest.revive(world);
            Realm copied(guest, other, secret);
            Content c;
            if (!copied.is_open() || !copied.read(c)) found("the copy: %d %s", copied.outcome().code, copied.outcome().message.c_str());
            std::string fault;
            if (with_rules && !copied.check_rules(fault))
                found("the copy: %s", fault.empty() ? copied.outcome().message.c_str() : fault.c_str());
            if (user.is_sure && c != user.seen) found("the copy holds %s, not %s", text_of(c).c_str(), text_of(user.seen).c_str());
        } else if (!user.process->dead) {
            if (!faulty && user.is_sure) found("copy: %d %s", user.realm->outcome().code, user.realm->outcome().message.c_str());
            // An error of the last flushes may be reported although the work is complete.
            note("    %d %s%s", user.realm->outcome().code, user.realm->outcome().message.c_str(), is_there ? ", but the copy is there" : "");
        }
        for (const char* end : {"", ".lock"}) {
            std::string file = other + end;
            if (unlink(file.c_str()) == 0) world.name_changes.push_back({file, "", 0});
        }
        if (!user.process->dead && user.is_sure) user.is_sure = read_same(*user.realm, user.seen, !faulty, "who copied");
    }

    void change_key(User& user) {
        Secret other{(Form)random.below(form_count), secrets.back().key + 1};
        note("%s changes the key to %s %d", name_of(user).c_str(), form_names[other.form], other.key);
        bool good = with(user, plan(30), [&] { return user.realm->change_key(other); });
        bool faulty = fired(user);
        if (user.process->dead || world.is_off) {
            secrets.insert(secrets.begin(), other);
            return;
        }
        if (good) {
            secrets = {other};
        } else {
            note("    %d %s", user.realm->outcome().code, user.realm->outcome().message.c_str());
            if (!faulty && user.is_sure && user.realm->outcome().code != RLM_ERR_DELETE_OPENED_REALM)
                found("change_key: %d %s", user.realm->outcome().code, user.realm->outcome().message.c_str());
            // After an error of a flush the disk may have either state.
            if (faulty) secrets.push_back(other);
        }
        read_newest(user, !faulty, "who changed the key");
    }

    /* (c) A new process. */
    void visit() {
        guest.revive(world);
        Outcome why;
        for (auto& secret : secrets) {
            // Before the first commit there is no class to read.
            bool may_only_read = !after_power && newest.stamp != 0;
            Realm realm(guest, path, secret, may_only_read && random.chance(30) ? Realm::reading : Realm::writing);
            why = realm.outcome();
            if (!realm.is_open()) continue;
            Content c;
            if (!realm.read(c)) found("a fresh process cannot read: %d %s", realm.outcome().code, realm.outcome().message.c_str());
            observe(c, "a fresh process");
            std::string report;
            if (random.chance(15) && !realm.verify(report)) found("a fresh process: not sound: %s", report.c_str());
            if (with_rules && !realm.check_rules(report))
                found("a fresh process: %s", report.empty() ? realm.outcome().message.c_str() : report.c_str());
            return;
        }
        found("a fresh process does not open the file: %d %s", why.code, why.message.c_str());
    }

    void step() {
        counts->operations++;
        User& user = users[random.below(users.size())];
        if (random.chance(2)) {
            note("%s is killed", name_of(user).c_str());
            user.process->die();
            return;
        }
        if (random.chance(2)) {
            note("the power goes");
            return world.cut_power();
        }
        if (!user.realm) return open(user, 30);
        switch (random.below(40)) {
            case 0: case 1:
                note("%s closes", name_of(user).c_str());
                with(user, plan(20), [&] {
                    forget(user);
                    return true;
                });
                fired(user);
                return;
            case 2: return compact(user);
            case 3: case 4: return copy(user);
            case 5: return change_key(user);
            case 6: case 7: case 8: return write(user, true);
            case 9: case 10: case 11: case 12: case 13: return refresh(user);
            case 14: case 15: case 16:
                note("%s looks again", name_of(user).c_str());
                if (user.is_sure) read_same(*user.realm, user.seen, true, "a reader");
                if (user.older && user.is_older_sure) read_same(*user.older, user.older_seen, true, "an older reader");
                return;
            case 17:
                if (user.older) {
                    note("%s lets the older version go", name_of(user).c_str());
                    user.older.reset();
                }
                return;
            case 18: case 19: case 20:
                note("a fresh process looks");
                return visit();
            default: return write(user, false);
        }
    }

    void run() {
        {
            // The content of a new file.
            guest.revive(examiner.world);
            examiner.world.clear();
            Realm empty(guest, examiner.world.folder + "empty.realm", secrets[0]);
            if (!empty.is_open() || !empty.read(newest)) found("a new file: %s", empty.outcome().message.c_str());
            empty.close();
            guest.die();
            guest.revive(world);
        }
        survivors.newest = {newest};
        open(users[0], options.from > 0 ? 0 : 30);
        for (int i = 0; i < options.steps; i++) {
            if (world.is_off) power_off();
            for (auto& user : users) bury(user);
            step();
            if (world.would_block) found("a lock would have been waited for");
            if (!world.is_off && random.chance(15)) visit();
        }
        if (world.is_off) power_off();
        for (auto& user : users) bury(user), forget(user);
        visit();
    }
};
}  // namespace

void run_history(uint64_t seed, Form form, const std::string& folder) {
    auto history = std::make_unique<History>(seed, form, folder);
    history->run();
}
