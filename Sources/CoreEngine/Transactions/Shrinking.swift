/// When a file shrinks by itself while it is in use.
package struct ShrinkingPolicy: Equatable, Sendable {
    /// A file shrinks only when it is longer than this size and one page.
    package var leastSize = 1 << 20

    /// The file begins to shrink when more than this share of it is free; 100: never by itself.
    package var freePercent = 50

    package init() {}

    /// A file does not shrink by less than this. 64 KB for the usual policy, so that the end of a file does not move
    /// with every commit.
    var leastGain: Int { min(max(leastSize / 16, 4096), 64 << 10) }

    /// For a call that shrinks the file on demand: any share of free space, and any size.
    static let now = {
        var policy = ShrinkingPolicy()
        policy.leastSize = 0
        policy.freePercent = 0
        return policy
    }()
}

/// What the writer of a file remembers while the file shrinks. Commits move nodes from the end of the file to free
/// space further in (`TailMover`), a share in each, and cut the end off when it is free. The rules:
/// docs/commit-and-locking.md, "A file that shrinks".
///
/// Thread rule: only for the holder of the write lock. Another process that writes the file has its own plan, and
/// begins to shrink the file when the policy of that process says so.
struct Shrinking {
    /// What one commit does.
    struct Plan {
        /// The size that the file should have.
        var cutoff: Int

        /// The number of bytes that may be moved; 0: everything behind the cutoff is free already.
        var budget: Int

        /// Free space at the end that is shorter than this is not cut off.
        var leastGain: Int
    }

    private var isActive = false

    /// Whether readers held older versions at the last plan.
    private var isPinned = false

    /// Where the walk resumes.
    private(set) var position: [Int] = []

    /// The number of commits that move nothing after walks that did not make the file shorter. It doubles each time.
    /// The next walks may succeed, because versions that are in use now may have been released by then.
    private var pause = 0
    private var pausedCommits = 0

    /// Whether versions were pinned when the pause began: it ends when none of them is pinned any more.
    private var isPausedForPins = false
    private static let leastPause = 8
    private static let longestPause = 1024

    /// The number of complete walks that have ended since the file last reached a new smallest size.
    private var fruitlessRounds = 0
    private var smallestSize = Int.max
    private static let fruitlessRoundsLimit = 8

    /// The file has become shorter since it was opened.
    private(set) var hasShrunk = false

    /// An error ended a walk: the file has damaged nodes.
    private(set) var isGivenUp = false

    /// The bytes that one commit cuts off the file. A long cut takes long: the kernel gives the pages back one by one.
    private var cutStep = 0
    private static let leastCutStep = 4 << 20
    private static let cutSteps = 32

    /// A commit moves the data divided by `share`, but at least twice the policy's `leastGain` and at most
    /// `greatestStep` bytes.
    private static let share = 24
    private static let greatestStep = 16 << 20

    /// - Parameters:
    ///   - free: the free space at the beginning of the commit.
    ///   - isPinned: whether readers hold older versions.
    ///   - step: the bytes that the commit may move; nil: a share of the data.
    mutating func plan(
        _ free: FreeSpace, logicalSize: Int, pageSize: Int, _ policy: ShrinkingPolicy, isPinned: Bool = false,
        step: Int? = nil
    ) -> Plan? {
        self.isPinned = isPinned
        guard !isGivenUp else { return nil }
        if !isActive {
            let usable = free.usableSize
            guard logicalSize - pageSize > policy.leastSize, usable * 100 > logicalSize * policy.freePercent else {
                return nil
            }
            if isPausedForPins, !isPinned { (pause, isPausedForPins) = (0, false) }
            if step == nil, pausedCommits < pause {
                pausedCommits += 1
                return nil
            }
            isActive = true
            position = []
            (fruitlessRounds, smallestSize) = (0, .max)
        }
        let live = logicalSize - free.totalSize
        let gain = policy.leastGain
        let budget = step ?? min(max(live / Self.share, 2 * gain), Self.greatestStep)
        let (found, behind) = free.shortestEnd(logicalSize: logicalSize, reserve: gain + live / 32)
        let cutoff = Format.roundUp(found, to: pageSize)
        guard logicalSize - cutoff >= max(gain, step == nil ? logicalSize / 16 : 0) else {
            isActive = false
            return nil
        }
        return Plan(cutoff: cutoff, budget: behind > 0 ? budget : 0, leastGain: gain)
    }

    /// Returns the number of bytes that this commit cuts off.
    /// - Parameters:
    ///   - excess: the bytes at the end of the file that no version needs.
    ///   - isAtOnce: whether this commit cuts off all of them.
    mutating func cut(of excess: Int, isAtOnce: Bool) -> Int {
        hasShrunk = true
        guard !isAtOnce else { return excess }
        if excess > Self.cutSteps * cutStep { cutStep = max(Self.leastCutStep, excess / Self.cutSteps) }
        if excess <= cutStep {
            cutStep = 0
            return excess
        }
        return cutStep
    }

    /// Notes how far the walk of a commit came.
    mutating func note(_ mover: TailMover, logicalSize: Int) {
        if let failure = mover.failure, failure.isDamage { isGivenUp = true }
        if let stop = mover.stop {
            position = stop
            return
        }
        // Some walks do not make the file shorter at once: each commit writes new free lists and a new top array, so
        // the old ones leave the end of the file within a few commits, and space that is free now can be cut off later.
        // But when the file never becomes shorter, moving must end.
        if logicalSize < smallestSize {
            if smallestSize < .max { pause = 0 }
            fruitlessRounds = 0
            smallestSize = logicalSize
        } else {
            fruitlessRounds += 1
        }
        if fruitlessRounds >= Self.fruitlessRoundsLimit {
            isActive = false
            pause = min(max(2 * pause, Self.leastPause), Self.longestPause)
            pausedCommits = 0
            isPausedForPins = isPinned
        }
        position = []
    }

    /// The commit failed: the next one begins at the start.
    mutating func abandon(_ error: RealmError) {
        if error.isDamage { isGivenUp = true }
        (isActive, position) = (false, [])
    }
}
