import Dispatch
import Foundation
import RealmSwift
import Throwing
import XCTest

/// What the tests of Realm's package take from its Objective-C part and from Apple's XCTest.

/// A test function of a class.
final class Listed {
    let owner: String, name: String
    let body: (XCTestCase) throws -> Void

    init(_ owner: String, _ name: String, _ body: @escaping (XCTestCase) throws -> Void) {
        (self.owner, self.name, self.body) = (owner, name, body)
    }

    static func plain(_ owner: String, _ name: String, _ body: @escaping @MainActor (XCTestCase) throws -> Void)
        -> Listed
    {
        Listed(owner, name, unsafeBitCast(body, to: ((XCTestCase) throws -> Void).self))
    }

    static func waiting(_ owner: String, _ name: String, _ body: @escaping (XCTestCase) async throws -> Void) -> Listed
    {
        Listed(owner, name) { test in
            let generator: (XCTestCase) -> () async throws -> Void = { test in { try await body(test) } }
            try asyncTest(generator)(test)()
        }
    }

    /// The functions of a class: those of its superclass, except for overridden ones, and its own.
    static func merged(_ inherited: [Listed], _ own: [Listed]) -> [Listed] {
        inherited.filter { one in !own.contains { $0.name == one.name } } + own
    }
}

class RLMTestCaseBase: XCTestCase {
    class var ownTests: [Listed] { [] }

    class var defaultTestSuite: XCTestSuite {
        let suite = XCTestSuite(name: "\(self)")
        for one in ownTests {
            let test = self.init(name: "\(self).\(one.name)", testClosure: one.body)
            test.listed = one
            suite.addTest(test)
        }
        return suite
    }

    var listed: Listed?
}

/// The tests behind `suite`, one by one.
func flattened(_ suite: XCTest) -> [RLMTestCaseBase] {
    if let suite = suite as? XCTestSuite { return suite.tests.flatMap(flattened) }
    return [suite].compactMap { $0 as? RLMTestCaseBase }
}

/// Runs a block and returns what it threw, or what its misuse said.
///
/// What the block retains is leaked if it misuses the library, as with an exception of Objective-C.
func thrownMessage(_ block: () throws -> Void) -> String? {
    let found = Found()
    let message = withoutActuallyEscaping(block) { block -> String? in
        let box = Box { do { try block() } catch { found.error = error } }
        let context = Unmanaged.passRetained(box).toOpaque()
        return catch_message({ Unmanaged<Box>.fromOpaque($0!).takeUnretainedValue().run() }, context)
            .map { String(cString: $0) }
    }
    return message ?? found.error.map { "\($0)" }
}

private final class Found {
    var error: (any Error)?
}

private final class Box {
    let run: () -> Void

    init(_ run: @escaping () -> Void) { self.run = run }
}

func installMisuseHandler() { RealmMisuse.handler = { throw_message($0) } }

let RLMExceptionName = "RLMException"

/// The folder of the tests of this process.
let testFolder = FileManager.default.temporaryDirectory.appendingPathComponent("realm-own-\(getpid())").path

func RLMRealmPathForFile(_ name: String) -> String {
    testFolder + "/" + String(name.map { $0.isLetter || $0.isNumber ? $0 : "_" }.prefix(150))
}

func RLMCanFork() -> Bool { false }

func RLMFork() -> Int32 { -1 }

func RLMAssertMatches(
    _ test: XCTestCase, _ block: () -> String, _ pattern: String, _ message: String?, _ file: String, _ line: UInt
) {
    let text = block()
    XCTAssert(
        text.range(of: pattern, options: .regularExpression) != nil, "'\(text)' should match '\(pattern)'")
}

class TestCase: RLMTestCaseBase {
    var exceptionThrown = false
    var testDir: String! = nil
    let queue = DispatchQueue(label: "background")

