// Trees with a small fan-out, and cluster trees at their real one, against arrays and dictionaries.
import Testing

@testable import CoreEngine

@Test(arguments: 1...12) func treeOfIntegersAgainstAnArray(seed: Int) throws {
    var random = Seeded(UInt64(seed))
    let s = try memoryStore()
    var tree = try BPlusTree.create(s, kind: .int)
    tree.capacity = 4 + seed % 5
    var model: [Int64] = []
    for step in 0..<3000 {
        let growing = step < 1500 || random.below(3) == 0
        if growing || model.isEmpty {
            let i = random.below(3) == 0 ? model.count : random.below(model.count + 1)
            let v = Int64(bitPattern: random.next() >> UInt64(random.below(60)))
            try tree.insert(i, .int(v))
            model.insert(v, at: i)
        } else if random.below(4) == 0 {
            let i = random.below(model.count)
            try tree.set(i, .int(Int64(step)))
            model[i] = Int64(step)
        } else {
            let i = random.below(model.count)
            try tree.erase(i)
            model.remove(at: i)
        }
        // A debug build looks beside each operation; all of the tree is looked at while it is small.
        if model.count < 60 || step % 20 == 0 { try tree.checkInvariants() }
        if step % 200 == 0 { try compare() }
    }
    while !model.isEmpty {
        let i = random.below(model.count)
        try tree.erase(i)
        model.remove(at: i)
        if model.count < 60 || model.count % 20 == 0 { try tree.checkInvariants() }
    }
    try compare()
    #expect(try !s.node(tree.root).isInner)
    func compare() throws {
        #expect(try tree.count() == model.count)
        var got: [Int64] = []
        try tree.forEachLeaf { (leaf, first, count) throws(RealmError) in
            let n = try s.integers(leaf)
            #expect(first == got.count && count == n.count)
            got += (0..<count).map { n.get($0) }
            return true
        }
        #expect(got == model)
        for i in stride(from: 0, to: model.count, by: 17) {
            if case .int(let v) = try tree.get(i) { #expect(v == model[i]) }
        }
    }
}

private func rows(_ s: NodeStore) throws -> ClusterTree {
    let columns = [
        ClusterTree.Column(kind: .int, initial: .int(0), ownsTrees: false),
        .init(kind: .string, initial: .null, ownsTrees: false),
    ]
    return ClusterTree(s, root: try ClusterTree.create(s, columns: columns), columns: columns)
}

private func compare(_ tree: ClusterTree, _ model: [Int64: Int64], sourceLocation: SourceLocation = #_sourceLocation)
    throws
{
    #expect(try tree.count() == model.count, sourceLocation: sourceLocation)
    var keys: [Int64] = []
    try tree.forEachKey { (k) throws(RealmError) in
        keys.append(k.raw)
        return true
    }
    #expect(keys == model.keys.sorted(), sourceLocation: sourceLocation)
    for (k, v) in model {
        guard case .int(let got)? = try tree.get(ObjKey(k), 0) else {
            Issue.record("object \(k) is missing", sourceLocation: sourceLocation)
            return
        }
        #expect(got == v, sourceLocation: sourceLocation)
    }
}

@Test(arguments: 1...8) func clusterTreeAgainstADictionary(seed: Int) throws {
    var random = Seeded(UInt64(seed))
    let s = try memoryStore()
    let tree = try rows(s)
    var model: [Int64: Int64] = [:]
    var next: Int64 = 0
    for step in 0..<9000 {
        switch random.below(step < 4000 ? 5 : 10) {
        case 0...3:
            // In order, with gaps, or anywhere.
            let k: Int64
            switch seed % 3 {
            case 0: k = next
            case 1: k = Int64(next & 0xFF) | (next >> 8) << 16
            default: k = Int64(random.below(1 << 30))
            }
            next += 1
            let isNew = model[k] == nil
            #expect(try tree.insert(ObjKey(k)) == isNew)
            if isNew { model[k] = 0 }
        case 4:
            guard let k = model.keys.randomElement(using: &random) else { continue }
            let v = Int64(random.below(1 << 40))
            #expect(try tree.set(ObjKey(k), 0, .int(v)))
            model[k] = v
        default:
            guard let k = model.keys.randomElement(using: &random) else { continue }
            #expect(try tree.erase(ObjKey(k)))
            model[k] = nil
            #expect(try !tree.contains(ObjKey(k)))
        }
        if model.count < 300 || step % 100 == 0 { try tree.checkInvariants() }
        if step % 1500 == 0 { try compare(tree, model) }
    }
    try compare(tree, model)
    for (i, k) in model.keys.shuffled(using: &random).enumerated() {
        #expect(try tree.erase(ObjKey(k)))
        if i % 100 == 0 { try tree.checkInvariants() }
    }
    try compare(tree, [:])
}

@Test(arguments: 1...8) func clusterTreeLosesManyRowsAtOnce(seed: Int) throws {
    var random = Seeded(UInt64(seed))
    let s = try memoryStore()
    let tree = try rows(s)
    var model: [Int64: Int64] = [:]
    let text = [UInt8](repeating: 65, count: 80)
    func add(_ k: Int64) throws {
        guard try tree.insert(ObjKey(k)) else { return }
        _ = try tree.set(ObjKey(k), 0, .int(k &* 3))
        // A cluster's strings are all short, or up to medium or big size.
        let longest = [4, 20, 80][Int(k >> 9) % 3]
        try withBytes(Array(text[..<(Int(k) % longest)])) {
            _ = try tree.set(ObjKey(k), 1, k % 7 == 0 ? .null : .string($0))
        }
        model[k] = k &* 3
    }
    for i in 0..<Int64(seed % 4 == 3 ? 70_000 : 3000) {
        try add(seed % 4 == 2 ? (i & 0xFF) | (i >> 8) << 16 : (seed % 4 == 1 ? Int64(random.below(1 << 30)) : i))
    }
    while !model.isEmpty {
        let all = model.keys.sorted()
        var leaving: [Int64]
        switch random.below(6) {
        case 0: leaving = all.filter { _ in random.below(2) == 0 }
        case 1: leaving = all.filter { _ in random.below(50) == 0 }
        case 2:
            // A stretch, so that whole clusters go.
            let first = random.below(all.count)
            leaving = Array(all[first..<min(all.count, first + 1 + random.below(2000))])
        case 3: leaving = all.filter { _ in random.below(10) > 0 }
        case 4: leaving = [all[random.below(all.count)]]
        default: leaving = random.below(4) == 0 ? all : Array(all.suffix(40))
        }
        try tree.erase(leaving.map { ObjKey($0) }[...])
        try tree.checkInvariants()
        for k in leaving { model[k] = nil }
        try compare(tree, model)
        for k in model.keys.prefix(300) {
            let value = try tree.get(ObjKey(k), 1)
            if k % 7 == 0 {
                #expect(value?.isNull == true)
            } else if case .string(let b)? = value {
                #expect(b.count == Int(k) % [4, 20, 80][Int(k >> 9) % 3] && b.allSatisfy { $0 == 65 })
            } else {
                Issue.record("object \(k) has no string")
            }
        }
        // Rows can be added as ever.
        try add(Int64(random.below(1 << 30)))
        if model.count < 20 {
            try tree.erase(model.keys.sorted().map { ObjKey($0) }[...])
            model = [:]
            try compare(tree, model)
        }
    }
}

@Test func clusterTreeOfTwoInnerLevels() throws {
    let s = try memoryStore()
    let tree = try rows(s)
    let count = 256 * 256 + 700
    for k in 0..<count { _ = try tree.insert(ObjKey(Int64(k))) }
    #expect(try tree.count() == count)
    #expect(try s.node(tree.root).slot(1).integer == 2)
    for k in stride(from: 0, to: count, by: 997) {
        #expect(try tree.set(ObjKey(Int64(k)), 0, .int(Int64(k))))
        #expect(try tree.key(at: k) == ObjKey(Int64(k)))
    }
    for k in stride(from: 0, to: count, by: 997) {
        if case .int(let v)? = try tree.get(ObjKey(Int64(k)), 0) { #expect(v == Int64(k)) }
    }

    // Indices while no key is missing, then with more and more holes: where objects are counted by their keys, and
    // where they are not.
    var keys = (0..<Int64(count)).map { $0 }
    for gone in [[], [Int64(count - 1)], [Int64(count - 2), 700], [0], Array(256..<512), Array(66_000..<66_100)]
        as [[Int64]]
    {
        for k in gone { #expect(try tree.erase(ObjKey(k))) }
        keys.removeAll(where: gone.contains)
        try tree.checkInvariants()
        for i in Array(stride(from: 0, to: keys.count, by: 331)) + [keys.count - 1] {
            #expect(try tree.key(at: i).raw == keys[i])
            #expect(try tree.rank(of: ObjKey(keys[i])) == i)
        }
        for k in gone { #expect(try tree.rank(of: ObjKey(k)) == keys.count { $0 < k }) }
        #expect(try tree.rank(of: ObjKey(Int64(count) + 5)) == keys.count)
    }
}

@Test(arguments: 1...8) func searchIndexAgainstADictionary(seed: Int) throws {
    // Strings that share long beginnings, end at chunk borders and contain the closing X.
    var random = Seeded(UInt64(seed))
    let s = try memoryStore()
    let tree = try rows(s)
    var index = SearchIndex(s, root: try SearchIndex.create(s), rows: tree, column: 1)
    index.capacity = 8
    let long = String(repeating: "abcd", count: 60)
    let words: [String?] =
        [
            nil, "", "X", "a", "ab", "abc", "abcX", "abcd", "abcdX", "abcdefgh", "abcdefghX", long, long + "1",
            long + "2", String(long.dropLast()),
            "é", "ÿÿÿÿ",
        ]
        + (0..<40).map { "city\($0)" }
    var model: [Int64: String?] = [:]
    func put(_ k: Int64, _ v: String?) throws {
        try withBytes(Array((v ?? "").utf8)) { b in
            let m: Mixed = v == nil ? .null : .string(b)
            #expect(try tree.set(ObjKey(k), 1, m))
            try index.insert(m, ObjKey(k))
        }
        model[k] = v
    }
    func take(_ k: Int64) throws {
        guard let v = try tree.get(ObjKey(k), 1) else { return }
        try index.erase(v, ObjKey(k))
    }
    for step in 0..<1500 {
        if random.below(3) > 0 || model.isEmpty {
            _ = try tree.insert(ObjKey(Int64(step)))
            try put(Int64(step), words[random.below(words.count)])
        } else if let k = model.keys.randomElement(using: &random) {
            try take(k)
            if random.below(2) == 0 {
                try put(k, words[random.below(words.count)])
            } else {
                _ = try tree.erase(ObjKey(k))
                model[k] = nil
            }
        }
        if step < 100 || step % 10 == 0 { try index.checkInvariants() }
        guard step % 150 == 0 || step == 1499 else { continue }
        for w in words {
            try withBytes(Array((w ?? "").utf8)) { b in
                var got: [Int64] = []
                try index.findAll(w == nil ? .null : .string(b)) { (k) throws(RealmError) in got.append(k.raw) }
                #expect(got == model.filter { $0.value == w }.keys.sorted(), "\(w ?? "null")")
            }
        }
        #expect(try index.entryCount() == model.count)
    }
}

@Test(arguments: 1...8) func searchIndexLosesManyEntriesAtOnce(seed: Int) throws {
    var random = Seeded(UInt64(seed))
    let s = try memoryStore()
    let tree = try rows(s)
    let column = seed % 2
    var index = SearchIndex(s, root: try SearchIndex.create(s), rows: tree, column: column)
    index.capacity = seed < 5 ? 8 : 1000
    let long = String(repeating: "abcd", count: 60)
    let words =
        ["", "X", "a", "abcd", "abcdX", "abcdefgh", long, long + "1", String(long.dropLast()), "é"]
        + (0..<40).map { "city\($0)" }
    var model: [Int64: Int] = [:]
    func with<R>(_ v: Int, _ body: (Mixed) throws -> R) rethrows -> R {
        if column == 0 { return try body(.int(Int64(v) &* 0x1_0000_0001)) }
        return try withBytes(Array((v < words.count ? words[v] : "number \(v)").utf8)) { try body(.string($0)) }
    }
    // Many of one value, so that their list becomes a tree, and many values.
    for k in 0..<Int64(6000) {
        let v = k % 2 == 0 ? 11 : random.below(seed % 3 == 0 ? 4000 : 60)
        _ = try tree.insert(ObjKey(k))
        try with(v) { m in
            #expect(try tree.set(ObjKey(k), column, m))
            try index.insert(m, ObjKey(k))
        }
        model[k] = v
    }
    while !model.isEmpty {
        let oneIn = [1, 2, 2, 10, 100, 1000][random.below(6)]
        let keys = model.keys.sorted().filter { _ in random.below(oneIn) == 0 }
        var leaving = SearchIndex.Leaving()
        for k in keys { if let v = try tree.get(ObjKey(k), column) { leaving.append(v, ObjKey(k)) } }
        // Entries that are not there do not matter.
        if let k = model.keys.first { with(5000) { leaving.append($0, ObjKey(k)) } }
        leaving.append(.int(77), ObjKey(1 << 30))
        try index.erase(leaving)
        try index.checkInvariants()
        try tree.erase(keys.map { ObjKey($0) }[...])
        for k in keys { model[k] = nil }
        let byValue = Dictionary(grouping: model.keys.sorted()) { model[$0]! }
        for v in Array(byValue.keys.prefix(80)) + [11, 12] {
            try with(v) { m in
                var got: [Int64] = []
                try index.findAll(m) { (k) throws(RealmError) in got.append(k.raw) }
                #expect(got == byValue[v] ?? [], "\(v)")
            }
        }
        #expect(try index.entryCount() == model.count)
    }
    // What is left is an index like a new one.
    for v in 0..<60 {
        _ = try tree.insert(ObjKey(Int64(v)))
        try with(v) { m in
            #expect(try tree.set(ObjKey(Int64(v)), column, m))
            try index.insert(m, ObjKey(Int64(v)))
            #expect(try index.count(of: m) == 1)
        }
    }
    try index.checkInvariants()
    #expect(try index.entryCount() == 60)
}

@Test func wordsOfText() throws {
    func tokens(_ text: String) throws -> Set<String> {
        try withBytes(Array(text.utf8)) {
            Set(try FullTextTokenizer.tokens($0).map { String(decoding: $0, as: UTF8.self) })
        }
    }
    #expect(try tokens("The quick, brown fox-THE") == ["the", "quick", "brown", "fox"])
    #expect(try tokens("Ærøskøbing Straße Ångström") == ["ærøskøbing", "straße", "ångstrom"])
    #expect(try tokens("日本語 emoji 😀 x1") == ["emoji", "x1"])
    #expect(try tokens(String(repeating: "y", count: 90)) == [String(repeating: "y", count: 64)])
    #expect(try tokens("") == [])
}
