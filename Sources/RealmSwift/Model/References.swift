/// Whether the program has no way to an instance but this variable: no other reference, and no `weak` or `unowned` one,
/// which `isKnownUniquelyReferenced` leaves out.
///
/// The one place that looks at the runtime's count of references, the second word of every object. It is compared as a
/// whole with that of an instance just made, so what its bits mean does not matter: a weak reference that was ever
/// made, another count and whatever a later runtime keeps there are differences, and then the answer is no.
@inline(__always) func isNowhereElse(_ object: inout ObjectBase?) -> Bool {
    // The first has the memory ordering that the second lacks: what other threads did with the instance is done.
    isKnownUniquelyReferenced(&object) && referenceWord(&object) == wordOfOneReference
}

/// Read through the variable: a value of its own would be another reference.
@inline(__always) private func referenceWord<T: AnyObject>(_ object: inout T?) -> UInt {
    withUnsafeBytes(of: &object) { variable in
        let address = variable.loadUnaligned(as: UInt.self)
        return UnsafeRawPointer(bitPattern: address)?.load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt.self) ?? 0
    }
}

private final class Probe {}
private let wordOfOneReference = measuredWord()

/// Not optimised: the instance would be made on the stack, where counts begin otherwise.
@_optimize(none) private func measuredWord() -> UInt {
    var probe: Probe? = Probe()
    return referenceWord(&probe)
}
