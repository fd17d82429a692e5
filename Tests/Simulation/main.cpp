/*
 * main.cpp - runs histories of simulated processes over a simulated disk.
 *
 *     simulate crash-states|histories|nth LIBRARY [--seeds A-B | --seed N] [--jobs N] [--forms plain,xchacha,gcm,realm]
 *              [--commits N] [--from N] [--steps N] [--states N] [--torn] [--twice] [--plain-names] [--skip FAULT]
 *              [--shrink N] [--rules] [--lose-flush N] [--break-rule RULE] [--fixtures DIR] [--folder DIR] [--trace]
 *              [--here]
 *
 *     crash-states  the states that a loss of power may leave of every commit, compaction and change of key
 *     histories     several processes, failing calls, full disks, killed processes, losses of power
 *     nth           each call of each operation fails once, and from then on
 *
 * Each seed runs in a separate process. For a failing seed the finding and the steps before it are printed; `--seed N`
 * with the same form runs it again, `--trace` prints each step, `--here` stays in this process, for a debugger.
 * `--states` ends after that many states. `--from`: only the states of the Nth operation and later. `--torn`: a sector
 * being written may be a mixture. `--twice`: commits wait for the disk twice. `--plain-names`: only flushing the folder
 * makes names durable. `--shrink N`: files of N bytes and more shrink when a quarter of them is free, and online
 * compactions are among the operations. `--rules`: the file has rules (rules.cpp); in each state they must hold, and
 * one more transaction must keep them. Deliberate faults: `--lose-flush N`: the Nth flush of each operation, 0 for all
 * of them, does nothing. `--break-rule unique|check|counter|index`: a program that does not know the rules writes a
 * plain file. `--skip`: a fault that does not happen, by its name in world.cpp.
 */

#include "simulation.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

Options options;
Counts* counts;
static std::vector<std::string> notes;
static std::string run_name;

