extension Realm {
    /// Applies the reply to the last request, in one write transaction.
    ///
    /// - Returns: what a program should know.
    /// - Throws: 9007 for a reply that is invalid or an error of the hub, 4201 for one that is no JSON, 2007 when no
    ///   reply is due; the file is as before, and the next request begins with `hello`.
    package func applySyncReply(_ text: Bytes) throws(RealmError) -> [SyncEvent] {
        let session = syncSession
        guard let awaited = session.awaited else {
            throw RealmError(.illegalOperation, "A reply without a request")
        }
        do throws(RealmError) {
            let reply = try JSONValue.parse(text)
            guard reply.members != nil else { throw Sync.invalidReply("it is no object") }
            if let message = reply.member("error")?.text { throw Sync.failed("The hub reports: \(message)") }
            session.awaited = nil
            if reply.member("stale")?.flag == true {
                // The tables were altered, or the hub is another one.
                guard awaited != .hello else { throw Sync.invalidReply("'hello' cannot be out of date") }
                transaction.syncState = nil
                return []
            }
            let events: [SyncEvent]
            switch awaited {
            case .hello: events = try applyHello(reply, session)
            case .push: events = try applyPush(reply, session)
            case .pull: events = try applyPull(reply, session)
            }
            defer { session.untold = [] }
            return session.untold + events
        } catch {
            transaction.syncState = nil
            throw error
        }
    }

    // MARK: Hello

    private func applyHello(_ reply: JSONValue, _ session: SyncSession) throws(RealmError) -> [SyncEvent] {
        guard let version = reply.member("protocol")?.integer else { throw Sync.invalidReply("no version") }
        guard version == Sync.version else {
            throw Sync.failed("The hub speaks version \(version) of the protocol, this library version \(Sync.version)")
        }
        guard let hub = reply.member("hub")?.text, !hub.isEmpty, let batch = reply.member("batch")?.integer,
            let chain = reply.member("chain")?.text, let schema = reply.member("schema")?.text,
            let classes = reply.member("classes")?.members
        else { throw Sync.invalidReply("'hello' lacks a member") }
        var columns: [Name: Set<Name>] = [:]
        for one in classes {
            guard let names = one.value.elements else { throw Sync.invalidReply("a class without properties") }
            columns[Name(String(decoding: one.name, as: UTF8.self))] = Set(
                names.compactMap { $0.text.map { Name($0) } })
        }
        let events = try applying { (tables) throws(RealmError) -> [SyncEvent] in
            var events: [SyncEvent] = []
            guard try tables.known() == session.before else {
                session.stage = .greeting
                return []
            }
            session.stage = .pushing
            let known = try tables.text(.hub)
            if !known.isEmpty, Name(known) != Name(hub) {
                try tables.set(.cursor, "")
                for one in try tables.all() { try tables.setComparison(one, .needed) }
                events.append(SyncEvent(kind: .moved, detail: hub))
            }
            try tables.set(.hub, hub)
            if try !settle(tables, batch, chain) {
                events.append(SyncEvent(kind: .forked))
                try fork(tables)
            } else if try tables.integer(.batch) == batch, try SyncRequests.exceeds(columns, tables) {
                // The hub has not taken it, and cannot: the tables were altered after it was stored.
                try SyncRequests.thaw(self, tables)
            }
            for one in try tables.all() {
                if let name = one.table.className { try noteColumns(one, columns[name] ?? [], tables) }
            }
            return events
        }
        session.columns = columns
        session.schema = schema
        // The new name is unknown to the hub.
        if events.contains(where: { $0.kind == .forked }) { session.stage = .greeting }
        return events
    }

    /// Finds properties that the file and the hub have in common since now. The file asks for all rows again, because
    /// those that did not change have values of them, too. Values of one that the file had before are unsent: changes
    /// were sent without it.
    private func noteColumns(
        _ one: MarkTables.SyncedClass, _ hub: Set<Name>, _ tables: MarkTables
    ) throws(RealmError) {
        let own = one.table.spec.columns.filter { !$0.isBacklink }
        var out = JSONText()
        out.open("{")
        for column in own.sorted(by: { $0.name < $1.name }) {
            out.name(Array(column.name.text.utf8))
            out.bool(hub.contains(column.name))
        }
        out.close("}")
        if out.bytes == one.columns { return }
        try tables.storeColumns(one, out.bytes)
        let known = one.columns.isEmpty ? [] : try JSONValue.parse(one.columns).members ?? []
        guard known.contains(where: { $0.value.flag == true }) else { return }
        var late: [ColumnFacts] = []
        for column in own where hub.contains(column.name) {
            let before = known.first { $0.name.elementsEqual(column.name.text.utf8) }
            if before?.value.flag != true { try tables.set(.cursor, "") }
            if before?.value.flag == false, let facts = one.table.facts(column.key), !facts.isPrimaryKey {
                late.append(facts)
            }
        }
        if !late.isEmpty { try markValues(late, one, tables) }
    }

