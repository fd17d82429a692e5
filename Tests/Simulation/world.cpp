#include "world.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

Process processes[process_limit];
const char* const call_names[CALLS] = {"open", "close", "duplicate", "lock bytes", "flock", "read", "write", "truncate", "allocate", "flush",
                                       "flush folder", "stat", "statvfs", "access", "chmod", "rename", "link", "unlink", "realpath", "list",
                                       "map", "protect", "other"};
const char* const fault_names[] = {"none", "error", "partial", "nothing", "lost", "kept", "killed", "killed after", "power"};

static constexpr uint64_t sector_size = 512;

[[noreturn]] static void give_up(const char* what) {
    perror(what);
    abort();
}

// ---- Processes --------------------------------------------------------------------------------------------------------------------

void Process::die() {
    if (dead) return;
    dead = true;
    for (auto& [fd, path] : descriptors) close(fd);
    descriptors.clear();
    for (auto& [at, size] : shared_maps) {
        Bytes copy((uint8_t*)at, (uint8_t*)at + size);
        if (mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) give_up("mmap");
        memcpy(at, copy.data(), size);
    }
    shared_maps.clear();
}

void Process::revive(World& in) {
    if (!dead) die();
    static pid_t last = 1000;
    world = &in;
    dead = false;
    id = ++last;
    plan = Plan();
}

// ---- Calls ------------------------------------------------------------------------------------------------------------------------

/* One system call: decides which fault it gets, and whether it is made at all. */
struct Entry {
    Process& process;
    World& world;
    Fault fault = Fault::none;

    Entry(Process& p, Call kind) : process(p), world(*p.world) {
        if (!p.dead && world.before_call) world.before_call(p, kind);
        if (p.dead) fail(EIO);
        else decide(kind);
    }
    void decide(Call kind) {
        process.calls++;
        Plan& plan = process.plan;
        if (plan.fault == Fault::none || !(plan.kinds & 1u << kind) || !applies(plan.fault, kind)) return;
        if (plan.fired ? !plan.lasting : plan.countdown > 0) {
            if (!plan.fired) plan.countdown--;
            return;
        }
        plan.fired = true;
        plan.at = kind;
        fault = plan.fault;
        if (fault == Fault::error) fail(plan.error);
        if (fault == Fault::killed) process.die(), fail(EIO);
        if (fault == Fault::power && world.random.chance(50)) world.cut_power(), fail(EIO);
    }
    static bool applies(Fault fault, Call kind) {
        switch (fault) {
            case Fault::partial: return kind == READ || kind == WRITE;
            case Fault::nothing: return kind == WRITE;
            case Fault::lost: case Fault::kept: return kind == FLUSH;
            case Fault::killed: case Fault::killed_after: case Fault::power: return true;
            default: return kind != OTHER && kind != CLOSE;
        }
    }
    ~Entry() {
        if (failed) errno = code;
    }
    /* After a call that was made: the process or the machine may end now. */
    void leave() {
        int saved = errno;
        if (fault == Fault::killed_after) process.die();
        if (fault == Fault::power) world.cut_power();
        errno = saved;
    }
    void fail(int error) { failed = true, code = error; }
    bool failed = false;
    int code = 0;
};
/* Makes the call unless its fault prevents that; its result, or -1. */
template <typename F> static auto make(Process& p, Call kind, F body) -> decltype(body(std::declval<Entry&>())) {
    Entry entry(p, kind);
    typedef decltype(body(entry)) Answer;
    if (entry.failed) return (Answer)-1;
    Answer answer = body(entry);
    entry.leave();
    return answer;
}

File* World::file_of(int fd) {
    struct stat info;
    if (fstat(fd, &info) != 0) return nullptr;
    auto found = files.find(info.st_ino);
    return found == files.end() ? nullptr : &found->second;
}
static uint64_t size_of(int fd) {
    struct stat info;
    return fstat(fd, &info) == 0 ? (uint64_t)info.st_size : 0;
}

static Bytes part_of(const File& file, Random& chance);

