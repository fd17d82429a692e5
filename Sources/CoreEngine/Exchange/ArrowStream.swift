/// An `ArrowArrayStream` for programs: arrays of one schema, one after the other.
///
/// Thread rule: any thread, one at a time.
class ArrowStream {
    /// Differs from the current generation in a forked child, which must not use what its parent opened.
    private let generation = Realm.processGeneration
    private var message: UnsafeMutablePointer<CChar>?

    deinit { CMemory.release(message) }

    /// The schema of the arrays.
    var field: ColumnField { ColumnField(name: "", kind: .structure, isNullable: false) }

    /// Fills in the next array; false after the last one.
    func next(_ array: UnsafeMutablePointer<ArrowArray>) throws(RealmError) -> Bool { false }

    private func checkedNext(_ array: UnsafeMutablePointer<ArrowArray>) throws(RealmError) -> Bool {
        if generation != Realm.processGeneration { throw Realm.inheritedError() }
        return try next(array)
    }

    // MARK: Stream functions

    /// Passes the stream to the caller, who must release it.
    func export(to stream: UnsafeMutableRawPointer) {
        let filled = ArrowArrayStream(
            getSchema: Self.getSchema, getNext: Self.getNext, getLastError: Self.getLastError, release: Self.release,
            privateData: Unmanaged.passRetained(self).toOpaque())
        stream.initializeMemory(as: ArrowArrayStream.self, to: filled)
    }

    private static let getSchema: ArrowArrayStream.GetSchema = { stream, out in
        call(stream, out) { (stream, out) throws(RealmError) in
            try stream.field.export(to: out.assumingMemoryBound(to: ArrowSchema.self))
        }
    }

    private static let getNext: ArrowArrayStream.GetNext = { stream, out in
        call(stream, out) { (stream, out) throws(RealmError) in
            let array = out.assumingMemoryBound(to: ArrowArray.self)
            if try !stream.checkedNext(array) { array.initialize(to: ArrowArray()) }
        }
    }

    private static let getLastError: ArrowArrayStream.GetLastError = { stream in
        of(stream).flatMap { UnsafePointer($0.takeUnretainedValue().message) }
    }

    private static let release: ArrowArrayStream.Release = { stream in
        guard let stream, let object = of(stream) else { return }
        stream.assumingMemoryBound(to: ArrowArrayStream.self).pointee.release = nil
        // A forked child must not free what its parent owns.
        if object.takeUnretainedValue().generation == Realm.processGeneration { object.release() }
    }

    /// nil for a released stream.
    private static func of(_ stream: UnsafeMutableRawPointer?) -> Unmanaged<ArrowStream>? {
        guard let stream = stream?.assumingMemoryBound(to: ArrowArrayStream.self), stream.pointee.release != nil else {
            return nil
        }
        return stream.pointee.privateData.map { .fromOpaque($0) }
    }

    private static func call(
        _ stream: UnsafeMutableRawPointer?, _ out: UnsafeMutableRawPointer?,
        _ body: (ArrowStream, UnsafeMutableRawPointer) throws(RealmError) -> Void
    ) -> CInt {
        guard let object = of(stream) else { return ErrorNumber.invalidArgument }
        return object._withUnsafeGuaranteedRef { stream in
            CMemory.release(stream.message)
            stream.message = nil
            do throws(RealmError) {
                guard let out else { throw RealmError(.invalidArgument, "A required argument is NULL") }
                try body(stream, out)
                return 0
            } catch {
                stream.message = CMemory.copy(error.message)
                return error.number
            }
        }
    }
}

extension RealmError {
    /// The errno number for an error of a stream.
    fileprivate var number: CInt {
        switch code {
        case .outOfMemory: ErrorNumber.outOfMemory
        case .limitExceeded: ErrorNumber.overflow
        case .invalidArgument: ErrorNumber.invalidArgument
        case .typeMismatch: ErrorNumber.illegalSequence
        default: ErrorNumber.inputOutput
        }
    }
}
