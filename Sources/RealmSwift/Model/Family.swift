internal import CoreEngine

/// The classes of a program that share one class of the file: a base with the rule `.subclasses(by:)` and its
/// subclasses. The class of the file has the properties of all of them. Those of subclasses may be null there, because
/// objects have only the ones of their own class.
///
/// The rules are written as Python writes them, so that programs in both languages declare the same ones.
struct Family {
    /// The base first, and each class before its subclasses.
    let members: [ClassInfo]
    private let base: ClassInfo
    private let membership: Membership

    /// An error in the declarations of several classes together.
    struct Fault: Error {
        let text: String
    }

    /// - Parameter found: The base and other classes of the family.
    init?(_ found: [ClassInfo]) {
        let ordered = found.map { ($0.membership?.line.count ?? 0, $0) }
            .sorted { a, b in a.0 == b.0 ? Name(a.1.name) < Name(b.1.name) : a.0 < b.0 }
        guard let base = ordered.first?.1, let membership = base.membership else { return nil }
        (members, self.base, self.membership) = (ordered.map(\.1), base, membership)
    }

    /// Returns the families among classes.
    static func all(_ classes: [ClassInfo]) -> [Family] {
        let found = classes.filter { $0.membership != nil }
        return found.filter { $0.membership?.above == nil }.compactMap { base in
            Family(found.filter { $0.membership?.base == base.type })
        }
    }

    /// Returns the properties that a class declares itself.
    private func own(_ info: ClassInfo) -> [PropertyInfo] {
        guard let above = info.membership?.above else { return info.properties }
        let its = ClassInfo.of(above)
        return info.properties.filter { its.property($0.name) == nil }
    }

    // MARK: The class of the file

    /// Returns the class of the file.
    func schema() throws(Fault) -> EngineObjectSchema {
        try checkNames()
        var found: [Declared] = base.properties.map { Declared(base, $0, $0.engineProperty) }
        if let type = base.property(membership.property) {
            guard type.shape.type == .string, type.shape.collection == .none, !type.shape.isOptional, !type.isPrimary
            else {
                throw Fault(text: "\(base.name).\(type.name): the type property is a String, and no primary key")
            }
        } else {
            let type = EngineProperty(membership.column, .string, indexed: true)
            found.append(Declared(base, nil, type))
        }
        for info in members.dropFirst() {
            for property in own(info) {
                let made = property.engineProperty
                guard !property.isPrimary else {
                    throw Fault(text: "\(info.name).\(property.name): primary keys are declared in \(base.name)")
                }
                guard let known = found.firstIndex(where: { $0.made.name == made.name }) else {
                    found.append(Declared(info, property, nullable(made)))
                    continue
                }
                try found[known].verify(sharedWith: info, property, nullable(made))
                found[known].made.isIndexed = found[known].made.isIndexed || made.isIndexed
            }
        }
        return EngineObjectSchema(Name(base.fileName), properties: found.map(\.made))
    }

    private func nullable(_ property: EngineProperty) -> EngineProperty {
        var property = property
        if property.collection == .none, !property.isComputed { property.isNullable = true }
        return property
    }

    /// A property of the file, with the first class that declares it.
    private struct Declared {
        let info: ClassInfo
        let property: PropertyInfo?
        var made: EngineProperty

        init(_ info: ClassInfo, _ property: PropertyInfo?, _ made: EngineProperty) {
            (self.info, self.property, self.made) = (info, property, made)
        }

        func verify(sharedWith other: ClassInfo, _ its: PropertyInfo, _ new: EngineProperty) throws(Fault) {
            let both = "\(info.name).\(property?.name ?? "\(made.name)") and \(other.name).\(its.name)"
            guard property?.name == its.name else {
                throw Fault(text: "\(both) have the same name in the file, '\(made.name)'")
            }
            guard made.type == new.type, made.collection == new.collection, made.isNullable == new.isNullable,
                made.linkTarget == new.linkTarget, made.linkOrigin == new.linkOrigin,
                property?.shape.target == its.shape.target
            else {
                throw Fault(text: "\(both) are one property of the file, and have different types")
            }
        }
    }

    private func checkNames() throws(Fault) {
        var known: [Name: ClassInfo] = [:]
        for info in members {
            guard let name = info.membership?.typeName else { continue }
            let isPlain = !name.isEmpty && !name.utf8.contains { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C }
            guard isPlain else { throw Fault(text: "\(info.type): the type '\(name)' contains \", \\ or no letter") }
            if let other = known[name] {
                throw Fault(
                    text: "\(other.type) and \(info.type) have the same type, '\(name)': override `className()` in one")
            }
            known[name] = info
        }
    }

    // MARK: Its rules