namespace calls {
static int open(Process& p, const char* path, int flags, int mode) {
    return make(p, OPEN, [&](Entry& e) {
        World& w = e.world;
        bool existed = ::access(path, F_OK) == 0;
        int fd = ::open(path, flags, mode);
        if (fd < 0) return fd;
        p.descriptors[fd] = path;
        struct stat info;
        if (!existed && (flags & O_CREAT) && w.owns(path) && ::fstat(fd, &info) == 0) {
            w.files[info.st_ino] = File();
            w.name_changes.push_back({"", path, info.st_ino});
            w.changes++;
        }
        return fd;
    });
}
static int close(Process& p, int fd) {
    // The descriptor is closed even if the call reports an error.
    if (!p.dead && p.descriptors.erase(fd)) ::close(fd);
    return make(p, CLOSE, [&](Entry&) { return 0; });
}
static int fcntl_number(Process& p, int fd, int command, int argument) {
    return make(p, DUPLICATE, [&](Entry&) {
        int answer = ::fcntl(fd, command, argument);
        if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && answer >= 0) p.descriptors[answer] = p.descriptors[fd];
        return answer;
    });
}
static int fcntl_lock(Process& p, int fd, int command, struct flock* lock) {
    // Releasing a lock never fails.
    return make(p, lock->l_type == F_UNLCK ? OTHER : LOCK_BYTES, [&](Entry& e) {
        bool waits = command == F_OFD_SETLKW || command == F_SETLKW;
        if (waits) command = command == F_OFD_SETLKW ? F_OFD_SETLK : F_SETLK;
        int answer = ::fcntl(fd, command, lock);
        if (waits && answer != 0 && (errno == EAGAIN || errno == EACCES)) {
            // The holder of the lock cannot run meanwhile: there is one thread.
            e.world.would_block++;
            errno = EIO;
        }
        return answer;
    });
}
static int flock(Process& p, int fd, int operation) {
    return make(p, operation & LOCK_UN ? OTHER : LOCK_FILE, [&](Entry& e) {
        int answer = ::flock(fd, operation | LOCK_NB);
        if (answer != 0 && errno == EWOULDBLOCK && !(operation & LOCK_NB)) {
            e.world.would_block++;
            errno = EIO;
        }
        return answer;
    });
}
static ssize_t pread(Process& p, int fd, void* buffer, size_t count, off_t at) {
    return make(p, READ, [&](Entry& e) { return ::pread(fd, buffer, e.fault == Fault::partial ? (count + 1) / 2 : count, at); });
}
static ssize_t pwrite(Process& p, int fd, const void* buffer, size_t count, off_t at) {
    return make(p, WRITE, [&](Entry& e) -> ssize_t {
        World& w = e.world;
        if (e.fault == Fault::nothing) return 0;
        if (e.fault == Fault::partial && count > sector_size) count = count / 2 / sector_size * sector_size;
        if (e.fault == Fault::killed_after || e.fault == Fault::power) {
            // Only some of its sectors are written.
            uint64_t end = ((uint64_t)at + 1 + w.random.below(count)) / sector_size * sector_size;
            if (end > (uint64_t)at) count = std::min<size_t>(count, end - (uint64_t)at);
        }
        uint64_t size = size_of(fd), end = (uint64_t)at + count;
        if (end > size) {
            if (end - size > w.rules.space) {
                // Space is allocated in blocks.
                w.rules.space = (size + w.rules.space) / 4096 * 4096;
                w.rules.space = w.rules.space > size ? w.rules.space - size : 0;
                count = size + w.rules.space > (uint64_t)at ? (size_t)(size + w.rules.space - (uint64_t)at) : 0;
                if (count == 0) {
                    errno = ENOSPC;
                    return -1;
                }
                end = (uint64_t)at + count;
            }
            if (w.rules.space != UINT64_MAX) w.rules.space -= end - size;
        }
        ssize_t answer = ::pwrite(fd, buffer, count, at);
        File* file = answer > 0 ? w.file_of(fd) : nullptr;
        if (file) {
            file->changes.push_back({false, (uint64_t)at, Bytes((const uint8_t*)buffer, (const uint8_t*)buffer + answer)});
            w.changes++;
        }
        return answer;
    });
}
static bool take_space(World& w, int fd, uint64_t size) {
    uint64_t old = size_of(fd);
    if (size <= old || w.rules.space == UINT64_MAX) return true;
    if (size - old > w.rules.space) return false;
    w.rules.space -= size - old;
    return true;
}
static int ftruncate(Process& p, int fd, off_t size) {
    return make(p, TRUNCATE, [&](Entry& e) {
        // The file grows by a hole, which takes no space.
        int answer = ::ftruncate(fd, size);
        File* file = answer == 0 ? e.world.file_of(fd) : nullptr;
        if (file) {
            file->changes.push_back({true, (uint64_t)size, {}});
            e.world.changes++;
        }
        return answer;
    });
}
static int posix_fallocate(Process& p, int fd, off_t at, off_t size) {
    Entry entry(p, ALLOCATE);
    if (entry.failed) return entry.code;
    if (!take_space(entry.world, fd, (uint64_t)(at + size))) return ENOSPC;
    int answer = ::posix_fallocate(fd, at, size);
    File* file = answer == 0 ? entry.world.file_of(fd) : nullptr;
    if (file) file->changes.push_back({true, size_of(fd), {}}), entry.world.changes++;
    entry.leave();
    return answer;
}
static int flush(Process& p, int fd) {
    struct stat info;
    bool is_folder = !p.dead && ::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
    return make(p, is_folder ? FLUSH_FOLDER : FLUSH, [&](Entry& e) {
        World& w = e.world;
        w.flushes++;
        if (w.rules.ignore_flushes) return 0;
        if (is_folder) {
            w.flush_names();
            return 0;
        }
        File* file = w.file_of(fd);
        if (file && (e.fault == Fault::lost || e.fault == Fault::kept)) {
            // Some of the changes may have reached the disk.
            Bytes reached = w.random.chance(50) ? file->durable : part_of(*file, w.random);
            if (e.fault == Fault::lost) {
                file->durable = reached;
                file->changes.clear();
                Bytes& old = file->durable;
                std::string path = "/proc/self/fd/" + std::to_string(fd);
                int again = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
                if (again < 0 || ::ftruncate(again, (off_t)old.size()) != 0 ||
                    ::pwrite(again, old.data(), old.size(), 0) != (ssize_t)old.size()) give_up("lost pages");
                ::close(again);
            } else {
                // The size is metadata of the file system, and not lost.
                reached.resize(size_of(fd));
                file->durable = reached;
                file->changes.clear();
            }
            errno = EIO;
            return -1;
        }
        if (file) w.flush(*file);
        if (w.rules.flush_takes_names) w.flush_names();
        return 0;
    });
}
static int fstat(Process& p, int fd, struct stat* info) {
    return make(p, STATUS, [&](Entry&) { return ::fstat(fd, info); });
}
static int stat(Process& p, const char* path, struct stat* info) {
    return make(p, STATUS, [&](Entry&) { return ::stat(path, info); });
}
static int statvfs(Process& p, const char* path, struct statvfs* info) {
    return make(p, SPACE, [&](Entry&) { return ::statvfs(path, info); });
}
static int access(Process& p, const char* path, int mode) {
    return make(p, ACCESS, [&](Entry&) { return ::access(path, mode); });
}
static int fchmod(Process& p, int fd, mode_t mode) {
    return make(p, MODE, [&](Entry&) { return ::fchmod(fd, mode); });
}
static int fchown(Process& p, int fd, uid_t user, gid_t group) {
    return make(p, MODE, [&](Entry&) { return ::fchown(fd, user, group); });
}
static ino_t inode_of(const char* path) {
    struct stat info;
    return ::stat(path, &info) == 0 ? info.st_ino : 0;
}
static int rename(Process& p, const char* from, const char* to) {
    return make(p, RENAME, [&](Entry& e) {
        int answer = ::rename(from, to);
        if (answer == 0 && e.world.owns(to)) e.world.name_changes.push_back({from, to, inode_of(to)}), e.world.changes++;
        return answer;
    });
}
static int link(Process& p, const char* from, const char* to) {
    return make(p, LINK, [&](Entry& e) {
        int answer = ::link(from, to);
        if (answer == 0 && e.world.owns(to)) e.world.name_changes.push_back({"", to, inode_of(to)}), e.world.changes++;
        return answer;
    });
}
static int unlink(Process& p, const char* path) {
    return make(p, UNLINK, [&](Entry& e) {
        int answer = ::unlink(path);
        if (answer == 0 && e.world.owns(path)) e.world.name_changes.push_back({path, "", 0}), e.world.changes++;
        return answer;
    });
}
static int rmdir(Process& p, const char* path) {
    return make(p, UNLINK, [&](Entry&) { return ::rmdir(path); });
}
static char* realpath(Process& p, const char* path, char* resolved) {
    Entry entry(p, RESOLVE);
    return entry.failed ? nullptr : ::realpath(path, resolved);
}
static DIR* opendir(Process& p, const char* path) {
    Entry entry(p, LIST);
    return entry.failed ? nullptr : ::opendir(path);
}
static struct dirent* readdir(Process&, DIR* folder) { return ::readdir(folder); }
static int closedir(Process&, DIR* folder) { return ::closedir(folder); }

