import Foundation
import RealmSwift
import Testing

/// Operators of texts, with Foundation's comparisons as the model: it is what evaluates predicates for Realm on Apple's
/// systems.
struct TextQueryTests {
    class TextNote: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var text: String?
        @Persisted var other: String?
        @Persisted var tags: List<String>
        @Persisted var byName: Map<String, String>
        @Persisted var data: Data
        @Persisted var any: AnyRealmValue
    }

    private static let letters = [
        "a", "A", "e", "E", "s", "i", "I", "é", "e\u{301}", "É", "ế", "ë", "o", "ö", "ø", "Ł", "æ", "ά", "α", "Α", "ᾳ",
        "ї", "і", "Й", "и", "д",
        "日", "ğ", "Ğ", "ñ", " ", "x\u{327}\u{301}", "1", "ς", "σ",
    ]
    private typealias Model = @Sendable (_ text: String, _ pattern: String, _ options: String.CompareOptions) -> Bool
    private static let operators: [(word: String, model: Model)] = [
        ("==", { $0.compare($1, options: $2) == .orderedSame }),
        ("!=", { $0.compare($1, options: $2) != .orderedSame }),
        ("CONTAINS", { $0.range(of: $1, options: $2) != nil }),
        ("BEGINSWITH", { $0.range(of: $1, options: $2.union(.anchored)) != nil }),
        ("ENDSWITH", { $0.range(of: $1, options: $2.union([.anchored, .backwards])) != nil }),
    ]

    /// Words that are operators behind an index, and properties elsewhere.
    @Test func operatorsBehindAnIndex() throws {
        let (realm, folder) = try makeRealm(TextNote.self)
        try realm.write {
            for (id, tags) in [["ab", "cd"], ["cd"], ["ab", "x", "y"]].enumerated() {
                realm.create(TextNote.self, value: ["id": id, "tags": tags])
            }
        }
        let all = realm.objects(TextNote.self).sorted(byKeyPath: "id")
        for (format, ids) in [
            ("tags[0] BEGINSWITH 'a'", [0, 2]), ("tags[FIRST] CONTAINS 'b'", [0, 2]),
            ("tags[LAST] CONTAINS 'd'", [0, 1]),
            ("tags[0] ENDSWITH[c] 'D' OR tags[LAST] LIKE 'y*'", [1, 2]), ("tags[SIZE] BETWEEN {2, 3}", [0, 2]),
            ("tags[*] BEGINSWITH 'x'", [2]),
        ] { #expect(all.filter(format).map(\.id) == ids, "\(format)") }
        _ = folder
    }

    @Test func withoutAccents() throws {
        let (realm, folder) = try makeRealm(TextNote.self)
        var random = Seeded(state: 11)
        func text(_ lengths: ClosedRange<Int>) -> String {
            (0..<Int.random(in: lengths, using: &random)).map { _ in Self.letters.randomElement(using: &random) ?? "" }
                .joined()
        }
        let texts = (0..<400).map { _ in text(0...5) }
        try realm.write { for (i, t) in texts.enumerated() { realm.add(TextNote(value: [i, t] as [Any])) } }
        let notes = realm.objects(TextNote.self)
        var found = 0
        for _ in 0..<120 {
            let pattern = text(1...2)
            for (mark, options) in [
                ("[d]", [.diacriticInsensitive]), ("[cd]", [.diacriticInsensitive, .caseInsensitive]),
            ]
                as [(String, String.CompareOptions)]
            {
                for (word, model) in Self.operators {
                    let ids = Array(notes.filter("text \(word)\(mark) %@", pattern).map(\.id))
                    let expected = texts.indices.filter { model(texts[$0], pattern, options) }
                    #expect(
                        ids == expected,
                        "\(word)\(mark) '\(pattern)': \(Set(ids).symmetricDifference(expected).map { texts[$0] })")
                    found += ids.count
                }
            }
        }
        #expect(found > 1000)
        _ = folder
    }

    @Test func accentsWhereverTextsAre() throws {
        let (realm, folder) = try makeRealm(TextNote.self)
        try realm.write {
            realm.create(
                TextNote.self,
                value: [
                    "id": 1, "text": "Foó", "other": "FOO", "tags": ["Zoë", "x"], "byName": ["Chloë": "Élan"],
                    "data": Data("Foó".utf8),
                    "any": "Crème",
                ] as [String: Any])
            realm.create(
                TextNote.self, value: ["id": 2, "text": nil, "other": "o", "tags": [] as [String]] as [String: Any?])
        }
        let notes = realm.objects(TextNote.self)
        func ids(_ query: (Query<TextNote>) -> Query<Bool>) -> [Int] { notes.where(query).map(\.id) }
        #expect(
            ids { $0.text.contains("oo", options: .diacriticInsensitive) } == [1]
                && ids { $0.text.equals("foo", options: .diacriticInsensitive) } == [])
        #expect(ids { $0.text.equals($0.other, options: [.caseInsensitive, .diacriticInsensitive]) } == [1])
        #expect(ids { $0.text.contains($0.other, options: [.caseInsensitive, .diacriticInsensitive]) } == [1])
        #expect(ids { $0.text.notEquals("FOO", options: [.caseInsensitive, .diacriticInsensitive]) } == [2])
        #expect(ids { $0.text.contains("FO\u{F3}", options: [.caseInsensitive, .unicode]) } == [1])
        #expect(ids { $0.text.contains("FOO", options: [.caseInsensitive, .unicode]) } == [])
        #expect(notes.filter("any CONTAINS[cd] %@", "cre").map(\.id) == [1])
        #expect(
            ids { $0.byName["Chloë"].starts(with: "e", options: [.caseInsensitive, .diacriticInsensitive]) } == [1])
        #expect(ids { $0.byName.keys.ends(with: "loe", options: .diacriticInsensitive) } == [1])
        #expect(
            notes.filter("ANY tags ==[d] 'Zoe'").count == 1
                && notes.filter("ANY tags BEGINSWITH[ CD ] %@", "ZO").count == 1)
        #expect(
            notes.filter("text IN[cd] %@", ["x", "fóo"]).map(\.id) == [1]
                && notes.filter("text IN[c] {'x', 'FOÓ'}").map(\.id) == [1])
        #expect(
            notes.filter("NOT text IN[cd] {'x'}").map(\.id) == [1, 2] && notes.filter("text ==[d] nil").map(\.id) == [2]
        )
        #expect(notes.filter("text ==[cd] other OR 'x' ==[cd] text").map(\.id) == [1])
        // A property may be called like an operator, on either side.
        #expect(
            notes.filter("'foó' ==[c] text AND text != nil").count == 1
                && notes.filter("(text LIKE 'F*' && other ==[cd] text)").count == 1)
        // Bytes have no accents.
        #expect(
            notes.filter("data ==[d] %@", Data("Foo".utf8)).isEmpty
                && notes.filter("data ==[d] %@", Data("Foó".utf8)).count == 1)
        let message = misuse {
            let (realm, folder) = try makeRealm(TextNote.self)
            _ = realm.objects(TextNote.self).filter("text LIKE[d] 'x*'")
            _ = folder
        }
        #expect(message?.contains("Operator 'LIKE' not supported with diacritic-insensitive modifier.") ?? false)
        _ = folder
    }

    /// Nothing contains, begins or ends with nothing: so it is with Foundation.
    @Test func emptyPatterns() throws {
        let (realm, folder) = try makeRealm(TextNote.self)
        try realm.write {
            for (i, t) in ["abc", "", nil].enumerated() {
                realm.create(
                    TextNote.self, value: ["id": i, "text": t, "tags": ["x", ""], "any": "y"] as [String: Any?])
            }
        }
        let notes = realm.objects(TextNote.self)
        for word in ["CONTAINS", "BEGINSWITH", "ENDSWITH"] {
            for mark in ["", "[c]", "[d]", "[cd]"] {
                for pattern in ["", nil] as [String?] {
                    for path in ["text", "ANY tags", "any"] {
                        #expect(
                            notes.filter("\(path) \(word)\(mark) %@", pattern as Any).isEmpty, "\(path) \(word)\(mark)")
                        #expect(notes.filter("NOT \(path) \(word)\(mark) %@", pattern as Any).count == 3)
                    }
                }
            }
        }
        #expect(notes.where { $0.text.contains("") }.isEmpty && notes.where { $0.text.contains("b") }.count == 1)
        #expect(notes.where { $0.text.like("") }.map(\.id) == [1] && notes.where { $0.text.like(nil) }.map(\.id) == [2])
        _ = folder
    }
}

