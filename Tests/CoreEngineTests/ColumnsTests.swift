import CRealmHeaders
import Testing

@testable import CoreEngine

/// The engine fills structs that programs in C read: both declarations must mean the same bytes.
@Suite struct ArrowStructTests {
    private func offsets<T>(_ fields: PartialKeyPath<T>...) -> [Int?] {
        fields.map { MemoryLayout<T>.offset(of: $0) } + [MemoryLayout<T>.size, MemoryLayout<T>.stride, MemoryLayout<T>.alignment]
    }
    @Test func schemasAreLaidOutAsInC() {
        typealias C = CRealmHeaders.ArrowSchema
        typealias S = CoreEngine.ArrowSchema
        let inC = offsets(
            \C.format, \C.name, \C.metadata, \C.flags, \C.n_children, \C.children, \C.dictionary, \C.release, \C.private_data)
        let here = offsets(
            \S.format, \S.name, \S.metadata, \S.flags, \S.childCount, \S.children, \S.dictionary, \S.release, \S.privateData)
        #expect(inC == here)
        #expect(S.nullable == Int64(ARROW_FLAG_NULLABLE))
        #expect(S.mapKeysSorted == Int64(ARROW_FLAG_MAP_KEYS_SORTED))
    }
    @Test func arraysAreLaidOutAsInC() {
        typealias C = CRealmHeaders.ArrowArray
        typealias S = CoreEngine.ArrowArray
        let inC = offsets(
            \C.length, \C.null_count, \C.offset, \C.n_buffers, \C.n_children, \C.buffers, \C.children, \C.dictionary, \C.release,
            \C.private_data)
        let here = offsets(
            \S.length, \S.nullCount, \S.offset, \S.bufferCount, \S.childCount, \S.buffers, \S.children, \S.dictionary, \S.release,
            \S.privateData)
        #expect(inC == here)
    }
    @Test func streamsAreLaidOutAsInC() {
        typealias C = CRealmHeaders.ArrowArrayStream
        typealias S = CoreEngine.ArrowArrayStream
        let inC = offsets(\C.get_schema, \C.get_next, \C.get_last_error, \C.release, \C.private_data)
        let here = offsets(\S.getSchema, \S.getNext, \S.getLastError, \S.release, \S.privateData)
        #expect(inC == here)
    }
}
