import Synchronization

/// What ends a long call before its time, and tells the program how far it is. A Realm has one for all of its calls.
///
/// Promise
/// 1. Any thread may ask for the end: the calls that run then fail with `interrupted`, those that begin later do not.
/// 2. Only calls that wait or read end early; what they have begun to write, such as a copy of the file, is taken away
///    again. A change of objects or a commit is never left half done.
/// 3. Between two tests lies a bounded piece of work: some hundred rows, a node, a part of a second of waiting.
///
/// Thread rule: `request` on any thread; the rest on the thread of the call, where the program's function is called,
/// too.
// What is not atomic belongs to the thread of the call; a frozen Realm has no function.
package final class Interruption: @unchecked Sendable {

    /// What a long call does. Numbers: `crealm_activity_e`.
    package enum Activity: UInt32, Sendable { case waiting, querying, checking, copying }
    /// Tells what a call does, how much of it is done, and how much there is to do (0: not known). false ends the call.
    package typealias Report = @Sendable (_ activity: Activity, _ done: UInt64, _ total: UInt64) -> Bool

    private static let reportInterval = 0.05

    /// The thread is inside the program's function: a mark, never followed.
    private static let reporting = ThreadSlot()

    /// Twice the number of calls that run; odd when they are to end.
    private let calls = Atomic(0)
    private let report: Report?

    /// Runs around the program's function.
    package var around: ((() -> Bool) -> Bool)?
    private var activity = Activity.waiting
    private var tests = 0
    private var nextReport = 0.0

    package init(_ report: Report? = nil) { self.report = report }

    /// Whether waiting must be looked at from time to time.
    var isAttended: Bool { report != nil }

    /// Whether the thread is inside the function of some Realm: files are neither opened nor replaced there.
    static var isReporting: Bool { reporting.pointer != nil }

    /// Ends the calls that run. Without any, nothing happens.
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
            // The last one takes the wish for its end along.
            let (done, found) = calls.weakCompareExchange(
                expected: now, desired: now < 4 ? 0 : now - 2, ordering: .relaxed)
            if done { return }
            now = found
        }
    }

    /// Between two pieces of work.
    @inline(__always) func test(_ done: Int, of total: Int) throws(RealmError) {
        if calls.load(ordering: .relaxed) & 1 != 0 || report != nil { try testClosely(done, total) }
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

    /// Whether the call is to end, where nothing can be thrown: a test follows.
    func isWanted(_ done: Int) -> Bool {
        do { try test(done, of: 0) } catch {
            request()
            return true
        }
        return false
    }

    private static func interrupted() -> RealmError { RealmError(.interrupted, "The call was interrupted") }
}

/// Counts the bytes that a loop looks at, and asks once for each megabyte whether the call is to end.
struct ByteWork {
    private static let interval = 1 << 20

    /// The transaction holds it.
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

/// How long, and until when, a call waits for other users of a file.
package struct Patience {
    /// Seconds of the monotonic clock; nil: for ever.
    private let deadline: Double?
    private let interruption: Interruption?
    static let endless = Patience(seconds: nil, nil)

    /// - Parameter seconds: nil: for ever.
    package init(seconds: Double?, _ interruption: Interruption?) {
        deadline = seconds.map { Platform.monotonicSeconds + $0 }
        self.interruption = interruption
    }

    /// Whether the wait may end before what is waited for; else the kernel waits.
    var isLimited: Bool { deadline != nil || interruption?.isAttended ?? false }

    /// Whether there is a time after which it ends.
    var hasLimit: Bool { deadline != nil }

    /// What is left of the time, rounded up, for a pause of no more than `most`.
    func milliseconds(atMost most: Int) -> Int {
        guard let deadline else { return most }
        let left = ((deadline - Platform.monotonicSeconds) * 1000).rounded(.up)
        return left < Double(most) ? max(1, Int(left)) : most
    }

    /// Throws when the time is over, or the program wants no more of it.
    func test(_ path: String) throws(RealmError) {
        if let interruption { try interruption.test(0, of: 0) }
        if let deadline, Platform.monotonicSeconds >= deadline {
            throw RealmError(.timedOut, "Another user of the Realm file did not let go of it in time", path: path)
        }
    }

    func during<R>(_ body: () throws(RealmError) -> R) throws(RealmError) -> R {
        if let interruption { try interruption.during(.waiting, body) } else { try body() }
    }

    /// Asks until there is an answer, with growing pauses.
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
