import CGuards

/// What happens when a map of a file loses pages: another program cuts the file, or the disk cannot read a block.
///
/// Touching such a page raises SIGBUS, which would end the host program. The guard is a signal handler that puts zeros
/// there instead and marks the map as broken. Zeros are harmless, since every byte of a file is taken for hostile; but
/// they must not be believed. So whoever reads a map asks `isBroken` before it hands out or makes visible what it read.
///
/// Faults elsewhere go to the handlers the host had before. Where the host wants no handler of ours, the signal is its
/// own again.
package enum FaultGuard {
    private struct Choice {
        #if os(Linux)
            var isWanted = true
        #else
            var isWanted = false
        #endif
        var isMade = false
    }

    private static let choice = Lock(initial: Choice(), of: .faults)

    /// Whether the handler is installed at the first open of a file in this process. On Linux it is unless somebody
    /// says otherwise.
    package static func use(_ wanted: Bool) throws(RealmError) {
        try choice.with { (choice) throws(RealmError) in
            guard !choice.isMade || choice.isWanted == wanted else {
                throw RealmError(
                    .illegalOperation, "The fault guard is chosen before the first Realm of the process is opened")
            }
            choice.isWanted = wanted
        }
    }

    /// The first map of a file is about to be made.
    fileprivate static func install() throws(RealmError) {
        try choice.with { (choice) throws(RealmError) in
            guard !choice.isMade else { return }
            guard !choice.isWanted || fault_guard_install() else {
                throw RealmError(.systemError, "The handler for lost pages cannot be installed")
            }
            choice.isMade = true
        }
    }

    /// Whether any map of the process ever lost pages, or the process is a forked child, which must tell what it
    /// inherited: one load, for calls that cannot afford more.
    @inline(__always) package static var hasFaults: Bool { fault_guard_is_alert() }

    static func lost(_ path: String) -> RealmError {
        RealmError(
            .fileOperationFailed,
            "Pages of the open file '\(path)' were lost: another program cut it, or the disk cannot read it. "
                + "Close every Realm of it, and open it again", path: path)
    }
}

/// Registers a map of a file, from its making to its end, with the guard.
///
/// Thread rule: `isBroken` from any thread; the others as the map itself is changed.
final class WatchedMap: Sendable {
    private let number: Int32

    /// - Parameter start: where the map begins, with no bytes yet.
    init(_ start: UnsafeMutableRawPointer, isWritable: Bool) throws(RealmError) {
        try FaultGuard.install()
        number = fault_guard_add(start, isWritable)
        guard number >= 0 else {
            throw RealmError(.limitExceeded, "More than \(FAULT_GUARD_MAPS) maps of files in this process")
        }
    }

    deinit { if number >= 0 { fault_guard_remove(number) } }

    /// How many bytes belong to it.
    func resize(to size: Int) { fault_guard_resize(number, size) }

    /// Whether pages were lost. What was read before a false answer is what the file had.
    var isBroken: Bool { FaultGuard.hasFaults && fault_guard_is_broken(number) }

    func markBroken() { fault_guard_break(number) }
}
