/*
 * nth.cpp - every operation, with its Nth call failing, for every N and every way to fail. The operation must end with
 * an error or succeed. No data is lost, the handle shows the same content, a new process finds the content, and the
 * operation succeeds as soon as calls no longer fail.
 */

#include "simulation.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

/* The state of one case. */
struct Scene {
    Random random;
    World world;
    Examiner examiner;
    std::string name = "file.realm", path, copy_path;
    Secret secret;
    Process& user = processes[0];
    Process& other = processes[1];
    Process& guest = processes[process_limit - 2];
    std::unique_ptr<Realm> realm, elsewhere;
    bool with_schema = true;
    Content before, after;              /* contents of the file without and with the operation */
    std::vector<Secret> secrets;        /* one of them opens the file */
    std::string what;
    Call at = OTHER;                    /* the call that failed */

    Scene(uint64_t seed, Form form, const std::string& folder)
        : random(seed), world(folder + "main/", random), examiner(folder + "side/", random), path(world.folder + name),
          copy_path(world.folder + "copy.realm"), secret{form, 0} {
        mkdir(world.folder.c_str(), 0755);
        world.clear();
    }
    [[noreturn]] void fail(const char* text, const Outcome& o) { found("%s: %s: %d %s", what.c_str(), text, o.code, o.message.c_str()); }
    void open_here() {
        realm = std::make_unique<Realm>(user, path, secret, Realm::writing, with_schema);
        if (!realm->is_open()) fail("open", realm->outcome());
    }
    void open_elsewhere() {
        elsewhere = std::make_unique<Realm>(other, path, secret, Realm::writing, with_schema);
        if (!elsewhere->is_open()) fail("open elsewhere", elsewhere->outcome());
    }
    /* A commit by `by`. Returns its content. */
    Content commit(Realm& by, int64_t stamp) {
        Content c;
        if (!by.begin_write() || !by.change(random, stamp) || !by.read(c) || !by.commit()) fail("commit", by.outcome());
        return c;
    }
    /* Ends all processes and starts them again. */
    void restart(const Image& image) {
        for (Process* p : {&user, &other, &guest}) p->die();
        realm.reset(), elsewhere.reset();
        world.fill(image);
        for (Process* p : {&user, &other, &guest}) p->revive(world);
    }
};

/* An operation to test. `prepare` runs before the fault, `run` with it; `run` returns whether the call succeeded. */
struct Operation {
    const char* name;
    std::function<void(Scene&)> prepare;
    std::function<bool(Scene&, Outcome&)> run;
    bool changes = false; /* the operation changes the content to `after` */
    const char* fixture = nullptr;
};

void begin(Scene& s, bool large) {
    s.open_here();
    if (!s.realm->begin_write() || !s.realm->change(s.random, 1000, large) || !s.realm->read(s.after)) s.fail("change", s.realm->outcome());
}
bool outcome(Outcome& o, Realm& realm, bool good) {
    o = realm.outcome();
    return good;
}
bool open_with(Scene& s, Outcome& o, Realm::Access access) {
    s.realm = std::make_unique<Realm>(s.user, s.path, s.secret, access, s.with_schema);
    o = s.realm->outcome();
    bool good = s.realm->is_open();
    if (!good) s.realm.reset();
    return good;
}
void nothing(Scene&) {}

