// The worked bytes of the format documents, both ways.
import Testing

@testable import CoreEngine

@Test func nodeHeaderOfAppendixA() {
    // 41 41 41 41 46 00 00 07: has-refs, 32 bits, 7 elements.
    let h = NodeHeader(word: UInt64(littleEndian: 0x0700_0046_4141_4141))
    #expect(h.hasRefs && !h.isInner && h.width == 32 && h.count == 7 && h.payloadSize == 28)
    #expect(h.diskWord == 0x0700_0046_4141_4141)
    // 41 41 41 41 11 00 00 12: a blob of 18 bytes.
    let b = NodeHeader(word: 0x1200_0011_4141_4141)
    #expect(b.widthTypeBits == 2 && b.count == 18 && b.payloadSize == 18)
    #expect(NodeHeader(word: 0x0100_0018_0000_0000).payloadSize == nil)
}

@Test func taggedIntegersAre63Bits() {
    for n in [0, 1, 15, 0x1000, UInt64.max >> 1] as [UInt64] {
        let t = RefOrTagged(tagged: n)
        #expect(t.isTagged && t.integer == n)
    }
    #expect(RefOrTagged(tagged: 0x1000 as UInt64).raw == 0x2001)
    #expect(!RefOrTagged(Ref(0x18)).isTagged)
}

@Test func fileHeaderRoundTrip() {
    var bytes = [UInt8](repeating: 0xEE, count: 24)
    var h = FileHeader()
    h.topRefs = (.max, 0x1B0)
    h.formats = (24, 24)
    bytes.withUnsafeMutableBytes { h.encode(into: $0.baseAddress!) }
    #expect(Array(bytes[16..<20]) == Array("T-DB".utf8))
    var copy = bytes.withUnsafeBytes { FileHeader(bytes: $0.baseAddress!) }
    #expect(copy == h && copy.isStreaming)
    copy.flags = 1
    #expect(!copy.isStreaming && copy.liveTopRef == 0x1B0)
}

@Test func changesetOfTheDocument() throws {
    // New class 0 with three columns; an object; a value: storage §6.4.
    let e = ChangesetEncoder(try HiddenMemory(4096))
    let table = TableKey(0)
    e.tableAdded(table)
    for c in [0, 0xC06_0001, 0x406_0002] as [Int64] { e.columnAdded(table, ColKey(c)) }
    #expect(
        Array(try e.bytes) == [
            0x01, 0x00, 0x0A, 0x00, 0x00, 0x14, 0x00, 0x14, 0x81, 0x80, 0x98, 0xE0, 0x00, 0x14, 0x82, 0x80, 0x98, 0x20,
        ])
    e.reset()
    e.objectCreated(table, ObjKey(0))
    e.valueSet(table, ObjKey(0), ColKey(0))  // Left out: the newest object.
    #expect(Array(try e.bytes) == [0x0A, 0x00, 0x00, 0x0B, 0x00])
    e.reset()
    e.valueSet(table, ObjKey(0), ColKey(0))
    let list = CollectionPlace(table: table, object: ObjKey(0), column: ColKey(0xC06_0001))
    e.elementInserted(table, ObjKey(0), ColKey(0xC06_0001), 0)
    e.collectionChanged(list, .insert(1))
    e.collectionChanged(list, .set(0))
    e.collectionChanged(list, .erase(1))
    let selected: [UInt8] = [0x0A, 0x00, 0x00, 0x0D, 0x00, 0x00, 0x1E, 0x81, 0x80, 0x98, 0xE0, 0x00, 0x00]
    #expect(Array(try e.bytes) == selected + [0x1F, 0x00, 0x1F, 0x01, 0x20, 0x00, 0x23, 0x01])
    e.reset()
    // The same column again and again, then another one and another table.
    for k: Int64 in [0, 64, 1] { e.valueSet(table, ObjKey(k), ColKey(0x406_0002)) }
    e.valueSet(table, ObjKey(2), ColKey(1))
    e.valueSet(TableKey(1), ObjKey(2), ColKey(1))
    e.valueSet(table, ObjKey(3), ColKey(1))
    #expect(
        Array(try e.bytes) == [
            0x0A, 0x00, 0x00, 0x0D, 0x82, 0x80, 0x98, 0x20, 0x00, 0x0D, 0x82, 0x80, 0x98, 0x20, 0xC0, 0x00, 0x0D, 0x82,
            0x80, 0x98, 0x20, 0x01,
            0x0D, 0x01, 0x02, 0x0A, 0x00, 0x01, 0x0D, 0x01, 0x02, 0x0A, 0x00, 0x00, 0x0D, 0x01, 0x03,
        ])
    e.reset()
    e.collectionChanged(
        CollectionPlace(table: table, object: ObjKey(0), column: ColKey(0x406_0002), path: [-10]), .insert(0))
    e.elementInserted(table, ObjKey(0), ColKey(0x406_0002), 2)
    #expect(
        Array(try e.bytes) == [
            0x0A, 0x00, 0x00, 0x2D, 0x82, 0x80, 0x98, 0x20, 0x00, 0x01, 0x49, 0x1F, 0x00, 0x1E, 0x82, 0x80, 0x98, 0x20,
            0x00, 0x1F, 0x02,
        ])
    e.reset()
    e.objectRemoved(table, ObjKey(-10))
    #expect(Array(try e.bytes) == [0x0A, 0x00, 0x00, 0x0C, 0x49])
}

