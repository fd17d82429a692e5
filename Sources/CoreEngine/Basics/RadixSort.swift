/// A stable sort of elements by one number for each element. Few elements are sorted by insertion. Otherwise there is
/// one pass for each byte of the numbers, the lowest byte first. A byte that is equal in all numbers needs no pass.
enum RadixSort {
    /// Up to this count, no spare memory is used.
    static let few = 64

    /// - Parameters:
    ///   - spare: memory for the same number of elements, used for more than `few` elements.
    /// - Returns: where the sorted elements are: `elements` or `spare`.
    @inline(__always) static func sort<Element: BitwiseCopyable>(
        _ elements: UnsafeMutablePointer<Element>, _ count: Int, spare: UnsafeMutablePointer<Element>,
        by number: (Element) -> UInt64
    ) -> UnsafeMutablePointer<Element> {
        guard count > few else {
            insertionSort(elements, count, by: number)
            return elements
        }
        var same = UInt64.max, any: UInt64 = 0
        for i in 0..<count {
            let key = number(elements[i])
            same &= key
            any |= key
        }
        let differing = same ^ any
        var from = elements, to = spare
        withUnsafeTemporaryAllocation(of: Int.self, capacity: 256) { starts in
            var shift: UInt64 = 0
            while shift < 64 {
                defer { shift &+= 8 }
                if differing >> shift & 0xFF == 0 { continue }
                for i in 0..<256 { starts[i] = 0 }
                for i in 0..<count { starts[Int(number(from[i]) >> shift & 0xFF)] &+= 1 }
                var sum = 0
                for i in 0..<256 {
                    let bucketSize = starts[i]
                    starts[i] = sum
                    sum &+= bucketSize
                }
                for i in 0..<count {
                    let digit = Int(number(from[i]) >> shift & 0xFF)
                    to[starts[digit]] = from[i]
                    starts[digit] &+= 1
                }
                swap(&from, &to)
            }
        }
        return from
    }

    @inline(__always) private static func insertionSort<Element: BitwiseCopyable>(
        _ elements: UnsafeMutablePointer<Element>, _ count: Int, by number: (Element) -> UInt64
    ) {
        var i = 1
        while i < count {
            let element = elements[i], key = number(element)
            var j = i
            while j > 0, number(elements[j &- 1]) > key {
                elements[j] = elements[j &- 1]
                j &-= 1
            }
            elements[j] = element
            i &+= 1
        }
    }
}
