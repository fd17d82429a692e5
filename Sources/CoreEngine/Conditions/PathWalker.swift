/// Resolves the steps of a key path from class to class, up to its end. Rules: query-language §4.
///
/// Each property consumes the steps that belong to it: those into its collection or into its Mixed value. It then
/// either ends the path or is a hop to other objects, and the walk continues in their class. There is a method for each
/// shape of property; it returns nil when the property is a hop.
struct PathWalker {
    /// The end of a path.
    private struct End {
        let tail: PathTail
        let type: ValueType
        let isList: Bool

        init(_ tail: PathTail, _ type: ValueType, isList: Bool) {
            self.tail = tail
            self.type = type
            self.isList = isList
        }
    }

    private let binder: Binder
    private let steps: [PathStep]

    /// The index of the next step.
    private var position = 0

    /// The class that the walk has reached.
    private var table: Table
    private var hops: [Hop] = []

    /// The steps in printed form.
    private var texts: [String] = []

    init(_ binder: Binder, _ steps: [PathStep], from start: Table) {
        self.binder = binder
        self.steps = steps
        table = start
    }

    /// Resolves the whole path. Called once.
    mutating func walk(_ quantifier: Quantifier?) throws(RealmError) -> PathExpression {
        while !isAtEnd {
            guard let end = try step() else { continue }
            guard hops.count <= QueryLimits.maxHops || hops.count(where: { !$0.leadsToOne }) <= QueryLimits.maxHops
            else {
                throw .query("A key path cannot go through more than \(QueryLimits.maxHops) lists or backlinks")
            }
            return PathExpression(
                hops: hops, tail: end.tail, end: table.key, type: end.type,
                isList: end.isList || hops.contains(where: \.isMultiple),
                quantifier: quantifier, source: Self.joined(texts))
        }
        throw .query("A key path must end in a property")
    }

    /// Joins steps with points, except before brackets.
    private static func joined(_ steps: [String]) -> String {
        guard var text = steps.first else { return "" }
        for step in steps.dropFirst() {
            if step.utf8.first != 0x5B { text += "." }
            text += step
        }
        return text
    }

    private var isAtEnd: Bool { position == steps.count }
    private var className: Name { table.className ?? table.name }

    // MARK: Steps in a class

    /// Consumes the next step in the current class. Returns nil when the path continues.
    private mutating func step() throws(RealmError) -> End? {
        let step = steps[position]
        position += 1
        switch step {
        case .links: return try links()
        case .name(let written):
            if case .links(let origin, let property)? = binder.names.aliases[table.key]?[written],
                table.column(named: written) == nil
            {
                return try hopBack(origin, property)
            }
            return try property(named: binder.alias(written, table), as: written)
        case .key(let key) where !hops.isEmpty:
            // After a hop, ['name'] means .name.
            let name = binder.alias(Name(String(decoding: key, as: UTF8.self)), table)
            return try property(named: name, as: name)
        case .all where !hops.isEmpty: return nil
        case .keys: throw .query("'\(className)' has no property '@keys'")
        case .values: throw .query("'\(className)' has no property '@values'")
        default: throw .query("Class '\(className)' does not support index")
        }
    }

    /// Consumes `@links`, which either ends the path or names a class and a property.
    private mutating func links() throws(RealmError) -> End? {
        if isAtEnd {
            texts.append("@links.@count")
            return End(.allBacklinks, .int, isList: false)
        }
        guard position + 1 < steps.count, case .name(let origin) = steps[position],
            case .name(let property) = steps[position + 1]
        else {
            throw .query("'@links' must be followed by a class and a property")
        }
        position += 2
        return try hopBack(origin, property)
    }

    /// Adds a hop over the links of `property` in the class `origin` to the current object.
    private mutating func hopBack(_ origin: Name, _ property: Name) throws(RealmError) -> End? {
        let hop = try binder.backlink(origin, property, table)
        hops.append(hop)
        texts.append(hop.text)
        guard let next = try binder.group.table(hop.target) else { throw .query("No class '\(origin)'") }
        table = next
        return isAtEnd ? End(.object, .link(table.key), isList: true) : nil
    }

    private mutating func property(named name: Name, as written: Name) throws(RealmError) -> End? {
        guard let column = table.column(named: name), let facts = table.facts(column.key) else {
            throw .query("'\(className)' has no property '\(written)'")
        }
        texts.append(QueryPrinter.name(name))
        guard let shape = facts.shape else { return try single(facts) }
        if facts.type == .link && shape != .dictionary { return try links(facts, shape) }
        switch shape {
        case .list: return try list(facts)
        case .set:
            guard isAtEnd else { throw noIndex(facts) }
            return all(facts, .set)
        case .dictionary: return try dictionary(facts)
        }
    }