static void* mmap(Process& p, void* at, size_t size, int protection, int flags, int fd, off_t offset) {
    return make(p, MAP, [&](Entry& e) {
        void* answer = ::mmap(at, size, protection, flags, fd, offset);
        if (answer != MAP_FAILED && (flags & MAP_SHARED) && (protection & PROT_WRITE)) {
            p.shared_maps[answer] = size;
            if (File* file = e.world.file_of(fd)) file->is_mapped = true;
        }
        return answer;
    });
}
static int munmap(Process& p, void* at, size_t size) {
    p.shared_maps.erase(at);
    return ::munmap(at, size);
}
static int mprotect(Process& p, void* at, size_t size, int protection) {
    return make(p, PROTECT, [&](Entry&) { return ::mprotect(at, size, protection); });
}
static int madvise(Process&, void* at, size_t size, int advice) { return ::madvise(at, size, advice); }
static pid_t getpid(Process& p) { return p.id; }
static pid_t gettid(Process& p) { return p.id; }
static int usleep(Process& p, unsigned) {
    return make(p, OTHER, [&](Entry&) { return 0; });
}
static int clock_gettime(Process& p, clockid_t clock, struct timespec* time) {
    if (clock != CLOCK_REALTIME || !p.world || p.world->seconds == 0) return ::clock_gettime(clock, time);
    *time = {(time_t)p.world->seconds, 0};
    return 0;
}
/* The simulation has only one thread. */
static int start_thread(Process&, void (*)(void*), void*) { return EAGAIN; }
static long futex(Process& p, uint32_t* word, int operation, uint32_t value, uintptr_t second, uint32_t* other, uint32_t third) {
    return make(p, OTHER, [&](Entry&) { return syscall(SYS_futex, word, operation, value, second, other, third); });
}
/* Private copies go to files outside of the simulated disk, so only the reading from the simulated file counts here. */
static ssize_t copy_file_range(Process& p, int from, int64_t* from_offset, int to, int64_t* to_offset, size_t count, unsigned flags) {
    return make(p, READ, [&](Entry&) { return (ssize_t)syscall(SYS_copy_file_range, from, from_offset, to, to_offset, count, flags); });
}
static int memfd_create(Process& p, const char* name, unsigned flags) {
    return make(p, OPEN, [&](Entry&) { return (int)syscall(SYS_memfd_create, name, flags); });
}
}  // namespace calls