void note(const char* format, ...) {
    char text[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (options.trace) printf("  %s\n", text), fflush(stdout);
    notes.push_back(text);
}
void found(const char* format, ...) {
    char text[4000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    std::string report = "FAIL " + run_name + ": " + text + "\n";
    size_t first = notes.size() > 12 ? notes.size() - 12 : 0;
    for (size_t i = first; i < notes.size(); i++) report += "    " + notes[i] + "\n";
    fputs(report.c_str(), stdout);
    fflush(stdout);
    _Exit(1);
}

bool is_skipped(Fault fault) {
    for (auto& name : options.skipped)
        if (name == fault_names[(int)fault]) return true;
    return false;
}

static void remove_folder(const std::string& folder) {
    std::string command = "rm -rf '" + folder + "'";
    if (system(command.c_str()) != 0) perror(folder.c_str());
}

static const struct {
    const char* name;
    Run* run;
} modes[] = {{"crash-states", run_crash_states}, {"histories", run_history}, {"nth", run_nth}};

[[noreturn]] static void usage() {
    fprintf(stderr, "usage: simulate crash-states|histories|nth LIBRARY [options]; see the top of main.cpp\n");
    exit(2);
}
static void read_options(int count, char** words) {
    if (count < 3) usage();
    options.mode = words[1];
    options.library = words[2];
    for (int i = 3; i < count; i++) {
        std::string word = words[i];
        auto value = [&]() -> std::string {
            if (++i >= count) usage();
            return words[i];
        };
        if (word == "--seed") options.first_seed = options.last_seed = std::stoull(value());
        else if (word == "--seeds") {
            std::string range = value();
            size_t dash = range.find('-');
            options.first_seed = std::stoull(range);
            options.last_seed = dash == std::string::npos ? options.first_seed : std::stoull(range.substr(dash + 1));
        } else if (word == "--forms") {
            std::string names = value() + ",";
            options.forms.clear();
            for (int f = 0; f < form_count; f++)
                if (("," + names).find("," + std::string(form_names[f]) + ",") != std::string::npos) options.forms.push_back((Form)f);
            if (options.forms.empty()) usage();
        } else if (word == "--jobs") options.jobs = std::stoi(value());
        else if (word == "--skip") options.skipped.push_back(value());
        else if (word == "--commits") options.commits = std::stoi(value());
        else if (word == "--from") options.from = std::stoi(value());
        else if (word == "--steps") options.steps = std::stoi(value());
        else if (word == "--states") options.states = std::stoull(value());
        else if (word == "--folder") options.folder = value() + "/";
        else if (word == "--fixtures") options.fixtures = value();
        else if (word == "--twice") durability = CREALM_DURABILITY_TWO_FLUSHES;
        else if (word == "--shrink") shrinking_size = std::stoull(value());
        else if (word == "--rules") with_rules = true;
        else if (word == "--break-rule") options.broken_rule = value();
        else if (word == "--torn") options.torn = true;
        else if (word == "--plain-names") options.plain_names = true;
        else if (word == "--trace") options.trace = true;
        else if (word == "--here") options.in_process = true;
        else if (word == "--lose-flush") options.lost_flush = std::stoi(value());
        else usage();
    }
}

int main(int count, char** words) {
    read_options(count, words);
    Run* run = nullptr;
    for (auto& m : modes)
        if (options.mode == m.name) run = m.run;
    if (!run) usage();
    // Only the seed determines a run.
    setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1);
    setenv("SWIFT_BACKTRACE", "enable=no", 1);
    setvbuf(stdout, nullptr, _IOLBF, 0);
    counts = (Counts*)mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    std::string folder = options.folder + "simulation-" + std::to_string(getpid()) + "/";
    if (counts == MAP_FAILED || mkdir(folder.c_str(), 0755) != 0) {
        perror(folder.c_str());
        return 2;
    }
    for (int i = 0; i < process_limit; i++) {
        processes[i].number = i;
        processes[i].dead = true;
        libraries[i].load(options.library, processes[i], folder);
    }

    std::map<pid_t, std::string> running;
    auto wait_for_one = [&] {
        int status = 0;
        pid_t child = wait(&status);
        if (child < 0) return;
        std::string name = running[child];
        running.erase(child);
        counts->runs++;
        if (status == 0) return;
        counts->failed++;
        if (WIFSIGNALED(status)) printf("FAIL %s: signal %d (%s)\n", name.c_str(), WTERMSIG(status), strsignal(WTERMSIG(status)));
        else if (WEXITSTATUS(status) != 1) printf("FAIL %s: status %d\n", name.c_str(), WEXITSTATUS(status));
    };
    for (uint64_t seed = options.first_seed; seed <= options.last_seed; seed++) {
        for (Form form : options.forms) {
            if (options.states && counts->states >= options.states) break;
            run_name = options.mode + " --seed " + std::to_string(seed) + " --forms " + form_names[form];
            std::string own = folder + std::to_string(seed) + "-" + form_names[form] + "/";
            notes.clear();
            while ((int)running.size() >= options.jobs) wait_for_one();
            pid_t child = options.in_process ? 0 : fork();
            if (child < 0) {
                perror("fork");
                return 2;
            }
            if (child == 0) {
                // A run takes seconds; a run that does not end is a finding, too.
                struct rlimit limit = {600, 600}, none = {0, 0};
                if (!options.in_process) setrlimit(RLIMIT_CPU, &limit);
                setrlimit(RLIMIT_CORE, &none);
                mkdir(own.c_str(), 0755);
                run(seed, form, own);
                remove_folder(own);
                if (!options.in_process) _Exit(0);
                counts->runs++;
                continue;
            }
            running[child] = run_name;
        }
    }
    while (!running.empty()) wait_for_one();
    remove_folder(folder);
    Counts& c = *counts;
    printf("%s: %llu runs, %llu failed;", options.mode.c_str(), (unsigned long long)c.runs, (unsigned long long)c.failed);
    const std::pair<const char*, std::atomic<uint64_t>&> all[] = {
        {"crash states", c.states}, {"distinct", c.distinct}, {"without commit records", c.without_records},
        {"distinct", c.distinct_without_records}, {"losses of power while opening", c.recoveries}, {"operations", c.operations},
        {"commits", c.commits}, {"failed commits", c.failed_commits}, {"of them unknown", c.unknown}, {"faults", c.faults},
        {"killed processes", c.kills}, {"losses of power", c.power_cuts}, {"refusals after a fault", c.refusals},
        {"checks of all rules", c.rule_checks}, {"refused commits", c.refused_commits},
        {"refused deletions", c.refused_deletions}, {"undone savepoints", c.savepoints}};
    for (auto& [name, value] : all)
        if (value) printf(" %llu %s;", (unsigned long long)value, name);
    printf("\n");
    return c.failed != 0;
}