    // MARK: A property of each shape

    /// A property with a single value.
    private mutating func single(_ facts: ColumnFacts) throws(RealmError) -> End? {
        if facts.type == .mixed {
            let (inside, keys) = try mixedSteps()
            return End(.mixed(facts.key, inside, keys: keys), .mixed, isList: keys || !inside.isEmpty)
        }
        if isAtEnd { return End(.value(facts.key), ValueType(facts), isList: false) }
        if facts.type == .link {
            try hop(.toOne, facts)
            return nil
        }
        if case .name(let name) = steps[position] { throw noProperty(name, of: facts) }
        throw noIndex(facts)
    }

    /// A list or set of links.
    private mutating func links(_ facts: ColumnFacts, _ shape: CollectionShape) throws(RealmError) -> End? {
        var place: PathIndex?
        if !isAtEnd, let found = try index(steps[position]) {
            switch found {
            case .all: position += 1
            case .key:
                // ['name'] reads a property of the target.
                break
            default:
                guard shape == .list else { throw noIndex(facts) }
                place = found
                mark(found)
                position += 1
                guard !isAtEnd else { throw .query("A property must follow an index on a list of links") }
            }
        }
        if isAtEnd { return all(facts, shape) }
        try hop(shape == .list ? .list : .set, facts, place)
        return nil
    }

    /// A list of values.
    private mutating func list(_ facts: ColumnFacts) throws(RealmError) -> End? {
        let type = ValueType(facts)
        if isAtEnd { return all(facts, .list) }
        if case .name(let name) = steps[position] {
            guard name.text.lowercased() == "length", position == steps.count - 1,
                type == .string || type == .binary || type == .mixed
            else {
                throw noProperty(name, of: facts)
            }
            texts.append("length")
            position += 1
            return End(.lengths(facts.key), .int, isList: true)
        }
        if type == .mixed {
            let (inside, keys) = try mixedSteps()
            if case .key? = inside.first { throw noIndex(facts) }
            guard keys else { return End(.collection(facts.key, .list, inside), .mixed, isList: true) }
            guard !inside.isEmpty else { throw .query("'@keys' is not supported on a list") }
            return End(.keys(facts.key, inside), .mixed, isList: true)
        }
        guard let place = try index(steps[position]) else { throw noIndex(facts) }
        if case .key = place { throw noIndex(facts) }
        position += 1
        guard isAtEnd else { throw noIndex(facts) }
        if place == .all { return all(facts, .list) }
        mark(place)
        return End(.collection(facts.key, .list, [place]), type, isList: true)
    }

    /// A dictionary of links or values.
    private mutating func dictionary(_ facts: ColumnFacts) throws(RealmError) -> End? {
        if isAtEnd {
            if facts.type != .link { texts.append("[*]") }
            return all(facts, .dictionary)
        }
        switch steps[position] {
        case .keys:
            texts.append("@keys")
            position += 1
            if !isAtEnd, try index(steps[position]) != nil { position += 1 }
            guard isAtEnd else { throw noIndex(facts) }
            return End(.keys(facts.key, []), .string, isList: true)
        case .values: return try values(facts)
        case .links:
            guard facts.type == .link else { throw noIndex(facts) }
            try hop(.dictionary, facts)
            return nil
        default: return facts.type == .link ? try linkUnderKey(facts) : try valueUnderKey(facts)
        }
    }

    /// `@values` of a dictionary.
    private mutating func values(_ facts: ColumnFacts) throws(RealmError) -> End? {
        position += 1
        if facts.type != .link { texts.append("[*]") }
        // `[*]` after `@values` changes nothing.
        if !isAtEnd, try index(steps[position]) == .all { position += 1 }
        if isAtEnd { return all(facts, .dictionary) }
        if facts.type == .link {
            try hop(.dictionary, facts)
            return nil
        }
        guard facts.type == .mixed else { throw noIndex(facts) }
        let (inside, _) = try mixedSteps()
        return End(.collection(facts.key, .dictionary, [.all] + inside), .mixed, isList: true)
    }

