import Foundation
import XCTest

/// Prints what happens in a test.
final class Reporting: NSObject, XCTestObservation {
    var failures: [String] = []

    func testCase(_ testCase: XCTestCase, didFailWithDescription text: String, inFile file: String?, atLine line: Int) {
        failures.append("\((file ?? "").split(separator: "/").last ?? ""):\(line): \(text)")
    }
}

/// `list` prints the tests; `run NAME…` runs those of the functions `Class.function`. A line begins with the number of
/// the test.
func runTests(_ suites: [XCTestSuite]) -> Never {
    setvbuf(stdout, nil, _IOLBF, 0)
    installMisuseHandler()
    let tests = suites.flatMap(flattened), arguments = CommandLine.arguments.dropFirst()
    func name(_ test: RLMTestCaseBase) -> String { "\(test.listed!.owner).\(test.listed!.name)" }
    if arguments.first == "list" {
        for (index, test) in tests.enumerated() { print(index, name(test), type(of: test), separator: "\t") }
        exit(0)
    }
    let reporting = Reporting(), wanted = Set(arguments.dropFirst().compactMap { Int($0) })
    XCTestObservationCenter.shared.addTestObserver(reporting)
    var seen = Set<ObjectIdentifier>()
    for (index, test) in tests.enumerated() where wanted.contains(index) {
        if seen.insert(ObjectIdentifier(type(of: test))).inserted { type(of: test).setUp() }
        reporting.failures = []
        print("begin", index, separator: "\t")
        test.run()
        let text = reporting.failures.joined(separator: " | ").replacingOccurrences(of: "\n", with: " ")
        print(reporting.failures.isEmpty ? "pass" : "fail", index, text, separator: "\t")
    }
    try? FileManager.default.removeItem(atPath: testFolder)
    exit(0)
}
