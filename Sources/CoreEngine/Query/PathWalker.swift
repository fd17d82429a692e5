/// Follows the steps of a key path from class to class, up to what it ends with. Rules: query-language §4.
///
/// Each property takes the steps that belong to it: those into its collection, or into its Mixed value. Then it ends
/// the path, or is a hop to other objects, in whose class the walk goes on. A method for each shape of property does
/// that; nil from it stands for a hop.
struct PathWalker {
    /// What a path ends with.
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

    /// The step to be taken next.
    private var i = 0

    /// The class that the walk has come to.
    private var t: Table
    private var hops: [Hop] = []

    /// The steps as they are printed.
    private var texts: [String] = []

    init(_ binder: Binder, _ steps: [PathStep], from start: Table) {
        self.binder = binder
        self.steps = steps
        t = start
    }

    mutating func walk(_ quantifier: Quantifier?) throws(RealmError) -> PathExpression {
        while !isAtEnd {
            guard let end = try step() else { continue }
            guard hops.count <= QueryRoom.maxHops || hops.count(where: { !$0.leadsToOne }) <= QueryRoom.maxHops else {
                throw .query("A key path cannot go through more than \(QueryRoom.maxHops) lists or backlinks")
            }
            return PathExpression(
                hops: hops, tail: end.tail, end: t.key, type: end.type,
                isList: end.isList || hops.contains(where: \.isMultiple),
                quantifier: quantifier, source: Self.joined(texts))
        }
        throw .query("A key path must end in a property")
    }

    /// Steps with points between them, but not before brackets.
    private static func joined(_ steps: [String]) -> String {
        guard var text = steps.first else { return "" }
        for s in steps.dropFirst() {
            if s.utf8.first != 0x5B { text += "." }
            text += s
        }
        return text
    }

    private var isAtEnd: Bool { i == steps.count }
    private var className: Name { t.className ?? t.name }

    // MARK: Steps in a class

    private mutating func step() throws(RealmError) -> End? {
        let step = steps[i]
        i += 1
        switch step {
        case .links: return try links()
        case .name(let written):
            if case .links(let c, let p)? = binder.names.aliases[t.key]?[written], t.column(named: written) == nil {
                return try hopBack(c, p)
            }
            return try property(named: binder.alias(written, t), as: written)
        case .key(let k) where !hops.isEmpty:
            // After a hop, ['name'] is .name.
            let name = binder.alias(Name(String(decoding: k, as: UTF8.self)), t)
            return try property(named: name, as: name)
        case .all where !hops.isEmpty: return nil
        case .keys: throw .query("'\(className)' has no property '@keys'")
        case .values: throw .query("'\(className)' has no property '@values'")
        default: throw .query("Class '\(className)' does not support index")
        }
    }

    private mutating func links() throws(RealmError) -> End? {
        if isAtEnd {
            texts.append("@links.@count")
            return End(.allBacklinks, .int, isList: false)
        }
        guard i + 1 < steps.count, case .name(let c) = steps[i], case .name(let p) = steps[i + 1] else {
            throw .query("'@links' must be followed by a class and a property")
        }
        i += 2
        return try hopBack(c, p)
    }

    private mutating func hopBack(_ origin: Name, _ property: Name) throws(RealmError) -> End? {
        let hop = try binder.backlink(origin, property, t)
        hops.append(hop)
        texts.append(hop.text)
        guard let next = try binder.group.table(hop.target) else { throw .query("No class '\(origin)'") }
        t = next
        return isAtEnd ? End(.object, .link(t.key), isList: true) : nil
    }

