// Arrays as foreign programs make them: in all layouts that the interface allows for the same values, with elements
// before the first one that nobody may read, and rubbish where a value is null.
@testable import CoreEngine

/// A value of an array in the making.
indirect enum Cell {
    case null
    case value(RealmValue)
    case list([Cell])
    case map([(String, Cell)])
    case structure([Cell])
}

/// How the values of an array are laid out.
indirect enum Layout {
    case integer(String)
    case bool, float, double, text, textWide, textView, textNumbered, binary, binaryWide
    case fixed(Int)
    case timestamp(Character)
    case list(Layout), listWide(Layout), map(Layout)
    case structure([(name: String, layout: Layout)])
}

final class ArrowMaker {
    typealias Pair = (schema: UnsafeMutablePointer<ArrowSchema>, array: UnsafeMutablePointer<ArrowArray>)
    private var random: Seeded
    private var kept: [UnsafeMutableRawPointer] = []

    init(seed: UInt64) { random = Seeded(seed) }

    deinit { for p in kept { p.deallocate() } }

    private func memory(_ bytes: [UInt8]) -> UnsafeRawPointer {
        let p = UnsafeMutableRawPointer.allocate(byteCount: max(1, bytes.count), alignment: 8)
        bytes.withUnsafeBytes { if let from = $0.baseAddress { p.copyMemory(from: from, byteCount: bytes.count) } }
        kept.append(p)
        return UnsafeRawPointer(p)
    }

    private func keep<T>(_ value: T) -> UnsafeMutablePointer<T> {
        let p = UnsafeMutablePointer<T>.allocate(capacity: 1)
        p.initialize(to: value)
        kept.append(UnsafeMutableRawPointer(p))
        return p
    }

    private func list<T>(_ values: [T]) -> UnsafeMutablePointer<T> {
        let p = UnsafeMutablePointer<T>.allocate(capacity: max(1, values.count))
        p.initialize(from: values, count: values.count)
        kept.append(UnsafeMutableRawPointer(p))
        return p
    }

    private func text(_ s: String) -> UnsafePointer<CChar> {
        memory(Array(s.utf8) + [0]).assumingMemoryBound(to: CChar.self)
    }

    private func bytes<T: BitwiseCopyable>(_ v: T) -> [UInt8] { withUnsafeBytes(of: v) { Array($0) } }

