/// Subclasses that only the file or only the program has.
extension Group {
    /// By class: the properties of subclasses that only the file has, and of those that only the program has.
    ///
    /// - Parameter declared: the rules that the program declares.
    func otherSubclasses(_ declared: [Name: ClassRules]?) throws(RealmError) -> (
        known: [Name: Set<Name>], new: [Name: Set<Name>]
    ) {
        var known: [Name: Set<Name>] = [:], new: [Name: Set<Name>] = [:]
        for (name, rules) in declared ?? [:] where rules.typeProperty != nil {
            guard let table = try table(named: Format.classPrefix + name) else { continue }
            let present = try self.rules(of: table)
            known[name] = present.properties(ofSubclassesNotIn: rules)
            new[name] = rules.properties(ofSubclassesNotIn: present)
        }
        return (known, new)
    }

    /// Whether the class has subclasses that these rules do not declare. Then rules are only added, unless a program
    /// migrates the file: the others belong to other programs.
    func hasOtherSubclasses(_ rules: ClassRules, _ table: Table) throws(RealmError) -> Bool {
        guard rules.typeProperty != nil else { return false }
        let declared = Set(rules.subclasses.map { Name($0.name) })
        return try self.rules(of: table).subclasses.contains { !declared.contains(Name($0.name)) }
    }
}

extension ClassRules {
    /// The properties that only subclasses have that other rules do not declare.
    fileprivate func properties(ofSubclassesNotIn other: ClassRules) -> Set<Name> {
        let theirs = Set(other.subclasses.map { Name($0.name) })
        var own: Set<Name> = []
        for subclass in subclasses where !theirs.contains(Name(subclass.name)) { own.formUnion(subclass.properties) }
        for subclass in subclasses where theirs.contains(Name(subclass.name)) { own.subtract(subclass.properties) }
        return own
    }
}