/// Lists and maps in values of any type, as arguments.
struct NestedArgumentTests {
    class AnySlot: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var any: AnyRealmValue
        @Persisted var next: AnySlot?
    }

    @Test func wholeListsAndMaps() throws {
        func list(_ values: AnyRealmValue...) -> AnyRealmValue { .fromArray(values) }
        func values() -> [AnyRealmValue] {
            [
                .none, 1, list(), list(1), list(1, 2), list(2, 1), list(.none),
                list(list(1), .fromDictionary(["a": list(2)])), .fromDictionary([:]),
                .fromDictionary(["a": .none]), .fromDictionary(["b": .none]), .fromDictionary(["a": 1]),
                .fromDictionary(["a": 1, "b": list("x")]),
                list("é", .date(Date(timeIntervalSince1970: 1.5)), .data(Data([0]))),
            ]
        }
        let (realm, folder) = try makeRealm(AnySlot.self)
        try realm.write {
            for (i, v) in values().enumerated() {
                let slot = realm.create(AnySlot.self, value: ["id": i])
                slot.any = v
                slot.next = realm.object(ofType: AnySlot.self, forPrimaryKey: i - 1)
            }
        }
        let slots = realm.objects(AnySlot.self), n = values().count
        for i in 2..<n {
            let wanted = values()[i]
            #expect(slots.where { $0.any == wanted }.map(\.id) == [i], "\(wanted)")
            #expect(
                slots.where { $0.any != wanted }.count == n - 1 && slots.filter("NOT any == %@", wanted).count == n - 1)
            #expect(slots.filter("next.any == %@ AND id > %@", wanted, 0).map(\.id) == (i + 1 < n ? [i + 1] : []))
            // What the Realm holds is as good an argument.
            #expect(slots.filter("any == %@", slots[i].any).map(\.id) == [i])
        }
        #expect(
            slots.where { $0.any[1] == 2 }.map(\.id) == [4] && slots.where { $0.any["a"] == 1 }.map(\.id) == [11, 12])
        #expect(
            slots.where { $0.next.any["b"][0] == "x" }.map(\.id) == [13]
                && slots.filter("any.@count == 2 AND any[0] == 1").map(\.id) == [4])
        _ = folder
    }
}

