// The chapters of a first day with Realm, each a small program: what is written here compiles against Realm's own
// package on Apple's systems, too, but for the lines that end with "here only".   realm-swift-chapters [chapter …]
import Foundation
import RealmSwift

let chapters: [(name: String, run: (URL) throws -> Void)] = [
    ("define", define), ("crud", crud), ("links", links), ("embedded", embedded), ("collections", collections),
    ("filter", filter),
    ("type-safe-query", typeSafeQuery), ("migration", migration), ("notifications", notifications),
    ("threading", threading),
    ("encryption", encryption), ("projections", projections), ("json", json),
]

/// Says what is not as a chapter tells it, and ends.
func expect(_ condition: Bool, _ what: @autoclosure () -> String, line: Int = #line, file: String = #file) {
    guard !condition else { return }
    print("\(file):\(line): \(what())")
    exit(1)
}

let wanted = CommandLine.arguments.dropFirst()
for (name, run) in chapters where wanted.isEmpty || wanted.contains(name) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("chapter-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try run(folder)
    print("\(name): ok")
}
