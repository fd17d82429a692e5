internal import CoreEngine

/// The place of a class among those that share one class of the file, because their base has the rule
/// `.subclasses(by:)`. It is found from the superclasses and their rules, without an instance.
struct Membership: Sendable {
    let type: ObjectBase.Type

    /// The class with the rule.
    let base: ObjectBase.Type

    /// The superclass; nil for the base.
    let above: ObjectBase.Type?

    /// The name of the type property in the program.
    let property: String

    /// The name of the type property in the file.
    let column: Name

    /// The text that objects of exactly this class have in the type property.
    let typeName: Name

    private static let known = Lock<[ObjectIdentifier: Membership?]>(initial: [:])

    /// Returns the membership of a class; nil if the class shares its class of the file with no other one.
    static func of(_ type: ObjectBase.Type) -> Membership? {
        let id = ObjectIdentifier(type)
        if let known = known.with({ $0[id] }) { return known }
        // No lock is held here: the rules are code of the program.
        let found = find(type)
        known.with { $0[id] = .some(found) }
        return found
    }

    private static func find(_ type: ObjectBase.Type) -> Membership? {
        guard type is Object.Type, type != Object.self else { return nil }
        if let above = _getSuperclass(type) as? ObjectBase.Type, let its = of(above) {
            return Membership(
                type: type, base: its.base, above: above, property: its.property, column: its.column,
                typeName: ownName(of: type, below: above))
        }
        guard let property = type.rules().lazy.compactMap(\.typeProperty).first else { return nil }
        return Membership(
            type: type, base: type, above: nil, property: property,
            column: Name(type.propertiesMapping()[property] ?? property), typeName: Name(type.className()))
    }

    /// Returns the text for the type property: the class name. A class that inherits `className()` from one that
    /// overrides it has the name of its Swift class.
    private static func ownName(of type: ObjectBase.Type, below above: ObjectBase.Type) -> Name {
        let name = Name(type.className())
        return name == Name(above.className()) ? Name(ClassInfo.name(of: type)) : name
    }

    /// The rules that the class declares itself, without those of its superclass.
    var ownRules: [Rule] {
        let inherited = above?.rules() ?? []
        return type.rules().filter { rule in !inherited.contains { $0.kind == rule.kind } }
    }

    /// Whether the class is abstract: each of its objects is of a subclass.
    var isAbstract: Bool { ownRules.contains(where: \.isAbstract) }

    /// The message for an attempt to change the type of an object.
    var stays: String {
        "An object of class '\(typeName)' stays one: '\(property)' cannot be changed. Make an object of the other class, and "
            + "delete this one."
    }

    /// The classes from the base to this one.
    var line: [Membership] { (above.flatMap { Membership.of($0) }?.line ?? []) + [self] }

    /// Whether a class is this class or one of its subclasses.
    func includes(_ other: ObjectBase.Type) -> Bool {
        var at = Membership.of(other)
        while let one = at {
            if one.type == type { return true }
            at = one.above.flatMap { Membership.of($0) }
        }
        return false
    }
}

extension ObjectBase {
    /// The name of the class of the file that has the objects of the class.
    static var fileName: String { (Membership.of(self)?.base ?? self).className() }

    /// The rules of the class; for a subclass that shares a class of the file, with those of its superclasses.
    static var allRules: [Rule] { Membership.of(self).map { $0.line.flatMap(\.ownRules) } ?? rules() }
}
