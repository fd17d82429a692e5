import Foundation
import RealmSwift
import Synchronization
import Testing

/// What devices share.
class Chore: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var title: String
    @Persisted var minutes: Int
    @Persisted var isDone: Bool
    @Persisted var tags: List<String>

    convenience init(_ id: Int, _ title: String = "", minutes: Int = 0) {
        self.init()
        (self.id, self.title, self.minutes) = (id, title, minutes)
    }
}

/// Without a primary key.
class Memo: Object {
    @Persisted var text: String
}

/// Shares a class of the file with its subclasses.
class Appliance: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var kind: String

    override class func rules() -> [Rule] { [.subclasses(by: "kind")] }
}

class Oven: Appliance {
    @Persisted var heat: Int
}

/// The file has other names.
class Errand: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var place: String
    @Persisted var when: Int

    override class func propertiesMapping() -> [String: String] { ["place": "where", "when": "hour"] }
}

/// A file, and its way to the hub.
private final class Device {
    let folder: Folder
    let configuration: Realm.Configuration
    let transport: TestTransport

    init(_ hub: TestHub, _ types: [ObjectBase.Type] = [Chore.self], isEnabled: Bool = true) throws {
        folder = try Folder()
        configuration = folder.configuration(types)
        transport = TestTransport(hub)
        if isEnabled { try realm().sync.enable() }
    }

    /// A Realm for this thread.
    func realm() throws -> Realm { try Realm(configuration: configuration) }

    @discardableResult func sync() throws -> SyncOutcome { try realm().sync.exchange(over: transport) }

    func write(_ body: (Realm) throws -> Void) throws {
        let realm = try realm()
        try realm.write { try body(realm) }
    }

    func session(
        interval: Duration = .seconds(30), onEvent: (@Sendable (SyncEvent) -> Void)? = nil
    ) throws -> SyncSession {
        try realm().sync.session(over: transport, interval: interval, onEvent: onEvent)
    }

    func titles() throws -> [String] {
        let realm = try realm()
        realm.refresh()
        return realm.objects(Chore.self).sorted(byKeyPath: "id").map { "\($0.id) \($0.title) \($0.minutes)" }
    }
}

/// How long tests wait for a session. A fault must not let them wait for ever.
private let patience = Duration.seconds(30)

/// Waits until something that threads do has happened; false if it does not within some seconds.
private func eventually(_ isThere: () throws -> Bool) rethrows -> Bool {
    for _ in 0..<2000 {
        if try isThere() { return true }
        Thread.sleep(forTimeInterval: 0.005)
    }
    return false
}

/// As above, for tests that must not block a thread.
private func soon(_ isThere: () throws -> Bool) async throws -> Bool {
    for _ in 0..<2000 {
        if try isThere() { return true }
        try await Task.sleep(for: .milliseconds(5))
    }
    return false
}

/// Collects what is told on other threads.
private final class Heard<Element: Sendable>: Sendable {
    private let list = Mutex<[Element]>([])

    func add(_ element: Element) { list.withLock { $0.append(element) } }
    var all: [Element] { list.withLock { $0 } }
}

@Suite struct SyncTests {
    // MARK: Exchanges on the thread of the Realm

    @Test func twoFilesExchangeObjects() throws {
        let hub = TestHub(), a = try Device(hub), b = try Device(hub)
        try a.write { $0.add([Chore(1, "cook", minutes: 30), Chore(2, "wash")]) }
        let outcome = try a.sync()
        #expect(a.transport.calls == ["hello", "pull", "push", "pull"])
        #expect(outcome.requests == 4 && outcome.events.map(\.kind) == [.compared])
        #expect(outcome.sentBytes == a.transport.bodies.reduce(0) { $0 + $1.utf8.count } && outcome.receivedBytes > 100)
        try b.sync()
        #expect(try b.titles() == ["1 cook 30", "2 wash 0"])
        try b.write { realm in
            realm.object(ofType: Chore.self, forPrimaryKey: 1)?.minutes = 40
            if let wash = realm.object(ofType: Chore.self, forPrimaryKey: 2) { realm.delete(wash) }
        }
        try b.sync()
        try a.sync()
        #expect(try a.titles() == ["1 cook 40"])
        #expect(hub.value("Chore", "1", "minutes") == "40" && hub.count("Chore") == 1)
    }

