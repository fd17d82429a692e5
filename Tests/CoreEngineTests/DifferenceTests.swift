// What is told of rows that changed places: what two lists of rows become of each other, in a number of steps that is
// bounded.
import Testing

@testable import CoreEngine

private func difference(_ before: [ObjKey], _ after: [ObjKey], changed: Set<ObjKey> = [], mostSteps: Int = 1 << 26)
    -> RowDifference
{
    RowDifference(
        before, after, isGone: { _ in false }, isChanged: changed.contains, isInTableOrder: false, mostSteps: mostSteps)
}

/// Without the deleted rows the old list is the new one without the inserted rows.
private func isSound(_ d: RowDifference, _ before: [ObjKey], _ after: [ObjKey]) -> Bool {
    let gone = Set(d.result.deletions.indices), come = Set(d.result.insertions.indices)
    return before.indices.filter { !gone.contains($0) }.map { before[$0] }
        == after.indices.filter { !come.contains($0) }.map { after[$0] }
}

/// The rows that stay, by the rule as it is written down: the longest stretch that both have, then the same left and
/// right of it.
private func staying(_ a: Range<Int>, _ b: Range<Int>, _ old: [ObjKey], _ new: [ObjKey], _ changed: Set<ObjKey>) -> [(
    Int, Int
)] {
    var best = (rows: 0, modified: 0, old: 0, new: 0)
    for end in a {
        for place in b where old[end] == new[place] {
            var rows = 0, modified = 0
            while end - rows >= a.lowerBound, place - rows >= b.lowerBound, old[end - rows] == new[place - rows] {
                if changed.contains(old[end - rows]) { modified += 1 }
                rows += 1
            }
            if rows > best.rows || (rows == best.rows && modified < best.modified) {
                best = (rows, modified, end + 1 - rows, place + 1 - rows)
            }
        }
    }
    guard best.rows > 0 else { return [] }
    return staying(a.lowerBound..<best.old, b.lowerBound..<best.new, old, new, changed)
        + (0..<best.rows).map { (best.old + $0, best.new + $0) }
        + staying(best.old + best.rows..<a.upperBound, best.new + best.rows..<b.upperBound, old, new, changed)
}

@Test func rowsThatMovedAreToldAsTheRuleSays() {
    var random = Seeded(7)
    for round in 0..<300 {
        let kinds = 1 + round % 7
        let before = (0..<Int.random(in: 0...14, using: &random)).map { _ in
            ObjKey(Int64.random(in: 0..<Int64(kinds), using: &random))
        }
        let after = before.shuffled(using: &random)
        let changed = Set((0..<Int64(kinds)).filter { _ in Bool.random(using: &random) }.map { ObjKey($0) })
        let d = difference(before, after, changed: changed)
        let same = zip(before, after).prefix { $0 == $1 }.count
        let stays =
            (0..<same).map { ($0, $0) } + staying(same..<before.count, same..<after.count, before, after, changed)
        #expect(isSound(d, before, after))
        #expect(
            Set(d.result.deletions.indices) == Set(before.indices).subtracting(stays.map(\.0)), "\(before) -> \(after)")
        #expect(
            Set(d.result.insertions.indices) == Set(after.indices).subtracting(stays.map(\.1)), "\(before) -> \(after)")
    }
}

/// One object that is many rows, and another one that moves from their beginning to their end.
@Test(arguments: [50, 100, 400]) func oneObjectAsManyRowsCostsNoMoreThanItsPairs(count: Int) {
    let moved = ObjKey(1), many = [ObjKey](repeating: ObjKey(2), count: count)
    let before = [moved] + many, after = many + [moved]
    let d = difference(before, after)
    #expect(d.result.deletions.indices == [0] && d.result.insertions.indices == [count])
    #expect(d.steps <= 3 * (count + 1) * (count + 1))
}

/// When the steps are used up, what was found so far stays and the rest is deleted and inserted.
@Test(arguments: [0, 1, 10, 1000, 20_000]) func stepsThatAreUsedUpLeaveASoundDifference(most: Int) {
    var random = Seeded(UInt64(most))
    let rows = (0..<600).map { _ in ObjKey(Int64.random(in: 0..<4, using: &random)) }
    for after in [Array(rows.reversed()), rows.shuffled(using: &random), Array(rows.dropFirst()) + rows.prefix(1)] {
        let d = difference(rows, after, mostSteps: most)
        #expect(isSound(d, rows, after))
        #expect(d.steps <= most + rows.count)
    }
}
