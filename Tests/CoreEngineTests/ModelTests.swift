// Random histories over a schema with every property type, against a model of plain Swift collections: same operations
// on both, then everything must read the same, through reopening, rollback and in older snapshots. Both independent
// checkers accept every file left.
//
// MODEL_OPS sets the number of operations (default 12,000), MODEL_SEED where they start.
import Foundation
import Testing

@testable import CoreEngine

// MARK: The schema

private let classes: [Name] = ["All", "Emb", "Emb2", "NoPk", "Oid", "Str", "Uid"]

private func makeSchema() -> Schema {
    let n = true
    let all: [Property] = [
        Property("id", .int, primary: true), Property("i", .int), Property("i_n", .int, nullable: n),
        Property("i_x", .int, indexed: true),
        Property("b", .bool), Property("b_n", .bool, nullable: n), Property("s", .string),
        Property("s_n", .string, nullable: n),
        Property("s_x", .string, nullable: n, indexed: true), Property("d", .data), Property("d_n", .data, nullable: n),
        Property("t", .date),
        Property("t_n", .date, nullable: n, indexed: true), Property("f", .float), Property("f_n", .float, nullable: n),
        Property("g", .double),
        Property("g_n", .double, nullable: n), Property("dec", .decimal), Property("dec_n", .decimal, nullable: n),
        Property("o", .objectId),
        Property("o_n", .objectId, nullable: n, indexed: true), Property("u", .uuid),
        Property("u_n", .uuid, nullable: n, indexed: true),
        Property("m", .mixed, nullable: n), Property("m_x", .mixed, nullable: n, indexed: true),
        Property("link", .object, nullable: n, target: "Str"),
        Property("self", .object, nullable: n, target: "All"), Property("emb", .object, nullable: n, target: "Emb"),
        Property("l_i", .int, collection: .list), Property("l_in", .int, nullable: n, collection: .list),
        Property("l_s", .string, nullable: n, collection: .list),
        Property("l_sx", .string, nullable: n, collection: .list, indexed: true),
        Property("l_t", .date, collection: .list), Property("l_g", .double, collection: .list),
        Property("l_b", .bool, collection: .list),
        Property("l_d", .data, collection: .list), Property("l_dec", .decimal, collection: .list),
        Property("l_u", .uuid, collection: .list),
        Property("l_o", .objectId, collection: .list), Property("l_m", .mixed, nullable: n, collection: .list),
        Property("l_link", .object, collection: .list, target: "Str"),
        Property("l_emb", .object, collection: .list, target: "Emb"),
        Property("e_i", .int, collection: .set), Property("e_s", .string, collection: .set),
        Property("e_m", .mixed, nullable: n, collection: .set),
        Property("e_u", .uuid, collection: .set), Property("e_link", .object, collection: .set, target: "Str"),
        Property("h_i", .int, collection: .dictionary), Property("h_s", .string, nullable: n, collection: .dictionary),
        Property("h_m", .mixed, nullable: n, collection: .dictionary),
        Property("h_link", .object, nullable: n, collection: .dictionary, target: "Str"),
        Property("h_emb", .object, nullable: n, collection: .dictionary, target: "Emb"),
    ]
    return Schema([
        ObjectSchema("All", properties: all),
        ObjectSchema(
            "Str",
            properties: [
                Property("key", .string, primary: true), Property("n", .int), Property("text", .string, fullText: true),
                Property("linkers", .linkingObjects, collection: .list, target: "All", origin: "link"),
            ]),
        ObjectSchema(
            "Emb", kind: .embedded,
            properties: [
                Property("x", .int), Property("name", .string, nullable: n),
                Property("child", .object, nullable: n, target: "Emb2"),
            ]),
        ObjectSchema("Emb2", kind: .embedded, properties: [Property("x", .int)]),
        ObjectSchema(
            "NoPk",
            properties: [
                Property("v", .int, indexed: true), Property("w", .string),
                Property("next", .object, nullable: n, target: "NoPk"),
            ]),
        ObjectSchema("Oid", properties: [Property("_id", .objectId, primary: true), Property("v", .int)]),
        ObjectSchema("Uid", properties: [Property("_id", .uuid, primary: true), Property("v", .int)]),
    ])
}

// MARK: The model

