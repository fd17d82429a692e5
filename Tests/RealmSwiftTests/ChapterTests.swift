import Foundation
import Testing

/// The programs of examples/RealmSwift check what they show, and end with an error where it is not so.
struct ChapterTests {
    private static let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent(
        "realm-swift-chapters")

    @Test func chapters() throws {
        let process = Process(), output = Pipe()
        process.executableURL = Self.program
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && text.components(separatedBy: ": ok").count == 14, "\(text)")
    }
}