    /// Marks the values of properties that differ from those of a new column.
    private func markValues(
        _ columns: [ColumnFacts], _ one: MarkTables.SyncedClass, _ tables: MarkTables
    ) throws(RealmError) {
        let clock = HybridClock.next(after: try tables.integer(.clock), offset: try tables.integer(.offset))
        try tables.set(.clock, clock)
        let zeros = ["null", "0", "false", "\"\"", "[]", "{}"].map { Array($0.utf8) }
        for object in try one.table.allKeys() {
            var change = try one.pending.get(object) ?? PendingObject(state: .changed, clock: clock)
            if change.state == .created { continue }
            let before = change
            for facts in columns where change.property(facts.key) == nil {
                guard let value = try WireText.property(one.table, object, facts), !zeros.contains(value) else {
                    continue
                }
                change.note(
                    facts.key, WireText.isMerged(facts, one.table.group) ? .collection : .set, clock: clock,
                    before: SyncRequests.empty(facts))
                change.clock = clock
            }
            if change != before { try one.pending.put(object, change) }
        }
    }

    /// Compares the batches that the hub has with those that this file has sent.
    /// - Returns: whether they agree. If the hub has the batch on its way, the file did not get the reply; it is sent
    ///   again, and the hub repeats the reply.
    private func settle(_ tables: MarkTables, _ batch: Int64, _ chain: String) throws(RealmError) -> Bool {
        let own = try tables.integer(.batch)
        if own == batch, Name(try tables.text(.chain)) == Name(chain) { return true }
        guard let kept = try tables.inflight(), kept.number == batch, own == batch - 1 else { return false }
        return try JSONValue.parse(kept.body).member("chain")?.isText(chain.utf8) == true
    }

    /// Goes on under a new name. All classes are compared: the hub may have changes that this copy of the file does not
    /// know to be its own.
    private func fork(_ tables: MarkTables) throws(RealmError) {
        try SyncRequests.thaw(self, tables)
        try tables.set(.device, AutomaticValues.uuid().description)
        try tables.set(.batch, 0)
        try tables.set(.chain, "")
        for one in try tables.all() { try tables.setComparison(one, .forked) }
    }

    // MARK: Push

    private func applyPush(_ reply: JSONValue, _ session: SyncSession) throws(RealmError) -> [SyncEvent] {
        if reply.member("fork")?.flag == true {
            let events = try applying { (tables) throws(RealmError) -> [SyncEvent] in
                guard try tables.known() == session.before else { return [] }
                try fork(tables)
                return [SyncEvent(kind: .forked)]
            }
            session.stage = .greeting
            return events
        }
        guard let batch = reply.member("batch")?.integer else { throw Sync.invalidReply("'push' lacks a number") }
        return try applying { (tables) throws(RealmError) -> [SyncEvent] in
            // Another program that exchanges the changes of this file may have applied this reply.
            guard try tables.known() == session.before else { return [] }
            guard let kept = try tables.inflight(), kept.number == batch else {
                throw Sync.invalidReply("it acknowledges a batch that was not sent")
            }
            let body = try JSONValue.parse(kept.body)
            try tables.removeInflight()
            try tables.set(.batch, batch)
            try tables.set(.chain, body.member("chain")?.text ?? "")
            let all = try tables.all()
            var rows = try HubRows(self, tables)
            for one in reply.member("merge")?.elements ?? [] { try remerge(one, body, all, &rows) }
            try rows.add(reply.member("rows"), all)
            try rows.apply()
            var events = rows.events
            // Changes of objects that were deleted on the hub. The next pull removes the objects.
            for one in reply.member("overruled")?.elements ?? [] {
                guard let name = one.member("c")?.text, let key = one.member("k") else {
                    throw Sync.invalidReply("an overruled change without class or key")
                }
                events.append(
                    SyncEvent(
                        kind: .overruled, className: name, key: String(decoding: key.json, as: UTF8.self),
                        detail: SyncEvent.deletedOnHub))
            }
            for one in reply.member("refused")?.elements ?? [] {
                guard let name = one.member("c")?.text, let key = one.member("k"),
                    let reason = one.member("reason")?.text
                else { throw Sync.invalidReply("a refusal without class, key or reason") }
                let text = key.json
                let sent = body.member("rows")?.elements?.first {
                    $0.member("c")?.isText(name.utf8) == true && $0.member("k")?.json == text
                }
                let keyText = String(decoding: text, as: UTF8.self)
                // A change that could not be sent is in the list already.
                if sent?.member("t")?.isText("bad".utf8) != true {
                    try tables.addRefused(
                        name, key: keyText, reason: reason,
                        change: sent.map { String(decoding: $0.json, as: UTF8.self) } ?? "")
                }
                events.append(SyncEvent(kind: .refused, className: name, key: keyText, detail: reason))
            }
            return events
        }
    }

