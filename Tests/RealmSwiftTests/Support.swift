import Foundation
import RealmSwift
import Synchronization
import Testing

/// A folder that goes with the test.
final class Folder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("realmswift-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func configuration(_ types: [ObjectBase.Type], name: String = "test") -> Realm.Configuration {
        Realm.Configuration(fileURL: url.appendingPathComponent("\(name).realm"), objectTypes: types)
    }
}

/// A Realm in a folder of its own.
func makeRealm(_ types: ObjectBase.Type...) throws -> (Realm, Folder) {
    let folder = try Folder()
    return (try Realm(configuration: folder.configuration(types)), folder)
}

/// Deletes files that nobody has open any more. A child process on its way to its program has the locks of its parent
/// for a moment, and other tests start some: so it is tried again.
func deleting(_ delete: () throws -> Bool) throws -> Bool {
    for _ in 0..<200 {
        if let done = try? delete() { return done }
        Thread.sleep(forTimeInterval: 0.01)
    }
    return try delete()
}

/// What misuse says. `body` runs on a thread of its own, which never goes on behind the misuse; nil where there was
/// none.
func misuse(_ body: @escaping @Sendable () throws -> Void) -> String? {
    Misuses.install()
    let done = DispatchSemaphore(value: 0), message = Mutex<String?>(nil)
    let reporter = Reporter { text in
        message.withLock { $0 = text }
        done.signal()
    }
    let thread = Thread {
        Thread.current.threadDictionary["reporter"] = reporter
        do { try body() } catch { Issue.record("\(error)") }
        done.signal()
    }
    thread.start()
    done.wait()
    return message.withLock { $0 }
}

private final class Reporter: Sendable {
    let tell: @Sendable (String) -> Void

    init(_ tell: @escaping @Sendable (String) -> Void) { self.tell = tell }
}

private enum Misuses {
    static func install() {
        RealmMisuse.handler = { text in
            // Misuse elsewhere ends the tests, as it ends programs.
            guard let reporter = Thread.current.threadDictionary["reporter"] as? Reporter else { return }
            reporter.tell(text)
            while true { Thread.sleep(forTimeInterval: 3600) }
        }
    }
}

/// Random numbers that are the same in each run.
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let x = state ^ (state >> 33)
        return x &* 0xFF51_AFD7_ED55_8CCD ^ (x >> 29)
    }
}
