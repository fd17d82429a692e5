import CGuards

/// Handles maps of files that lose pages: another program cuts the file, or the disk cannot read a block.
///
/// Touching such a page raises SIGBUS, which would end the host program. The guard is a signal handler that maps zeros
/// there instead and marks the map as broken. Zeros are harmless, because every byte of a file is treated as hostile,
/// but they must not be trusted. So the readers of a map check `isBroken` before they return or publish what they read.
///
/// The handler passes other faults to the handlers that the host had before. If the host does not want the handler, it
/// is not installed.
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

    /// Chooses whether the handler is installed at the first open of a file in this process. The default is true on
    /// Linux only.
    package static func use(_ wanted: Bool) throws(RealmError) {
        try choice.with { (choice) throws(RealmError) in
            guard !choice.isMade || choice.isWanted == wanted else {
                throw RealmError(
                    .illegalOperation, "The fault guard is chosen before the first Realm of the process is opened")
            }
            choice.isWanted = wanted
        }
    }

    /// Called before the first map of a file is made.
    fileprivate static func install() throws(RealmError) {
        try choice.with { (choice) throws(RealmError) in
            guard !choice.isMade else { return }
            guard !choice.isWanted || fault_guard_install() else {
                throw RealmError(.systemError, "The handler for lost pages cannot be installed")
            }
            choice.isMade = true
        }
    }

    /// Whether any map of the process ever lost pages, or the process is a forked child, which must check what it
    /// inherited. Only one load, for calls that cannot afford more.
    @inline(__always) package static var hasFaults: Bool { fault_guard_is_alert() }

    /// Whether any open map of the process has lost pages. In a forked child `hasFaults` is always true, so functions
    /// that look at each map ask this first.
    @inline(__always) package static var hasBrokenMaps: Bool { fault_guard_has_broken_maps() }

    static func lost(_ path: String) -> RealmError {
        RealmError(
            .fileOperationFailed,
            "Pages of the open file '\(path)' were lost: another program cut it, or the disk cannot read it. "
                + "Close every Realm of it, and open it again", path: path)
    }
}

/// Registers a map of a file with the guard, for the lifetime of the map.
///
/// Thread rule: `isBroken` from any thread; the other functions under the rule of the map itself.
final class WatchedMap: Sendable {
    private let number: Int32

    /// - Parameter start: the start of the map, which has no bytes yet.
    init(_ start: UnsafeMutableRawPointer, isWritable: Bool) throws(RealmError) {
        try FaultGuard.install()
        number = fault_guard_add(start, isWritable)
        guard number >= 0 else {
            throw RealmError(.limitExceeded, "More than \(FAULT_GUARD_MAPS) maps of files in this process")
        }
    }

    deinit { if number >= 0 { fault_guard_remove(number) } }

    /// Sets the number of bytes of the map.
    func resize(to size: Int) { fault_guard_resize(number, size) }

    /// Whether pages were lost. If false, everything that was read before is the content of the file.
    var isBroken: Bool { FaultGuard.hasBrokenMaps && fault_guard_is_broken(number) }

    func markBroken() { fault_guard_break(number) }
}
