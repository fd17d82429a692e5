import Testing

@testable import CoreEngine

/// Elements whose numbers are equal are told apart by their place.
private struct Placed: BitwiseCopyable, Equatable {
    var number: UInt64
    var place: Int
}

@Test(
    arguments: [0, 1, 2, 63, 64, 65, 1000], [UInt64(0), 1, 0xFF, 0xFF00_0000_0000_0000, 0x00FF_0000_FF00_0100, .max])

func radixSortIsStable(count: Int, mask: UInt64) {
    var random = Seeded(UInt64(count) &+ mask)
    let given = (0..<count).map { Placed(number: random.next() & mask, place: $0) }
    var elements = given + [Placed(number: 0, place: 0)],
        spare = [Placed](repeating: Placed(number: 0, place: 0), count: max(count, 1))
    let sorted = elements.withUnsafeMutableBufferPointer { from in
        spare.withUnsafeMutableBufferPointer { to -> [Placed] in
            guard let start = from.baseAddress, let other = to.baseAddress else { return [] }
            let found = RadixSort.sort(start, count, spare: other) { $0.number }
            #expect(found == start || found == other)
            return Array(UnsafeBufferPointer(start: found, count: count))
        }
    }
    #expect(sorted == given.sorted { $0.number == $1.number ? $0.place < $1.place : $0.number < $1.number })
}

@Test(arguments: [1, 2, 7, 100, 1000])
func theSmallestAreThoseOfASort(limit: Int) {
    var random = Seeded(UInt64(limit))
    let numbers = (0..<500).map { _ in random.below(100) }
    // Equal ones by their place, as no order may be left to chance.
    let less = { (x: Int, y: Int) in numbers[x] == numbers[y] ? x < y : numbers[x] < numbers[y] }
    #expect(
        Smallest.indices(limit, of: numbers.count, by: less) == Array(numbers.indices.sorted(by: less).prefix(limit)))
    #expect(Smallest.indices(0, of: numbers.count, by: less).isEmpty)
}
