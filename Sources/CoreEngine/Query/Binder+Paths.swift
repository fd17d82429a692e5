/// Key paths: names, aliases, hops, steps into collections and Mixed values, and what may end them.
extension Binder {
    func alias(_ name: Name, _ t: Table) -> Name {
        if case .property(let stored)? = names.aliases[t.key]?[name] { return stored }
        return name
    }
    func argument(_ n: Int) throws(RealmError) -> QueryArgument {
        guard n < arguments.count else {
            throw .queryArgument(
                "Request for argument at index \(n) but "
                    + "\(arguments.isEmpty ? "no" : "only \(arguments.count)") argument\(arguments.count == 1 ? " is" : "s are") provided"
            )
        }
        return arguments[n]
    }

    /// The steps, those of a key path argument in its place.
    func spelledOut(_ written: [PathStep]) throws(RealmError) -> [PathStep] {
        guard case .pathArgument(let n)? = written.first else { return written }
        guard written.count == 1 else { throw .query("Cannot mix a key path argument with other steps") }
        guard case .value(.string(let text)) = try argument(n) else { throw .queryArgument("Key path argument at index \(n) is not a string") }
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: true).map { Name(String(decoding: $0, as: UTF8.self)) }
        guard !parts.isEmpty else { throw .query("Empty key path") }
        return parts.map { part in
            switch part {
            case "@links": .links
            case "@keys": .keys
            case "@values": .values
            default: .name(part)
            }
        }
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
    /// Follows the steps from class `start`.
    func path(_ written: [PathStep], _ start: Table, _ quantifier: Quantifier?) throws(RealmError) -> PathExpression {
        var steps = try spelledOut(written)
        if case .name(let n)? = steps.first, let v = variables.last, n == v.name {
            steps.removeFirst()
            guard !steps.isEmpty else { throw .query("The variable of a subquery cannot be compared itself") }
        }
        var t = start
        var hops: [Hop] = []
        var texts: [String] = []
        var i = 0
        func done(_ tail: PathTail, _ type: ValueType, isList: Bool) throws(RealmError) -> PathExpression {
            guard hops.count <= QueryRoom.maxHops || hops.count(where: { !$0.leadsToOne }) <= QueryRoom.maxHops else {
                throw .query("A key path cannot go through more than \(QueryRoom.maxHops) lists or backlinks")
            }
            return PathExpression(
                hops: hops, tail: tail, end: t.key, type: type, isList: isList || hops.contains(where: \.isMultiple), quantifier: quantifier,
                source: Self.joined(texts))
        }
        func className(_ t: Table) -> Name { t.className ?? t.name }

        while i < steps.count {
            let step = steps[i]
            i += 1
            switch step {
            case .links:
                if i == steps.count {
                    texts.append("@links.@count")
                    return try done(.allBacklinks, .int, isList: false)
                }
                guard i + 1 < steps.count, case .name(let c) = steps[i], case .name(let p) = steps[i + 1] else {
                    throw .query("'@links' must be followed by a class and a property")
                }
                i += 2
                let hop = try backlink(c, p, t)
                hops.append(hop)
                texts.append(hop.text)
                guard let next = try group.table(hop.target) else { throw .query("No class '\(c)'") }
                t = next
                if i == steps.count { return try done(.object, .link(t.key), isList: true) }
                continue
            case .name(let written):
                var name = written
                switch names.aliases[t.key]?[written] {
                case .property(let stored)?: name = stored
                case .links(let c, let p)? where t.column(named: written) == nil:
                    let hop = try backlink(c, p, t)
                    hops.append(hop)
                    texts.append(hop.text)
                    guard let next = try group.table(hop.target) else { throw .query("No class '\(c)'") }
                    t = next
                    if i == steps.count { return try done(.object, .link(t.key), isList: true) }
                    continue
                default: break
                }
                guard let column = t.column(named: name), let facts = t.facts(column.key) else {
                    throw .query("'\(className(t))' has no property '\(written)'")
                }
                texts.append(QueryPrinter.name(name))
                if let tail = try property(facts, steps, &i, &hops, &texts, &t) { return try done(tail.0, tail.1, isList: tail.2) }
            case .key(let k) where !hops.isEmpty:
                // After a hop, ['name'] is .name.
                let name = alias(Name(String(decoding: k, as: UTF8.self)), t)
                guard let column = t.column(named: name), let facts = t.facts(column.key) else {
                    throw .query("'\(className(t))' has no property '\(name)'")
                }
                texts.append(QueryPrinter.name(name))
                if let tail = try property(facts, steps, &i, &hops, &texts, &t) { return try done(tail.0, tail.1, isList: tail.2) }
            case .all where !hops.isEmpty: continue
            case .keys: throw .query("'\(className(t))' has no property '@keys'")
            case .values: throw .query("'\(className(t))' has no property '@values'")
            default: throw .query("Class '\(className(t))' does not support index")
            }
        }
        throw .query("A key path must end in a property")
    }
    func backlink(_ className: Name, _ property: Name, _ t: Table) throws(RealmError) -> Hop {
        guard let origin = try group.table(named: Tables.classPrefix + className), !className.hasPrefix(Tables.classPrefix) else {
            throw .query("No class '\(className)' in @links")
        }
        let name = alias(property, origin)
        guard let c = origin.column(named: name) else {
            throw .query("No property '\(property)' found in type '\(className)' which links to type '\(t.className ?? t.name)'")
        }
        guard c.type == .link || c.type == .mixed,
            let b = t.columns.first(where: { $0.isBacklink && $0.oppositeTable == origin.key && $0.oppositeColumn == c.key })
        else { throw .query("Property '\(name)' of type '\(className)' does not link to type '\(t.className ?? t.name)'") }
        return Hop(kind: .backlink, origin: t.key, column: b.key, target: origin.key, index: nil, text: "@links.\(className).\(name)")
    }

