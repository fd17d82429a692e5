/// Subclasses that only the file or only the program has.
extension Group {
    /// Returns for each class the properties of subclasses that only the file has (`known`), and the properties of
    /// subclasses that only the program has (`new`).
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

    /// Whether the file has subclasses of the class that these rules do not declare: other programs declared them. Then
    /// rules are only added and never removed, unless a program migrates the file.
    func hasOtherSubclasses(_ rules: ClassRules, _ table: Table) throws(RealmError) -> Bool {
        guard rules.typeProperty != nil else { return false }
        let declared = Set(rules.subclasses.map { Name($0.name) })
        return try self.rules(of: table).subclasses.contains { !declared.contains(Name($0.name)) }
    }
}

extension ClassRules {
    /// Returns the properties of the subclasses that `other` does not declare, without the properties that these
    /// subclasses share with a subclass that it declares.
    fileprivate func properties(ofSubclassesNotIn other: ClassRules) -> Set<Name> {
        let theirs = Set(other.subclasses.map { Name($0.name) })
        var own: Set<Name> = []
        for subclass in subclasses where !theirs.contains(Name(subclass.name)) { own.formUnion(subclass.properties) }
        for subclass in subclasses where theirs.contains(Name(subclass.name)) { own.subtract(subclass.properties) }
        return own
    }
}