std::vector<Operation> operations(Form form) {
    std::vector<Operation> all = {
        {"create",
         [](Scene& s) {
             s.restart({});
             s.after = s.before = Content();
         },
         [](Scene& s, Outcome& o) { return open_with(s, o, Realm::writing); }},
        {"open", nothing, [](Scene& s, Outcome& o) { return open_with(s, o, Realm::writing); }},
        {"open for reading", nothing, [](Scene& s, Outcome& o) { return open_with(s, o, Realm::reading); }},
        {"join", [](Scene& s) { s.open_elsewhere(); }, [](Scene& s, Outcome& o) { return open_with(s, o, Realm::writing); }},
        {"join for reading", [](Scene& s) { s.open_elsewhere(); }, [](Scene& s, Outcome& o) { return open_with(s, o, Realm::reading); }},
        {"read", [](Scene& s) { s.open_here(); },
         [](Scene& s, Outcome& o) {
             Content c;
             bool good = s.realm->read(c);
             o = s.realm->outcome();
             if (s.realm->was_mixed() || (good && c != s.before)) s.fail("other content", o);
             return good;
         }},
        {"refresh",
         [](Scene& s) {
             s.open_here();
             Content c;
             if (!s.realm->read(c)) s.fail("read", s.realm->outcome());
             s.open_elsewhere();
             s.before = s.after = s.commit(*s.elsewhere, 999);
         },
         [](Scene& s, Outcome& o) { return outcome(o, *s.realm, s.realm->refresh()); }},
        {"begin write",
         [](Scene& s) {
             s.open_here();
             s.open_elsewhere();
             s.before = s.after = s.commit(*s.elsewhere, 999);
         },
         [](Scene& s, Outcome& o) { return outcome(o, *s.realm, s.realm->begin_write()); }},
        {"change",
         [](Scene& s) {
             s.open_here();
             if (!s.realm->begin_write()) s.fail("begin write", s.realm->outcome());
         },
         [](Scene& s, Outcome& o) { return outcome(o, *s.realm, s.realm->change(s.random, 1000)); }},
        {"commit", [](Scene& s) { begin(s, false); }, [](Scene& s, Outcome& o) { return outcome(o, *s.realm, s.realm->commit()); }, true},
        {"large commit", [](Scene& s) { begin(s, true); }, [](Scene& s, Outcome& o) { return outcome(o, *s.realm, s.realm->commit()); }, true},
        {"second commit",
         [](Scene& s) {
             s.open_here();
             s.before = s.commit(*s.realm, 999);
             if (!s.realm->begin_write() || !s.realm->change(s.random, 1000) || !s.realm->read(s.after)) s.fail("change", s.realm->outcome());
         },
         [](Scene& s, Outcome& o) { return outcome(o, *s.realm, s.realm->commit()); }, true},
        {"rollback", [](Scene& s) { begin(s, true), s.after = s.before; },
         [](Scene& s, Outcome& o) { return outcome(o, *s.realm, s.realm->rollback()); }},
        {"compact", [](Scene& s) { s.open_here(); },
         [](Scene& s, Outcome& o) {
             bool done = false;
             return outcome(o, *s.realm, s.realm->compact(done));
         }},
        {"copy", [](Scene& s) { s.open_here(); },
         [](Scene& s, Outcome& o) { return outcome(o, *s.realm, s.realm->copy_to(s.copy_path, Secret{plain, 0})); }},
        {"encrypted copy", [](Scene& s) { s.open_here(); },
         [](Scene& s, Outcome& o) { return outcome(o, *s.realm, s.realm->copy_to(s.copy_path, Secret{xchacha, 3})); }},
        {"change of key",
         [](Scene& s) {
             s.open_here();
             s.secrets.push_back(Secret{s.secret.form == plain ? xchacha : s.secret.form, 1});
         },
         [](Scene& s, Outcome& o) { return outcome(o, *s.realm, s.realm->change_key(s.secrets.back())); }},
        {"change of form",
         [](Scene& s) {
             s.open_here();
             s.secrets.push_back(s.secret.form == realms ? Secret{plain, 0} : Secret{realms, 1});
         },
         [](Scene& s, Outcome& o) { return outcome(o, *s.realm, s.realm->change_key(s.secrets.back())); }},
        {"close", [](Scene& s) { s.open_here(), s.before = s.after = s.commit(*s.realm, 999); },
         [](Scene& s, Outcome&) {
             s.realm.reset();
             return true;
         }},
        {"delete", nothing,
         [](Scene& s, Outcome& o) {
             bool done = false;
             return delete_files(s.user, s.path, done, o);
         }},
    };
    if (with_rules)
        all.push_back({"refused commit", [](Scene& s) { begin(s, false), s.after = s.before; },
                       [](Scene& s, Outcome& o) { return outcome(o, *s.realm, s.realm->refused_commit(s.random)); }});
    // Files of other formats and the streaming form become ordinary ones when they are opened.
    if (form == plain && !options.fixtures.empty())
        for (const char* file : {"sdk/f10-swift-all-types", "sdk/f11-swift-converter-dogs", "sdk/f20-swift-embedded", "sdk/f22-dotnet-mixed-collections",
                                 "old/f02-java-all-types", "old/f05-java-asset-file", "old/f09-core-lists-enum"})
            all.push_back({"upgrade", [](Scene& s) { s.with_schema = false; },
                           [](Scene& s, Outcome& o) { return open_with(s, o, Realm::writing); }, false, file});
    return all;
}

