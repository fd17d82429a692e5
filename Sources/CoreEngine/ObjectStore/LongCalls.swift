/// How far a long call is.
public struct CallProgress: Sendable {
    /// What the call does. Numbers: `crealm_activity_e`.
    public enum Activity: UInt32, Sendable {
        /// Waits for other users of the file.
        case waiting
        /// Finds, counts, sorts or aggregates.
        case querying
        /// Checks the file; the steps of that are counted.
        case checking
        /// Compacts, copies or converts the file; bytes are counted.
        case copying
    }

    /// What it does now.
    public let activity: Activity

    /// How much of it is done.
    public let done: UInt64

    /// An estimate; 0: not known.
    public let total: UInt64
}

/// Long calls, which end early when another thread or the program's function wants it. Only what waits, reads or copies
/// ends, with 9004; changes of objects and commits go on to their end.
extension Realm {
    /// Ends the calls that run on this Realm. One that begins later is not affected. Any thread.
    public func interrupt() { interruption.request() }

    /// Seconds that `beginWrite` waits for other writers; nil: as long as it takes. At first that of the configuration.
    /// Of a closed Realm and on another thread a `Misuse`.
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

    /// Whether the configuration's function runs, inside of a call.
    var isReporting: Bool { standing.load(ordering: .relaxed) & Standing.reporting != 0 }

    /// Has long calls ask for the end, and opens the Realm to nobody while the configuration's function runs.
    func attendToLongCalls() {
        interruption.around = { [unowned self] report in
            standing.bitwiseOr(Standing.reporting, ordering: .relaxed)
            defer { standing.bitwiseAnd(~Standing.reporting, ordering: .relaxed) }
            // Whoever closes the Realm in there wants no more of the call, on whose way out it is closed.
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
