import Foundation
import Testing

/// Accessors of properties are inlined into the program: a test of one byte, a load of a number and a call. A harmless
/// change in `Persisted` can prevent that, and an access then takes thirty times as long. So these tests check the code
/// that the compiler makes of a small program.
struct GetterTests {
    private static let program = """
        import RealmSwift
        public class Probe: Object {
            @Persisted var number: Int
            @Persisted var text: String
            @Persisted var list: List<Int>
        }
        """

    /// The functions of the program as the optimiser leaves them, by name.
    private func functions() throws -> [(name: String, body: String)] {
        let folder = try Folder(), source = folder.url.appendingPathComponent("probe.swift"),
            output = folder.url.appendingPathComponent("probe.sil")
        try Self.program.write(to: source, atomically: true, encoding: .utf8)
        let build = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let compiler = Process()
        compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        var arguments = [
            "swiftc", "-O", "-swift-version", "6", "-parse-as-library", "-emit-sil", source.path, "-o", output.path,
        ]
        arguments += ["-I", build.appendingPathComponent("Modules").path]
        for folder in ["Sources/CHints", "Sources/CSodium", "Sources/COpenSSL", "include"] {
            arguments += ["-I", checkout.appendingPathComponent(folder).path]
        }
        arguments += [
            "-Xcc", "-fmodule-map-file=" + build.appendingPathComponent("CGuards.build/module.modulemap").path,
        ]
        compiler.arguments = arguments
        try compiler.run()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0)
        return try String(contentsOf: output, encoding: .utf8).components(separatedBy: "\nsil ").map { text in
            (String(text.prefix { $0 != "\n" }), text)
        }
    }

    /// The getters of the most frequent types call the object directly: a call through a protocol witness would double
    /// the time of reading an `Int`.
    @Test func gettersCallTheObjectAtOnce() throws {
        let all = try functions()
        for (property, function) in [("number", "ObjectBaseC7integer"), ("text", "ObjectBaseC6string")] {
            let found = all.filter {
                $0.name.contains("5ProbeC\(property.count)\(property)") && $0.name.contains("vg :")
            }
            let body = try #require(found.first?.body)
            #expect(body.contains(function) && !body.contains("_rlmGet"), "\(property): \(body)")
        }
    }

    @Test func accessorsAreInlined() throws {
        let all = try functions()
        // The setter of a collection calls a function also for an unmanaged object: it copies the elements.
        for (property, getter, setter) in [("number", 3, 1), ("text", 3, 1), ("list", 3, 2)] {
            for (kind, calls) in [("g", getter), ("s", setter)] {
                let found = all.filter {
                    $0.name.contains("5ProbeC\(property.count)\(property)") && $0.name.contains("v\(kind) :")
                }
                let body = try #require(found.first?.body)
                #expect(
                    !body.contains("keypath ") && !body.contains("KeyPath") && !body.contains("[dynamic]"),
                    "\(property): \(body)")
                #expect(
                    body.components(separatedBy: " apply ").count - 1 <= calls && body.contains("_rlmState"),
                    "\(property): \(body)")
            }
        }
    }
}