    @Test func requestsHaveTheDocumentedForm() throws {
        let hub = TestHub(), a = try Device(hub)
        try a.sync()
        try a.write { $0.add(Chore(7, "x")) }
        try a.sync()
        func body(_ function: String) throws -> [String: Any] {
            let at = try #require(a.transport.calls.lastIndex(of: function))
            let json = try JSONSerialization.jsonObject(with: Data(a.transport.bodies[at].utf8))
            return try #require(json as? [String: Any])
        }
        let status = try a.realm().sync.status
        let hello = try body("hello"), classes = hello["classes"] as? [String: [String: String]]
        #expect(hello["protocol"] as? Int == 1 && hello["device"] as? String == status.device)
        #expect(
            classes == [
                "Chore": ["id": "int", "title": "string", "minutes": "int", "isDone": "bool", "tags": "string[]"]
            ])
        let batch = try #require(try body("push")["batch"] as? [String: Any])
        let row = try #require((batch["rows"] as? [[String: Any]])?.first)
        #expect(batch["number"] as? Int == 1 && row["t"] as? String == "new" && row["k"] as? Int == 7)
        #expect(try body("pull")["classes"] as? [String] == ["Chore"])
    }

    @Test func theStateOfAFile() throws {
        let hub = TestHub(), a = try Device(hub, isEnabled: false), sync = try a.realm().sync
        #expect(try !sync.isEnabled && !sync.status.isEnabled && sync.status.classes.isEmpty)
        try a.write { $0.add(Chore(1)) }
        try sync.enable([Chore.self], clockOffset: .seconds(-5))
        var status = try sync.status
        #expect(status.isEnabled && status.device.count == 36 && status.hub == nil && status.cursor == nil)
        #expect(status.classes["Chore"]?.mustCompare == true && status.classes["Chore"]?.subset == nil)
        var told: [SyncProgress] = []
        try sync.exchange(over: a.transport) { told.append($0) }
        status = try sync.status
        #expect(status.hub?.hasPrefix("memory/") == true && status.cursor != nil && status.batch == 1)
        #expect(status.pending == 0 && status.inflight == 0 && status.classes["Chore"]?.mustCompare == false)
        #expect(told.count == a.transport.calls.count && told.last?.pending == 0 && told.last?.requests == told.count)
        try a.write { $0.add(Chore(2)) }
        #expect(try sync.status.pending == 1 && sync.status.classes["Chore"]?.pending == 1)
        try sync.compare()
        #expect(try sync.status.classes["Chore"]?.mustCompare == true)
        try sync.disable()
        #expect(try !sync.isEnabled && a.realm().objects(Chore.self).count == 2)
    }

    @Test func theLaterChangeOfAPropertyWinsAndListsMerge() throws {
        let hub = TestHub(), a = try Device(hub), b = try Device(hub)
        try a.write { $0.add(Chore(1, "first")) }
        for one in [a, b] { try one.sync() }
        func change(_ device: Device, _ body: (Chore) -> Void) throws {
            try device.write { body(try #require($0.object(ofType: Chore.self, forPrimaryKey: 1))) }
        }
        try change(a) { ($0.title, $0.minutes) = ("early", 5) }
        try change(a) { $0.tags.append("a") }
        Thread.sleep(forTimeInterval: 0.005)
        try change(b) { $0.title = "late" }
        try change(b) { $0.tags.append("b") }
        try b.sync()
        try a.sync()
        let outcome = try a.sync()
        try b.sync()
        #expect(try a.titles() == ["1 late 5"] && b.titles() == ["1 late 5"])
        let tags = try [a, b].map { Array(try $0.realm().objects(Chore.self)[0].tags) }
        #expect(tags[0] == tags[1] && tags[0].sorted() == ["a", "b"])
        #expect(outcome.requests <= 2)
    }

    @Test func refusedChangesAreKept() throws {
        let hub = TestHub(), a = try Device(hub)
        hub.refuse { _, values in values["minutes"] as? Int ?? 0 > 60 ? "too long" : nil }
        try a.write { $0.add(Chore(1, "short", minutes: 10)) }
        try a.sync()
        let before = Date()
        try a.write { $0.object(ofType: Chore.self, forPrimaryKey: 1)?.minutes = 90 }
        let event = try #require(try a.sync().events.first)
        #expect(event == SyncEvent(.refused, className: "Chore", key: "1", detail: "too long"))
        #expect(try a.titles() == ["1 short 10"])
        let sync = try a.realm().sync, refused = try #require(try sync.status.refused.first)
        #expect(refused.className == "Chore" && refused.key == "1" && refused.reason == "too long")
        #expect(refused.change.contains("90") && abs(refused.date.timeIntervalSince(before)) < 60)
        try sync.forgetRefused()
        #expect(try sync.status.refused.isEmpty)
    }

    @Test func aLostReplyChangesNothingTwice() throws {
        let hub = TestHub(), a = try Device(hub), b = try Device(hub)
        try a.sync()
        try a.write { $0.add(Chore(1, "once")) }
        a.transport.loseReply(of: "push")
        #expect(throws: Offline()) { try a.sync() }
        #expect(try a.realm().sync.status.inflight > 0 && hub.batchCount == 1)
        // The file is written meanwhile.
        try a.write { $0.add(Chore(2, "next")) }
        try a.sync()
        #expect(hub.batchCount == 2 && hub.count("Chore") == 2)
        try b.sync()
        #expect(try b.titles() == ["1 once 0", "2 next 0"])
    }

    @Test func errorsOfTransportAndHubLeaveTheFileAsItWas() throws {
        let hub = TestHub(), a = try Device(hub), sync = try a.realm().sync
        try a.write { $0.add(Chore(1)) }
        a.transport.go(offline: true)
        #expect(throws: Offline()) { try a.sync() }
        a.transport.go(offline: false)
        for text in ["{\"error\": \"no tables\"}", "{\"protocol\": 99}", "{}", "[]", "3", "", "<html>", "{\"a\"", "\0"]
        {
            a.transport.reply(text)
            let error = #expect(throws: Realm.Error.self, "\(text)") { try a.sync() }
            #expect(error?.code == .syncFailed && error?.engineCode == 9007 && error?.message.isEmpty == false)
        }
        #expect(try sync.status.pending == 1 && sync.status.hub == nil)
        struct Enough: Error {}
        #expect(throws: Enough.self) { try sync.exchange(over: a.transport) { _ in throw Enough() } }
        do {
            a.transport.reply("{}")
            try a.sync()
            Issue.record("no error")
        } catch Realm.Error.syncFailed {}
        try a.sync()
        #expect(hub.count("Chore") == 1)
    }

    @Test func whatCannotBeSynchronised() throws {
        let hub = TestHub(), a = try Device(hub), sync = try a.realm().sync
        #expect(throws: Realm.Error.self) { try sync.enable() }
        try a.write { realm in
            #expect(throws: Realm.Error.self) { try realm.sync.exchange(over: a.transport) }
            #expect(throws: Realm.Error.self) { try realm.sync.disable() }
        }
        #expect(throws: Realm.Error.self) { try a.realm().freeze().sync.exchange(over: a.transport) }
        try sync.exchange(over: a.transport)
        let b = try Device(hub, isEnabled: false)
        for body: (Realm.Sync) throws -> Void in [
            { try $0.disable() }, { try $0.compare() }, { try $0.forgetRefused() }, { try $0.enable([]) },
            { try $0.exchange(over: b.transport) }, { _ = try $0.session(over: b.transport) },
            { try $0.setSubset(of: Chore.self) { $0.isDone } }, { try $0.enable([Dog.self]) },
            { try $0.enable(clockOffset: .seconds(1 << 40)) },
        ] {
            let error = #expect(throws: Realm.Error.self) { try body(try b.realm().sync) }
            #expect(error?.message.isEmpty == false)
        }
        let (memos, folder) = try makeRealm(Memo.self)
        let error = #expect(throws: Realm.Error.self) { try memos.sync.enable() }
        #expect(error?.message.contains("'Memo' has no primary key") == true)
        withExtendedLifetime(folder) {}
        var onlyRead = a.configuration
        onlyRead.readOnly = true
        let copy = a.folder.url.appendingPathComponent("copy.realm")
        try a.realm().writeCopy(toFile: copy)
        onlyRead.fileURL = copy
        #expect(throws: Realm.Error.self) { try Realm(configuration: onlyRead).sync.exchange(over: a.transport) }
    }

    @Test func aClassThatSubclassesShareIsSynchronisedAsAWhole() throws {
        let hub = TestHub(), a = try Device(hub, [Appliance.self, Oven.self], isEnabled: false)
        let b = try Device(hub, [Appliance.self, Oven.self]), sync = try a.realm().sync
        let error = #expect(throws: Realm.Error.self) { try sync.enable([Oven.self]) }
        #expect(error?.message.contains("'Appliance'") == true)
        try sync.enable([Appliance.self])
        #expect(try sync.status.classes.keys.elementsEqual(["Appliance"]))
        #expect(throws: Realm.Error.self) { try sync.setSubset(of: Oven.self) { $0.heat > 1 } }
        try a.write { $0.add([Appliance(value: ["id": 1]), Oven(value: ["id": 2, "heat": 9])]) }
        for one in [a, b] { try one.sync() }
        #expect(try b.realm().objects(Oven.self).map(\.heat) == [9] && b.realm().objects(Appliance.self).count == 2)
    }

    @Test func aWrongThreadIsMisuse() throws {
        let a = try Device(TestHub())
        nonisolated(unsafe) let realm = try a.realm()
        #expect(misuse { _ = try realm.sync.status }?.contains("incorrect thread") == true)
    }

    // MARK: Subsets

    @Test func aFileHasASubset() throws {
        let hub = TestHub(), a = try Device(hub), b = try Device(hub, isEnabled: false)
        try a.write { realm in for i in 1...6 { realm.add(Chore(i, i % 2 == 0 ? "even" : "odd", minutes: i * 10)) } }
        try a.sync()
        let sync = try b.realm().sync
        try sync.enable(subsets: [.of(Chore.self) { !$0.isDone && $0.title == "even" }])
        #expect(
            try sync.status.classes["Chore"]?.subset == #"(isDone == false) AND (title == "even")"#)
        try b.sync()
        #expect(try b.titles() == ["2 even 20", "4 even 40", "6 even 60"])
        try a.write { $0.object(ofType: Chore.self, forPrimaryKey: 4)?.isDone = true }
        for one in [a, b] { try one.sync() }
        #expect(try b.titles() == ["2 even 20", "6 even 60"] && hub.count("Chore") == 6)
        try sync.setSubset(of: Chore.self, "minutes > %@ AND NOT isDone == YES", 25)
        try b.sync()
        #expect(try b.titles() == ["3 odd 30", "5 odd 50", "6 even 60"])
        try sync.setSubset(of: Chore.self, NSPredicate(format: "title == %@", "odd"))
        try b.sync()
        #expect(try b.titles() == ["1 odd 10", "3 odd 30", "5 odd 50"])
        try sync.removeSubset(of: Chore.self)
        #expect(try sync.status.classes["Chore"]?.subset == nil)
        try b.sync()
        #expect(try b.titles().count == 6)
    }

    @Test func conditionsAsTexts() throws {
        let a = try Device(TestHub(), [Chore.self, Errand.self]), sync = try a.realm().sync
        func stored(_ className: String) throws -> String? { try sync.status.classes[className]?.subset }
        try sync.setSubset(of: Errand.self) { $0.place == "Oslo" || $0.when < 7 }
        #expect(try stored("Errand") == #"(where == "Oslo") OR (hour < 7)"#)
        try sync.setSubset(of: Errand.self, "place BEGINSWITH %@ AND when BETWEEN {1, 3}", "say \"hi\" \\ 'x'\n")
        #expect(try stored("Errand")?.hasPrefix(#"(where BEGINSWITH B64""#) == true)
        try sync.setSubset(of: Errand.self, "%K IN %@", "when", [1, 2])
        #expect(try stored("Errand") == "hour IN {1, 2}")
        try sync.setSubset(of: Chore.self) { $0.title.in(["a", "b"]) && $0.minutes.contains(1...3) && $0.id != 4 }
        #expect(
            try stored("Chore")
                == #"(title IN {"a", "b"}) AND (minutes BETWEEN {1, 3}) AND (id != 4)"#)
        try sync.setSubset(of: Chore.self, NSPredicate(value: false))
        #expect(try stored("Chore") == "FALSEPREDICATE")
    }

    @Test func conditionsThatNoHubUnderstands() throws {
        let a = try Device(TestHub()), sync = try a.realm().sync
        try sync.setSubset(of: Chore.self) { $0.minutes > 3 }
        for body: (Realm.Sync) throws -> Void in [
            { try $0.setSubset(of: Chore.self) { $0.title.contains("x", options: .caseInsensitive) } },
            { try $0.setSubset(of: Chore.self) { $0.title.like("x*") } },
            { try $0.setSubset(of: Chore.self) { $0.tags.contains("x") } },
            { try $0.setSubset(of: Chore.self) { $0.tags.count > 2 } },
            { try $0.setSubset(of: Chore.self) { $0.title == "a\0b" } },
            { try $0.setSubset(of: Chore.self, "minutes > id") },
            { try $0.setSubset(of: Chore.self, "minutes > %@", "seven") },
            { try $0.setSubset(of: Chore.self, "nothing == 1") },
            { try $0.setSubset(of: Chore.self, "minutes > ") },
            { try $0.setSubset(of: Dog.self) { $0.age > 1 } },
        ] { #expect(throws: Realm.Error.self) { try body(sync) } }
        #expect(try sync.status.classes["Chore"]?.subset == "minutes > 3")
    }

    // MARK: Sessions

    @Test func aSessionSendsCommitsAndTakesThoseOfOthers() throws {
        let hub = TestHub(), a = try Device(hub), b = try Device(hub)
        let one = try a.session(), two = try b.session(interval: .milliseconds(20))
        #expect(one.wait(timeout: patience) && two.wait(timeout: patience))
        try a.write { $0.add(Chore(1, "told")) }
        // Nobody calls the session: the commit wakes it, and the other one asks soon.
        #expect(try eventually { try b.titles() == ["1 told 0"] })
        try b.write { $0.object(ofType: Chore.self, forPrimaryKey: 1)?.minutes = 3 }
        #expect(eventually { hub.value("Chore", "1", "minutes") == "3" })
        one.wake()
        #expect(try eventually { try a.titles() == ["1 told 3"] })
        if case .active = one.state {} else { Issue.record("\(one.state)") }
        one.stop()
        two.stop()
        #expect(one.exchangeCount >= 3 && !one.wait())
    }

    @Test func manyQuickCommits() throws {
        let hub = TestHub(), a = try Device(hub), b = try Device(hub)
        let session = try a.session()
        for i in 0..<300 { try a.write { $0.add(Chore(i)) } }
        #expect(session.wait(timeout: patience))
        #expect(hub.count("Chore") == 300 && session.exchangeCount < 300)
        session.stop()
        try b.sync()
        #expect(try b.realm().objects(Chore.self).count == 300 && a.realm().sync.status.pending == 0)
    }

    @Test func offlineAndBack() async throws {
        let hub = TestHub(), a = try Device(hub)
        a.transport.go(offline: true)
        try a.write { $0.add(Chore(1)) }
        let session = try a.session(interval: .milliseconds(30)), heard = Heard<String>()
        let states = session.states
        let listening = Task {
            for await state in states {
                switch state {
                case .active: heard.add("active")
                case .waiting(let error): heard.add("waiting \(error)")
                case .ended(let error): heard.add("ended \(error.map { "\($0)" } ?? "")")
                }
            }
        }
        await #expect(throws: Offline()) { try await session.exchange() }
        if case .waiting(let error) = session.state {
            #expect(error is Offline)
        } else {
            Issue.record("\(session.state)")
        }
        #expect(session.state.error is Offline && session.exchangeCount == 0)
        // It tries again by itself.
        let before = a.transport.calls.count
        #expect(try await soon { a.transport.calls.count >= before + 3 })
        a.transport.go(offline: false)
        #expect(try await soon { hub.count("Chore") == 1 })
        try await session.exchange()
        await session.asyncStop()
        await listening.value
        let last = Array(heard.all.suffix(2))
        #expect(last == ["active", "ended "] && heard.all.contains("waiting Offline()"))
    }

    @Test func anInvalidReplyIsNoEnd() async throws {
        let hub = TestHub(), a = try Device(hub)
        for text in ["<html>", "{}", "{\"error\": \"no\"}"] { a.transport.reply(text) }
        let session = try a.session(interval: .milliseconds(10))
        #expect(try await soon { session.exchangeCount > 0 })
        #expect(a.transport.calls.prefix(4) == ["hello", "hello", "hello", "hello"])
        session.stop()
    }

    @Test func aLostReplyInASession() throws {
        let hub = TestHub(), a = try Device(hub)
        a.transport.loseReply(of: "push")
        try a.write { $0.add(Chore(1)) }
        let session = try a.session(interval: .milliseconds(10))
        #expect(session.wait(timeout: patience) && hub.batchCount == 1)
        session.stop()
        #expect(try a.realm().sync.status.batch == 1)
    }

    @Test func stopFinishesTheExchangeInProgress() throws {
        let hub = TestHub(), a = try Device(hub)
        try a.write { $0.add(Chore(1)) }
        a.transport.hold()
        let session = try a.session()
        a.transport.waitForCall()
        let stopped = Mutex(false),
            thread = Thread {
                session.stop()
                stopped.withLock { $0 = true }
            }
        thread.start()
        Thread.sleep(forTimeInterval: 0.05)
        #expect(!stopped.withLock { $0 } && hub.count("Chore") == 0)
        a.transport.release()
        #expect(eventually { stopped.withLock { $0 } })
        #expect(hub.count("Chore") == 1 && session.exchangeCount == 1 && a.transport.closeCount == 1)
        if case .ended(nil) = session.state {} else { Issue.record("\(session.state)") }
        session.stop()
        session.wake()
        #expect(
            !session.wait(timeout: patience) && !session.wait(timeout: .milliseconds(5)) && a.transport.closeCount == 1)
    }

    @Test func aReleasedSessionStopsAndTheFileCanBeDeleted() throws {
        let hub = TestHub(), a = try Device(hub)
        var session: SyncSession? = try a.session()
        #expect(session?.wait(timeout: patience) == true)
        // No Realm of the program is open; the session has the file.
        let error = #expect(throws: Realm.Error.self) { try Realm.deleteFiles(for: a.configuration) }
        #expect(error?.code == .alreadyOpen)
        session = nil
        #expect(eventually { a.transport.closeCount == 1 })
        #expect(try deleting { try Realm.deleteFiles(for: a.configuration) })
    }

    @Test func aStoppedSessionHasClosedTheFile() throws {
        let a = try Device(TestHub()), session = try a.session()
        session.stop()
        #expect(try deleting { try Realm.deleteFiles(for: a.configuration) })
        #expect(session.state.error == nil)
    }

    @Test func errorsOfTheFileEndASession() async throws {
        let a = try Device(TestHub()), session = try a.session(), events = session.events
        try await session.exchange()
        try disable(a)
        let error = await #expect(throws: Realm.Error.self) { try await session.exchange() }
        #expect(error?.message.contains("not synchronised") == true)
        if case .ended(let end) = session.state {
            #expect((end as? Realm.Error)?.message == error?.message)
        } else {
            Issue.record("\(session.state)")
        }
        await #expect(throws: Realm.Error.self) { try await session.exchange() }
        for await _ in events {}
        for await _ in session.events { Issue.record("an event after the end") }
        var last: [SyncSession.State] = []
        for await state in session.states { last.append(state) }
        #expect(last.count == 1 && session.state.error is Realm.Error && a.transport.closeCount == 1)
        session.stop()
    }

    private func disable(_ device: Device) throws { try device.realm().sync.disable() }

    @Test func aSessionOpensAnEncryptedFile() throws {
        let hub = TestHub(), folder = try Folder(), transport = TestTransport(hub)
        var configuration = folder.configuration([Chore.self])
        configuration.encryptionKey = Data(repeating: 7, count: 64)
        let realm = try Realm(configuration: configuration)
        try realm.sync.enable()
        let session = try realm.sync.session(over: transport)
        try realm.write { realm.add(Chore(1, "secret")) }
        #expect(session.wait(timeout: patience) && hub.value("Chore", "1", "title") == "secret")
        session.stop()
    }

    @Test func aMigratedFileIsOpenedAsItIsNow() throws {
        let hub = TestHub(), a = try Device(hub), calls = Mutex(0)
        try a.write { $0.add(Chore(1, "old")) }
        var configuration = a.configuration
        configuration.schemaVersion = 3
        configuration.migrationBlock = { migration, _ in
            calls.withLock { $0 += 1 }
            migration.enumerateObjects(ofType: "Chore") { _, new in new?["title"] = "new" }
        }
        let realm = try Realm(configuration: configuration), session = try realm.sync.session(over: a.transport)
        #expect(session.wait(timeout: patience))
        session.stop()
        #expect(calls.withLock { $0 } == 1 && hub.value("Chore", "1", "title") == "new")
    }

    @Test func twoSessionsOnOneFile() throws {
        let hub = TestHub(), a = try Device(hub), other = TestTransport(hub), b = try Device(hub)
        let one = try a.session(interval: .milliseconds(15))
        let two = try a.realm().sync.session(over: other, interval: .milliseconds(10))
        for i in 0..<60 {
            try a.write { $0.add(Chore(i, "a")) }
            if i % 10 == 0 {
                try b.write { $0.add(Chore(1000 + i, "b")) }
                try b.sync()
            }
        }
        #expect(one.wait(timeout: patience) && two.wait(timeout: patience))
        one.stop()
        two.stop()
        try a.sync()
        try b.sync()
        #expect(try a.titles() == b.titles() && a.titles().count == 66 && hub.count("Chore") == 66)
        #expect(try a.realm().sync.status.batch == hub.batchCount - b.realm().sync.status.batch)
    }

    @Test func eventsAreTold() async throws {
        let hub = TestHub(), a = try Device(hub), heard = Heard<SyncEvent>()
        hub.refuse { _, values in values["title"] as? String == "bad" ? "no" : nil }
        let session = try a.session { heard.add($0) }, events = session.events
        let listening = Task { () -> [SyncEvent] in
            var all: [SyncEvent] = []
            for await event in events { all.append(event) }
            return all
        }
        try await session.exchange()
        try add(a, Chore(1, "bad"))
        try await session.exchange()
        await session.asyncStop()
        let streamed = await listening.value, wanted = SyncEvent(.refused, className: "Chore", key: "1", detail: "no")
        #expect(streamed.contains(wanted) && heard.all.contains(wanted))
    }

    private func add(_ device: Device, _ chore: Chore) throws { try device.write { $0.add(chore) } }

    @Test func callsInABlockOfTheSessionDoNotWaitForIt() throws {
        let hub = TestHub(), a = try Device(hub), held = Mutex<SyncSession?>(nil), heard = Heard<Bool>()
        hub.refuse { _, _ in "never" }
        a.transport.hold()
        let session = try a.session { event in
            guard event.kind == .refused, let session = held.withLock({ $0 }) else { return }
            heard.add(session.wait())
            session.stop()
        }
        held.withLock { $0 = session }
        try a.write { $0.add(Chore(1)) }
        a.transport.waitForCall()
        a.transport.release()
        #expect(eventually { if case .ended(nil) = session.state { true } else { false } })
        #expect(heard.all == [false])
        held.withLock { $0 = nil }
    }

    @Test func waitingEndsWithItsTime() throws {
        let a = try Device(TestHub())
        a.transport.go(offline: true)
        let session = try a.session(interval: .milliseconds(10)), start = ContinuousClock.now
        #expect(!session.wait(timeout: .milliseconds(50)))
        #expect(ContinuousClock.now - start < .seconds(20))
        // Errors do not end this wait.
        let result = Mutex<Bool?>(nil),
            thread = Thread {
                let succeeded = session.wait()
                result.withLock { $0 = succeeded }
            }
        thread.start()
        Thread.sleep(forTimeInterval: 0.05)
        #expect(result.withLock { $0 } == nil)
        a.transport.go(offline: false)
        #expect(eventually { result.withLock { $0 } == true })
        session.stop()
    }

    @Test func anExchangeThatBeganEarlierDoesNotCount() async throws {
        let hub = TestHub(), a = try Device(hub)
        a.transport.hold()
        let session = try a.session()
        a.transport.waitForCall()
        let exchange = Task { try await session.exchange() }
        try await Task.sleep(for: .milliseconds(50))
        a.transport.release()
        // The first exchange says hello, and compares.
        #expect(try await exchange.value.requests == 1)
        #expect(session.exchangeCount == 2 && a.transport.calls == ["hello", "pull", "pull"])
        await session.asyncStop()
    }

    @Test func aSessionWithoutWorkSleeps() throws {
        let a = try Device(TestHub()), session = try a.session()
        #expect(session.wait(timeout: patience))
        try a.write { $0.add(Chore(1)) }
        #expect(eventually { a.transport.calls.contains("push") } && session.wait(timeout: patience))
        let calls = a.transport.calls.count
        Thread.sleep(forTimeInterval: 0.2)
        #expect(a.transport.calls.count == calls)
        session.stop()
    }

    /// Without this, a program that writes much would call a hub that is not there all the time.
    @Test func commitsDoNotEndThePauseAfterAnError() throws {
        let a = try Device(TestHub())
        a.transport.go(offline: true)
        let session = try a.session()
        // Half a second, one, and at least 1.6 seconds.
        #expect(eventually { a.transport.calls.count == 3 })
        let start = ContinuousClock.now
        for i in 0..<20 { try a.write { $0.add(Chore(i)) } }
        Thread.sleep(forTimeInterval: 0.3)
        let calls = a.transport.calls.count
        // A machine that was busy for so long says nothing.
        if ContinuousClock.now - start < .seconds(1.4) { #expect(calls == 3) }
        // Somebody who asks does.
        session.wake()
        #expect(eventually { a.transport.calls.count > calls })
        session.stop()
    }

    @Test func aCancelledTaskWaitsNoLonger() async throws {
        let a = try Device(TestHub())
        a.transport.hold()
        let session = try a.session()
        a.transport.waitForCall()
        let waiting = Task { try await session.exchange() }
        try await Task.sleep(for: .milliseconds(20))
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await session.exchange()
        }
        await #expect(throws: CancellationError.self) { try await early.value }
        a.transport.release()
        try await session.exchange()
        await session.asyncStop()
        await #expect(throws: Realm.Error.self) { try await session.exchange() }
    }

    // MARK: Observers and actors

    @Test func observersSeeWhatCame() throws {
        let hub = TestHub(), a = try Device(hub), b = try Device(hub)
        let realm = try b.realm(), chores = realm.objects(Chore.self)
        var seen: [String] = []
        let token = chores.observe { change in
            switch change {
            case .initial(let all): seen.append("initial \(all.count)")
            case .update(let all, let deletions, let insertions, let modifications):
                seen.append("\(all.count) -\(deletions) +\(insertions) ~\(modifications)")
            case .error(let error): seen.append("\(error)")
            }
        }
        realm.refresh()
        try a.write { $0.add([Chore(1), Chore(2)]) }
        try a.sync()
        // By an exchange of this Realm.
        try realm.sync.exchange(over: b.transport)
        try a.write { $0.object(ofType: Chore.self, forPrimaryKey: 2)?.title = "new" }
        try a.sync()
        // By a session.
        let session = try b.session()
        #expect(session.wait(timeout: patience))
        session.stop()
        realm.refresh()
        #expect(seen == ["initial 0", "2 -[] +[0, 1] ~[]", "2 -[] +[] ~[1]"])
        token.invalidate()
    }

    @Test @MainActor func exchangesOnTheMainActor() async throws {
        let hub = TestHub(), a = try Device(hub), b = TestTransport(hub), folder = try Folder()
        let realm = try await Realm.open(configuration: folder.configuration([Chore.self]))
        try realm.sync.enable()
        try add(a, Chore(1, "from a"))
        try a.sync()
        let outcome = try await realm.sync.asyncExchange(over: b)
        #expect(outcome.requests == b.calls.count && realm.objects(Chore.self).first?.title == "from a")
        let session = try realm.sync.session(over: b)
        try await realm.asyncWrite { realm.add(Chore(2, "from here")) }
        try await session.exchange()
        #expect(hub.value("Chore", "2", "title") == "from here")
        await session.asyncStop()
    }

    private actor Kitchen {
        var realm: Realm?
        private(set) var seen: [Int] = []

        func open(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm.open(configuration: configuration)
            try realm?.sync.enable()
        }

        func exchange(_ transport: TestTransport) async throws -> Int {
            try await realm?.sync.asyncExchange(over: transport).requests ?? -1
        }

        func add(_ chore: Int) async throws { try await realm?.asyncWrite { realm?.add(Chore(chore)) } }

        func session(_ transport: TestTransport) throws -> SyncSession? {
            try realm?.sync.session(over: transport)
        }

        func count() async -> Int {
            await realm?.asyncRefresh()
            return realm?.objects(Chore.self).count ?? -1
        }
    }

    @Test func exchangesOnAnActor() async throws {
        let hub = TestHub(), folder = try Folder(), transport = TestTransport(hub), kitchen = Kitchen()
        let a = try Device(hub)
        try await kitchen.open(folder.configuration([Chore.self]))
        try await kitchen.add(1)
        #expect(try await kitchen.exchange(transport) == 4)
        transport.go(offline: true)
        await #expect(throws: Offline()) { try await kitchen.exchange(transport) }
        transport.go(offline: false)
        // The actor works while the hub is waited for.
        transport.hold()
        let exchange = Task { try await kitchen.exchange(transport) }
        #expect(try await soon { transport.calls.last == "hello" })
        try await kitchen.add(2)
        transport.release()
        _ = try await exchange.value
        #expect(hub.count("Chore") == 2)
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await kitchen.exchange(transport)
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        try add(a, Chore(3))
        try a.sync()
        let session = try #require(try await kitchen.session(transport))
        try await session.exchange()
        #expect(await kitchen.count() == 3)
        await session.asyncStop()
    }

    @Test func anInMemoryRealmIsSynchronised() throws {
        let hub = TestHub(), a = try Device(hub), transport = TestTransport(hub)
        let realm = try Realm(
            configuration: Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Chore.self]))
        try realm.sync.enable()
        try realm.write { realm.add(Chore(5, "memory")) }
        let session = try realm.sync.session(over: transport)
        #expect(session.wait(timeout: patience))
        session.stop()
        try a.sync()
        #expect(try a.titles() == ["5 memory 0"])
    }
}