struct Way {
    Fault fault;
    int error;
    bool lasting;
};
const Way ways[] = {
    {Fault::error, EIO, false},   {Fault::error, EIO, true},     {Fault::error, ENOSPC, false}, {Fault::error, ENOSPC, true},
    {Fault::error, EINTR, false}, {Fault::error, EDQUOT, false}, {Fault::error, EACCES, false}, {Fault::error, EACCES, true},
    {Fault::error, EMFILE, false}, {Fault::error, ENOMEM, false}, {Fault::partial, 0, false},   {Fault::nothing, 0, false},
    {Fault::lost, 0, false},      {Fault::kept, 0, false},       {Fault::killed, 0, false},     {Fault::killed_after, 0, false},
    {Fault::power, 0, false}};

Bytes content_of(const std::string& path) {
    Bytes bytes;
    int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0) found("no fixture at %s", path.c_str());
    bytes.resize((size_t)info.st_size);
    if (read(fd, bytes.data(), bytes.size()) != (ssize_t)bytes.size()) found("cannot read %s", path.c_str());
    close(fd);
    return bytes;
}

/* A new process must find one of these contents. */
Content look(Scene& s, const std::vector<Content>& allowed, const char* when) {
    Outcome why;
    for (auto& secret : s.secrets) {
        Realm fresh(s.guest, s.path, secret, Realm::writing, s.with_schema);
        why = fresh.outcome();
        if (!fresh.is_open()) continue;
        Content c;
        if (!fresh.read(c)) s.fail(when, fresh.outcome());
        if (std::find(allowed.begin(), allowed.end(), c) == allowed.end())
            found("%s: %s: a fresh process finds %s, not %s", s.what.c_str(), when, text_of(c).c_str(), text_of(allowed[0]).c_str());
        s.secrets = {secret};
        return c;
    }
    s.fail(when, why);
}

