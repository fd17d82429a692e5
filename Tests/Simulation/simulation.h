/*
 * simulation.h - shared by the modes: options, counts, and the end of a run.
 */

#ifndef SIMULATION_H
#define SIMULATION_H

#include "database.h"

#include <atomic>
#include <functional>
#include <unordered_map>

struct Options {
    std::string library, mode, folder = "/dev/shm/", fixtures;
    uint64_t first_seed = 1, last_seed = 1, states = 0;
    int jobs = 1, commits = 12, steps = 60, from = 0;
    std::vector<std::string> skipped; /* faults that do not happen */
    std::string broken_rule;          /* a deliberate fault: what is written against the rules */
    std::vector<Form> forms = {plain, xchacha, gcm, realms};
    int lost_flush = -1; /* which of each operation; 0: all */
    bool torn = false, trace = false, in_process = false, plain_names = false;
};
extern Options options;
bool is_skipped(Fault fault);

/* In memory shared by all runs. */
struct Counts {
    std::atomic<uint64_t> runs, failed, states, distinct, without_records, distinct_without_records;
    std::atomic<uint64_t> commits, failed_commits, unknown, faults, kills, power_cuts, recoveries, refusals,
        operations, calls, rule_checks, refused_commits, refused_deletions, savepoints;
};
extern Counts* counts;

/* Ends the run and prints the finding and the steps before it. */
[[noreturn]] void found(const char* format, ...) __attribute__((format(printf, 1, 2)));
/* Records a step of the run, for the report of a failure. */
void note(const char* format, ...) __attribute__((format(printf, 1, 2)));

/* The run of a seed: its folder, its form. Ends by returning, or in found(). */
typedef void Run(uint64_t seed, Form form, const std::string& folder);
void run_crash_states(uint64_t seed, Form form, const std::string& folder);
void run_history(uint64_t seed, Form form, const std::string& folder);
void run_nth(uint64_t seed, Form form, const std::string& folder);

/* The contents that may be found after a loss of power. */
struct Survivors {
    std::vector<Content> newest; /* one of these */
    /* An engine that does not know commit records uses only the header, which may be one commit behind: it finds one of
       `newest` or of these. */
    std::vector<Content> older;
};

/* Checks the state that a loss of power left, in a separate World. */
class Examiner {
public:
    Examiner(const std::string& folder, Random& random);
    /* The file must open and hold one of these, for this engine and for one that knows no commit records; sometimes it
       must also accept a commit, verify as sound, and survive losses of power while it is opened. For a state that was
       examined before, only its content is compared with the allowed ones. */
    void examine(const Image& image, const std::string& name, const std::vector<Secret>& secrets, const Survivors& allowed,
                 const std::string& what, bool with_schema = true);
    /* A deliberate fault: a program that does not know the rules has written the (plain) file. Returns whether it did;
       `content` is then that of the image. */
    bool break_rule(Image& image, const std::string& name, const std::string& rule, Content& content);
    World world;

private:
    Process& process;
    uint64_t number = 0;
    /* The contents of the examined states, by the hash of their files. */
    std::unordered_map<uint64_t, Content> known;

    void judge(const Image& image, const std::string& name, const std::vector<Secret>& secrets, const std::vector<Content>& allowed,
               const std::string& what, bool with_schema, bool knows_records);
    /* The rules hold in what a realm reads, and one more transaction keeps them. */
    void judge_rules(std::unique_ptr<Realm> realm, Secret secret, const std::string& what);
};
std::string text_of(const World::Choice& choice);
std::string text_of(const Content& content);
#endif
