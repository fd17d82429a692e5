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
        if step % 200 == 0 { try compare() }
    }
    while !model.isEmpty {
        let i = random.below(model.count)
        try tree.erase(i)
        model.remove(at: i)
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
        for i in stride(from: 0, to: model.count, by: 17) { if case .int(let v) = try tree.get(i) { #expect(v == model[i]) } }
    }
}

private func rows(_ s: NodeStore) throws -> ClusterTree {
    let columns = [ClusterTree.Column(kind: .int, initial: .int(0), ownsTrees: false), .init(kind: .string, initial: .null, ownsTrees: false)]
    return ClusterTree(s, root: try ClusterTree.create(s, columns: columns), columns: columns)
}
private func compare(_ tree: ClusterTree, _ model: [Int64: Int64], sourceLocation: SourceLocation = #_sourceLocation) throws {
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
        if step % 1500 == 0 { try compare(tree, model) }
    }
    try compare(tree, model)
    for k in model.keys.shuffled(using: &random) { #expect(try tree.erase(ObjKey(k))) }
    try compare(tree, [:])
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
    for k in stride(from: 0, to: count, by: 997) { if case .int(let v)? = try tree.get(ObjKey(Int64(k)), 0) { #expect(v == Int64(k)) } }
}

@Test(arguments: 1...8) func searchIndexAgainstADictionary(seed: Int) throws {
    // Strings that share long beginnings, end at chunk borders and contain the closing X.
    var random = Seeded(UInt64(seed))
    let s = try memoryStore()
    let tree = try rows(s)
    var index = SearchIndex(s, root: try SearchIndex.create(s), rows: tree, column: 1)
    index.capacity = 8
    let long = String(repeating: "abcd", count: 60)
    let words: [String?] = [nil, "", "X", "a", "ab", "abc", "abcX", "abcd", "abcdX", "abcdefgh", "abcdefghX", long, long + "1", long + "2", String(long.dropLast()), "é", "ÿÿÿÿ"]
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

@Test func wordsOfText() {
    func tokens(_ text: String) -> Set<String> { withBytes(Array(text.utf8)) { Set(FullTextTokenizer.tokens($0).map { String(decoding: $0, as: UTF8.self) }) } }
    #expect(tokens("The quick, brown fox-THE") == ["the", "quick", "brown", "fox"])
    #expect(tokens("Ærøskøbing Straße Ångström") == ["ærøskøbing", "straße", "ångstrom"])
    #expect(tokens("日本語 emoji 😀 x1") == ["emoji", "x1"])
    #expect(tokens(String(repeating: "y", count: 90)) == [String(repeating: "y", count: 64)])
    #expect(tokens("") == [])
}
