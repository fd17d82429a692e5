/// The common interface of a Realm's lists, sets, dictionaries and results. They are read in place, and are Swift
/// collections.
///
/// Access by index is live: `collection[i]` is the current element. A `for` loop, `map` and `Array(…)` use the elements
/// that the collection has when they begin; a slice keeps the elements that the collection has when the slice is made.
/// So a loop may change the collection that it iterates over, and the size of a slice never changes.
///
/// Calls that cannot throw pass their errors to `Misuse`: a closed Realm, a wrong thread, a deleted owner of the
/// collection, an index out of range. `load`, `element(at:)` and `elements` throw these errors.
///
/// Thread rule: that of the Realm.
public protocol LiveCollection: RandomAccessCollection where Index == Int, SubSequence == LiveSlice<Element> {
    /// The Realm that the collection belongs to.
    var realm: Realm { get }

    /// Whether the collection can be read: its Realm is open, and its owner exists.
    var isValid: Bool { get }

    /// The current number of elements. Unlike `count`, it throws.
    func load() throws(RealmError) -> Int

    /// The element at an index.
    ///
    /// - Throws: 3017 when the index is out of range.
    func element(at index: Int) throws(RealmError) -> Element

    /// The current elements: those in `bounds`, or all.
    ///
    /// - Throws: 3017 when there are fewer elements.
    func elements(in bounds: Range<Int>?) throws(RealmError) -> [Element]

    /// The placeholder for an element when a handler of `Misuse` lets the program continue.
    var noElement: Element { get }
}

extension LiveCollection {
    /// Always 0.
    public var startIndex: Int { 0 }

    /// The current number of elements.
    public var endIndex: Int { Misuse.avoided("\(Self.self).count", else: 0) { () throws(RealmError) in try load() } }

    /// The current element at the position.
    public subscript(position: Int) -> Element {
        Misuse.avoided("\(Self.self).subscript", else: noElement) { () throws(RealmError) in try element(at: position) }
    }

    /// A slice that keeps the current elements.
    public subscript(bounds: Range<Int>) -> LiveSlice<Element> {
        let part = Misuse.avoided("\(Self.self).slice", else: []) { () throws(RealmError) in try elements(in: bounds) }
        return LiveSlice(part, from: bounds.lowerBound, none: noElement)
    }

    /// All current elements.
    public func elements() throws(RealmError) -> [Element] { try elements(in: nil) }

    /// The current elements, for a loop; empty when a handler of `Misuse` lets the program continue.
    var elementsNow: [Element] {
        Misuse.avoided("\(Self.self).iteration", else: []) { () throws(RealmError) in try elements(in: nil) }
    }

    // The standard library's versions of these functions require an unchanged number of elements, and otherwise stop
    // the program.

    public func index(after i: Int) -> Int { i &+ 1 }

    public func index(before i: Int) -> Int { i &- 1 }

    public func index(_ i: Int, offsetBy distance: Int) -> Int { i &+ distance }

    public func index(_ i: Int, offsetBy distance: Int, limitedBy limit: Int) -> Int? {
        let (end, overflows) = i.addingReportingOverflow(distance)
        guard !overflows, distance >= 0 ? (limit < i || end <= limit) : (limit > i || end >= limit) else { return nil }
        return end
    }

    public func formIndex(after i: inout Int) { i &+= 1 }

    public func formIndex(before i: inout Int) { i &-= 1 }

    public func distance(from start: Int, to end: Int) -> Int { end &- start }

    /// The results of `transform` for the current elements.
    public func map<T, E: Error>(_ transform: (Element) throws(E) -> T) throws(E) -> [T] {
        var all: [T] = []
        for element in self { all.append(try transform(element)) }
        return all
    }

    /// Used by `Array(…)`.
    public func _copyToContiguousArray() -> ContiguousArray<Element> {
        ContiguousArray(IteratorSequence(makeIterator()))
    }
}

extension LiveCollection where Iterator == IndexingIterator<[Element]> {
    /// Iterates over the current elements.
    public func makeIterator() -> IndexingIterator<[Element]> { elementsNow.makeIterator() }
}

/// A part of a live collection, as it was when the slice was made: elements and size stay the same. Objects in the
/// slice may be deleted later, and are not valid then.
public struct LiveSlice<Element>: RandomAccessCollection {
    /// The index of the first element in the collection that the slice was made of.
    public let startIndex: Int
    private let elements: [Element]
    private let noElement: Element

    init(_ elements: [Element], from startIndex: Int, none noElement: Element) {
        self.startIndex = startIndex
        self.elements = elements
        self.noElement = noElement
    }

    /// The index after the last element.
    public var endIndex: Int { startIndex + elements.count }

    private func check(_ bounds: Range<Int>) throws(RealmError) -> Range<Int> {
        guard bounds.lowerBound >= startIndex, bounds.upperBound <= endIndex else {
            throw RealmError(.indexOutOfBounds, "\(bounds) of a slice \(startIndex..<endIndex)")
        }
        return bounds.lowerBound - startIndex..<bounds.upperBound - startIndex
    }

    /// The element at an index of the collection that the slice was made of. An index outside the slice is a `Misuse`.
    public subscript(position: Int) -> Element {
        guard position >= startIndex, position < endIndex else {
            let error = RealmError(.indexOutOfBounds, "Index \(position) of a slice \(startIndex..<endIndex)")
            return Misuse.answer(error, { "\(LiveSlice.self).subscript" }) { noElement }
        }
        return elements[position - startIndex]
    }

    /// A part of the slice.
    public subscript(bounds: Range<Int>) -> LiveSlice {
        let part = Misuse.avoided("LiveSlice.slice", else: 0..<0) { () throws(RealmError) in try check(bounds) }
        return LiveSlice(Array(elements[part]), from: bounds.lowerBound, none: noElement)
    }
}

extension LiveSlice: Sendable where Element: Sendable {}

extension Range<Int> {
    /// Returns the range itself after a check, or the whole collection for nil.
    static func checked(_ bounds: Range<Int>?, count: Int) throws(RealmError) -> Range<Int> {
        guard let bounds else { return 0..<count }
        guard bounds.lowerBound >= 0, bounds.upperBound <= count else {
            throw RealmError(.indexOutOfBounds, "Elements \(bounds) of a collection of \(count)")
        }
        return bounds
    }
}
