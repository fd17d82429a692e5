// Leaves against plain Swift arrays. Small spaces are exhausted (widths × boundary values × places); the rest is seeded
// random.
import Testing

@testable import CoreEngine

private let boundaries: [Int64] = [
    0, 1, 2, 3, 4, 15, 16, -1, 127, 128, -128, -129, 32767, 32768, -32768, -32769, 2_147_483_647, 2_147_483_648,
    -2_147_483_648, -2_147_483_649, .max,
    .min,
]

@Test(arguments: boundaries) func integerArrayHoldsEveryPairOfBoundaries(first: Int64) throws {
    for second in boundaries {
        for size in [0, 1, 2, 7, 8, 9, 63, 64, 65] {
            for place in Set([0, size / 2, size]) {
                let s = try memoryStore()
                var n = try s.makeIntegers(count: size, value: first)
                var model = [Int64](repeating: first, count: size)
                try s.insertInteger(&n, place, second)
                model.insert(second, at: place)
                #expect((0..<n.count).map { n.get($0) } == model)
                #expect(n.width >= Widths.minimal(for: second))
                try s.setInteger(&n, model.count - 1, second)
                model[model.count - 1] = second
                try s.eraseIntegers(&n, place)
                model.remove(at: place)
                #expect((0..<n.count).map { n.get($0) } == model)
                #expect(model.isEmpty == (n.count == 0) && (n.count > 0 || n.width == 0))
            }
        }
    }
}

@Test func unsignedArraysReadBackUnsigned() throws {
    let s = try memoryStore()
    var n = try s.makeUnsigned()
    var model: [UInt64] = []
    for v in [0, 1, 127, 128, 200, 255, 256, 65535, 65536, 1 << 31, 1 << 32, UInt64.max] as [UInt64] {
        for place in [0, model.count / 2, model.count] {
            try s.insertUnsigned(&n, place, v)
            model.insert(v, at: place)
        }
        #expect((0..<n.count).map { n.getUnsigned($0) } == model)
        #expect(n.width >= 8)
    }
}

@Test(arguments: 1...20) func nullableIntegersAgainstAModel(seed: Int) throws {
    var random = Seeded(UInt64(seed))
    let s = try memoryStore()
    var ref = try NullableIntLeaf.create(s)
    var model: [Int64?] = []
    for _ in 0..<600 {
        let v: Int64? =
            random.below(4) == 0
            ? nil : (random.below(2) == 0 ? boundaries[random.below(boundaries.count)] : Int64(random.below(300)) - 100)
        switch random.below(model.isEmpty ? 1 : 4) {
        case 0, 1:
            let i = random.below(model.count + 1)
            ref = try NullableIntLeaf.insert(s, ref, i, v)
            model.insert(v, at: i)
        case 2:
            let i = random.below(model.count)
            ref = try NullableIntLeaf.set(s, ref, i, v)
            model[i] = v
        default:
            let i = random.below(model.count)
            ref = try NullableIntLeaf.erase(s, ref, i)
            model.remove(at: i)
        }
    }
    let n = try s.integers(ref)
    #expect(try model.indices.map { try NullableIntLeaf.get(n, $0) } == model)
}

@Test(arguments: [LeafKind.string, .binary], 1...12) func blobLeavesAgainstAModel(kind: LeafKind, seed: Int) throws {
    // Longer values appear later, so that every form and every transition is passed through.
    var random = Seeded(UInt64(seed))
    let s = try memoryStore()
    var ref = try kind.create(s)
    var model: [[UInt8]?] = []
    let lengths = [0, 1, 14, 15, 16, 62, 63, 64, 65, 200, 5000]
    for step in 0..<500 {
        let length = lengths[random.below(min(lengths.count, 3 + step / 40))]
        let value: [UInt8]? = random.below(5) == 0 ? nil : (0..<length).map { UInt8(truncatingIfNeeded: $0 &+ seed) }
        func mixed(_ b: Bytes) -> Mixed { value == nil ? .null : (kind == .string ? .string(b) : .binary(b)) }
        try withBytes(value ?? []) { b in
            switch random.below(model.isEmpty ? 1 : 4) {
            case 0, 1:
                let i = random.below(model.count + 1)
                ref = try kind.insert(s, ref, i, mixed(b))
                model.insert(value, at: i)
            case 2:
                let i = random.below(model.count)
                ref = try kind.set(s, ref, i, mixed(b))
                model[i] = value
            default:
                let i = random.below(model.count)
                ref = try kind.erase(s, ref, i)
                model.remove(at: i)
            }
        }
        if step % 25 == 0 { try compare() }
    }
    try compare()
    func compare() throws {
        #expect(try kind.count(s, ref) == model.count)
        for (i, expected) in model.enumerated() {
            switch try kind.get(s, ref, i) {
            case .null: #expect(expected == nil)
            case .string(let b), .binary(let b): #expect(expected == Array(b))
            default: Issue.record("a value of another type")
            }
        }
    }
}