    private mutating func property(named name: Name, as written: Name) throws(RealmError) -> End? {
        guard let column = t.column(named: name), let facts = t.facts(column.key) else {
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

    private mutating func single(_ f: ColumnFacts) throws(RealmError) -> End? {
        if f.type == .mixed {
            let (inside, keys) = try mixedSteps()
            return End(.mixed(f.key, inside, keys: keys), .mixed, isList: keys || !inside.isEmpty)
        }
        if isAtEnd { return End(.value(f.key), ValueType(f), isList: false) }
        if f.type == .link {
            try hop(.toOne, f)
            return nil
        }
        if case .name(let n) = steps[i] { throw noProperty(n, of: f) }
        throw noIndex(f)
    }

    /// A list or set of links.
    private mutating func links(_ f: ColumnFacts, _ shape: CollectionShape) throws(RealmError) -> End? {
        var place: PathIndex?
        if !isAtEnd, let found = try index(steps[i]) {
            switch found {
            case .all: i += 1
            case .key:
                // ['name'] reads a property.
                break
            default:
                guard shape == .list else { throw noIndex(f) }
                place = found
                mark(found)
                i += 1
                guard !isAtEnd else { throw .query("A property must follow an index on a list of links") }
            }
        }
        if isAtEnd { return all(f, shape) }
        try hop(shape == .list ? .list : .set, f, place)
        return nil
    }

    /// A list of values.
    private mutating func list(_ f: ColumnFacts) throws(RealmError) -> End? {
        let type = ValueType(f)
        if isAtEnd { return all(f, .list) }
        if case .name(let n) = steps[i] {
            guard n.text.lowercased() == "length", i == steps.count - 1,
                type == .string || type == .binary || type == .mixed
            else {
                throw noProperty(n, of: f)
            }
            texts.append("length")
            i += 1
            return End(.lengths(f.key), .int, isList: true)
        }
        if type == .mixed {
            let (inside, keys) = try mixedSteps()
            if case .key? = inside.first { throw noIndex(f) }
            guard keys else { return End(.collection(f.key, .list, inside), .mixed, isList: true) }
            guard !inside.isEmpty else { throw .query("'@keys' is not supported on a list") }
            return End(.keys(f.key, inside), .mixed, isList: true)
        }
        guard let place = try index(steps[i]) else { throw noIndex(f) }
        if case .key = place { throw noIndex(f) }
        i += 1
        guard isAtEnd else { throw noIndex(f) }
        if place == .all { return all(f, .list) }
        mark(place)
        return End(.collection(f.key, .list, [place]), type, isList: true)
    }

    private mutating func dictionary(_ f: ColumnFacts) throws(RealmError) -> End? {
        if isAtEnd {
            if f.type != .link { texts.append("[*]") }
            return all(f, .dictionary)
        }
        switch steps[i] {
        case .keys:
            texts.append("@keys")
            i += 1
            if !isAtEnd, try index(steps[i]) != nil { i += 1 }
            guard isAtEnd else { throw noIndex(f) }
            return End(.keys(f.key, []), .string, isList: true)
        case .values: return try values(f)
        case .links:
            guard f.type == .link else { throw noIndex(f) }
            try hop(.dictionary, f)
            return nil
        default: return f.type == .link ? try linkUnderKey(f) : try valueUnderKey(f)
        }
    }

    /// `@values` of a dictionary.
    private mutating func values(_ f: ColumnFacts) throws(RealmError) -> End? {
        i += 1
        if f.type != .link { texts.append("[*]") }
        // All elements of all values: the same.
        if !isAtEnd, try index(steps[i]) == .all { i += 1 }
        if isAtEnd { return all(f, .dictionary) }
        if f.type == .link {
            try hop(.dictionary, f)
            return nil
        }
        guard f.type == .mixed else { throw noIndex(f) }
        let (inside, _) = try mixedSteps()
        return End(.collection(f.key, .dictionary, [.all] + inside), .mixed, isList: true)
    }

    /// A key of a dictionary of links, or a property of the objects that it links to.
    private mutating func linkUnderKey(_ f: ColumnFacts) throws(RealmError) -> End? {
        let place: PathIndex
        if case .name(let n) = steps[i] {
            place = .key(Array(n.utf8))
        } else {
            guard let found = try index(steps[i]) else { throw noIndex(f) }
            place = found
        }
        // A name that is a property of the target reads it of all values; else it is a key.
        if case .key(let k) = place, let target = try binder.group.table(f.oppositeTable) {
            let n = Name(String(decoding: k, as: UTF8.self))
            if target.column(named: binder.alias(n, target)) != nil || binder.names.aliases[target.key]?[n] != nil {
                try hop(.dictionary, f)
                return nil
            }
        }
        switch place {
        case .all:
            i += 1
            if isAtEnd { return all(f, .dictionary) }
            try hop(.dictionary, f)
        case .key:
            mark(place)
            i += 1
            if isAtEnd { return End(.collection(f.key, .dictionary, [place]), ValueType(f), isList: true) }
            try hop(.dictionary, f, place)
        default: throw noIndex(f)
        }
        return nil
    }

    /// A key of a dictionary of values, which may be stepped into as Mixed, whatever their declared type, only where
    /// they are.
    private mutating func valueUnderKey(_ f: ColumnFacts) throws(RealmError) -> End? {
        let place: PathIndex
        if case .name(let n) = steps[i] {
            place = .key(Array(n.utf8))
        } else {
            switch try index(steps[i]) {
            case .key(let k)?: place = .key(k)
            case .all?: place = .all
            default: throw noIndex(f)
            }
        }
        mark(place)
        i += 1
        var way = [place]
        if !isAtEnd {
            let (inside, keys) = try mixedSteps()
            way += inside
            if keys { return End(.keys(f.key, way), .mixed, isList: true) }
        }
        return End(.collection(f.key, .dictionary, way == [.all] ? [] : way), ValueType(f), isList: true)
    }

    // MARK: Parts of these

    /// All elements of a collection.
    private func all(_ f: ColumnFacts, _ shape: CollectionShape) -> End {
        End(.collection(f.key, shape, []), ValueType(f), isList: true)
    }

    private mutating func hop(_ kind: Hop.Kind, _ f: ColumnFacts, _ place: PathIndex? = nil) throws(RealmError) {
        hops.append(Hop(kind: kind, origin: t.key, column: f.key, target: f.oppositeTable, index: place, text: ""))
        guard let next = try binder.group.table(f.oppositeTable) else { throw .query("Broken link") }
        t = next
    }

    /// Steps into Mixed values, to the end of the path; and whether `@keys` is the last.
    private mutating func mixedSteps() throws(RealmError) -> (inside: [PathIndex], keys: Bool) {
        var inside: [PathIndex] = []
        while !isAtEnd {
            if case .keys = steps[i], i == steps.count - 1 {
                texts.append("@keys")
                i += 1
                return (inside, true)
            }
            let place: PathIndex
            if let found = try index(steps[i]) {
                place = found
            } else if case .name(let n) = steps[i] {
                place = .key(Array(n.utf8))
            } else if case .values = steps[i] {
                place = .key(Array("@values".utf8))
            } else {
                throw .query("'@links' cannot follow a Mixed value")
            }
            inside.append(place)
            mark(place)
            i += 1
        }
        return (inside, false)
    }

    /// The index or key that a step is; nil for other steps.
    private func index(_ s: PathStep) throws(RealmError) -> PathIndex? {
        switch s {
        case .index(let n): return .at(n)
        case .first: return .at(0)
        case .last: return .last
        case .all: return .all
        case .key(let k): return .key(k)
        case .argument(let n):
            switch try binder.argument(n) {
            case .value(.int(let v)):
                if v == -1 { return .last }
                guard v >= 0 else { throw .query("Invalid index argument") }
                return .at(Int(v))
            case .value(.string(let b)): return .key(Array(b))
            default: throw .query("Invalid index argument: an integer or a string is needed")
            }
        default: return nil
        }
    }

    private mutating func mark(_ place: PathIndex) {
        switch place {
        case .at(0): texts.append("[FIRST]")
        case .at(let n): texts.append("[\(n)]")
        case .last: texts.append("[LAST]")
        case .all: texts.append("[*]")
        case .key(let k): texts.append(QueryPrinter.key(k))
        }
    }

    private func noIndex(_ f: ColumnFacts) -> RealmError {
        .query("Property '\(className).\(t.column(f.key)?.name ?? "")' does not support index")
    }

    private func noProperty(_ name: Name, of f: ColumnFacts) -> RealmError {
        .query("Property '\(t.column(f.key)?.name ?? "")' has no property '\(name)'")
    }
}