    /// Returns the rules of the class of the file: those of the base, and those of each subclass for its objects.
    func rules() throws(Fault) -> ClassRules {
        var rules = base.engineRules ?? ClassRules()
        rules.typeProperty = membership.column
        rules.isAbstract = membership.isAbstract
        for info in members.dropFirst() {
            guard let its = info.membership, let above = its.above.flatMap({ Membership.of($0) }) else { continue }
            var subclass = ClassRules.Subclass(its.typeName.text)
            subclass.parent = above.typeName.text
            subclass.properties = own(info).filter { !$0.shape.isComputed }.map { Name($0.column) }
            subclass.isAbstract = its.isAbstract
            rules.subclasses.append(subclass)
            for property in own(info) { try add(property, of: info, to: &rules) }
            for rule in its.ownRules { try add(rule, of: info, to: &rules) }
            if !its.isAbstract { rules.checks += checks(its) }
        }
        return rules
    }

    private func add(_ property: PropertyInfo, of info: ClassInfo, to rules: inout ClassRules) throws(Fault) {
        guard !property.rules.isAutomatic else {
            throw concernsAll("\(info.name).\(property.name)", "an automatic value")
        }
        var own = ClassRules()
        property.addRules(to: &own)
        rules.unique += own.unique.filter { !rules.unique.contains($0) }
        rules.onDelete.merge(own.onDelete) { first, _ in first }
        rules.onTargetDelete.merge(own.onTargetDelete) { first, _ in first }
    }

    private func add(_ rule: Rule, of info: ClassInfo, to rules: inout ClassRules) throws(Fault) {
        switch rule.kind {
        case .check, .short, .abstract: break
        case .onDelete, .onTargetDelete, .renamedProperty: info.add(rule, to: &rules)
        case .automatic(let name): throw concernsAll("\(info.name).\(name)", "an automatic value")
        case .initial(let name, _): throw concernsAll("\(info.name).\(name)", "a value of new objects")
        case .created(let name), .modified(let name): throw concernsAll("\(info.name).\(name)", "a time")
        case .revision(let name): throw concernsAll("\(info.name).\(name)", "a revision")
        case .renamed: throw concernsAll(info.name, "another name of the class")
        case .subclasses:
            throw Fault(text: "\(info.name): \(base.name) has a type property for all its subclasses")
        case .unique(let names, let title, _, let nullsAreEqual):
            try verifyUnique(names, title, nullsAreEqual, of: info)
            info.add(rule, to: &rules)
        case .computed(let name, let expression):
            if let other = rules.computed[Name(name)], Name(other) != Name(expression) {
                throw Fault(
                    text:
                        "\(info.name).\(name) is computed as '\(expression)', and in another class as '\(other)': the "
                        + "file has one expression")
            }
            info.add(rule, to: &rules)
        }
    }

    private func concernsAll(_ place: String, _ what: String) -> Fault {
        Fault(text: "\(place): \(what) concerns objects of all classes. Declare it in \(base.name)")
    }

    /// Throws unless a unique rule of a subclass concerns its objects only: it has a property that is null in others.
    private func verifyUnique(_ names: [String], _ title: String, _ nullsAreEqual: Bool, of info: ClassInfo)
        throws(Fault)
    {
        guard Name(title) != Name(Rule.primaryKeyName) else {
            throw Fault(text: "\(info.name): primary keys are declared in \(base.name)")
        }
        let others = members.filter { info.membership?.includes($0.type) == false }
        let isOwn = names.contains { name in
            let column = info.column(name)
            return own(info).contains { Name($0.column) == column }
                && !others.contains { $0.properties.contains { Name($0.column) == column } }
        }
        guard isOwn, !nullsAreEqual else {
            throw Fault(
                text: "\(info.name): the unique rule (\(names.joined(separator: ", "))) would concern objects of other "
                    + "classes. It needs a property that only \(info.name) declares, and no equal nulls")
        }
    }

    /// Returns the checks of a subclass: its own, and those of its superclasses except the base. They concern only
    /// objects of this type and contain the name of the type, so that programs with other subclasses do not change
    /// them.
    private func checks(_ membership: Membership) -> [ClassRules.Check] {
        var found: [(name: String, checks: [ClassRules.Check])] = []
        for one in membership.line.dropFirst() {
            let info = ClassInfo.of(one.type)
            var own = ClassRules()
            for rule in one.ownRules {
                switch rule.kind {
                case .check, .short: info.add(rule, to: &own)
                default: break
                }
            }
            for check in own.checks {
                let name = check.name.isEmpty ? check.condition : check.name
                if let known = found.firstIndex(where: { Name($0.name) == Name(name) }) {
                    found[known].checks.append(check)
                } else {
                    found.append((name, [check]))
                }
            }
        }
        let type = ManagedTypes.quoted(membership.typeName)
        return found.map { name, checks in
            let all = checks.map(\.condition)
            let condition = all.count == 1 ? all[0] : all.map { "(\($0))" }.joined(separator: " AND ")
            var check = checks[0]
            check.name = "\(membership.typeName): \(name)"
            check.condition = "(NOT \(membership.column) == \(type)) OR (\(condition))"
            check.isAtCall = checks.contains { $0.isAtCall }
            return check
        }
    }
}
