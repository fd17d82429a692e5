import Foundation
import RealmSwift
import Testing

/// Long chains of links: nothing that follows them may need a stack as deep.
struct ChainTests {
    class ChainLink: Object {
        @Persisted var number: Int
        @Persisted var next: ChainLink?
        @Persisted var inside: ChainInside?
        @Persisted var all: List<ChainLink>
    }

    class ChainInside: EmbeddedObject {
        @Persisted var number: Int
        @Persisted var next: ChainInner?
    }

    class ChainInner: EmbeddedObject {
        @Persisted var number: Int
        @Persisted var back: ChainLink?
    }

    private let length = 100_000

    /// The numbers along a chain that somebody else keeps.
    private func numbers(_ first: ChainLink) -> [Int] {
        var numbers: [Int] = [], at: ChainLink? = first
        while let here = at {
            numbers.append(here.number)
            at = here.next
        }
        return numbers
    }

    private func chain() -> ChainLink {
        var first = ChainLink(value: ["number": length - 1])
        for n in (0..<length - 1).reversed() {
            first = ChainLink(value: ["number": n, "next": first] as [String: Any])
        }
        return first
    }

    @Test func unmanagedChainsAreLetGoOf() {
        weak var last: ChainLink?
        var first: ChainLink? = chain()
        var at = first
        while let next = at?.next { at = next }
        last = at
        at = nil
        #expect(last?.number == length - 1)
        first = nil
        #expect(first == nil && last == nil)
    }

    @Test func chainsAreAddedAndCopied() throws {
        let (realm, folder) = try makeRealm(ChainLink.self, ChainInside.self, ChainInner.self)
        let first = chain()
        try realm.write { realm.add(first) }
        #expect(
            realm.objects(ChainLink.self).count == length && first.isInvalidated == false
                && numbers(first) == Array(0..<length))
        let copy = first.detach()
        #expect(copy.realm == nil && numbers(copy) == Array(0..<length))
        let (other, otherFolder) = try makeRealm(ChainLink.self, ChainInside.self, ChainInner.self)
        try other.write { other.create(ChainLink.self, value: first) }
        let copied = try #require(other.objects(ChainLink.self).where { $0.number == 0 }.first)
        #expect(other.objects(ChainLink.self).count == length && numbers(copied) == Array(0..<length))
        (_, _) = (folder, otherFolder)
    }

    /// All that is as many links away as was asked for, by the shortest way.
    @Test func depth() throws {
        let (realm, folder) = try makeRealm(ChainLink.self, ChainInside.self, ChainInner.self)
        let links = try realm.write {
            let links = (0..<6).map { realm.create(ChainLink.self, value: ["number": $0]) }
            for (a, b) in zip(links, links.dropFirst()) { a.next = b }
            // A short way to 4, met behind the long one; and one from an object inside an object inside.
            links[0].all.append(objectsIn: [links[1], links[4]])
            links[0].inside = ChainInside(
                value: ["number": 7, "next": ["number": 8, "back": links[3]] as [String: Any]] as [String: Any])
            return links
        }
        func reached(_ first: ChainLink) -> Set<Int> {
            var seen: [ObjectIdentifier: ChainLink] = [:], open = [first]
            while let l = open.popLast() {
                guard seen.updateValue(l, forKey: ObjectIdentifier(l)) == nil else { continue }
                open += [l.next, l.inside?.next?.back].compactMap { $0 } + Array(l.all)
            }
            #expect(Set(seen.values.map(\.number)).count == seen.count)
            return Set(seen.values.map(\.number))
        }
        #expect(reached(links[0].detach(depth: 0)) == [0] && links[0].detach(depth: 0).inside?.next?.number == 8)
        #expect(reached(links[0].detach(depth: 1)) == [0, 1, 3, 4])
        #expect(
            reached(links[0].detach(depth: 2)) == [0, 1, 2, 3, 4, 5]
                && reached(links[0].detach()) == [0, 1, 2, 3, 4, 5])
        _ = folder
    }
}