/* C functions have no context, so each process gets a table of its own functions. */
template <int N> struct Table {
    static crealm_system_calls_t make() {
        crealm_system_calls_t t;
        memset(&t, 0, sizeof t);
#define GOES_TO(name) t.name = [](auto... arguments) { return calls::name(processes[N], arguments...); }
        GOES_TO(open); GOES_TO(close); GOES_TO(fcntl_number); GOES_TO(fcntl_lock); GOES_TO(flock); GOES_TO(pread); GOES_TO(pwrite);
        GOES_TO(ftruncate); GOES_TO(posix_fallocate); GOES_TO(fstat); GOES_TO(stat); GOES_TO(statvfs); GOES_TO(access); GOES_TO(fchmod);
        GOES_TO(fchown);
        GOES_TO(rename); GOES_TO(link); GOES_TO(unlink); GOES_TO(rmdir); GOES_TO(realpath); GOES_TO(opendir); GOES_TO(readdir);
        GOES_TO(closedir); GOES_TO(mmap); GOES_TO(munmap); GOES_TO(mprotect); GOES_TO(madvise); GOES_TO(getpid); GOES_TO(usleep);
        GOES_TO(clock_gettime); GOES_TO(start_thread); GOES_TO(futex); GOES_TO(copy_file_range); GOES_TO(gettid); GOES_TO(memfd_create);
#undef GOES_TO
        t.fdatasync = t.fsync = [](int fd) { return calls::flush(processes[N], fd); };
        return t;
    }
};
template <int... N> static std::vector<crealm_system_calls_t> tables(std::integer_sequence<int, N...>) { return {Table<N>::make()...}; }
const crealm_system_calls_t* Process::table() {
    static std::vector<crealm_system_calls_t> all = tables(std::make_integer_sequence<int, process_limit>());
    return &all[(size_t)number];
}