/// Properties that are called like words of the query language, on either side of every operator.
struct WordsAsNamesTests {
    class Worded: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var any: Int
        @Persisted var text: String
        @Persisted var contains: String
        @Persisted var like: String
        @Persisted var between: Int
        @Persisted var not: Bool
        @Persisted var size: Int
        @Persisted var first: Int
        @Persisted var limit: Int
        @Persisted var desc: String
        @Persisted var no: Int
        @Persisted var none: List<Int>
        @Persisted var all: List<Worded>
        @Persisted var some: Map<String, String>
        @Persisted var or: Worded?
    }

    @Test func everyPlace() throws {
        let (realm, folder) = try makeRealm(Worded.self)
        let words = realm.objects(Worded.self)
        try realm.write {
            for i in 0..<4 {
                let w = realm.create(
                    Worded.self,
                    value: [
                        "id": i, "any": i, "text": "t\(i)", "contains": "c\(i)", "like": "t\(3 - i)", "between": i,
                        "not": i > 1, "size": i,
                        "first": i,
                        "limit": i, "desc": "d\(i)", "no": i, "none": [i, 7], "some": ["k": "v\(i)"],
                    ] as [String: Any])
                w.or = realm.object(ofType: Worded.self, forPrimaryKey: i - 1)
                w.all.append(w)
            }
        }
        func ids(_ format: String, _ arguments: Any...) -> [Int] {
            words.filter(NSPredicate(format: format, argumentArray: arguments)).map(\.id)
        }
        for name in ["any", "between", "size", "first", "limit", "no", "or.any", "or.no"] {
            let shift = name.hasPrefix("or.") ? 1 : 0
            for (format, found) in [
                ("\(name) == 2", [2]), ("id > 0 AND \(name) == 2 OR FALSEPREDICATE", [2]), ("2 == \(name)", [2]),
                ("(2 == \(name)) AND id != 9", [2]),
                ("\(name) BETWEEN {1, 2}", [1, 2]), ("NOT \(name) IN {0, 1}", [2, 3]),
                ("id >= 0 && 2=\(name)&&id>=0", [2]),
                ("\(name)\n  == %@\n", [2]),
                ("%K == 2", [2]),
            ] {
                // NO behind an operator is false, as it is with Foundation.
                if name.hasSuffix("no"), format.hasSuffix("no") || format.contains("no)") || format.contains("no&") {
                    continue
                }
                let arguments: [Any] = format.hasPrefix("%K") ? [name] : (format.contains("%@") ? [2] : [])
                var expected = found.map { $0 + shift }.filter { $0 < 4 }
                if shift == 1, format.hasPrefix("NOT") { expected = [0, 3] }
                #expect(
                    words.filter(NSPredicate(format: format, argumentArray: arguments)).map(\.id) == expected,
                    "\(format) \(name)")
            }
        }
        for name in ["text", "contains", "like", "desc"] {
            let value = words[2][name] as? String ?? ""
            #expect(
                ids("\(name) == %@ AND \(name) CONTAINS %@", value, value) == [2] && ids("%@ == \(name)", value) == [2])
            #expect(ids("\(name) contains[c] %@ and \(name) like %@", value.uppercased(), value) == [2])
        }
        #expect(
            ids("text == like") == [] && ids("like CONTAINS[c] like AND text BEGINSWITH text") == [0, 1, 2, 3]
                && ids("or.like == text") == [2])
        #expect(
            ids("ANY none == 2") == [2] && ids("ANY all.any == 2") == [2] && ids("NONE all.like == 't1'") == [0, 1, 3]
                && ids("not == YES") == [2, 3])
        #expect(
            ids("NOT not == YES AND NOT (not == true)") == [0, 1] && ids("some['k'] == 'v2'") == [2]
                && ids("ANY some.@allValues == 'v2'") == [2])
        #expect(
            ids("SUBQUERY(all, $all, $all.any == 2 AND $all.text == 't2').@count == 1") == [2]
                && ids("none.@count == 2 AND none.@max == 7").count == 4)
        #expect(
            ids("nil == or") == [0] && ids("or == nil OR or.or == nil") == [0, 1] && ids("#any == 2") == [2]
                && ids("TRUEPREDICATE").count == 4)
        let byQuery = words.where {
            $0.any == 2 && $0.text.contains($0.text) && $0.or.like.starts(with: "t") && $0.none.contains(7) && $0.not
        }
        #expect(
            byQuery.map(\.id) == [2]
                && words.where { !$0.not && $0.some["k"] == "v1" && ($0.all.any == 1).count > 0 }.map(\.id) == [1])
        _ = folder
    }

    /// Needs ICU, which the machines that build the library have.
    @Test func sortedByALanguage() throws {
        let (realm, folder) = try makeRealm(TextQueryTests.TextNote.self)
        let texts = ["zu", "\u{C4}pfel", "apfel", "\u{D6}l", "Ofen", "item10", "item9"]
        try realm.write {
            for (i, text) in texts.enumerated() { realm.add(TextQueryTests.TextNote(value: [i, text] as [Any])) }
        }
        let notes = realm.objects(TextQueryTests.TextNote.self)
        func sorted(_ locale: String) -> [String?] {
            notes.sorted(by: [SortDescriptor(keyPath: \TextQueryTests.TextNote.text, locale: locale)]).map(\.text)
        }
        #expect(sorted("de") == ["apfel", "\u{C4}pfel", "item10", "item9", "Ofen", "\u{D6}l", "zu"])
        #expect(sorted("sv@colNumeric=yes") == ["apfel", "item9", "item10", "Ofen", "zu", "\u{C4}pfel", "\u{D6}l"])
        let descending = SortDescriptor(keyPath: "text", ascending: true, locale: "de").reversed()
        #expect(descending.locale == "de" && Array(notes.sorted(by: [descending])).first?.text == "zu")
        _ = folder
    }
}
