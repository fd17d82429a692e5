internal import CoreEngine
import Foundation

/// What happens to objects at the other end of a link when an object is deleted.
public enum DeleteRule: UInt8, Sendable {
    /// The link becomes nil, or is removed from its collection. The default.
    case nullify = 0

    /// The objects at the other end are deleted too.
    case cascade = 1

    /// A target is deleted if no other object refers to it.
    case cascadeLast = 2

    /// The object must not be deleted.
    case deny = 3

    var engine: EngineDeleteRule { EngineDeleteRule(rawValue: Int64(rawValue)) ?? .nullify }
}

/// A rule of a class, which the file keeps for every program. `docs/rules.md` describes all rules.
///
///     class Order: Object {
///         @Persisted(primaryKey: true, automatic: true) var id: Int
///         @Persisted var country: String
///         @Persisted var number: Int
///         @Persisted(onDelete: .cascade) var lines: List<Line>
///         @Persisted var total: Double
///
///         override class func rules() -> [Rule] {
///             [.unique("country", "number"), .check("total >= 0", name: "paid")]
///         }
///     }
public struct Rule: Sendable {
    enum Kind: Sendable, Equatable {
        case onDelete(String, DeleteRule)
        case onTargetDelete(String, DeleteRule)
        case automatic(String)
        case unique([String], name: String, ignoresCase: Bool, nullsAreEqual: Bool)
        case check(String, name: String, isAtCall: Bool)
        case short(ClassRules.ShortForm, String, Limit)
        case computed(String, String)
        case initial(String, ClassRules.Initial)
        case created(String)
        case modified(String)
        case revision(String)
        case renamed(from: String)
        case renamedProperty(String, from: String)
        case subclasses(by: String)
        case abstract
    }

    /// The number of a short form.
    enum Limit: Sendable, Equatable {
        case none
        case int(Int)
        case double(Double)

        var mixed: Mixed {
            switch self {
            case .none: .null
            case .int(let number): .int(Int64(number))
            case .double(let number): .double(number)
            }
        }
    }

    /// When a check is tested.
    public enum Time: Sendable {
        /// When a write is committed. The default.
        case commit

        /// Also by each call that changes an object; objects that the write created are tested when it is committed.
        case call
    }

    let kind: Kind

    /// What happens to the targets of a property when the object that has it is deleted.
    public static func onDelete(_ property: String, _ rule: DeleteRule) -> Rule {
        Rule(kind: .onDelete(property, rule))
    }

    /// What happens to the object that has the property when one of its targets is deleted: `.nullify`, `.cascade` or
    /// `.deny`.
    public static func onTargetDelete(_ property: String, _ rule: DeleteRule) -> Rule {
        Rule(kind: .onTargetDelete(property, rule))
    }

    /// The library makes the value of new objects: an integer from 1, a UUID or an ObjectId.
    public static func automatic(_ property: String) -> Rule { Rule(kind: .automatic(property)) }

    /// No two objects have the same values of these properties.
    public static func unique(
        _ properties: String..., name: String = "", ignoringCase: Bool = false, nullsEqual: Bool = false
    ) -> Rule {
        Rule(kind: .unique(properties, name: name, ignoresCase: ignoringCase, nullsAreEqual: nullsEqual))
    }

    /// No two objects have the same values of these properties: a primary key of several properties.
    /// `realm.object(ofType:forPrimaryKeys:)` finds an object by them.
    public static func primaryKey(_ first: String, _ second: String, _ more: String...) -> Rule {
        Rule(
            kind: .unique([first, second] + more, name: Self.primaryKeyName, ignoresCase: false, nullsAreEqual: false))
    }

    static let primaryKeyName = "primary key"

    /// A condition of the query language that each object meets. The names of properties are those of the file.
    public static func check(_ condition: String, name: String = "", at time: Time = .commit) -> Rule {
        Rule(kind: .check(condition, name: name, isAtCall: time == .call))
    }

    /// The property, a link or another value, is not nil.
    public static func required(_ property: String) -> Rule { Rule(kind: .short(.required, property, .none)) }

    /// The least value.
    public static func minimum(_ property: String, _ value: Int) -> Rule {
        Rule(kind: .short(.min, property, .int(value)))
    }

    /// The least value.
    public static func minimum(_ property: String, _ value: Double) -> Rule {
        Rule(kind: .short(.min, property, .double(value)))
    }