// ---- The disk ---------------------------------------------------------------------------------------------------------------------

World::World(std::string at, Random& chance) : folder(std::move(at)), random(chance) {}

static void put(const std::string& path, const Bytes& content) {
    int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || (!content.empty() && pwrite(fd, content.data(), content.size(), 0) != (ssize_t)content.size())) give_up(path.c_str());
    close(fd);
}
static Bytes get(const std::string& path) {
    Bytes content;
    int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0) give_up(path.c_str());
    content.resize((size_t)info.st_size);
    if (pread(fd, content.data(), content.size(), 0) != (ssize_t)content.size()) give_up(path.c_str());
    close(fd);
    return content;
}
Image World::now() {
    Image image;
    DIR* list = opendir(folder.c_str());
    if (!list) give_up(folder.c_str());
    while (struct dirent* entry = readdir(list))
        if (entry->d_type == DT_REG) image[entry->d_name] = get(folder + entry->d_name);
    closedir(list);
    return image;
}
void World::clear() {
    DIR* list = opendir(folder.c_str());
    if (!list) give_up(folder.c_str());
    std::vector<std::string> names;
    while (struct dirent* entry = readdir(list))
        if (entry->d_type != DT_DIR) names.push_back(folder + entry->d_name);
    closedir(list);
    for (auto& name : names) unlink(name.c_str());
    files.clear();
    durable_names.clear();
    name_changes.clear();
}
void World::fill(const Image& image) {
    clear();
    is_off = false;
    for (auto& [file, content] : image) {
        std::string name = folder + file;
        put(name, content);
        struct stat info;
        if (::stat(name.c_str(), &info) != 0) give_up(name.c_str());
        files[info.st_ino].durable = content;
        durable_names[name] = info.st_ino;
    }
}
void World::cut_power() {
    is_off = true;
    for (auto& p : processes)
        if (p.world == this) p.die();
}
void World::restart(const Image& image) {
    cut_power();
    fill(image);
}

