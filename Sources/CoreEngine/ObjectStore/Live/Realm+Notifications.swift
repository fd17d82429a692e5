/// The notifiers of one Realm. They move with the Realm, and are called after each move. Rules: live-objects §6.12,
/// §6.13.
struct NotifierList {
    private struct Entry { weak var notifier: Notifier? }
    private var entries: [Entry] = []

    /// Pins the version up to which all notifiers are informed: the changesets of the versions after it must stay.
    private var pin: Pin?

    /// Removes notifiers whose handles were released, and returns the others.
    mutating func live() -> [Notifier] {
        entries.removeAll { $0.notifier.map(\.isIdle) ?? true }
        if entries.isEmpty { pin = nil }
        return entries.compactMap(\.notifier)
    }

    mutating func add(_ notifier: Notifier, _ snapshot: Transaction) throws(RealmError) {
        if pin == nil { pin = snapshot.sharedPin }
        if !entries.contains(where: { $0.notifier === notifier }) { entries.append(Entry(notifier: notifier)) }
    }

    /// Moves all notifiers to the version of the snapshot.
    /// - Parameters:
    ///   - isLeaving: whether the snapshot will move on. Notifiers that have not read their rows yet then read them at
    ///     the next version.
    ///   - silent: callbacks that are not told of these changes.
    mutating func advance(_ snapshot: Transaction, isLeaving: Bool, silent: [ObjectIdentifier: Set<Int>] = [:])
        throws(RealmError)
    {
        let all = live()
        guard !all.isEmpty else { return }
        try snapshot.advance(all.filter { !(isLeaving && $0.isUnprepared) }, from: pin, silent: silent)
        if pin?.version != snapshot.version { pin = snapshot.sharedPin }
    }

    mutating func end() { (entries, pin) = ([], nil) }
}

extension Realm {
    /// Throws 2010 unless the object exists.
    package func checkObject(_ table: TableKey, _ object: ObjKey) throws(RealmError) {
        guard try isAlive(table, object) else { throw invalidated() }
    }

    /// Adds a callback to the notifier of a handle, and makes the notifier if the handle has none. The first call comes
    /// with the next delivery.
    /// - Parameters:
    ///   - kept: the handle's storage for its notifier.
    ///   - joins: whether an existing notifier accepts another callback in the middle of a write.
    package func observe(
        _ kept: inout Notifier?, _ paths: [KeyPath]?, joins: Bool = false,
        _ make: (Transaction) throws(RealmError) -> Notifier,
        _ call: @escaping (ChangeSet, ClosedRange<UInt64>) -> Void
    ) throws(RealmError) -> (Notifier, Int) {
        guard !isFrozen else { throw frozenError("observe") }
        let transaction = try reading()
        if kept == nil || !joins {
            guard configuration.schemaMode != .immutable else {
                throw RealmError(
                    .wrongTransactionState, "An immutable Realm does not change: there is nothing to be told of")
            }
            guard !(isWriting && transaction.hasChanges) else {
                throw RealmError(
                    .wrongTransactionState,
                    "Callbacks are added before the first change of a write transaction, or outside of it")
            }
        }
        let notifier: Notifier
        if let kept, !kept.isIdle { notifier = kept } else { notifier = try make(transaction) }
        let id = notifier.add(paths, call)
        do throws(RealmError) { try notifiers.add(notifier, transaction) } catch {
            notifier.remove(id)
            throw error
        }
        kept = notifier
        movement.turn?.post()
        return (notifier, id)
    }

    /// Moves the notifiers to the current version before the Realm leaves it, so that the Realm's own commits are a
    /// separate step.
    func prepareMove() {
        guard transaction.stage == .reading else { return }
        advanceNotifiers(isLeaving: true)
    }

    /// Computes the changes up to the version for which `deliver` will call the callbacks. The Realm is at that
    /// version, and no callback has run.
    func prepareDelivery() {
        guard isReading else { return }
        advanceNotifiers(isLeaving: false)
    }

    /// Makes the last commit a separate step, of which some callbacks are not told.
    func skip(_ silent: [(notifier: Notifier, id: Int)]) {
        guard isReading else { return }
        var ids: [ObjectIdentifier: Set<Int>] = [:]
        for callback in silent { ids[ObjectIdentifier(callback.notifier), default: []].insert(callback.id) }
        advanceNotifiers(isLeaving: false, silent: ids)
    }

