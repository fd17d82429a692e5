import Synchronization

/// The turns of a Realm: work that its scheduler runs when the file has a newer version. At most one turn waits in the
/// scheduler, however many versions are committed.
///
/// Thread rule: any thread; `realm` is read only on the scheduler's thread. `realm` is set before the listener knows
/// the turn, `isTold` is confined to one thread, and the rest is immutable or atomic.
final class Turn: VersionClient, @unchecked Sendable {
    weak var realm: Realm?
    private let scheduler: any EngineScheduler
    private let listener: Listener
    private let isWaiting = Atomic(false)

    /// Whether the listener knows the turn. On the scheduler's thread.
    fileprivate var isTold = false

    /// The version that the Realm was notified of last. A commit made by a callback of that notification is newer.
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

    /// Posts a turn to the scheduler, unless one is waiting.
    func post() {
        guard !isWaiting.exchange(true, ordering: .acquiringAndReleasing) else { return }
        // The scheduler may never run: waiting work must not keep a closed Realm alive.
        scheduler.post(for: self) { [weak self] in self?.take() }
    }

    private func take() {
        // A version that is reported after this line causes another turn.
        isWaiting.store(false, ordering: .releasing)
        if let realm { told.store(realm.takeTurn() ?? told.load(ordering: .relaxed), ordering: .relaxed) }
        listener.look()
    }
}

extension Realm {
    /// How a Realm moves from version to version: the turns that move it, and the callbacks that report a move.
    ///
    /// Thread rule: the Realm's own thread.
    struct Movement {
        /// nil for Realms that move only in calls.
        var turn: Turn?

        /// A turn arrived while the Realm was writing or its callbacks ran.
        var owesTurn = false

        /// Turns do not move the Realm.
        var staysInTurns = false

        /// Called in a turn that does not move the Realm although a newer version exists.
        var staysBehind: (() -> Void)?

        /// Nesting depth of the callbacks that report moves.
        var notifyingDepth = 0

        /// Number of moves reported since the outermost callbacks began.
        var noticesInside = 0

        /// The Realm has moved, and its callbacks were not yet called for it.
        var owesNotice = false

        /// A write transaction is beginning, and the callbacks that run inside it are called for the move before it.
        /// None of them has taken over the transaction yet (`beginOwnWrite`).
        var isBeginning = false

        /// The last move changed the schema: the schema callbacks run before the others.
        var schemaMoved = false

        /// Version that a dynamic Realm showed last (when it was opened, or in a turn), until its next read.
        var shownVersion: UInt64?
    }

    /// Starts taking turns, when the Realm opens or has moved to another scheduler. The scheduler knows the Realm
    /// already.
    func listen() {
        guard configuration.notifiesAutomatically, let file = openDatabase, let listener = file.listener else { return }
        let scheduler = home
        let turn = Turn(scheduler, listener, at: file.newestVersion)
        turn.realm = self
        movement.turn = turn
        if scheduler.isAttended { hear(turn) }
    }

    /// The program runs the scheduler's work from now on. On the scheduler's thread.
    package func schedulerIsAttended() {
        // Throws, and does nothing, when the Realm was closed or belongs to another scheduler by now.
        try? inside { () throws(RealmError) in
            guard let turn = movement.turn else { return }
            hear(turn)
            // Earlier versions are handled by the caller that runs the scheduler now, without waiting for the
            // listener's thread to wake up.
            let newest = database.newestVersion
            if turn.wants(newest) { turn.tell(newest) }
        }
    }

    /// Registers the turn with the listener, whose thread begins with the first registered Realm of the file.
    private func hear(_ turn: Turn) {
        guard !turn.isTold else { return }
        turn.isTold = true
        do throws(RealmError) { try openDatabase?.listener?.add(turn) } catch {
            Log.write(.notification, .error, "'\(configuration.path)' is not told of new versions: \(error.message)")
        }
    }

    func stopListening() {
        guard let turn = movement.turn, turn.isTold else { return }
        turn.isTold = false
        openDatabase?.listener?.remove(turn)
    }

    /// On the scheduler's thread: moves to the newest version and runs the callbacks that are due. No caller can
    /// receive an error here, so it is logged. The next call that moves the Realm throws it again.
    /// - Returns: the version that callbacks were notified of; nil when the Realm took no turn.
    fileprivate func takeTurn() -> UInt64? {
        do throws(RealmError) {
            return try inside { () throws(RealmError) in
                guard !isWriting, !isNotifying else {
                    // A turn is posted when the write or the callbacks end.
                    movement.owesTurn = true
                    return nil
                }
                guard !movement.staysInTurns else {
                    if let staysBehind = movement.staysBehind, isReading, database.newestVersion > transaction.version {
                        notifying { staysBehind() }
                    }
                    return nil
                }
                return try moveInTurn()
            }
        } catch {
            // A turn on the thread that the Realm had before is not an error.
            if !isClosed, error.code != .wrongThread {
                Log.write(.notification, .error, "'\(configuration.path)' stays at its version: \(error.message)")
            }
            return nil
        }
    }

    /// Whether turns move the Realm; otherwise only `refresh` and writes do. On the Realm's thread.
    package var isMovingInTurns: Bool {
        get { !movement.staysInTurns }
        set {
            movement.staysInTurns = !newValue
            if newValue { movement.turn?.post() }
        }
    }

    /// Posts the turn that was postponed while the Realm was writing or its callbacks ran.
    func payTurn() {
        guard movement.owesTurn, !isWriting, !isNotifying else { return }
        movement.owesTurn = false
        movement.turn?.post()
    }
}