static void change(Bytes& content, const Change& c) {
    if (c.is_size) {
        content.resize(c.at);
        return;
    }
    if (content.size() < c.at + c.bytes.size()) content.resize(c.at + c.bytes.size());
    memcpy(content.data() + c.at, c.bytes.data(), c.bytes.size());
}
void World::flush(File& file) {
    for (auto& c : file.changes) change(file.durable, c);
    file.changes.clear();
}
static void rename_in(std::map<std::string, ino_t>& names, const NameChange& c) {
    if (!c.removed.empty()) names.erase(c.removed);
    if (!c.added.empty()) names[c.added] = c.file;
}
void World::flush_names() {
    for (auto& c : name_changes) rename_in(durable_names, c);
    name_changes.clear();
}

/* The changes of one file to one sector, by their numbers. */
typedef std::map<uint64_t, std::vector<size_t>> Sectors;
static Sectors sectors_of(const File& file) {
    Sectors all;
    for (size_t i = 0; i < file.changes.size(); i++) {
        const Change& c = file.changes[i];
        if (c.is_size) continue;
        for (uint64_t s = c.at / sector_size; s <= (c.at + c.bytes.size() - 1) / sector_size; s++) all[s].push_back(i);
    }
    return all;
}
/* Applies as many changes to each sector as `upto` says: those with smaller numbers. */
static Bytes build(const File& file, const std::function<size_t(uint64_t sector)>& upto, size_t sizes) {
    Bytes content = file.durable;
    for (size_t i = 0; i < file.changes.size(); i++) {
        const Change& c = file.changes[i];
        if (c.is_size) {
            // A write before a truncation does not undo the truncation.
            if (i < sizes || c.at < content.size()) content.resize(c.at);
            continue;
        }
        uint64_t end = c.at + c.bytes.size();
        for (uint64_t at = c.at; at < end;) {
            uint64_t sector = at / sector_size, next = std::min(end, (sector + 1) * sector_size);
            if (i < upto(sector)) {
                if (content.size() < next) content.resize(next);
                memcpy(content.data() + at, c.bytes.data() + (at - c.at), next - at);
            }
            at = next;
        }
    }
    return content;
}
/* A random part of the changes of a file. */
static Bytes part_of(const File& file, Random& chance) {
    unsigned share = (unsigned)chance.below(101);
    size_t sizes = chance.chance(30) ? chance.below(file.changes.size() + 1) : SIZE_MAX;
    std::map<uint64_t, size_t> limits;
    for (auto& [s, list] : sectors_of(file))
        limits[s] = chance.chance(share) ? SIZE_MAX : chance.chance(50) ? 0 : list[chance.below(list.size())];
    return build(file, [&](uint64_t s) { return limits[s]; }, sizes);
}
Image World::after(const Choice& choice) {
    Random chance(choice.seed);
    // Names change in order.
    auto names = durable_names;
    size_t reached = choice.kind == Choice::none ? 0 : name_changes.size();
    if (choice.kind == Choice::subset && chance.chance(50)) reached = chance.below(name_changes.size() + 1);
    for (size_t i = 0; i < reached; i++) rename_in(names, name_changes[i]);

    std::map<ino_t, Bytes> contents;
    size_t first = 0;  // number of the file's first change among all
    for (auto& [id, file] : files) {
        size_t count = file.changes.size();
        if (file.is_mapped) {
            // Any prefix of the current content.
            contents[id] = Bytes();
            if (chance.chance(70)) {
                for (auto& [name, inode] : names)
                    if (inode == id && ::access(name.c_str(), F_OK) == 0) contents[id] = get(name);
                Bytes& c = contents[id];
                if (chance.chance(30) && !c.empty()) std::fill(c.begin() + (ptrdiff_t)chance.below(c.size()), c.end(), 0);
                if (chance.chance(30)) c.resize(chance.below(c.size() + 1));
            }
            continue;
        }
        Sectors sectors = sectors_of(file);
        const size_t everything = SIZE_MAX;
        std::map<uint64_t, size_t> limits;
        size_t sizes = everything, usual = everything;
        auto touches = [&](size_t change, uint64_t sector) {
            auto& list = sectors[sector];
            return std::find(list.begin(), list.end(), change) != list.end();
        };
        bool is_here = choice.change >= first && choice.change < first + count;
        size_t mine = choice.change - first;
        uint64_t in_change = 0;
        if (is_here && !file.changes[mine].is_size) in_change = file.changes[mine].at / sector_size + choice.sector;
        switch (choice.kind) {
            case Choice::none: usual = sizes = 0; break;
            case Choice::all: break;
            case Choice::prefix:
                // All changes before one, and of that one the first sectors.
                if (choice.change < first) usual = sizes = 0;
                if (is_here) {
                    usual = sizes = mine;
                    for (auto& [s, list] : sectors)
                        if (s < in_change && touches(mine, s)) limits[s] = mine + 1;
                }
                break;
            case Choice::without:
            case Choice::only:
                if (choice.kind == Choice::only) usual = 0;
                if (is_here) {
                    if (file.changes[mine].is_size && choice.kind == Choice::without) sizes = mine;
                    for (auto& [s, list] : sectors)
                        if (touches(mine, s)) limits[s] = choice.kind == Choice::without ? mine : mine + 1;
                }
                break;
            case Choice::sector_without:
            case Choice::sector_only:
                if (choice.kind == Choice::sector_only) usual = 0;
                if (is_here) limits[in_change] = choice.kind == Choice::sector_without ? mine : mine + 1;
                break;
            case Choice::subset: break;
        }
        auto upto = [&](uint64_t s) {
            auto found = limits.find(s);
            return found == limits.end() ? usual : found->second;
        };
        Bytes content = choice.kind == Choice::subset ? part_of(file, chance) : build(file, upto, sizes);
        if (rules.torn_sectors && !sectors.empty()) {
            // One sector is a mixture of its old and its new content.
            auto torn = sectors.begin();
            std::advance(torn, (ptrdiff_t)chance.below(sectors.size()));
            size_t version = torn->second[chance.below(torn->second.size())];
            for (int half = 0; half < 2; half++) {
                Bytes other = build(file, [&](uint64_t s) { return s == torn->first ? version + (size_t)half : upto(s); }, sizes);
                uint64_t from = torn->first * sector_size, to = std::min<uint64_t>(from + sector_size, other.size());
                if (to <= from) break;
                uint64_t cut = from + chance.below(to - from + 1);
                if (content.size() < to) content.resize(to);
                if (half == 0) memcpy(content.data() + from, other.data() + from, to - from);
                else if (choice.seed & 1) memcpy(content.data() + from, other.data() + from, cut - from);
                else memcpy(content.data() + cut, other.data() + cut, to - cut);
            }
        }
        contents[id] = std::move(content);
        first += count;
    }
    Image image;
    for (auto& [name, id] : names) image[name.substr(folder.size())] = contents[id];
    return image;
}

