// What the engine's tests share: seeded random numbers, stores without a file, databases in temporary folders that are
// verified when they are closed.
import Foundation
import Testing

@testable import CoreEngine

/// xorshift64*: the same sequence on every platform.
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }

    mutating func below(_ n: Int) -> Int { Int(next() % UInt64(n)) }
}

/// A store that writes into memory only.
func memoryStore() throws -> NodeStore {
    let space = try AddressSpace(fileCapacity: 1 << 26, slabCapacity: 1 << 32, minimum: 1 << 26)
    let store = NodeStore(space: space, fileLimit: 24)
    store.beginWrite(slabCommitted: 0)
    return store
}

func withBytes<R>(_ text: [UInt8], _ body: (Bytes) throws -> R) rethrows -> R {
    try text.withUnsafeBytes { try body($0) }
}

/// A folder that goes with the test.
final class TemporaryFolder {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("crealm-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String = "test.realm") -> String { path + "/" + name }
}

let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

/// Mistakes are kept for the thread that expects them; elsewhere one of them stops the tests.
private enum Expected {
    static let lists = Lock(initial: [UInt: [Misuse]]())

    static let isInstalled: Bool = {
        Misuse.handler = { misuse in
            lists.with { lists in
                guard lists[Platform.threadId] != nil else { return .stop }
                lists[Platform.threadId, default: []].append(misuse)
                return .goOn
            }
        }
        return true
    }()
}

/// What `body` does wrong on this thread where it cannot be told by throwing.
func misuses(_ body: () throws -> Void) rethrows -> [Misuse] {
    #expect(Expected.isInstalled)
    let me = Platform.threadId
    let before = Expected.lists.with { $0.updateValue([], forKey: me) }
    defer { Expected.lists.with { $0[me] = before } }
    try body()
    return Expected.lists.with { $0[me] } ?? []
}

/// Expects that `body` is true, and makes mistakes with these numbers.
func expectMisuses(_ wanted: [Int32], _ body: () throws -> Bool, at place: SourceLocation = #_sourceLocation) rethrows {
    var isTrue = false
    let numbers = try misuses { isTrue = try body() }.map(\.error.code.rawValue)
    #expect(isTrue && numbers == wanted, "mistakes: \(numbers)", sourceLocation: place)
}

/// Runs `body` on a thread of its own and waits for it.
func elsewhere(_ body: @escaping () -> Void) {
    let done = start(body)
    done()
}

/// Runs `body` on a thread of its own. The result waits for it.
func start(_ body: @escaping () -> Void) -> () -> Void {
    final class Work {
        let body: () -> Void

        init(_ body: @escaping () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Work(body))
    pthread_create(
        &thread, nil,
        {
            Unmanaged<Work>.fromOpaque($0!).takeRetainedValue().body()
            return nil
        }, box.toOpaque())
    return { pthread_join(thread, nil) }
}

/// Our verifier, and both independent checkers.
func checkFile(_ path: String) throws {
    let t = try Transaction(try Database.open(path: path, access: .immutable))
    try t.beginRead()
    let faults = try Verifier(t).run()
    #expect(faults.count == 0, "\(faults.report ?? "")")
    t.close()
    let tools = repository.appendingPathComponent("Tests/Tools").path
    for arguments in [["\(tools)/realm_storage_check.py", path], ["\(tools)/realm_data_check.py", "--check", path]] {
        let p = Process()
        p.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        p.arguments = ["python3"] + arguments
        let output = Pipe()
        p.standardOutput = output
        p.standardError = output
        try p.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        p.waitUntilExit()
        #expect(p.terminationStatus == 0 && !text.contains("ERROR"), "\(text)")
    }
}