/// One property's value: single values, collections, and embedded objects in place.
private indirect enum Plain: Equatable {
    case value(RealmValue)
    /// An object of a top-level class.
    case link(Name, Int64)
    case embedded([Name: Plain])
    case list([Plain])
    /// In no particular order.
    case set([RealmValue])
    case dictionary([Name: Plain])

    func leads(to c: Name, _ k: Int64) -> Bool {
        if case .link(c, k) = self { return true }
        return false
    }

    /// What is left when an object goes: links in lists vanish, others become null.
    func without(_ c: Name, _ k: Int64) -> Plain {
        switch self {
        case .link(c, k): .value(.null)
        case .list(let l): .list(l.filter { !$0.leads(to: c, k) }.map { $0.without(c, k) })
        case .dictionary(let d): .dictionary(d.mapValues { $0.without(c, k) })
        case .embedded(let e): .embedded(e.mapValues { $0.without(c, k) })
        default: self
        }
    }
}

private struct Model {
    var objects: [Name: [Int64: [Name: Plain]]] = [:]

    mutating func delete(_ c: Name, _ k: Int64) {
        objects[c]?[k] = nil
        for (other, rows) in objects {
            for (key, properties) in rows {
                for (name, p) in properties {
                    switch p {
                    case .link, .list, .dictionary:
                        let new = p.without(c, k)
                        if new != p { objects[other]?[key]?[name] = new }
                    case .set(let values):
                        let left = values.filter { $0 != linkMark(c, k) }
                        if left.count != values.count { objects[other]?[key]?[name] = .set(left) }
                    default: continue
                    }
                }
            }
        }
    }
}

/// Links inside sets of the model, by class name: no table key is that of a class.
private func linkMark(_ c: Name, _ k: Int64) -> RealmValue { .list([.string(c.text), .int(k)]) }

private struct Mismatch: Error, CustomStringConvertible { let description: String }

// MARK: Driving both

private final class Driver {
    var random: Seeded
    let path: String
    var realm: Realm
    var model = Model()

    /// A reader that stays behind, with the model of its version.
    var behind: (Realm, Model)?
    let schema = makeSchema()
    private var nextId: Int64 = 0

    init(seed: UInt64, path: String) throws {
        random = Seeded(seed)
        self.path = path
        realm = try Realm(RealmConfiguration(path: path, schema: schema, schemaVersion: 1))
        for c in classes { model.objects[c] = [:] }
    }

    private func below(_ n: Int) -> Int { random.below(n) }

    private func coin(_ oneIn: Int) -> Bool { below(oneIn) == 0 }

    // MARK: Values

    private func text() -> String {
        let words = [
            "alpha", "Beta", "gamma delta", "Ærøskøbing", "straße", "日本語", "", "z", "The quick brown fox", "emoji 😀",
        ]
        switch below(100) {
        case 0..<50: return words[below(words.count)]
        case 50..<85: return String(repeating: Character(UnicodeScalar(UInt8(97 + below(26)))), count: below(20))
        default: return String((0..<below(180)).map { _ in Character(UnicodeScalar(UInt8(65 + below(26)))) })
        }
    }

    private func integer() -> Int64 {
        switch below(7) {
        case 0: Int64(below(2))
        case 1: Int64(below(16))
        case 2: Int64(below(256)) - 128
        case 3: Int64(below(65536)) - 32768
        case 4: Int64(below(1 << 32)) - 1 << 31
        case 5: Int64(bitPattern: random.next())
        default: Int64(below(4))
        }
    }

    private func scalar(_ type: PropertyType, nullable: Bool = false) -> RealmValue {
        if nullable && coin(5) { return .null }
        switch type {
        case .int: return .int(integer())
        case .bool: return .bool(coin(2))
        case .string: return .string(text())
        case .data: return .data(Array(text().utf8))
        case .date:
            let s = Int64(below(4_000_000_000)) - 2_000_000_000
            return .date(Timestamp(seconds: s, nanoseconds: Int32(below(1_000_000_000)) * (s < 0 ? -1 : 1)))
        case .float: return .float((Float(below(2_000_000)) - 1_000_000) / 8)
        case .double: return .double((Double(below(2_000_000_000)) - 1e9) / 7)
        case .decimal:
            return .decimal(Decimal128(negative: coin(2), coefficient: UInt128(below(1_000_000)), exponent: -below(6)))
        case .objectId: return .objectId(ObjectId(high: random.next(), low: UInt32(truncatingIfNeeded: random.next())))
        case .uuid: return .uuid(UUIDValue(high: random.next(), low: random.next()))
        case .mixed:
            let types: [PropertyType] = [
                .int, .bool, .string, .data, .date, .float, .double, .decimal, .objectId, .uuid,
            ]
            return scalar(types[below(types.count)])
        case .object, .linkingObjects: return .null
        }
    }