    /// The greatest value.
    public static func maximum(_ property: String, _ value: Int) -> Rule {
        Rule(kind: .short(.max, property, .int(value)))
    }

    /// The greatest value.
    public static func maximum(_ property: String, _ value: Double) -> Rule {
        Rule(kind: .short(.max, property, .double(value)))
    }

    /// The least number of bytes of a text or of data.
    public static func minimumLength(_ property: String, _ count: Int) -> Rule {
        Rule(kind: .short(.minLength, property, .int(count)))
    }

    /// The greatest number of bytes of a text or of data.
    public static func maximumLength(_ property: String, _ count: Int) -> Rule {
        Rule(kind: .short(.maxLength, property, .int(count)))
    }

    /// The least number of elements of a collection.
    public static func minimumCount(_ property: String, _ count: Int) -> Rule {
        Rule(kind: .short(.minCount, property, .int(count)))
    }

    /// The greatest number of elements of a collection.
    public static func maximumCount(_ property: String, _ count: Int) -> Rule {
        Rule(kind: .short(.maxCount, property, .int(count)))
    }

    /// A property that the file defines by an expression over others, for conditions and sorts of every program:
    /// `.computed("total", "price * count")`. `object.computed("total")` reads it.
    public static func computed(_ name: String, _ expression: String) -> Rule {
        Rule(kind: .computed(name, expression))
    }

    /// The value of new objects, in every program.
    public static func initial(_ property: String, _ value: Int) -> Rule {
        Rule(kind: .initial(property, .constant(StoredValue(.int(Int64(value))))))
    }

    /// The value of new objects, in every program.
    public static func initial(_ property: String, _ value: String) -> Rule {
        Rule(kind: .initial(property, .constant(.string(Array(value.utf8)))))
    }

    /// The value of new objects, in every program.
    public static func initial(_ property: String, _ value: Double) -> Rule {
        Rule(kind: .initial(property, .constant(StoredValue(.double(value)))))
    }

    /// The value of new objects, in every program.
    public static func initial(_ property: String, _ value: Bool) -> Rule {
        Rule(kind: .initial(property, .constant(StoredValue(.bool(value)))))
    }

    /// New objects get the time at which they are made.
    public static func initialNow(_ property: String) -> Rule { Rule(kind: .initial(property, .now)) }

    /// New objects get a new UUID.
    public static func initialUUID(_ property: String) -> Rule { Rule(kind: .initial(property, .newUUID)) }

    /// New objects get a new ObjectId.
    public static func initialObjectId(_ property: String) -> Rule { Rule(kind: .initial(property, .newObjectId)) }

    /// The time of the commit that created the object.
    public static func created(_ property: String) -> Rule { Rule(kind: .created(property)) }

    /// The time of the last commit that changed the object.
    public static func modified(_ property: String) -> Rule { Rule(kind: .modified(property)) }

    /// An integer that each commit raises that changes the object.
    public static func revision(_ property: String) -> Rule { Rule(kind: .revision(property)) }

    /// The class had another name in the file before. It keeps its objects.
    public static func renamed(from former: String) -> Rule { Rule(kind: .renamed(from: former)) }

    /// A property had another name in the file before. It keeps its values.
    public static func renamed(_ property: String, from former: String) -> Rule {
        Rule(kind: .renamedProperty(property, from: former))
    }

    /// The subclasses of this class share its class of the file. The text property `property` has the name of each
    /// object's own class, and the objects that are read are instances of it:
    ///
    ///     class Animal: Object {
    ///         @Persisted var name: String
    ///         @Persisted var type: String
    ///
    ///         override class func rules() -> [Rule] { [.subclasses(by: "type")] }
    ///     }
    ///
    ///     class Dog: Animal {
    ///         @Persisted var tricks: List<String>
    ///     }
    ///
    /// Without the rule, each subclass is a class of the file of its own. The library stores the type of new objects,
    /// whatever an unmanaged one has there. If the class does not declare the property, the file has it with an index.
    public static func subclasses(by property: String) -> Rule { Rule(kind: .subclasses(by: property)) }

    /// No object is of exactly this class: each is of a subclass. For a class with the rule `.subclasses(by:)`, and for
    /// its subclasses, which do not inherit the rule.
    public static var abstract: Rule { Rule(kind: .abstract) }

    /// The property of the rule `.subclasses(by:)`; nil for other rules.
    var typeProperty: String? { if case .subclasses(let property) = kind { property } else { nil } }

