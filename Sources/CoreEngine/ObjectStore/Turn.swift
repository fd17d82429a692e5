import Synchronization

/// The turns of a Realm: what its scheduler runs when the file has a newer version. At most one waits there, however
/// many versions come.
///
/// Thread rule: any; `realm` is looked at on the scheduler's thread only. `realm` is set before anybody is told of the
/// turn, `isTold` is confined; the rest is immutable or atomic.
final class Turn: VersionClient, @unchecked Sendable {
    weak var realm: Realm?
    private let scheduler: any EngineScheduler
    private let listener: Listener
    private let isWaiting = Atomic(false)

    /// Whether the listener knows of it. On the scheduler's thread.
    fileprivate var isTold = false

    /// The version that the Realm was told of last. What its callbacks commit when they hear of it is newer.
    private let told: Atomic<UInt64>

    init(_ scheduler: any EngineScheduler, _ listener: Listener, at version: UInt64) {
        self.scheduler = scheduler
        self.listener = listener
        told = Atomic(version)
    }

    func wants(_ newest: UInt64) -> Bool {
        !isWaiting.load(ordering: .acquiring) && told.load(ordering: .relaxed) != newest
    }

    func tell(_ newest: UInt64) {
        told.store(newest, ordering: .relaxed)
        post()
    }

    /// Puts a turn into the scheduler, unless one is there.
    func post() {
        guard !isWaiting.exchange(true, ordering: .acquiringAndReleasing) else { return }
        // The scheduler may never run: what waits there keeps nothing of a closed Realm.
        scheduler.post(for: self) { [weak self] in self?.take() }
    }

    private func take() {
        // What comes from here on makes another turn.
        isWaiting.store(false, ordering: .releasing)
        if let realm { told.store(realm.takeTurn() ?? told.load(ordering: .relaxed), ordering: .relaxed) }
        listener.look()
    }
}

extension Realm {
    /// Begins to take turns, when the Realm is open or lives on another scheduler, which knows of it already.
    func listen() {
        guard configuration.notifiesAutomatically, let file = openDatabase, let listener = file.listener else { return }
        let scheduler = home
        let turn = Turn(scheduler, listener, at: file.newestVersion)
        turn.realm = self
        self.turn = turn
        if scheduler.isAttended { hear(turn) }
    }

    /// From now on somebody runs what the scheduler is given. On its thread.
    func schedulerIsAttended() {
        // One that was closed, or lives elsewhere by now, is not concerned.
        try? inside { () throws(RealmError) in
            guard let turn else { return }
            hear(turn)
            // What came before is taken by who comes to the scheduler now, not when the listener's thread has woken up.
            let newest = database.newestVersion
            if turn.wants(newest) { turn.tell(newest) }
        }
    }

    /// Has the listener tell of new versions. Costs a thread for the first Realm of a file that does.
    private func hear(_ turn: Turn) {
        guard !turn.isTold else { return }
        turn.isTold = true
        do throws(RealmError) { try openDatabase?.listener?.add(turn) } catch {
            Log.write(.notification, .error, "'\(configuration.path)' is not told of new versions: \(error.message)")
        }
    }

    func stopListening() {
        guard let turn, turn.isTold else { return }
        turn.isTold = false
        openDatabase?.listener?.remove(turn)
    }

    /// On the scheduler's thread: moves to the newest version and runs the callbacks that are due. Nobody can be told
    /// of an error: the next call that moves the Realm meets it again.
    /// - Returns: the version that callbacks were told of; nil when there was no turn.
    fileprivate func takeTurn() -> UInt64? {
        do throws(RealmError) {
            return try inside { () throws(RealmError) in
                guard !isWriting, !isNotifying else {
                    // What runs now is followed by a turn of its own.
                    owesTurn = true
                    return nil
                }
                guard !staysInTurns else {
                    if let staysBehind, isReading, database.newestVersion > transaction.version {
                        notifying { staysBehind() }
                    }
                    return nil
                }
                return try moveInTurn()
            }
        } catch {
            // A turn on the thread that the Realm had before is not its own.
            if !isClosed, error.code != .wrongThread {
                Log.write(.notification, .error, "'\(configuration.path)' stays at its version: \(error.message)")
            }
            return nil
        }
    }

    /// Whether turns move the Realm; where they do not, it moves in `refresh` and in writes. For the Realm's thread.
    package var isMovingInTurns: Bool {
        get { !staysInTurns }
        set {
            staysInTurns = !newValue
            if newValue { turn?.post() }
        }
    }

    /// What was put off while the Realm was writing or its callbacks ran.
    func payTurn() {
        guard owesTurn, !isWriting, !isNotifying else { return }
        owesTurn = false
        turn?.post()
    }
}