    /// A value for a Mixed place: scalars, links, nested collections.
    private func mixed(_ depth: Int) -> Plain {
        switch below(10) {
        case 0 where depth < 4: return .list((0..<below(4)).map { _ in mixed(depth + 1) })
        case 1 where depth < 4:
            return .dictionary(
                Dictionary(
                    (0..<below(4)).map { _ in (Name("k\(below(9))"), mixed(depth + 1)) }, uniquingKeysWith: { $1 }))
        case 2: if let k = anyKey("Str") { return .link("Str", k) }
        case 3: return .value(.null)
        default: break
        }
        return .value(scalar(.mixed))
    }

    private func anyKey(_ c: Name) -> Int64? {
        guard let rows = model.objects[c], !rows.isEmpty else { return nil }
        let all = (try? realm.objects(c)) ?? nil
        guard let all, all.count > 0 else { return nil }
        return all[below(all.count)].key.raw
    }

    private func table(_ c: Name) -> TableKey { realm.schema[c]?.key ?? .null }

    private func object(_ c: Name, _ k: Int64) -> RealmObject {
        RealmObject(realm: realm, table: table(c), key: ObjKey(k))
    }

    /// The model's value as the engine takes it.
    private func real(_ p: Plain) -> RealmValue {
        switch p {
        case .value(let v): v
        case .link(let c, let k): .link(table(c), ObjKey(k))
        case .list(let l): .list(l.map(real))
        case .dictionary(let d): .dictionary(d.map { RealmValue.Entry(key: $0.key, value: real($0.value)) })
        case .set, .embedded: .null
        }
    }

    private func defaults(_ c: Name) -> [Name: Plain] {
        var all: [Name: Plain] = [:]
        for p in schema[c]?.properties ?? [] {
            switch p.collection {
            case .list: all[p.name] = .list([])
            case .set: all[p.name] = .set([])
            case .dictionary: all[p.name] = .dictionary([:])
            case .none:
                guard !p.isNullable else {
                    all[p.name] = .value(.null)
                    continue
                }
                switch p.type {
                case .int: all[p.name] = .value(.int(0))
                case .bool: all[p.name] = .value(.bool(false))
                case .string: all[p.name] = .value(.string(""))
                case .data: all[p.name] = .value(.data([]))
                case .date: all[p.name] = .value(.date(Timestamp(seconds: 0, nanoseconds: 0)))
                case .float: all[p.name] = .value(.float(0))
                case .double: all[p.name] = .value(.double(0))
                case .decimal: all[p.name] = .value(.decimal(.zero))
                case .objectId: all[p.name] = .value(.objectId(ObjectId(high: 0, low: 0)))
                case .uuid: all[p.name] = .value(.uuid(UUIDValue(high: 0, low: 0)))
                default: all[p.name] = .value(.null)
                }
            }
        }
        return all
    }

    // MARK: Operations

    func operation() throws {
        switch below(100) {
        case 0..<22: try create()
        case 22..<27: try delete()
        case 27: try deleteMany()
        default:
            guard let k = anyKey("All") else { return }
            let properties = schema["All"]!.properties
            for _ in 0..<(1 + below(4)) { try change(k, properties[1 + below(properties.count - 1)]) }
        }
    }

    private func adopt(_ c: Name, _ o: RealmObject, _ values: [Name: Plain]) {
        if model.objects[c]?[o.key.raw] == nil { model.objects[c]?[o.key.raw] = defaults(c) }
        for (name, v) in values { model.objects[c]?[o.key.raw]?[name] = v }
    }