std::vector<World::Choice> World::choices(size_t limit) {
    std::vector<Choice> all;
    uint64_t seed = random.next();
    all.push_back({Choice::none, 0, 0, seed});
    all.push_back({Choice::all, 0, 0, seed});
    size_t number = 0;
    for (auto& [id, file] : files) {
        if (file.is_mapped) continue;
        for (auto& c : file.changes) {
            size_t count = c.is_size || c.bytes.empty() ? 1 : (size_t)((c.at + c.bytes.size() - 1) / sector_size - c.at / sector_size + 1);
            all.push_back({Choice::without, number, 0, seed});
            all.push_back({Choice::only, number, 0, seed});
            for (size_t s = 0; s < count; s++) {
                all.push_back({Choice::prefix, number, s, seed});
                if (count > 1) {
                    all.push_back({Choice::sector_without, number, s, seed});
                    all.push_back({Choice::sector_only, number, s, seed});
                }
            }
            number++;
        }
    }
    // For a large window: a sample of the choices.
    while (all.size() > limit) {
        std::swap(all[random.below(all.size())], all.back());
        all.pop_back();
    }
    if (rules.torn_sectors)
        for (auto& c : all) c.seed = random.next();
    return all;
}
World::Choice World::subset() { return {Choice::subset, 0, 0, random.next()}; }