    /// A key of a dictionary of links, or a property of the linked objects.
    private mutating func linkUnderKey(_ facts: ColumnFacts) throws(RealmError) -> End? {
        let place: PathIndex
        if case .name(let name) = steps[position] {
            place = .key(Array(name.utf8))
        } else {
            guard let found = try index(steps[position]) else { throw noIndex(facts) }
            place = found
        }
        // If the target class has a property of this name, the path reads that property of all values. Otherwise the
        // name is a key.
        if case .key(let key) = place, let target = try binder.group.table(facts.oppositeTable) {
            let name = Name(String(decoding: key, as: UTF8.self))
            if target.column(named: binder.alias(name, target)) != nil || binder.names.aliases[target.key]?[name] != nil
            {
                try hop(.dictionary, facts)
                return nil
            }
        }
        switch place {
        case .all:
            position += 1
            if isAtEnd { return all(facts, .dictionary) }
            try hop(.dictionary, facts)
        case .key:
            mark(place)
            position += 1
            if isAtEnd { return End(.collection(facts.key, .dictionary, [place]), ValueType(facts), isList: true) }
            try hop(.dictionary, facts, place)
        default: throw noIndex(facts)
        }
        return nil
    }

    /// A key of a dictionary of values. Further steps are accepted whatever the declared type of the values; they reach
    /// something only in values that are collections or links.
    private mutating func valueUnderKey(_ facts: ColumnFacts) throws(RealmError) -> End? {
        let place: PathIndex
        if case .name(let name) = steps[position] {
            place = .key(Array(name.utf8))
        } else {
            switch try index(steps[position]) {
            case .key(let key)?: place = .key(key)
            case .all?: place = .all
            default: throw noIndex(facts)
            }
        }
        mark(place)
        position += 1
        var way = [place]
        if !isAtEnd {
            let (inside, keys) = try mixedSteps()
            way += inside
            if keys { return End(.keys(facts.key, way), .mixed, isList: true) }
        }
        return End(.collection(facts.key, .dictionary, way == [.all] ? [] : way), ValueType(facts), isList: true)
    }

    // MARK: Helpers

    /// The end of a path that yields all elements of a collection.
    private func all(_ facts: ColumnFacts, _ shape: CollectionShape) -> End {
        End(.collection(facts.key, shape, []), ValueType(facts), isList: true)
    }

    /// Adds a hop over a link property and moves to its target class.
    private mutating func hop(_ kind: Hop.Kind, _ facts: ColumnFacts, _ place: PathIndex? = nil) throws(RealmError) {
        hops.append(
            Hop(kind: kind, origin: table.key, column: facts.key, target: facts.oppositeTable, index: place, text: ""))
        guard let next = try binder.group.table(facts.oppositeTable) else { throw .query("Broken link") }
        table = next
    }

    /// Consumes steps into Mixed values up to the end of the path. `keys` is true when the last step is `@keys`.
    private mutating func mixedSteps() throws(RealmError) -> (inside: [PathIndex], keys: Bool) {
        var inside: [PathIndex] = []
        while !isAtEnd {
            if case .keys = steps[position], position == steps.count - 1 {
                texts.append("@keys")
                position += 1
                return (inside, true)
            }
            let place: PathIndex
            if let found = try index(steps[position]) {
                place = found
            } else if case .name(let name) = steps[position] {
                place = .key(Array(name.utf8))
            } else if case .values = steps[position] {
                place = .key(Array("@values".utf8))
            } else {
                throw .query("'@links' cannot follow a Mixed value")
            }
            inside.append(place)
            mark(place)
            position += 1
        }
        return (inside, false)
    }

    /// The index or key that a step means; nil for other steps.
    private func index(_ step: PathStep) throws(RealmError) -> PathIndex? {
        switch step {
        case .index(let number):
            guard number >= 0 else { throw .query("Invalid index argument") }
            return .at(number)
        case .first: return .at(0)
        case .last: return .last
        case .all: return .all
        case .key(let key): return .key(key)
        case .argument(let number):
            switch try binder.argument(number) {
            case .value(.int(let value)):
                if value == -1 { return .last }
                guard value >= 0 else { throw .query("Invalid index argument") }
                return .at(Int(value))
            case .value(.string(let bytes)): return .key(Array(bytes))
            default: throw .query("Invalid index argument: an integer or a string is needed")
            }
        default: return nil
        }
    }

    /// Adds an index or key to the printed form.
    private mutating func mark(_ place: PathIndex) {
        switch place {
        case .at(0): texts.append("[FIRST]")
        case .at(let number): texts.append("[\(number)]")
        case .last: texts.append("[LAST]")
        case .all: texts.append("[*]")
        case .key(let key): texts.append(QueryPrinter.key(key))
        }
    }

    private func noIndex(_ facts: ColumnFacts) -> RealmError {
        .query("Property '\(className).\(table.column(facts.key)?.name ?? "")' does not support index")
    }

    private func noProperty(_ name: Name, of facts: ColumnFacts) -> RealmError {
        .query("Property '\(table.column(facts.key)?.name ?? "")' has no property '\(name)'")
    }
}