    private func create() throws {
        switch below(10) {
        case 0..<5:
            let id = RealmValue.int(Int64(below(300)))
            adopt("All", try realm.create("All", primaryKey: id, update: true), ["id": .value(id)])
        case 5, 6:
            let key = RealmValue.string("key-\(below(200))"), n = scalar(.int), t = scalar(.string)
            adopt(
                "Str", try realm.create("Str", primaryKey: key, update: true, ["n": n, "text": t]),
                ["key": .value(key), "n": .value(n), "text": .value(t)])
        case 7:
            let next = anyKey("NoPk"), v = scalar(.int), w = scalar(.string)
            let o = try realm.create("NoPk", ["v": v, "w": w])
            try o.set("next", to: next.map { object("NoPk", $0) })
            adopt("NoPk", o, ["v": .value(v), "w": .value(w), "next": next.map { .link("NoPk", $0) } ?? .value(.null)])
        case 8:
            let id = scalar(.objectId), v = scalar(.int)
            adopt(
                "Oid", try realm.create("Oid", primaryKey: id, update: true, ["v": v]),
                ["_id": .value(id), "v": .value(v)])
        default:
            let id = scalar(.uuid), v = scalar(.int)
            adopt(
                "Uid", try realm.create("Uid", primaryKey: id, update: true, ["v": v]),
                ["_id": .value(id), "v": .value(v)])
        }
    }

    private func delete() throws {
        let c: Name = ["All", "Str", "NoPk", "Oid", "Uid"][below(5)]
        guard let k = anyKey(c) else { return }
        try object(c, k).delete()
        model.delete(c, k)
    }

    /// Some objects of a class together, now and then all: in any order, with keys that occur twice or name nothing.
    private func deleteMany() throws {
        let c: Name = ["All", "Str", "NoPk", "Oid", "Uid"][below(5)]
        let all = (model.objects[c] ?? [:]).keys.sorted()
        let oneIn = coin(10) ? 1 : 2 + below(20)
        var keys = all.filter { _ in coin(oneIn) }
        for k in keys { model.delete(c, k) }
        if let k = keys.first { keys += [k, -1, k + 1 << 40] }
        if coin(2) { keys.shuffle(using: &random) }
        try realm.delete(object(c, 0).table, keys.map { ObjKey($0) })
    }

    private func fill(_ e: RealmObject) throws -> Plain {
        let x = scalar(.int), name = scalar(.string, nullable: true)
        try e.set("x", x)
        try e.set("name", name)
        var child = Plain.value(.null)
        if coin(2) {
            let y = scalar(.int)
            try e.setEmbedded("child").set("x", y)
            child = .embedded(["x": .value(y)])
        }
        return .embedded(["x": .value(x), "name": .value(name), "child": child])
    }

    private func change(_ k: Int64, _ p: Property) throws {
        let o = object("All", k)
        guard let old = model.objects["All"]?[k]?[p.name] else {
            throw Mismatch(description: "the model has no All \(k)")
        }
        let isEmbedded = p.linkTarget == "Emb"
        func element() -> Plain? {
            if p.type == .object { return anyKey(p.linkTarget).map { .link(p.linkTarget, $0) } }
            if p.type == .mixed { return mixed(2) }
            return .value(scalar(p.type, nullable: p.isNullable))
        }
        var new = old
        switch (p.collection, old) {
        case (.none, _):
            if isEmbedded {
                if coin(4) {
                    try o.set(p.name, .null)
                    new = .value(.null)
                } else {
                    new = try fill(try o.setEmbedded(p.name))
                }
            } else {
                new = p.type == .mixed ? mixed(0) : element() ?? .value(.null)
                try o.set(p.name, real(new))
            }
        case (.list, .list(var l)):
            let list = try o.list(p.name)
            let n = l.count, where_ = below(n + 1)
            switch below(12) {
            case 0..<6:
                if isEmbedded {
                    l.insert(try fill(try list.insertEmbedded(at: where_)), at: where_)
                } else if let e = element() {
                    let count = coin(60) ? 400 : 1
                    for j in 0..<count {
                        try list.insert(real(e), at: where_ + j)
                        l.insert(e, at: where_ + j)
                    }
                }
            case 6 where n > 0, 7 where n > 0:
                if isEmbedded {
                    l[where_ % n] = try fill(try list.setEmbedded(at: where_ % n))
                } else if let e = element() {
                    try list.set(real(e), at: where_ % n)
                    l[where_ % n] = e
                }
            case 8 where n > 0, 9 where n > 0:
                try list.remove(at: where_ % n)
                l.remove(at: where_ % n)
            case 10 where n > 0:
                let from = where_ % n, to = below(n)
                try list.move(from: from, to: to)
                l.insert(l.remove(at: from), at: to)
            case 11 where coin(4):
                if p.type == .object && !isEmbedded && coin(2) {
                    try list.deleteAllObjects()
                    let targets = l
                    l = []
                    model.objects["All"]?[k]?[p.name] = .list([])
                    for case .link(let c, let key) in targets where model.objects[c]?[key] != nil {
                        model.delete(c, key)
                    }
                } else {
                    try list.removeAll()
                    l = []
                }
            default: return
            }
            new = .list(l)
        case (.set, .set(var values)):
            let set = try o.set(p.name)
            var v: RealmValue
            switch p.type {
            case .int: v = .int(Int64(below(30)))
            case .object:
                guard let key = anyKey(p.linkTarget) else { return }
                v = .link(table(p.linkTarget), ObjKey(key))
            default: v = scalar(p.type, nullable: p.isNullable)
            }
            let mark: RealmValue
            if case .link(_, let key) = v { mark = linkMark(p.linkTarget, key.raw) } else { mark = v }
            let present = values.firstIndex { same($0, mark) }
            if coin(3) {
                let did = try set.remove(v)
                guard did == (present != nil) else {
                    throw Mismatch(description: "removing \(v) from \(p.name) said \(did)")
                }
                if let present { values.remove(at: present) }
            } else {
                let did = try set.insert(v).inserted
                guard did == (present == nil) else {
                    throw Mismatch(description: "inserting \(v) into \(p.name) said \(did)")
                }
                if present == nil { values.append(mark) }
            }
            new = .set(values)
        case (.dictionary, .dictionary(var d)):
            let dictionary = try o.dictionary(p.name)
            let key: Name = ["", "\u{E9}", "e\u{301}", "k", "K", "日本", "k1", "k2", "k3", "k4", "k5", "k6"][below(12)]
            switch below(8) {
            case 0, 1:
                let did = try dictionary.removeValue(for: key)
                guard did == (d[key] != nil) else { throw Mismatch(description: "removing key \(key) said \(did)") }
                d[key] = nil
            case 2 where coin(6):
                try dictionary.removeAll()
                d = [:]
            default:
                if isEmbedded {
                    d[key] = try fill(try dictionary.setEmbedded(for: key))
                } else {
                    let e = element() ?? .value(.null)
                    try dictionary.set(real(e), for: key)
                    d[key] = e
                }
            }
            new = .dictionary(d)
        default: throw Mismatch(description: "the model holds \(old) for \(p.name)")
        }
        model.objects["All"]?[k]?[p.name] = new
    }

