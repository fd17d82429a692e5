/// What lists, sets, dictionaries and results of a Realm share: they are read where they lie, and as Swift collections.
///
/// Access by index is live: `collection[i]` is what stands there now. A `for` loop, `map`, `Array(…)` and a slice have
/// the elements that there were when they began, or when it was made; so a loop may change the collection that it goes
/// over, and a slice has its size for good.
///
/// What cannot throw passes its errors to `Misuse`: of a closed Realm, on another thread, of a collection whose owner
/// is gone, for an index out of range. `load`, `element(at:)` and `elements` throw them.
///
/// Thread rule: that of the Realm.
public protocol LiveCollection: RandomAccessCollection where Index == Int, SubSequence == LiveSlice<Element> {
    /// The Realm it belongs to.
    var realm: Realm { get }

    /// Whether it can be read: its Realm is open, and its owner still there.
    var isValid: Bool { get }

    /// Number of elements now, or the error that `count` cannot throw.
    func load() throws(RealmError) -> Int

    /// The element at an index.
    ///
    /// - Throws: 3017 when the index is out of range.
    func element(at index: Int) throws(RealmError) -> Element

    /// The elements of this moment: those in `bounds`, or all of them.
    ///
    /// - Throws: 3017 when there are fewer.
    func elements(in bounds: Range<Int>?) throws(RealmError) -> [Element]

    /// What stands for an element where a handler of `Misuse` goes on without one.
    var noElement: Element { get }
}

extension LiveCollection {
    /// Always 0.
    public var startIndex: Int { 0 }

    /// Number of elements now.
    public var endIndex: Int { Misuse.avoided("\(Self.self).count", else: 0) { () throws(RealmError) in try load() } }

    /// The element that stands there now.
    public subscript(position: Int) -> Element {
        Misuse.avoided("\(Self.self).subscript", else: noElement) { () throws(RealmError) in try element(at: position) }
    }

    /// The elements that stand there now, for good.
    public subscript(bounds: Range<Int>) -> LiveSlice<Element> {
        let part = Misuse.avoided("\(Self.self).slice", else: []) { () throws(RealmError) in try elements(in: bounds) }
        return LiveSlice(part, from: bounds.lowerBound, none: noElement)
    }

    /// All elements of this moment.
    public func elements() throws(RealmError) -> [Element] { try elements(in: nil) }

    /// The elements that there are now, for a loop; none where a handler of `Misuse` goes on without them.
    var elementsNow: [Element] {
        Misuse.avoided("\(Self.self).iteration", else: []) { () throws(RealmError) in try elements(in: nil) }
    }

    // What the standard library has for these checks that a collection has the same number of elements before and
    // after, and stops the program.

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

    /// What `transform` makes of the elements that there are now.
    public func map<T, E: Error>(_ transform: (Element) throws(E) -> T) throws(E) -> [T] {
        var all: [T] = []
        for element in self { all.append(try transform(element)) }
        return all
    }

    /// For `Array(…)`.
    public func _copyToContiguousArray() -> ContiguousArray<Element> {
        ContiguousArray(IteratorSequence(makeIterator()))
    }
}

extension LiveCollection where Iterator == IndexingIterator<[Element]> {
    /// Goes over the elements that there are now.
    public func makeIterator() -> IndexingIterator<[Element]> { elementsNow.makeIterator() }
}

/// A part of a live collection, as it was when it was made: it keeps its elements and its size. Objects in it may be
/// deleted later, and are not valid then.
public struct LiveSlice<Element>: RandomAccessCollection {
    /// That of the collection which the slice was made of.
    public let startIndex: Int
    private let elements: [Element]
    private let noElement: Element

    init(_ elements: [Element], from startIndex: Int, none noElement: Element) {
        self.startIndex = startIndex
        self.elements = elements
        self.noElement = noElement
    }

    /// One behind the last element.
    public var endIndex: Int { startIndex + elements.count }

    private func check(_ bounds: Range<Int>) throws(RealmError) -> Range<Int> {
        guard bounds.lowerBound >= startIndex, bounds.upperBound <= endIndex else {
            throw RealmError(.indexOutOfBounds, "\(bounds) of a slice \(startIndex..<endIndex)")
        }
        return bounds.lowerBound - startIndex..<bounds.upperBound - startIndex
    }

    /// The element at an index of the collection which the slice was made of. An index that is not of the slice is a
    /// `Misuse`.
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
    /// Itself, or what `nil` stands for: everything there is.
    static func checked(_ bounds: Range<Int>?, count: Int) throws(RealmError) -> Range<Int> {
        guard let bounds else { return 0..<count }
        guard bounds.lowerBound >= 0, bounds.upperBound <= count else {
            throw RealmError(.indexOutOfBounds, "Elements \(bounds) of a collection of \(count)")
        }
        return bounds
    }
}
