/// All classes of the program that derive from a class, without listing them and without Objective-C: the type records
/// that the compiler writes into every image are walked, and the superclass references of the classes followed.
///
/// No code of the program runs for classes that do not derive from the one asked for. What it cannot see: generic
/// classes, and classes of libraries that are loaded later (a Realm takes those in when it is opened the next time).
///
/// The layouts are those of the Swift ABI, which is stable where Swift has one: Sections: `MetadataSections`; records
/// and class descriptors: docs/ABI/TypeMetadata.rst of the Swift project.
func subclasses(of base: AnyClass) -> [AnyClass] {
    #if os(Linux) || os(Android)
        guard let root = descriptor(of: base) else { return [] }
        let scan = Scan(root)
        swift_enumerateAllMetadataSections(
            { sections, context in
                guard let sections, let context else { return true }
                Unmanaged<Scan>.fromOpaque(context).takeUnretainedValue().look(sections)
                return true
            }, Unmanaged.passUnretained(scan).toOpaque())
        return scan.found.compactMap { metadata(of: $0) }
    #else
        return []
    #endif
}

#if os(Linux) || os(Android)
    @_silgen_name("swift_enumerateAllMetadataSections")
    private func swift_enumerateAllMetadataSections(
        _ body: @convention(c) (UnsafeRawPointer?, UnsafeMutableRawPointer?) -> Bool,
        _ context: UnsafeMutableRawPointer?)

    /// The descriptor of a class: what its metadata, behind the pointers to its kind, its superclass and the instance
    /// sizes, points to.
    private func descriptor(of type: AnyClass) -> UnsafeRawPointer? {
        unsafeBitCast(type, to: UnsafeRawPointer.self).load(fromByteOffset: 40, as: UnsafeRawPointer?.self)
    }

    /// The metadata of a class, by the accessor function that its descriptor names.
    private func metadata(of descriptor: UnsafeRawPointer) -> AnyClass? {
        typealias Accessor = @convention(thin) (Int) -> (AnyClass, Int)
        guard let accessor = relative(descriptor + 12) else { return nil }
        return unsafeBitCast(accessor, to: Accessor.self)(0).0
    }

    /// Where a relative pointer leads; nil for 0.
    private func relative(_ at: UnsafeRawPointer) -> UnsafeRawPointer? {
        let offset = at.loadUnaligned(as: Int32.self)
        return offset == 0 ? nil : at + Int(offset)
    }

    private final class Scan {
        private let root: UnsafeRawPointer
        private(set) var found: [UnsafeRawPointer] = []

        init(_ root: UnsafeRawPointer) { self.root = root }

        /// One image: the third of its ranges are the type records, four bytes each.
        func look(_ sections: UnsafeRawPointer) {
            guard let start = sections.load(fromByteOffset: 64, as: UnsafeRawPointer?.self) else { return }
            let length = sections.load(fromByteOffset: 72, as: Int.self)
            for at in stride(from: 0, to: length, by: 4) {
                guard let descriptor = context(start + at), isClass(descriptor), derives(descriptor) else { continue }
                found.append(descriptor)
            }
        }

        /// What a type record points to: directly, or through a pointer.
        private func context(_ record: UnsafeRawPointer) -> UnsafeRawPointer? {
            let word = record.load(as: Int32.self)
            let to = record + Int(word & ~3)
            switch word & 3 {
            case 0: return to
            case 1: return to.load(as: UnsafeRawPointer?.self)
            default: return nil
            }
        }

        /// A class that is not generic.
        private func isClass(_ descriptor: UnsafeRawPointer) -> Bool {
            let flags = descriptor.load(as: UInt32.self)
            return flags & 0x1F == 16 && flags & 0x80 == 0
        }

        private func derives(_ descriptor: UnsafeRawPointer) -> Bool {
            var at = descriptor
            // No class has that many ancestors: a circle would be damage.
            for _ in 0..<64 {
                guard let next = superclass(at) else { return false }
                if next == root { return true }
                guard isClass(next) else { return false }
                at = next
            }
            return false
        }

        /// The descriptor that the mangled name of the superclass refers to; nil for none, and for names that are no
        /// symbolic reference.
        private func superclass(_ descriptor: UnsafeRawPointer) -> UnsafeRawPointer? {
            guard let name = relative(descriptor + 20) else { return nil }
            switch name.load(as: UInt8.self) {
            case 1: return relative(name + 1)
            case 2: return relative(name + 1)?.load(as: UnsafeRawPointer?.self)
            default: return nil
            }
        }
    }
#endif
