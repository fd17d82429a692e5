import Foundation
import Testing

/// The program of examples/swift/notes, as somebody at a terminal uses it: each call is a process of its own.
struct NotesTests {
    private static let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appendingPathComponent(
            "realm-swift-notes")

    private func start(_ arguments: [String]) throws -> (Process, FileHandle) {
        let process = Process(), output = Pipe()
        (process.executableURL, process.arguments) = (Self.program, arguments)
        (process.standardOutput, process.standardError) = (output, output)
        try process.run()
        return (process, output.fileHandleForReading)
    }

    @discardableResult
    private func notes(_ arguments: String...) throws -> String {
        let (process, output) = try start(arguments)
        let text = String(decoding: output.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return "\(process.terminationStatus) " + text
    }

    @Test func notesComeAndGo() throws {
        let folder = try Folder(), file = folder.url.appendingPathComponent("notes.realm").path
        #expect(try notes(file, "add", "Buy", "milk", "+shop") == "0 ")
        #expect(try notes(file, "add", "Pay", "rent", "!") == "0 ")
        #expect(try notes(file, "add", "+tag") == "1 notes: a note needs a text\n")
        #expect(try notes(file, "list") == "0 [ ]!Pay rent\n[ ] Buy milk +shop\n-- 2 open of 2\n")
        #expect(try notes(file, "done", "RENT") == "0 ")
        #expect(try notes(file, "done", "rent") == "1 notes: no open note with 'rent'\n")
        #expect(try notes(file, "list") == "0 [ ] Buy milk +shop\n[x]!Pay rent\n-- 1 open of 2\n")
        #expect(try notes(file, "list", "shop") == "0 [ ] Buy milk +shop\n-- 1 open of 1\n")
        #expect(try notes(file, "clean") == "0 ")
        #expect(try notes(file, "list") == "0 [ ] Buy milk +shop\n-- 1 open of 1\n")
    }

    @Test func filesOfTheFirstVersion() throws {
        let folder = try Folder(), file = folder.url.appendingPathComponent("notes.realm").path
        #expect(try notes(file, "first-version", "Old", "Urgent!") == "0 ")
        #expect(try notes(file, "list") == "0 [ ]!Urgent!\n[ ] Old\n-- 2 open of 2\n")
        // The first version does not open it any more.
        #expect(try notes(file, "first-version", "Late").hasPrefix("1 notes: "))
    }

    /// The list shows what three other processes do, in turn.
    @Test func liveList() throws {
        let folder = try Folder(), file = folder.url.appendingPathComponent("notes.realm").path
        try notes(file, "add", "First")
        let (process, output) = try start([file, "watch", "3"])
        // A list that says something else would be waited for without an end.
        DispatchQueue.global().asyncAfter(deadline: .now() + 60) { if process.isRunning { process.terminate() } }
        var seen = ""
        func wait(for part: String) {
            // Blocks until the list says something; the end of its output is empty.
            while !seen.hasSuffix(part), case let more = output.availableData, !more.isEmpty {
                seen += String(decoding: more, as: UTF8.self)
            }
        }
        wait(for: "-- 1 open of 1\n")
        try notes(file, "add", "Second")
        wait(for: "-- 2 open of 2\n")
        try notes(file, "done", "first")
        wait(for: "-- 1 open of 2\n")
        try notes(file, "clean")
        process.waitUntilExit()
        wait(for: "the end")
        let lines = seen.split(separator: "\n").map(String.init)
        #expect(
            lines == [
                "[ ] First", "-- 1 open of 1", "-- changed: 1 new, 0 modified, 0 gone", "[ ] First", "[ ] Second",
                "-- 2 open of 2",
                lines.count > 6 ? lines[6] : "", "[ ] Second", "[x] First", "-- 1 open of 2",
                "-- changed: 0 new, 0 modified, 1 gone", "[ ] Second",
                "-- 1 open of 1",
            ])
        #expect(process.terminationStatus == 0)
    }
}