    /// A collection that the hub did not take, because it had changed there: its changes are merged, and unsent again.
    private func remerge(
        _ answer: JSONValue, _ body: JSONValue, _ all: [MarkTables.SyncedClass], _ rows: inout HubRows
    ) throws(RealmError) {
        guard let name = answer.member("c")?.text, let key = answer.member("k"),
            let property = answer.member("p")?.text,
            let hub = answer.member("hub"), let one = all.first(where: { $0.table.className == Name(name) }),
            let column = one.table.column(named: Name(property)), let facts = one.table.facts(column.key)
        else { throw Sync.invalidReply("a collection to merge that is not known") }
        let reading = WireReading(realm: self), text = key.json
        let sent = body.member("rows")?.elements?.first {
            $0.member("c")?.isText(name.utf8) == true && $0.member("k")?.json == text
        }
        guard
            let parts = sent?.member("m")?.members?.first(where: { $0.name.elementsEqual(property.utf8) })?.value
                .elements,
            parts.count == 3, let clock = parts[0].integer
        else { throw Sync.invalidReply("a collection to merge that was not sent") }
        // The program may have deleted the object since.
        guard let object = try reading.find(key, in: one.table) else { return }
        let base = try reading.canonical(parts[1], one.table, facts)
        try rows.merge(object, HubRows.Class(synced: one, columns: []), facts, base: base, hub: hub, text)
        var change = try one.pending.get(object) ?? PendingObject(state: .changed, clock: clock)
        change.note(facts.key, .collection, clock: max(clock, change.property(facts.key)?.clock ?? 0))
        if let i = change.properties.firstIndex(where: { $0.column == facts.key }) {
            change.properties[i].before = hub.json
        }
        try one.pending.put(object, change)
    }

    // MARK: Pull

    private func applyPull(_ reply: JSONValue, _ session: SyncSession) throws(RealmError) -> [SyncEvent] {
        guard let next = reply.member("next")?.text else { throw Sync.invalidReply("'pull' lacks a member") }
        if session.pull.after == nil { session.pull.first = next }
        session.pages.append(reply)
        if let after = reply.member("after"), !after.isNull {
            if let before = session.pull.after, before.json == after.json {
                throw Sync.invalidReply("a page that begins where the page before began")
            }
            session.pull.after = after
            return []
        }
        if session.pull.after != nil {
            // Rows that changed after the first page was read may be missing.
            session.pull = SyncSession.Pull(cursor: session.pull.first, isSecond: true)
            return []
        }
        let compared = session.comparedAtFirst, pages = session.pages
        if compared.isEmpty, pages.allSatisfy({ $0.member("rows")?.members?.isEmpty ?? false }) {
            // Nothing is new since the checkpoint that the file has. So a later one needs no commit.
            _ = try refresh()
            let tables = try syncTables()
            if try tables.known() == session.before, !(try tables.text(.cursor)).isEmpty {
                session.pages = []
                session.stage = try SyncRequests(self, tables).hasPending(session.columns) ? .pushing : .done
                return []
            }
        }
        let events = try applying { (tables) throws(RealmError) -> [SyncEvent] in
            guard try tables.known() == session.before else { return [] }
            let all = try tables.all()
            var rows = try HubRows(self, tables)
            for page in pages { try rows.add(page.member("rows"), all) }
            try rows.apply(comparing: compared)
            try tables.set(.cursor, next)
            // What is changed from now on is later than all that the file has seen. The hub keeps its times close to
            // its own clock.
            try tables.set(.clock, max(try tables.integer(.clock), rows.clock))
            return rows.events
        }
        session.pages = []
        session.comparedAtFirst = []
        _ = try refresh()
        let tables = try syncTables()
        // Not if another program was faster.
        let isCurrent = Name(try tables.text(.cursor)) == Name(next)
        let isPending = try SyncRequests(self, tables).hasPending(session.columns)
        session.stage = isCurrent && !isPending ? .done : .pushing
        return events
    }
}
