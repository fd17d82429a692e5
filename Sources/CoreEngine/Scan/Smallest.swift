/// Keeps the smallest elements of a sequence, at most `limit`, without sorting the rest. A heap whose root is the
/// greatest kept element.
struct Smallest<Element> {
    private let limit: Int
    private var heap: [Element] = []

    /// - Parameter limit: at least 1.
    init(_ limit: Int) { self.limit = limit }

    /// The greatest kept element once there are `limit`; a new element must be less to be kept. nil while there is
    /// space for more.
    @inline(__always) var greatest: Element? { heap.count < limit ? nil : heap[0] }

    @inline(__always) mutating func take(_ new: Element, by less: (Element, Element) -> Bool) {
        if heap.count < limit {
            heap.append(new)
            rise(by: less)
        } else if less(new, heap[0]) {
            heap[0] = new
            sink(by: less)
        }
    }

    func sorted(by less: (Element, Element) -> Bool) -> [Element] { heap.sorted(by: less) }

    private mutating func rise(by less: (Element, Element) -> Bool) {
        var child = heap.count - 1
        while child > 0, less(heap[(child - 1) / 2], heap[child]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func sink(by less: (Element, Element) -> Bool) {
        var parent = 0
        while true {
            var child = parent * 2 + 1
            if child >= heap.count { return }
            if child + 1 < heap.count, less(heap[child], heap[child + 1]) { child += 1 }
            if !less(heap[parent], heap[child]) { return }
            heap.swapAt(parent, child)
            parent = child
        }
    }
}

extension Smallest where Element == Int {
    /// The indices of the smallest `limit` elements among 0 … `count − 1`, in order.
    static func indices(_ limit: Int, of count: Int, by less: (Int, Int) -> Bool) -> [Int] {
        guard limit > 0 else { return [] }
        var kept = Smallest(limit)
        for index in 0..<count { kept.take(index, by: less) }
        return kept.sorted(by: less)
    }
}
