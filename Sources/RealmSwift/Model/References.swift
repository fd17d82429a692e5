/// Returns whether this variable holds the only reference to the instance. `weak` and `unowned` references also count,
/// unlike in `isKnownUniquelyReferenced`.
///
/// This is the only code that reads the runtime's reference count, the second word of every object. The word is
/// compared as a whole with that of a newly made instance, so the meaning of its bits does not matter. An earlier weak
/// reference, another count, or additional data of a later runtime makes the words differ, and then the result is
/// false.
@inline(__always) func isNowhereElse(_ object: inout ObjectBase?) -> Bool {
    // The first call provides the memory ordering that the second lacks: the actions of other threads on the instance
    // are complete.
    isKnownUniquelyReferenced(&object) && referenceWord(&object) == wordOfOneReference
}

/// Reads the word through the variable, because a local copy would be another reference.
@inline(__always) private func referenceWord<T: AnyObject>(_ object: inout T?) -> UInt {
    withUnsafeBytes(of: &object) { variable in
        let address = variable.loadUnaligned(as: UInt.self)
        return UnsafeRawPointer(bitPattern: address)?.load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt.self) ?? 0
    }
}

private final class Probe {}
private let wordOfOneReference = measuredWord()

/// The optimiser is off because it would make the instance on the stack, where the count starts differently.
@_optimize(none) private func measuredWord() -> UInt {
    var probe: Probe? = Probe()
    return referenceWord(&probe)
}