    /// - Parameter metadata: pairs of texts.
    func make(_ name: String, _ layout: Layout, _ cells: [Cell], metadata: [(String, String)] = []) -> Pair {
        let before = random.below(3) == 0 ? random.below(9) : 0
        let all = [Cell](repeating: .null, count: before) + cells
        var schema = ArrowSchema(), array = ArrowArray()
        schema.name = text(name)
        schema.flags = ArrowSchema.nullable
        schema.release = { _ in }
        array.release = { _ in }
        array.length = Int64(cells.count)
        array.offset = Int64(before)
        array.nullCount = -1
        if !metadata.isEmpty {
            schema.metadata = memory(
                bytes(Int32(metadata.count))
                    + metadata.flatMap { [$0.0, $0.1] }.flatMap { bytes(Int32($0.utf8.count)) + Array($0.utf8) }
            ).assumingMemoryBound(to: CChar.self)
        }
        var bits = [UInt8](repeating: 0, count: (all.count + 7) / 8), anyNull = false
        for (i, cell) in all.enumerated() {
            if case .null = cell { anyNull = anyNull || i >= before } else { bits[i / 8] |= 1 << UInt8(i % 8) }
        }
        var buffers: [UnsafeRawPointer?] = [anyNull || random.below(2) == 0 ? memory(bits) : nil]
        var children: [Pair] = []
        switch layout {
        case .integer, .bool, .float, .double, .fixed, .timestamp: buffers.append(fill(&schema, layout, all))
        case .text, .textWide, .binary, .binaryWide: buffers += bytes(&schema, layout, all)
        case .textView: buffers += views(&schema, all)
        case .textNumbered: buffers.append(numbers(&schema, &array, all))
        case .list(let element), .listWide(let element):
            var isWide = false
            if case .listWide = layout { isWide = true }
            schema.format = text(isWide ? "+L" : "+l")
            var elements: [Cell] = []
            buffers.append(
                memory(
                    offsets(all, isWide) {
                        if case .list(let l) = $0 { elements += l }
                    } _: {
                        elements.count
                    }))
            children = [make("item", element, elements)]
        case .map(let element):
            schema.format = text("+m")
            var names: [Cell] = [], values: [Cell] = []
            buffers.append(
                memory(
                    offsets(all, false) {
                        guard case .map(let m) = $0 else { return }
                        names += m.map { .value(.string($0.0)) }
                        values += m.map(\.1)
                    } _: {
                        names.count
                    }))
            let entries = zip(names, values).map { Cell.structure([$0, $1]) }
            children = [make("entries", .structure([("key", .text), ("value", element)]), entries)]
        case .structure(let fields):
            schema.format = text("+s")
            for (n, field) in fields.enumerated() {
                children.append(
                    make(field.name, field.layout, all.map { if case .structure(let s) = $0 { s[n] } else { .null } }))
            }
        }
        array.bufferCount = Int64(buffers.count)
        array.buffers = list(buffers)
        schema.childCount = Int64(children.count)
        array.childCount = schema.childCount
        schema.children = list(children.map { Optional($0.schema) })
        array.children = list(children.map { Optional($0.array) })
        return (keep(schema), keep(array))
    }

    /// Rows of a table.
    func rows(_ columns: [(name: String, layout: Layout, cells: [Cell], isLink: Bool)], count: Int) -> Pair {
        let parts = columns.map {
            make($0.name, $0.layout, $0.cells, metadata: $0.isLink ? [("a", ""), ("realm.link", "Item")] : [])
        }
        var schema = ArrowSchema(), array = ArrowArray()
        schema.format = text("+s")
        schema.release = { _ in }
        array.release = { _ in }
        array.length = Int64(count)
        array.bufferCount = 1
        array.buffers = list([nil])
        (schema.childCount, array.childCount) = (Int64(parts.count), Int64(parts.count))
        schema.children = list(parts.map { Optional($0.schema) })
        array.children = list(parts.map { Optional($0.array) })
        return (keep(schema), keep(array))
    }

    private func fill(_ schema: inout ArrowSchema, _ layout: Layout, _ cells: [Cell]) -> UnsafeRawPointer {
        var out: [UInt8] = []
        if case .bool = layout {
            schema.format = text("b")
            out = [UInt8](repeating: 0, count: (cells.count + 7) / 8)
            for (i, cell) in cells.enumerated() {
                if case .value(.bool(true)) = cell { out[i / 8] |= 1 << UInt8(i % 8) }
            }
            return memory(out)
        }
        for cell in cells {
            var value = RealmValue.null
            if case .value(let v) = cell { value = v }
            switch (layout, value) {
            case (.integer(let format), _):
                schema.format = text(format)
                var i: Int64 = 0x5555_5555_5555_5555
                if case .int(let v) = value { i = v }
                let size = ["c": 1, "C": 1, "s": 2, "S": 2, "i": 4, "I": 4][format] ?? 8
                out += bytes(i).prefix(size)
            case (.float, .float(let f)): out += bytes(f)
            case (.float, _): out += bytes(Float(7))
            case (.double, .double(let d)): out += bytes(d)
            case (.double, _): out += bytes(7.5)
            case (.fixed, .objectId(let o)):
                var b = [UInt8](repeating: 0, count: 12)
                b.withUnsafeMutableBytes { if let p = $0.baseAddress { o.copy(to: p) } }
                out += b
            case (.fixed, .uuid(let u)):
                var b = [UInt8](repeating: 0, count: 16)
                b.withUnsafeMutableBytes { if let p = $0.baseAddress { u.copy(to: p) } }
                out += b
            case (.fixed, .decimal(let d)): out += bytes(d.low) + bytes(d.high)
            case (.fixed, .data(let d)): out += d
            case (.fixed(let n), _): out += [UInt8](repeating: 0x77, count: n)
            case (.timestamp(let unit), _):
                schema.format = text("ts\(unit):UTC")
                var t = Timestamp(seconds: 99, nanoseconds: 0)
                if case .date(let known) = value { t = known }
                let per: Int64 = ["s": 1, "m": 1000, "u": 1_000_000][unit] ?? 1_000_000_000
                out += bytes(t.seconds * per + Int64(t.nanoseconds) / (1_000_000_000 / per))
            default: break
            }
        }
        switch layout {
        case .float: schema.format = text("f")
        case .double: schema.format = text("g")
        case .fixed(let n): schema.format = text("w:\(n)")
        case .integer(let format): schema.format = text(format)
        case .timestamp(let unit): schema.format = text("ts\(unit):UTC")
        default: break
        }
        return memory(out)
    }

