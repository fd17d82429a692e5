/*
 * world.h - a machine in one program: a disk, a page cache, and processes that are copies of the library.
 *
 * The page cache is a real folder, best in memory. Beside it the World records the data that is certainly on the disk:
 * for each file its content at the last flush and the changes since, for the folder its names at the last flush and the
 * changes since. From these it makes the states that a loss of power may leave.
 *
 * Each process has its own copy of the library with its own table of system calls (crealm_testing.h), whose functions
 * call a World. Everything runs in one thread: the actions of another process happen inside a system call of the first.
 */

#ifndef WORLD_H
#define WORLD_H

#include <crealm_testing.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

typedef std::vector<uint8_t> Bytes;

/* Random numbers that depend on the seed and on nothing else (splitmix64). */
struct Random {
    uint64_t state;
    // Neighbouring seeds give streams that have nothing in common.
    explicit Random(uint64_t seed) : state(mixed(mixed(seed) + 1)) {}
    static uint64_t mixed(uint64_t z) {
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    uint64_t next() { return mixed(state += 0x9E3779B97F4A7C15u); }
    uint64_t below(uint64_t n) { return n ? next() % n : 0; }
    bool chance(unsigned percent) { return below(100) < percent; }
};

/* The kinds of system calls that may fail. */
enum Call : unsigned {
    OPEN, CLOSE, DUPLICATE, LOCK_BYTES, LOCK_FILE, READ, WRITE, TRUNCATE, ALLOCATE, FLUSH, FLUSH_FOLDER, STATUS, SPACE, ACCESS, MODE,
    RENAME, LINK, UNLINK, RESOLVE, LIST, MAP, PROTECT, OTHER, CALLS
};
extern const char* const call_names[CALLS];
constexpr unsigned all_calls = (1u << CALLS) - 1;
/* Calls that a device can fail, as opposed to the operating system. */
constexpr unsigned device_calls = 1u << READ | 1u << WRITE | 1u << TRUNCATE | 1u << ALLOCATE | 1u << FLUSH | 1u << FLUSH_FOLDER;

/* The fault of a call. */
enum class Fault {
    none,
    error,        /* errno; nothing is done */
    partial,      /* reads and writes do half; other calls are not affected */
    nothing,      /* writes answer 0; other calls are not affected */
    lost,         /* a flush fails; the unflushed changes are gone from the page cache, too */
    kept,         /* a flush fails; the page cache keeps them and counts them as flushed */
    killed,       /* the process dies before the call */
    killed_after, /* the process dies after the call */
    power         /* the machine loses power, with or without the call's effect */
};
extern const char* const fault_names[];

struct World;

/* Which call is going to fail, and how. */
struct Plan {
    Fault fault = Fault::none;
    int error = 0;
    unsigned kinds = all_calls;
    uint64_t countdown = 0; /* calls of these kinds that still succeed */
    bool lasting = false;   /* all calls of these kinds from then on */
    bool fired = false;
    Call at = OTHER; /* where it fired */
};

struct Process {
    int number = 0;
    World* world = nullptr;
    bool dead = false;
    pid_t id = 0;
    Plan plan;
    uint64_t calls = 0;
    /* Descriptors, and the paths they were opened by. */
    std::map<int, std::string> descriptors;
    std::map<void*, size_t> shared_maps;

    /* Ends the process in the middle of a call: its descriptors and locks are released. Calls that the library still
       makes until it returns have no effect. */
    void die();
    /* The same copy of the library as a new process; all its handles were released. */
    void revive(World& in);
    /* The table of functions that call this process. */
    const crealm_system_calls_t* table();
};
constexpr int process_limit = 8;
extern Process processes[process_limit];

/* A change of a file since its last flush. */
struct Change {
    bool is_size; /* false: a write */
    uint64_t at;  /* position of the write, or the new size */
    Bytes bytes;
};
struct File {
    Bytes durable;
    std::vector<Change> changes;
    /* The library writes to it through a map, without calls: its changes are unknown. */
    bool is_mapped = false;
};
struct NameChange {
    std::string removed, added; /* either may be empty; both: a rename */
    ino_t file;                 /* of `added` */
};
typedef std::map<std::string, Bytes> Image; /* files by their names in the folder */

/* How states after a loss of power are made. */
struct DiskRules {
    bool torn_sectors = false;       /* a sector that was being written may be a mixture */
    bool flush_takes_names = true;   /* flushing a file makes its name durable, as journaling file systems do */
    bool ignore_flushes = false;     /* a deliberate fault: flushes do nothing */
    uint64_t space = UINT64_MAX;     /* bytes that may still be added to files: a full disk */
};

struct World {
    std::string folder; /* ends with '/' */
    DiskRules rules;
    Random& random;
    std::map<ino_t, File> files;
    std::map<std::string, ino_t> durable_names;
    std::vector<NameChange> name_changes;
    bool is_off = false; /* the power is off */
    int64_t seconds = 0; /* the time of day; 0: that of the real machine */
    uint64_t would_block = 0, flushes = 0, changes = 0;
    /* Called before each call of a living process. */
    std::function<void(Process&, Call)> before_call;

    World(std::string folder, Random& random);
    /* Replaces the folder's content; the disk then has these files. */
    void fill(const Image& image);
    void clear();

    /* Cuts the power: all processes die. */
    void cut_power();

    /* One possible state of the disk after a loss of power: for each sector, how many of the changes since the flush
       reached it. */
    struct Choice {
        enum Kind { none, all, prefix, without, only, sector_without, sector_only, subset } kind = all;
        size_t change = 0, sector = 0; /* counted over all files */
        uint64_t seed = 0;             /* for subsets, tears and names */
    };
    Image after(const Choice& choice);
    /* All choices but subsets, in order. */
    std::vector<Choice> choices(size_t limit);
    Choice subset();
    /* Continues from a state: all processes are dead, the folder has the files of that image. */
    void restart(const Image& image);
    /* The files that are in the folder now. */
    Image now();

    File* file_of(int fd);
    bool owns(const std::string& path) const { return path.compare(0, folder.size(), folder) == 0; }
    void flush(File& file);
    void flush_names();
};

#endif