    private func same(_ a: RealmValue, _ b: RealmValue) -> Bool {
        if case .list = a { return a == b }
        if case .list = b { return false }
        return
            (try? a.withMixed { (x) throws(RealmError) in
                try b.withMixed { (y) throws(RealmError) in Mixed.compare(x, y) == 0 }
            }) ?? false
    }

    // MARK: Comparing

    private func className(_ realm: Realm, _ t: TableKey) -> Name {
        realm.schema.index(of: t).map { realm.schema.classes[$0].name } ?? "?"
    }

    private func agrees(_ realm: Realm, _ v: RealmValue, _ p: Plain) throws -> Bool {
        switch (v, p) {
        case (.link(let t, let k), .link(let c, let key)): return className(realm, t) == c && k.raw == key
        case (.link(let t, let k), .embedded(let e)):
            let o = RealmObject(realm: realm, table: t, key: k)
            for (name, wanted) in e { if try !agrees(realm, o.get(name), wanted) { return false } }
            return true
        case (.list(let l), .list(let m)):
            guard l.count == m.count else { return false }
            for (a, b) in zip(l, m) { if try !agrees(realm, a, b) { return false } }
            return true
        case (.list(let l), .set(let values)):
            guard l.count == values.count else { return false }
            for v in l {
                let mark: RealmValue
                if case .link(let t, let k) = v { mark = linkMark(className(realm, t), k.raw) } else { mark = v }
                if !values.contains(where: { same($0, mark) }) { return false }
            }
            return true
        case (.dictionary(let d), .dictionary(let m)):
            guard d.count == m.count else { return false }
            for e in d {
                guard let wanted = m[e.key], try agrees(realm, e.value, wanted) else { return false }
            }
            return true
        case (_, .value(let wanted)): return v == wanted
        default: return false
        }
    }

    private func compare(_ realm: Realm, _ c: Name, _ k: Int64, _ wanted: [Name: Plain]) throws {
        let o = RealmObject(realm: realm, table: realm.schema[c]!.key, key: ObjKey(k))
        for (name, p) in wanted {
            let v = try o.get(name)
            if try !agrees(realm, v, p) { throw Mismatch(description: "\(c) \(k).\(name) is \(v), not \(p)") }
        }
    }