private func sample(_ kind: LeafKind, _ random: inout Seeded) -> Mixed {
    switch kind {
    case .float:
        return random.below(5) == 0 ? .null : .float(Float(bitPattern: UInt32(truncatingIfNeeded: random.next())))
    case .double: return random.below(5) == 0 ? .null : .double(Double(bitPattern: random.next()))
    case .timestamp:
        return random.below(5) == 0
            ? .null
            : .timestamp(Timestamp(seconds: Int64(bitPattern: random.next()), nanoseconds: Int32(random.below(1000))))
    case .decimal:
        switch random.below(6) {
        case 0: return .null
        case 1: return .decimal(Decimal128(0))
        case 2: return .decimal(Decimal128(negative: true, coefficient: 0, exponent: 0))
        case 3:
            return .decimal(
                Decimal128(negative: false, coefficient: UInt128(random.next()), exponent: random.below(12000) - 6000))
        case 4: return .decimal(Decimal128(low: 0, high: 0x7800_0000_0000_0000))
        default:
            return .decimal(
                Decimal128(
                    negative: random.below(2) == 0, coefficient: UInt128(random.below(1 << 23)),
                    exponent: random.below(180) - 90))
        }
    case .objectId:
        return random.below(5) == 0
            ? .null : .objectId(ObjectId(high: random.next(), low: UInt32(truncatingIfNeeded: random.next())))
    case .uuid: return random.below(5) == 0 ? .null : .uuid(UUIDValue(high: random.next(), low: random.next()))
    case .bool: return [Mixed.null, .bool(true), .bool(false)][random.below(3)]
    case .link: return random.below(4) == 0 ? .null : .link(ObjKey(Int64(random.below(1 << 20))))
    default:
        switch random.below(9) {
        case 0: return .null
        case 1: return .int(boundaries[random.below(boundaries.count)])
        case 2: return .bool(random.below(2) == 0)
        case 3: return .double(Double(random.below(1000)) / 7)
        case 4: return .timestamp(Timestamp(seconds: Int64(random.below(1 << 30)), nanoseconds: 5))
        case 5: return .typedLink(TableKey(UInt32(random.below(9))), ObjKey(Int64(random.below(99))))
        case 6: return .uuid(UUIDValue(high: random.next(), low: 3))
        case 7: return .float(1.5)
        default: return .decimal(Decimal128(low: random.next(), high: 0x3040_0000_0000_0000))
        }
    }
}

/// Bits, so that NaNs and −0 must come back as they went in.
private func bits(_ v: Mixed) -> String {
    switch v {
    case .float(let f): "f\(f.bitPattern)"
    case .double(let d): "d\(d.bitPattern)"
    case .decimal(let d): "D\(d.high),\(d.low)"
    default: "\(v)"
    }
}

