// What the engine's tests share: seeded random numbers, stores without a file, databases in temporary folders that are verified when they
// are closed.
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

func withBytes<R>(_ text: [UInt8], _ body: (Bytes) throws -> R) rethrows -> R { try text.withUnsafeBytes { try body($0) } }

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

let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

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