    override func invokeTest() {
        testDir = RLMRealmPathForFile(name)
        try? FileManager.default.removeItem(atPath: testDir)
        try? FileManager.default.createDirectory(atPath: testDir, withIntermediateDirectories: true)
        Realm.Configuration.defaultConfiguration = Realm.Configuration(fileURL: defaultRealmURL())
        super.invokeTest()
        queue.sync {}
        try? FileManager.default.removeItem(atPath: testDir)
    }

    func configurationWithTestPath(configuration: Realm.Configuration = Realm.Configuration()) -> Realm.Configuration {
        var copy = configuration
        copy.fileURL = testRealmURL()
        return copy
    }

    @discardableResult
    func realmWithTestPath(configuration: Realm.Configuration = Realm.Configuration()) -> Realm {
        try! Realm(configuration: configurationWithTestPath(configuration: configuration))
    }

    func dispatchSyncNewThread(block: @Sendable @escaping () -> Void) {
        queue.async { block() }
        queue.sync {}
    }

    func dispatchSyncBackground(block: @Sendable @escaping (TestCase) -> Void) {
        nonisolated(unsafe) let test = self
        queue.async { block(test) }
        queue.sync {}
    }

    func testRealmURL() -> URL { URL(fileURLWithPath: testDir).appendingPathComponent("test.realm") }

    func defaultRealmURL() -> URL { URL(fileURLWithPath: testDir).appendingPathComponent("default.realm") }
}

/// Messages are not compared.
extension XCTestCase {
    private func check<T>(_ block: () throws -> T, _ what: String?, _ file: StaticString, _ line: UInt) {
        (self as? TestCase)?.exceptionThrown = true
        if thrownMessage({ _ = try block() }) == nil {
            XCTFail("nothing was thrown. \(what ?? "")", file: file, line: line)
        }
    }

    func assertThrows<T>(
        _ block: @autoclosure () throws -> T, named: String? = RLMExceptionName, _ message: String? = nil,
        fileName: StaticString = #file, lineNumber: UInt = #line
    ) { check(block, named, fileName, lineNumber) }

    func assertThrows<T>(
        _ block: @autoclosure () throws -> T, reason: String, _ message: String? = nil, fileName: StaticString = #file,
        lineNumber: UInt = #line
    ) { check(block, reason, fileName, lineNumber) }

    func assertThrows<T>(
        _ block: @autoclosure () throws -> T, reasonMatching: String, _ message: String? = nil,
        fileName: StaticString = #file, lineNumber: UInt = #line
    ) { check(block, reasonMatching, fileName, lineNumber) }
}

func inMemoryRealm(_ identifier: String) -> Realm {
    try! Realm(configuration: Realm.Configuration(inMemoryIdentifier: identifier))
}

func openRealm(
    configuration: Realm.Configuration = .defaultConfiguration, actor: isolated any Actor,
    downloadBeforeOpen: Realm.OpenBehavior = .never
) async throws -> Realm {
    try await Realm.open(configuration: configuration, downloadBeforeOpen: downloadBeforeOpen)
}

extension Realm {
    @discardableResult
    public func create<T: Object>(_ type: T.Type, value: [String: Any], update: UpdatePolicy = .error) -> T {
        create(type, value: value as Any, update: update)
    }

    @discardableResult
    public func create<T: Object>(_ type: T.Type, value: [Any], update: UpdatePolicy = .error) -> T {
        create(type, value: value as Any, update: update)
    }
}

extension Object {
    public convenience init(value: [String: Any]) { self.init(value: value as Any) }

    public convenience init(value: [Any]) { self.init(value: value as Any) }
}

/// Optional properties without a wrapper of their own.
extension Optional where Wrapped: RealmOptionalType {
    var value: Wrapped? {
        get { self }
        set { self = newValue }
    }
}

extension AnyRealmValue {
    var value: AnyRealmValue {
        get { self }
        set { self = newValue }
    }
}

func dynamicBridgeCast<T>(fromObjectiveC value: Any?) -> T { value ~~> T.self }

infix operator ~~> : CastingPrecedence

