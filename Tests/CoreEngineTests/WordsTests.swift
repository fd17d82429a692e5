// The table of the query language's words: the lexer obeys it, every operator on texts follows its rule, and the lists
// that `make words` writes, and the page of the language, have the same words.
import Foundation
import Testing

@testable import CoreEngine

struct WordsTests {
    private func kinds(_ text: String) -> [Token.Kind]? { try? Lexer.tokens(of: text).tokens.map(\.kind) }

    @Test func eachWordIsItsToken() {
        for word in QueryWord.all {
            #expect(kinds(word.text) == [word.kind, .end], "\(word.text)")
            guard word.isKeyword else { continue }
            #expect(kinds(word.text.uppercased()) == [word.kind, .end], "\(word.text)")
            let mixed = word.text.prefix(1).uppercased() + word.text.dropFirst()
            #expect(kinds(mixed) == [word.hasOneCase ? .identifier : word.kind, .end], "\(mixed)")
            #expect(kinds(word.text + "x") == [.identifier, .end], "\(word.text)")
        }
        #expect(Set(QueryWord.all.map(\.text)).count == QueryWord.all.count)
    }

    /// An operator on texts with each of its suffixes, and without those that it has not.
    @Test func operatorsOnTexts() throws {
        for op in CompareOperator.allCases {
            guard let rule = op.stringRule else { continue }
            for word in [op.rawValue] + rule.aliases {
                guard case .compare(op, [], _, _) = try QueryParser.parse("a \(word) 'b'").predicate else {
                    Issue.record("\(word)")
                    continue
                }
                for (mark, folding) in [("[c]", Folding.cases), ("[d]", .accents), ("[cd]", [.cases, .accents])] {
                    let parsed = try? QueryParser.parse("a \(word)\(mark) 'b'", knowingAccents: true).predicate
                    guard case .compare(op, folding, _, _) = parsed else {
                        #expect(!rule.folds.isSuperset(of: folding), "\(word)\(mark)")
                        continue
                    }
                }
            }
        }
    }

    /// What `Scripts/words.py` read, as the Python package has it.
    @Test func wordsOfPython() throws {
        let text = try String(contentsOf: file("bindings/python/crealm/_words.py"), encoding: .utf8)
        let list = try #require(text.firstMatch(of: /(?s)KEYWORDS = frozenset\((.*?)\n\)/)).1
        #expect(words(list) == QueryLanguage.keywords.sorted())
    }

    /// The same of the Browser, by roles.
    @Test func wordsOfTheBrowser() throws {
        let text = try String(contentsOf: file("bindings/python/crealm/browse/static/words.js"), encoding: .utf8)
        var found: [String: [String]] = [:]
        for match in text.matches(of: /(?m)^  (\w+): \[(.*)\],$/) {
            found[String(match.1), default: []] += words(match.2)
        }
        let wanted = Dictionary(grouping: QueryWord.all, by: \.role.rawValue)
        #expect(Set(found.keys) == Set(wanted.keys))
        for (role, words) in wanted {
            let spelled = words.map { $0.isAtWord ? $0.text : $0.text.uppercased() }
            #expect(found[role]?.sorted() == spelled.sorted(), "\(role)")
        }
        let folding = try #require(text.firstMatch(of: /FOLDING = \[(.*)\];/)).1
        let ignoring = CompareOperator.allCases.filter { $0.stringRule?.folds.contains(.cases) ?? false }
        #expect(words(folding) == ignoring.map(\.rawValue).sorted())
    }

    /// The page of the language names every word in its table of tokens.
    @Test func wordsOfThePage() throws {
        let text = try String(contentsOf: file("docs/query-language.md"), encoding: .utf8)
        let table = try #require(text.firstMatch(of: /(?s)## 2\. (.*?)\n## 3\./)).1.lowercased()
        let named = Set(table.matches(of: /@?[a-z]+/).map { String($0.0) })
        for word in QueryWord.all where word.isKeyword || word.isAtWord {
            #expect(named.contains(word.text), "\(word.text)")
        }
    }

    private func file(_ path: String) -> URL { repository.appendingPathComponent(path) }

    private func words(_ list: Substring) -> [String] { list.matches(of: /"([^"]+)"/).map { String($0.1) }.sorted() }
}