@Test(arguments: [LeafKind.bool, .float, .double, .timestamp, .decimal, .objectId, .uuid, .link, .mixed], 1...6)
func fixedLeavesAgainstAModel(kind: LeafKind, seed: Int) throws {
    var random = Seeded(UInt64(seed) &+ UInt64(kind.rawValue) << 8)
    let s = try memoryStore()
    var ref = try kind.create(s)
    var model: [Mixed] = []
    for _ in 0..<400 {
        let v = sample(kind, &random)
        switch random.below(model.isEmpty ? 1 : 4) {
        case 0, 1:
            let i = random.below(model.count + 1)
            ref = try kind.insert(s, ref, i, v)
            model.insert(v, at: i)
        case 2:
            let i = random.below(model.count)
            ref = try kind.set(s, ref, i, v)
            model[i] = v
        default:
            let i = random.below(model.count)
            ref = try kind.erase(s, ref, i)
            model.remove(at: i)
        }
    }
    #expect(try kind.count(s, ref) == model.count)
    for (i, expected) in model.enumerated() {
        let got = try kind.get(s, ref, i)
        // −0E0 may lose its sign in a leaf of zeros (logical §13.19); everything else is exact.
        if case .decimal(let a) = expected, case .decimal(let b) = got, a.parts.coefficient == 0 {
            #expect(b.parts.coefficient == 0 || a == b)
        } else {
            #expect(bits(got) == bits(expected))
        }
    }
    var other = try kind.create(s)
    let cut = model.count / 3
    try kind.moveTail(s, from: &ref, start: cut, to: &other)
    #expect(try kind.count(s, ref) == cut && kind.count(s, other) == model.count - cut)
    if cut < model.count { #expect(bits(try kind.get(s, other, 0)).first == bits(model[cut]).first) }
}

/// realm-core inserts and erases in the keys of nested collections without a look at their number: they are as many as
/// the values.
@Test(arguments: 1...12) func mixedLeavesHoldAsManyKeysAsValues(seed: Int) throws {
    var random = Seeded(UInt64(seed))
    let s = try memoryStore()
    var ref = try MixedLeaf.create(s)
    var model: [Int64] = []
    func keys(_ ref: Ref) throws -> [Int64] {
        let leaf = try s.refsNode(ref)
        guard case let child = try leaf.child(5), !child.isNull else { return [] }
        let n = try s.integers(child)
        return (0..<n.count).map { n.get($0) }
    }
    func expectKeys(_ ref: Ref, _ model: [Int64]) throws {
        let found = try keys(ref)
        #expect(found == model || (found.isEmpty && model.allSatisfy { $0 == 0 }), "\(found), not \(model)")
    }
    ref = try MixedLeaf.insert(s, ref, 0, .list(.null), key: 7)
    model = [7]
    for i in 1...6 { ref = try MixedLeaf.insert(s, ref, i, .int(Int64(i))) }
    model += [0, 0, 0, 0, 0, 0]
    try expectKeys(ref, model)
    for step in 0..<120 {
        let key = Int64(1000 + step)
        switch random.below(model.isEmpty ? 2 : 6) {
        case 0:
            let i = random.below(model.count + 1)
            ref = try MixedLeaf.insert(s, ref, i, .int(5))
            model.insert(0, at: i)
        case 1:
            let i = random.below(model.count + 1)
            ref = try MixedLeaf.insert(s, ref, i, .dictionary(.null), key: key)
            model.insert(key, at: i)
        case 2:
            let i = random.below(model.count)
            ref = try MixedLeaf.set(s, ref, i, .bool(true))
            model[i] = 0
        case 3:
            let i = random.below(model.count)
            ref = try MixedLeaf.set(s, ref, i, .int(1))
            ref = try MixedLeaf.set(s, ref, i, .list(.null))
            ref = try MixedLeaf.setKey(s, ref, i, key)
            model[i] = key
        case 4:
            let i = random.below(model.count)
            ref = try MixedLeaf.erase(s, ref, i)
            model.remove(at: i)
        default:
            // What another version wrote shorter is filled up by the next change.
            let leaf = try s.refsNode(ref)
            guard case let child = try leaf.child(5), !child.isNull else { break }
            var n = try s.integers(child)
            while n.count > 0, n.get(n.count - 1) == 0 { try s.eraseIntegers(&n, n.count - 1) }
            s.setSlot(leaf, 5, n.ref)
            ref = try MixedLeaf.insert(s, ref, model.count, .null)
            model.append(0)
        }
        try expectKeys(ref, model)
    }
    var other = try MixedLeaf.insert(s, try MixedLeaf.create(s), 0, .int(3))
    let cut = model.count / 3
    try MixedLeaf.moveTail(s, from: &ref, start: cut, count: model.count, to: &other)
    try expectKeys(ref, Array(model[..<cut]))
    try expectKeys(other, [0] + model[cut...])
}

@Test func namesKeepTheirPlaces() throws {
    let s = try memoryStore()
    var n = try s.allocate(NodeHeader(widthType: .multiply, width: 0, count: 0), capacity: 64)
    let names: [Name] = ["a", "", "a longer name", Name(String(repeating: "x", count: 63)), "ö"]
    for (i, name) in names.enumerated() { try s.setName(&n, i, name) }
    #expect(try names.indices.map { try s.name(n, $0) } == names)
    try s.setName(&n, 1, nil)
    #expect(try s.name(n, 1) == "")
}