/// The cast of a value to another type of numbers, or of elements to a set, which Apple's systems make through
/// Objective-C's types.
func ~~> <T>(value: Any?, type: T.Type) -> T {
    if let value = (value as? any _Optional)?.inside ?? value {
        if let cast = value as? T { return cast }
        for number in numbers(value) { if let cast = number as? T { return cast } }
        if let elements = value as? [Any?], let cast = Set(elements.compactMap { $0 as? String }) as? T { return cast }
    }
    return value as! T
}

/// A number in all types of numbers.
private func numbers(_ value: Any) -> [Any] {
    let number: NSNumber
    switch value {
    case let value as Bool: number = NSNumber(value: value)
    case let value as any BinaryInteger: number = NSNumber(value: Int64(value))
    case let value as Float: number = NSNumber(value: value)
    case let value as Double: number = NSNumber(value: value)
    case let value as NSNumber: number = value
    default: return []
    }
    return [
        number, number.intValue, number.int8Value, number.int16Value, number.int32Value, number.int64Value,
        number.floatValue, number.doubleValue, number.boolValue,
    ]
}

extension ObjectBase {
    var hash: Int { hashValue }

    func isEqual(_ other: Any?) -> Bool { (other as? ObjectBase).map { self == $0 } ?? false }
}

extension RealmCollection where Self: Equatable {
    func isEqual(_ other: Any?) -> Bool { (other as? Self).map { self == $0 } ?? false }
}

extension IndexPath {
    init(item: Int, section: Int) { self.init(indexes: [section, item]) }

    var item: Int { self[1] }
    var section: Int { self[0] }
}

extension XCTestCase {
    static func isEqual(_ other: AnyClass) -> Bool { self == other }

    func wait(for expectations: [XCTestExpectation]) { wait(for: expectations, timeout: 30) }

    func fulfillment(of expectations: [XCTestExpectation]) async { await fulfillment(of: expectations, timeout: 30) }
}

private final class Identified: Object, ObjectKeyIdentifiable {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// The identity of the row of an object, on any thread.
func RLMObjectBaseGetCombineId(_ object: ObjectBase) -> UInt64 { unsafeBitCast(object, to: Identified.self).id }

func RLMDynamicGetByName(_ object: ObjectBase, _ name: String) -> Any? { object.value(forKey: name) }

/// Access to a property by its description.
struct Accessor {
    let name: String

    func get(_ property: Accessor, on object: ObjectBase) -> Any { object.value(forKey: name) ?? NSNull() }

    func set(_ property: Accessor, on object: ObjectBase, to value: Any) { object.setValue(value, forKey: name) }

    var swiftAccessor: Accessor? { self }
}

func RLMObjectBaseObjectSchema(_ object: ObjectBase) -> (properties: [Accessor], Void)? {
    let schema = (object as? Object)?.objectSchema ?? (object as? EmbeddedObject)?.objectSchema
    return schema.map { ($0.properties.map { Accessor(name: $0.name) }, ()) }
}

/// The arguments of a condition as texts, to compare them.
func described(_ values: [Any]) -> [String] { values.map(described) }

private func described(_ value: Any) -> String {
    switch value {
    case let value as any _Optional: value.inside.map(described) ?? "nil"
    case is NSNull: "nil"
    case let value as NSNumber: value.doubleValue.description
    case let value as [Any]: "\(described(value))"
    case let value as NSArray: "\(described(value.map { $0 }))"
    default: "\(value)".replacingOccurrences(of: " <0x[0-9a-f]+>", with: "", options: .regularExpression)
    }
}

protocol _Optional {
    var inside: Any? { get }
}

extension Optional: _Optional {
    var inside: Any? { map { $0 } }
}

/// The storage of properties of Swift's types behind Objective-C's, which does not exist here.
final class RLMSwiftValueStorage {}

func RLMGetSwiftValueStorage(_ storage: RLMSwiftValueStorage) -> Any? { nil }