/* Runs the operation with one failing call. Returns whether the fault occurred. */
bool try_one(Scene& s, const Operation& op, const Way& way, uint64_t n, unsigned kinds, const Image& image,
             const Content& content, const Content& created) {
    s.what = std::string(op.name) + ", " + fault_names[(int)way.fault] + (way.lasting ? " from call " : " at call ") + std::to_string(n) +
             (way.error ? std::string(", ") + strerror(way.error) : "");
    s.restart(image);
    s.secrets = {s.secret};
    s.before = s.after = content;
    op.prepare(s);
    bool is_new = strcmp(op.name, "create") == 0, deletes = strcmp(op.name, "delete") == 0;
    if (is_new) s.before = s.after = created;
    Content before = s.before;
    const std::vector<Content> older = {content, before};

    Outcome why;
    s.user.plan = Plan{way.fault, way.error, kinds, n, way.lasting};
    bool good = op.run(s, why);
    bool fired = s.user.plan.fired;
    s.at = s.user.plan.at;
    s.user.plan = Plan();
    counts->operations++;
    s.what += std::string(" (") + call_names[s.at] + ")";
    if (!fired) {
        if (!good) s.fail("fails without a fault", why);
        return false;
    }
    counts->faults++;
    if (options.trace) note("%s -> %s %d %s", s.what.c_str(), good ? "true" : "false", why.code, why.message.c_str());

    // The contents that the file may have now.
    std::vector<Content> allowed;
    bool is_dead = s.user.dead;
    if (!op.changes) allowed = {before};
    else if (good && !is_dead) allowed = {s.after};
    else if (is_dead || why.code == CREALM_ERR_COMMIT_OUTCOME_UNKNOWN) allowed = {before, s.after};
    else allowed = {before};
    if (deletes) allowed.push_back(created);

    if (s.world.is_off) {
        s.realm.reset(), s.elsewhere.reset();
        Image left;
        for (int i = 0; i < 6; i++) {
            left = s.world.after(i == 0 ? World::Choice{World::Choice::all, 0, 0, s.random.next()} : s.world.subset());
            s.examiner.examine(left, s.name, s.secrets, {allowed, older}, s.what, s.with_schema);
        }
        s.restart(left);
        look(s, allowed, "after the loss of power");
        return true;
    }
    if (is_dead) {
        s.realm.reset();
        s.user.revive(s.world);
    }
    // The handle shows the same content as before, or fails.
    if (s.realm) {
        if (s.realm->is_writing() && op.changes && !good) s.realm->rollback();
        Content c;
        bool is_writing = s.realm->is_writing();
        if (!s.realm->read(c)) {
            if (s.realm->was_mixed()) s.fail("the handle", s.realm->outcome());
            counts->refusals++;
        } else if (!is_writing && std::find(allowed.begin(), allowed.end(), c) == allowed.end() && !(c == content)) {
            found("%s: the handle shows %s, not %s", s.what.c_str(), text_of(c).c_str(), text_of(allowed[0]).c_str());
        }
        // The open transaction is rolled back, and the next one works.
        if (is_writing) s.realm->rollback();
        if (s.with_schema && strcmp(op.name, "open for reading") != 0 && strcmp(op.name, "join for reading") != 0) {
            if (!s.realm->begin_write()) s.fail("begin write afterwards", s.realm->outcome());
            if (!s.realm->read(c)) s.fail("read in a write transaction afterwards", s.realm->outcome());
            if (std::find(allowed.begin(), allowed.end(), c) == allowed.end())
                found("%s: a write transaction afterwards shows %s, not %s", s.what.c_str(), text_of(c).c_str(), text_of(allowed[0]).c_str());
            if (!s.realm->commit()) s.fail("an empty commit afterwards", s.realm->outcome());
            Content same;
            if (!s.realm->read(same) || same != c) s.fail("read after an empty commit", s.realm->outcome());
            allowed = {c};
        }
    }
    // The new name of a file whose process was killed before it flushed the folder may not be on the disk: then the old
    // secret opens the file that has the name.
    std::vector<Secret> possible = s.secrets;
    allowed = {look(s, allowed, "afterwards")};
    if (!is_dead) possible = s.secrets;
    // Sometimes power is lost now.
    if (s.random.chance(10)) {
        Image left = s.world.after(s.world.subset());
        std::vector<Content> after_power = allowed;
        if (deletes) after_power = {content, created};
        s.examiner.examine(left, s.name, possible, {after_power, older}, s.what + ", then power", s.with_schema);
    }
    if (s.random.chance(30)) {
        std::string report;
        s.realm.reset();
        Realm fresh(s.guest, s.path, s.secrets[0], Realm::writing, s.with_schema);
        if (!fresh.is_open() || !fresh.verify(report)) found("%s: not sound: %s", s.what.c_str(), report.c_str());
    }
    return true;
}
}  // namespace

void run_nth(uint64_t seed, Form form, const std::string& folder) {
    auto all = operations(form);
    const Operation& op = all[seed % all.size()];
    Scene s(seed, form, folder);
    // The file with which all cases begin.
    Image image;
    Content content, created;
    s.restart({});
    s.what = op.name;
    if (op.fixture) {
        image[s.name] = content_of(options.fixtures + "/" + op.fixture + ".realm");
        s.restart(image);
        s.with_schema = false;
        s.open_here();
    } else {
        s.open_here();
        if (!s.realm->read(created)) s.fail("read", s.realm->outcome());
        for (int i = 1; i <= 8; i++) s.commit(*s.realm, i);
    }
    if (!s.realm->read(content)) s.fail("read", s.realm->outcome());
    s.realm.reset();
    if (!op.fixture) image = s.world.now();
    for (auto& way : ways) {
        if (is_skipped(way.fault)) continue;
        uint64_t n = 0, locks = 0;
        while (try_one(s, op, way, n, all_calls & ~(1u << LOCK_BYTES), image, content, created)) n++;
        // The search for other users tests thousands of locks: a sample of them is enough.
        while (try_one(s, op, way, locks, 1u << LOCK_BYTES, image, content, created)) locks += locks < 12 ? 1 : 307;
        note("%s: %s %s: %llu calls", op.name, fault_names[(int)way.fault], way.error ? strerror(way.error) : "", (unsigned long long)n);
    }
}