    /// Compares `objects` objects of each class, or all.
    func compare(_ realm: Realm, _ model: Model, objects: Int = .max) throws {
        var embedded = (first: 0, second: 0)
        for (c, rows) in model.objects where c != "Emb" && c != "Emb2" {
            let live = try realm.objects(c)
            guard live.count == rows.count else {
                throw Mismatch(description: "\(live.count) objects of \(c), not \(rows.count)")
            }
            if objects >= rows.count {
                for o in live {
                    guard let wanted = rows[o.key.raw] else {
                        throw Mismatch(description: "\(c) \(o.key.raw) should be gone")
                    }
                    try compare(realm, c, o.key.raw, wanted)
                }
                for values in rows.values { for p in values.values { count(p, &embedded) } }
            } else {
                for _ in 0..<objects {
                    let k = live[below(live.count)].key.raw
                    guard let wanted = rows[k] else { throw Mismatch(description: "\(c) \(k) should be gone") }
                    try compare(realm, c, k, wanted)
                }
            }
            // Looking up by key, and back along links.
            if c == "All", let k = rows.keys.randomElement(using: &random), case .value(let id)? = rows[k]?["id"] {
                guard try realm.object("All", primaryKey: id)?.key.raw == k else {
                    throw Mismatch(description: "All with id \(id) is not \(k)")
                }
            }
            if c == "Str", let k = rows.keys.randomElement(using: &random) {
                let linkers = (model.objects["All"] ?? [:]).values.filter { $0["link"]?.leads(to: "Str", k) ?? false }
                    .count
                guard
                    case .list(let back) = try RealmObject(realm: realm, table: realm.schema[c]!.key, key: ObjKey(k))
                        .get("linkers"),
                    back.count == linkers
                else {
                    throw Mismatch(description: "Str \(k) should have \(linkers) linkers")
                }
            }
        }
        if objects == .max {
            let counts = (try realm.objects("Emb").count, try realm.objects("Emb2").count)
            guard counts == (embedded.first, embedded.second) else {
                throw Mismatch(description: "\(counts) embedded objects, not \(embedded)")
            }
        }
    }

    private func count(_ p: Plain, _ n: inout (first: Int, second: Int)) {
        switch p {
        case .embedded(let e):
            n.first += 1
            if case .embedded? = e["child"] { n.second += 1 }
        case .list(let l): for e in l { count(e, &n) }
        case .dictionary(let d): for e in d.values { count(e, &n) }
        default: break
        }
    }

    // MARK: The history

    func run(operations: Int) throws {
        var done = 0, transactions = 0
        while done < operations {
            try realm.beginWrite()
            let before = model
            let n = min(operations - done, 20 + below(180))
            for _ in 0..<n { try operation() }
            done += n
            if coin(12) {
                try realm.cancelWrite()
                model = before
            } else {
                if coin(10) { try compare(realm, model, objects: 10) }
                try realm.commitWrite()
            }
            transactions += 1
            if coin(4) { try compare(realm, model, objects: 10) }
            if let (old, then) = behind {
                try compare(old, then, objects: 5)
                if coin(5) {
                    try compare(old, then)
                    try old.refresh()
                    try compare(old, model, objects: 20)
                    old.close()
                    behind = nil
                }
            } else if coin(3) {
                let other = try Realm(RealmConfiguration(path: path, schema: schema, schemaVersion: 1))
                try other.beginRead()
                behind = (other, model)
            }
            if transactions % 100 == 0 || done >= operations { try reopen() }
        }
    }

    private func reopen() throws {
        try compare(realm, model)
        behind?.0.close()
        behind = nil
        realm.close()
        try checkFile(path)
        realm = try Realm(RealmConfiguration(path: path, schema: schema, schemaVersion: 1))
        try compare(realm, model)
    }
}

@Suite struct ModelTests {
    @Test func historiesAgreeWithPlainCollections() throws {
        let environment = ProcessInfo.processInfo.environment
        let operations = Int(environment["MODEL_OPS"] ?? "") ?? 12_000,
            seed = UInt64(environment["MODEL_SEED"] ?? "") ?? 1
        let folder = try TemporaryFolder()
        let driver = try Driver(seed: seed, path: folder.file())
        try driver.run(operations: operations)
        driver.realm.close()
        #expect(driver.model.objects["All"]!.count > 0)
    }
}