    var isAbstract: Bool { kind == .abstract }
}

/// The rules that a property wrapper declares, in one byte: each wrapper of each object has it.
struct PropertyRules: Sendable {
    private var bits: UInt8 = 0

    init() {}

    init(
        automatic: Bool = false, unique: Bool = false, onDelete: DeleteRule = .nullify,
        onTargetDelete: DeleteRule = .nullify
    ) {
        bits = (automatic ? 1 : 0) | (unique ? 2 : 0) | onDelete.rawValue << 2 | onTargetDelete.rawValue << 4
    }

    var isAutomatic: Bool { bits & 1 != 0 }
    var isUnique: Bool { bits & 2 != 0 }
    var onDelete: DeleteRule { DeleteRule(rawValue: bits >> 2 & 3) ?? .nullify }
    var onTargetDelete: DeleteRule { DeleteRule(rawValue: bits >> 4 & 3) ?? .nullify }
}

extension PropertyInfo {
    /// Adds the rules that the wrapper of the property declares.
    func addRules(to all: inout ClassRules) {
        let name = Name(column)
        if rules.isAutomatic { all.automatic.insert(name) }
        if rules.isUnique { all.unique.append(ClassRules.Unique([name])) }
        if rules.onDelete != .nullify { all.onDelete[name] = rules.onDelete.engine }
        if rules.onTargetDelete != .nullify { all.onTargetDelete[name] = rules.onTargetDelete.engine }
    }
}

extension ClassInfo {
    /// The rules that the model declares; nil if it declares no rules.
    var engineRules: ClassRules? {
        guard !isDynamic else { return nil }
        var rules = ClassRules()
        for property in properties { property.addRules(to: &rules) }
        for rule in type.rules() { add(rule, to: &rules) }
        return rules.isEmpty ? nil : rules
    }

    func column(_ name: String) -> Name { Name(property(name)?.column ?? name) }

    func add(_ rule: Rule, to rules: inout ClassRules) {
        switch rule.kind {
        case .onDelete(let property, let rule): rules.onDelete[column(property)] = rule.engine
        case .onTargetDelete(let property, let rule): rules.onTargetDelete[column(property)] = rule.engine
        case .automatic(let property): rules.automatic.insert(column(property))
        case .unique(let properties, let name, let ignoresCase, let nullsAreEqual):
            var unique = ClassRules.Unique(properties.map { column($0) })
            unique.name = name
            unique.ignoresCase = ignoresCase
            unique.nullsAreEqual = nullsAreEqual
            rules.unique.append(unique)
        case .check(let condition, let name, let isAtCall):
            var check = ClassRules.Check(condition)
            (check.name, check.isAtCall) = (name, isAtCall)
            rules.checks.append(check)
        case .short(let form, let property, let limit):
            do throws(EngineError) { try rules.add(form, column(property), limit.mixed) } catch {
                misuse("\(name): \(error.message)")
            }
        case .computed(let name, let expression): rules.computed[Name(name)] = expression
        case .initial(let property, let value): rules.initial[column(property)] = value
        case .created(let property): rules.created.insert(column(property))
        case .modified(let property): rules.modified.insert(column(property))
        case .revision(let property): rules.revision.insert(column(property))
        case .renamed(let former): rules.renamedFrom = Name(former)
        case .renamedProperty(let property, let former): rules.renamedProperties[column(property)] = Name(former)
        case .subclasses, .abstract: break
        }
    }

    /// The properties whose values the library makes for a new object, unless the program gives one.
    static func made(_ type: ObjectBase.Type) -> Set<Name> {
        var names: Set<Name> = []
        for rule in type.allRules {
            switch rule.kind {
            case .automatic(let property), .initial(let property, _), .created(let property), .modified(let property),
                .revision(let property):
                names.insert(Name(property))
            default: break
            }
        }
        return names
    }
}

extension Realm {
    /// Runs `block` in a savepoint of the open write transaction: its changes are undone alone when it throws.
    /// Savepoints nest. Objects that were added in an undone savepoint are invalidated.
    @discardableResult
    public func savepoint<Result>(_ block: () throws -> Result) throws -> Result {
        guard isInWriteTransaction else { misuse("A savepoint can only begin inside a write transaction") }
        do { return try engine.savepoint(block) } catch let error as EngineError { throw Realm.Error.thrown(error) }
    }
}