    private func content(_ cell: Cell) -> [UInt8] {
        switch cell {
        case .value(.string(let s)): Array(s.utf8)
        case .value(.data(let d)): d
        // Nulls may have bytes of their own, whatever they are.
        default: random.below(4) == 0 ? [0xFF, 0xC0] : []
        }
    }

    private func offsets(_ cells: [Cell], _ isWide: Bool, _ add: (Cell) -> Void, _ count: () -> Int) -> [UInt8] {
        var out = isWide ? bytes(Int64(count())) : bytes(Int32(count()))
        for cell in cells {
            add(cell)
            out += isWide ? bytes(Int64(count())) : bytes(Int32(count()))
        }
        return out
    }

    private func bytes(_ schema: inout ArrowSchema, _ layout: Layout, _ cells: [Cell]) -> [UnsafeRawPointer?] {
        var isWide = false
        switch layout {
        case .textWide: (isWide, schema.format) = (true, text("U"))
        case .binaryWide: (isWide, schema.format) = (true, text("Z"))
        case .binary: schema.format = text("z")
        default: schema.format = text("u")
        }
        var data: [UInt8] = random.below(2) == 0 ? [1, 2, 3] : []
        let ends = offsets(cells, isWide) {
            data += content($0)
        } _: {
            data.count
        }
        return [memory(ends), memory(data)]
    }

    private func views(_ schema: inout ArrowSchema, _ cells: [Cell]) -> [UnsafeRawPointer?] {
        schema.format = text("vu")
        var out: [UInt8] = [], data: [[UInt8]] = [[], []]
        for cell in cells {
            let b = content(cell)
            out += bytes(Int32(b.count))
            if b.count <= 12 {
                out += b + [UInt8](repeating: 0, count: 12 - b.count)
            } else {
                let n = random.below(2)
                out += b.prefix(4) + bytes(Int32(n)) + bytes(Int32(data[n].count))
                data[n] += b
            }
        }
        return [
            memory(out), memory(data[0]), memory(data[1]),
            memory(bytes(Int64(data[0].count)) + bytes(Int64(data[1].count))),
        ]
    }

    private func numbers(_ schema: inout ArrowSchema, _ array: inout ArrowArray, _ cells: [Cell]) -> UnsafeRawPointer {
        var values: [String] = [], out: [UInt8] = []
        for cell in cells {
            guard case .value(.string(let s)) = cell else {
                out += bytes(Int16(-1))
                continue
            }
            let known = values.firstIndex(of: s)
            if known == nil { values.append(s) }
            out += bytes(Int16(known ?? values.count - 1))
        }
        schema.format = text("s")
        let pair = make("", .text, values.map { .value(.string($0)) })
        (schema.dictionary, array.dictionary) = (pair.schema, pair.array)
        return memory(out)
    }
}
