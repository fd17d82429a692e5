import Synchronization

/// Ends a long call early, and reports its progress to the program. A Realm has one object for all of its calls.
///
/// Promise
/// 1. Any thread may request the end: calls that are running then fail with `interrupted`; later calls do not.
/// 2. Only calls that wait or read end early; what they have begun to write, such as a copy of the file, is removed
///    again. A change of objects or a commit is never left half done.
/// 3. The work between two tests is bounded: some hundred rows, a node, or a fraction of a second of waiting.
///
/// Thread rule: `request` on any thread; everything else on the thread of the call, which also calls the program's
/// function. Members that are not atomic belong to that thread; a frozen Realm has no function.
package final class Interruption: @unchecked Sendable {

    /// The kind of a long call. Numbers: `crealm_activity_e`.
    package enum Activity: UInt32, Sendable { case waiting, querying, checking, copying }
    /// Receives the kind of the call, the amount that is done, and the total amount (0: unknown). Returning false ends
    /// the call.
    package typealias Report = @Sendable (_ activity: Activity, _ done: UInt64, _ total: UInt64) -> Bool

    private static let reportInterval = 0.05

    /// Marks that the thread is inside the program's function; the pointer is never dereferenced.
    private static let reporting = ThreadSlot()

    /// Twice the number of running calls, plus 1 when they are to end.
    private let calls = Atomic(0)
    private let report: Report?

    /// Runs around the call of the program's function.
    package var around: ((() -> Bool) -> Bool)?
    private var activity = Activity.waiting
    private var tests = 0
    private var nextReport = 0.0

    package init(_ report: Report? = nil) { self.report = report }

    /// Whether a waiting call must test for its end from time to time.
    var isAttended: Bool { report != nil }

    /// Whether the thread is inside the progress function of any Realm: files cannot be opened or replaced there.
    static var isReporting: Bool { reporting.pointer != nil }

    /// Ends the running calls; does nothing when there are none.
    package func request() {
        var now = calls.load(ordering: .relaxed)
        while now >= 2 {
            let (done, found) = calls.weakCompareExchange(expected: now, desired: now | 1, ordering: .relaxed)
            if done { return }
            now = found
        }
    }

    /// Runs a call that may end early.
    func during<R>(_ what: Activity, _ body: () throws(RealmError) -> R) throws(RealmError) -> R {
        let before = activity
        let isFirst = calls.add(2, ordering: .relaxed).oldValue < 2
        if report != nil {
            activity = what
            if isFirst {
                nextReport =
                    Platform.monotonicSeconds + (what == .checking || what == .copying ? 0 : Self.reportInterval)
            }
        }
        defer {
            if report != nil { activity = before }
            end()
        }
        return try body()
    }

    private func end() {
        var now = calls.load(ordering: .relaxed)
        while true {
            // The last call also clears the request.
            let (done, found) = calls.weakCompareExchange(
                expected: now, desired: now < 4 ? 0 : now - 2, ordering: .relaxed)
            if done { return }
            now = found
        }
    }

    /// Called between two pieces of work: throws when the call is to end.
    @inline(__always) func test(_ done: Int, of total: Int) throws(RealmError) {
        if calls.load(ordering: .relaxed) & 1 != 0 || report != nil { try testClosely(done, total) }
    }

    /// As `test`, after a piece of work that took long.
    func testAfterLongWork(_ done: Int, of total: Int) throws(RealmError) {
        tests = 15
        try test(done, of: total)
    }

    @inline(never) private func testClosely(_ done: Int, _ total: Int) throws(RealmError) {
        if calls.load(ordering: .relaxed) & 1 != 0 { throw Self.interrupted() }
        guard let report else { return }
        tests &+= 1
        guard tests & 15 == 0 || activity == .waiting else { return }
        guard Platform.monotonicSeconds >= nextReport else { return }
        Self.reporting.set(UnsafeRawPointer(bitPattern: 1))
        let body = { [activity] in report(activity, UInt64(clamping: done), UInt64(clamping: total)) }
        let goesOn = around.map { $0(body) } ?? body()
        Self.reporting.set(nil)
        nextReport = Platform.monotonicSeconds + Self.reportInterval
        if !goesOn { throw Self.interrupted() }
    }

    /// As `test`, for code that cannot throw: the next test throws.
    func isWanted(_ done: Int) -> Bool {
        do { try test(done, of: 0) } catch {
            request()
            return true
        }
        return false
    }

    private static func interrupted() -> RealmError { RealmError(.interrupted, "The call was interrupted") }
}

/// Counts the bytes that a loop reads, and tests once for each megabyte whether the call is to end.
struct ByteWork {
    private static let interval = 1 << 20

    /// The transaction keeps it alive.
    private let interruption: Unmanaged<Interruption>?
    private(set) var total = 0
    private var left = Self.interval

    init(_ interruption: Unmanaged<Interruption>? = nil) { self.interruption = interruption }

    @inline(__always) mutating func look(_ bytes: Int) throws(RealmError) {
        total &+= bytes
        left &-= bytes
        if left < 0 { try ask() }
    }

    @inline(never) private mutating func ask() throws(RealmError) {
        left = Self.interval
        if let interruption { try interruption.borrow { (i) throws(RealmError) in try i.test(0, of: 0) } }
    }
}

/// How long a call waits for other users of a file.
package struct Patience {
    /// Seconds of the monotonic clock; nil: no limit.
    private let deadline: Double?
    private let interruption: Interruption?
    static let endless = Patience(seconds: nil, nil)

    /// - Parameter seconds: nil: no limit.
    package init(seconds: Double?, _ interruption: Interruption?) {
        deadline = seconds.map { Platform.monotonicSeconds + $0 }
        self.interruption = interruption
    }

    /// Whether the wait may end early, so that the call must poll; otherwise the kernel waits.
    var isLimited: Bool { deadline != nil || interruption?.isAttended ?? false }

    /// Whether there is a deadline.
    var hasLimit: Bool { deadline != nil }

    /// The rest of the time in milliseconds, rounded up, for a pause of at most `most`.
    func milliseconds(atMost most: Int) -> Int {
        guard let deadline else { return most }
        let left = ((deadline - Platform.monotonicSeconds) * 1000).rounded(.up)
        return left < Double(most) ? max(1, Int(left)) : most
    }

    /// Throws when the time is over, or the program ended the wait.
    func test(_ path: String) throws(RealmError) {
        if let interruption { try interruption.test(0, of: 0) }
        if let deadline, Platform.monotonicSeconds >= deadline {
            throw RealmError(.timedOut, "Another user of the Realm file did not let go of it in time", path: path)
        }
    }

    func during<R>(_ body: () throws(RealmError) -> R) throws(RealmError) -> R {
        if let interruption { try interruption.during(.waiting, body) } else { try body() }
    }

    /// Calls `body` until it returns an answer, with growing pauses.
    func poll<R>(_ path: String, _ body: () throws(RealmError) -> R?) throws(RealmError) -> R {
        if let answer = try body() { return answer }
        return try during { () throws(RealmError) in
            var pause: UInt32 = 500
            while true {
                try test(path)
                Platform.sleep(microseconds: pause)
                pause = min(pause * 2, 20_000)
                if let answer = try body() { return answer }
            }
        }
    }
}