    private func advanceNotifiers(isLeaving: Bool, silent: [ObjectIdentifier: Set<Int>] = [:]) {
        do throws(RealmError) { try notifiers.advance(transaction, isLeaving: isLeaving, silent: silent) } catch {
            // The notifiers keep their version, and the pin stays: the next move tries again.
            Log.write(
                .notification, .error,
                "What changed in '\(configuration.path)' could not be found out: \(error.message)")
        }
    }

    /// Calls the callbacks of the notifiers, after those of the Realm itself. Also called when nothing moved, because
    /// first calls may be due.
    func deliver() {
        let all = notifiers.live().map { ($0, $0.due) }.filter { !$0.1.isEmpty }
        guard !all.isEmpty else { return }
        guard movement.notifyingDepth < Self.deepestNotice else {
            movement.owesTurn = true
            return
        }
        var version = transaction.version
        notifying {
            // A callback may remove others, write, or close the Realm: each is looked up again.
            for (notifier, due) in all {
                for callback in due {
                    if !isClosed, transaction.version != version {
                        // An earlier callback wrote. The changes are now computed up to the current version.
                        // Uncommitted changes of a write transaction are not reported.
                        guard transaction.stage == .reading || !transaction.hasChanges else {
                            movement.owesTurn = true
                            return
                        }
                        prepareDelivery()
                        version = transaction.version
                    }
                    notifier.deliver(callback)
                }
            }
        }
    }

    /// Parses a key path: public names joined by dots, `*` for every property of a level. Rules: live-objects §6.10.
    /// - Returns: the paths that the text describes.
    /// - Throws: 3000 when a name is unknown, or comes after a property that is no link.
    package func keyPaths(_ text: String, of table: TableKey) throws(RealmError) -> [KeyPath] {
        guard let start = schema.classes.first(where: { $0.key == table }) else {
            throw RealmError(.noSuchTable, "No class with this key")
        }
        let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        var open: [(steps: [KeyPath.Step], at: ObjectSchema?)] = [([], start)]
        var done: [KeyPath] = []
        var isAfterStar = false
        for (level, name) in names.enumerated() {
            var next: [(steps: [KeyPath.Step], at: ObjectSchema?)] = []
            for (steps, at) in open {
                guard let at else {
                    // A star led to a property that is no link. A further star ends the path there; a further name does
                    // not match.
                    if name == "*" { done.append(KeyPath(steps)) }
                    continue
                }
                let matching =
                    name == "*" ? at.properties + at.computedProperties : try property(name, in: at).map { [$0] } ?? []
                for property in matching {
                    guard let step = try keyPathStep(property, in: at) else { continue }
                    next.append((steps + [step], step.target.flatMap { t in schema.classes.first { $0.key == t } }))
                }
            }
            if name != "*", !isAfterStar, next.isEmpty || (level + 1 < names.count && next.contains { $0.at == nil }) {
                throw RealmError(
                    .invalidArgument, "'\(text)' is no key path of class '\(start.name)': '\(name)' leads nowhere")
            }
            if name == "*" { isAfterStar = true }
            open = next
        }
        done += open.map { KeyPath($0.steps) }
        guard !done.isEmpty else {
            throw RealmError(.invalidArgument, "'\(text)' is no key path of class '\(start.name)'")
        }
        return done
    }

    /// Returns a property by its public name; for the empty name the first property without a public name.
    private func property(_ name: String, in objectSchema: ObjectSchema) throws(RealmError) -> Property? {
        let all = objectSchema.properties + objectSchema.computedProperties
        if name.isEmpty { return all.first { $0.publicName.isEmpty } }
        let wanted = Name(name)
        return all.first { $0.publicName == wanted } ?? all.first { $0.publicName.isEmpty && $0.name == wanted }
    }

    /// Returns a property as a step of a key path; nil when the file does not have the property.
    private func keyPathStep(_ property: Property, in objectSchema: ObjectSchema) throws(RealmError) -> KeyPath.Step? {
        guard property.isComputed else {
            guard property.key != .null else { return nil }
            let target = property.type == .object ? schema.classes.first { $0.name == property.linkTarget }?.key : nil
            return KeyPath.Step(table: objectSchema.key, column: property.key, target: target, isBacklink: false)
        }
        guard let origin = schema.classes.first(where: { $0.name == property.linkTarget }),
            let link = origin.properties.first(where: { $0.name == property.linkOrigin }),
            let table = try reading().group.table(objectSchema.key)
        else { return nil }
        for case let backlink? in table.facts
        where backlink.type == .backlink && backlink.oppositeTable == origin.key && backlink.oppositeColumn == link.key
        {
            return KeyPath.Step(table: objectSchema.key, column: backlink.key, target: origin.key, isBacklink: true)
        }
        return nil
    }
}
