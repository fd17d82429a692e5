/// The progress of a long call.
public struct CallProgress: Sendable {
    /// The activity of a call. The numbers are those of `crealm_activity_e`.
    public enum Activity: UInt32, Sendable {
        /// Waits for other users of the file.
        case waiting
        /// Finds, counts, sorts or aggregates.
        case querying
        /// Checks the file; progress counts steps.
        case checking
        /// Compacts, copies or converts the file; progress counts bytes.
        case copying
    }

    /// The current activity.
    public let activity: Activity

    /// The amount that is done.
    public let done: UInt64

    /// The estimated total amount; 0: unknown.
    public let total: UInt64
}

/// Long calls end early when another thread or the program's progress function requests it. Only waiting, reading and
/// copying end early, with 9004; changes of objects and commits always finish.
extension Realm {
    /// Ends the running calls of this Realm. Calls that begin later are not affected. Any thread.
    public func interrupt() { interruption.request() }

    /// Seconds that `beginWrite` waits for other writers; nil: without limit. Initially the value of the configuration.
    /// Use of a closed Realm or on another thread is a `Misuse`.
    public var lockTimeout: Double? {
        get {
            Misuse.avoided("Realm.lockTimeout", else: nil) { () throws(RealmError) in
                try inside(.realm, do: transaction.lockTimeout)
            }
        }
        set { Misuse.avoided("Realm.lockTimeout", else: ()) { () throws(RealmError) in try setLockTimeout(newValue) } }
    }

    package func setLockTimeout(_ seconds: Double?) throws(RealmError) {
        try inside { () throws(RealmError) in transaction.lockTimeout = seconds }
    }

    /// Whether the configuration's progress function runs, inside a call.
    var isReporting: Bool { access.standing.load(ordering: .relaxed) & Standing.reporting != 0 }

    /// Connects the interruption to the transaction. While the configuration's progress function runs, no call may use
    /// the Realm.
    func attendToLongCalls() {
        interruption.around = { [unowned self] report in
            access.standing.bitwiseOr(Standing.reporting, ordering: .relaxed)
            defer { access.standing.bitwiseAnd(~Standing.reporting, ordering: .relaxed) }
            // If the progress function closes the Realm, the call ends early, and closes the Realm when it leaves.
            return report() && !isClosed
        }
        transaction.interruption = interruption
        transaction.lockTimeout = configuration.lockTimeout
    }
}

extension RealmConfiguration {
    package func makeInterruption() -> Interruption {
        guard let progress else { return Interruption() }
        return Interruption { activity, done, total in
            progress(CallProgress(activity: .init(rawValue: activity.rawValue) ?? .waiting, done: done, total: total))
        }
    }
}