@Test func decimalsCompareByValue() {
    func d(_ c: Int, _ e: Int, _ n: Bool = false) -> Decimal128 {
        Decimal128(negative: n, coefficient: UInt128(c), exponent: e)
    }
    let ascending = [
        Decimal128(low: 0, high: 0x7C00_0000_0000_0000), Decimal128.null,
        Decimal128(low: 0, high: 0xF800_0000_0000_0000), d(5, 6000, true),
        d(1, 0, true),
        d(0, 0), d(1, -6000), d(15, -1), d(2, 0), d(10, 5), d(99, 6000),
        Decimal128(low: 0, high: 0x7800_0000_0000_0000),
    ]
    for (i, a) in ascending.enumerated() {
        for (j, b) in ascending.enumerated() {
            #expect(Decimal128.compare(a, b) == (i < j ? -1 : (i == j ? 0 : 1)), "\(a) \(b)")
        }
    }
    #expect(Decimal128.compare(d(100, -2), d(1, 0)) == 0)
    #expect(d(12345, -2).description == "123.45" && d(1, 10).description == "1E+10" && d(7, -9).description == "7E-9")
}

@Test func mixedOrderIsATotalOrder() {
    let text: StaticString = "abc"
    let b = Bytes(start: text.utf8Start, count: 3)
    let values: [Mixed] = [
        .null, .bool(false), .bool(true), .double(-.infinity), .int(.min), .double(-1e18), .int(-1), .double(-0.5),
        .int(0), .float(0.25),
        .decimal(Decimal128(negative: false, coefficient: 3, exponent: -1)),
        .int(1), .double(1e9), .int(.max), .double(0x1p63), .string(Bytes(start: nil, count: 0)), .string(b),
        .binary(b),
        .timestamp(Timestamp(seconds: -1, nanoseconds: 0)),
        .timestamp(Timestamp(seconds: 0, nanoseconds: 1)), .objectId(ObjectId(high: 1, low: 0)),
        .uuid(UUIDValue(high: 1, low: 0)),
        .typedLink(TableKey(1), ObjKey(0)), .list(.null), .dictionary(.null),
    ]
    for (i, x) in values.enumerated() {
        for (j, y) in values.enumerated() {
            #expect(Mixed.compare(x, y) == (i < j ? -1 : (i == j ? 0 : 1)), "\(i) \(j)")
        }
    }
}