    /// One property and the steps that belong to it. nil: it was a hop, and the path goes on.
    func property(
        _ f: ColumnFacts, _ steps: [PathStep], _ i: inout Int, _ hops: inout [Hop], _ texts: inout [String], _ t: inout Table
    ) throws(RealmError) -> (PathTail, ValueType, Bool)? {
        let type = ValueType(f)
        let owner = t
        func noIndex() -> RealmError {
            .query("Property '\(owner.className ?? owner.name).\(owner.column(f.key)?.name ?? "")' does not support index")
        }
        func index(_ s: PathStep) throws(RealmError) -> PathIndex? {
            switch s {
            case .index(let n): return .at(n)
            case .first: return .at(0)
            case .last: return .last
            case .all: return .all
            case .key(let k): return .key(k)
            case .argument(let n):
                switch try argument(n) {
                case .value(.int(let v)):
                    if v == -1 { return .last }
                    guard v >= 0 else { throw RealmError.query("Invalid index argument") }
                    return .at(Int(v))
                case .value(.string(let b)): return .key(Array(b))
                default: throw RealmError.query("Invalid index argument: an integer or a string is needed")
                }
            default: return nil
            }
        }
        func mark(_ x: PathIndex) {
            switch x {
            case .at(0): texts.append("[FIRST]")
            case .at(let n): texts.append("[\(n)]")
            case .last: texts.append("[LAST]")
            case .all: texts.append("[*]")
            case .key(let k): texts.append(QueryPrinter.key(k))
            }
        }
        func hop(_ kind: Hop.Kind, _ x: PathIndex?) throws(RealmError) {
            hops.append(Hop(kind: kind, origin: owner.key, column: f.key, target: f.oppositeTable, index: x, text: ""))
            guard let next = try group.table(f.oppositeTable) else { throw .query("Broken link") }
            t = next
        }
        /// Steps into Mixed values, to the end of the path.
        func mixedSteps() throws(RealmError) -> ([PathIndex], Bool) {
            var all: [PathIndex] = []
            while i < steps.count {
                if let x = try index(steps[i]) {
                    all.append(x)
                    mark(x)
                } else if case .name(let n) = steps[i] {
                    all.append(.key(Array(n.utf8)))
                    mark(.key(Array(n.utf8)))
                } else if case .keys = steps[i], i == steps.count - 1 {
                    texts.append("@keys")
                    i += 1
                    return (all, true)
                } else if case .values = steps[i] {
                    all.append(.key(Array("@values".utf8)))
                    mark(.key(Array("@values".utf8)))
                } else {
                    throw .query("'@links' cannot follow a Mixed value")
                }
                i += 1
            }
            return (all, false)
        }
        let last = i == steps.count

        guard let shape = f.shape else {
            if f.type == .link {
                if last { return (.value(f.key), type, false) }
                try hop(.toOne, nil)
                return nil
            }
            if f.type == .mixed {
                let (all, keys) = try mixedSteps()
                return (.mixed(f.key, all, keys: keys), .mixed, keys || !all.isEmpty)
            }
            if last { return (.value(f.key), type, false) }
            if case .name(let n) = steps[i] { throw .query("Property '\(owner.column(f.key)?.name ?? "")' has no property '\(n)'") }
            throw noIndex()
        }
        if f.type == .link && shape != .dictionary {
            var x: PathIndex?
            if !last, let found = try index(steps[i]) {
                switch found {
                case .all:
                    i += 1
                    if i == steps.count { return (.collection(f.key, shape, []), type, true) }
                case .key:
                    // ['name'] reads a property.
                    break
                default:
                    guard shape == .list else { throw noIndex() }
                    x = found
                    mark(found)
                    i += 1
                    guard i < steps.count else { throw .query("A property must follow an index on a list of links") }
                }
            }
            if i == steps.count { return (.collection(f.key, shape, []), type, true) }
            try hop(shape == .list ? .list : .set, x)
            return nil
        }
        switch shape {
        case .list:
            if last { return (.collection(f.key, shape, []), type, true) }
            if case .name(let n) = steps[i] {
                guard n.text.lowercased() == "length", i == steps.count - 1, type == .string || type == .binary || type == .mixed else {
                    throw .query("Property '\(owner.column(f.key)?.name ?? "")' has no property '\(n)'")
                }
                texts.append("length")
                i += 1
                return (.lengths(f.key), .int, true)
            }
            if type == .mixed {
                let (all, keys) = try mixedSteps()
                if case .key? = all.first { throw noIndex() }
                if keys {
                    guard !all.isEmpty else { throw .query("'@keys' is not supported on a list") }
                    return (.keys(f.key, all), .mixed, true)
                }
                return (.collection(f.key, shape, all), .mixed, true)
            }
            guard let x = try index(steps[i]) else { throw noIndex() }
            if case .key = x { throw noIndex() }
            i += 1
            guard i == steps.count else { throw noIndex() }
            if x == .all { return (.collection(f.key, shape, []), type, true) }
            mark(x)
            return (.collection(f.key, shape, [x]), type, true)
        case .set:
            guard last else { throw noIndex() }
            return (.collection(f.key, shape, []), type, true)
        case .dictionary:
            if last {
                if f.type != .link { texts.append("[*]") }
                return (.collection(f.key, shape, []), type, true)
            }
            switch steps[i] {
            case .keys:
                texts.append("@keys")
                i += 1
                if i < steps.count, try index(steps[i]) != nil { i += 1 }
                guard i == steps.count else { throw noIndex() }
                return (.keys(f.key, []), .string, true)
            case .values:
                i += 1
                if f.type != .link { texts.append("[*]") }
                // All elements of all values: the same.
                if i < steps.count, try index(steps[i]) == .all { i += 1 }
                if i == steps.count { return (.collection(f.key, shape, []), type, true) }
                if f.type == .link {
                    try hop(.dictionary, nil)
                    return nil
                }
                guard type == .mixed, f.type == .mixed else { throw noIndex() }
                let (all, _) = try mixedSteps()
                return (.collection(f.key, shape, [.all] + all), .mixed, true)
            case .links:
                guard f.type == .link else { throw noIndex() }
                try hop(.dictionary, nil)
                return nil
            default: break
            }
            if f.type == .link {
                // A name that is a property of the target reads it of all values; else it is a key.
                var x: PathIndex
                if case .name(let n) = steps[i] {
                    x = .key(Array(n.utf8))
                } else {
                    guard let found = try index(steps[i]) else { throw noIndex() }
                    x = found
                }
                if case .key(let k) = x, let target = try group.table(f.oppositeTable) {
                    let n = Name(String(decoding: k, as: UTF8.self))
                    if target.column(named: alias(n, target)) != nil || names.aliases[target.key]?[n] != nil {
                        try hop(.dictionary, nil)
                        return nil
                    }
                }
                switch x {
                case .all:
                    i += 1
                    if i == steps.count { return (.collection(f.key, shape, []), type, true) }
                    try hop(.dictionary, nil)
                    return nil
                case .key:
                    mark(x)
                    i += 1
                    if i == steps.count { return (.collection(f.key, shape, [x]), type, true) }
                    try hop(.dictionary, x)
                    return nil
                default: throw noIndex()
                }
            }
            // Values of any declared type may be stepped into as Mixed only when they are.
            var all: [PathIndex] = []
            if case .name(let n) = steps[i] {
                all.append(.key(Array(n.utf8)))
            } else {
                guard let x = try index(steps[i]) else { throw noIndex() }
                switch x {
                case .key, .all: all.append(x)
                default: throw noIndex()
                }
            }
            mark(all[0])
            i += 1
            if i < steps.count {
                let (more, keys) = try mixedSteps()
                all += more
                if keys { return (.keys(f.key, all), .mixed, true) }
            }
            return (.collection(f.key, shape, all == [.all] ? [] : all), type, true)
        }
    }
}
