/// Returns all subclasses of `base` in the program, without a list of classes and without Objective-C. The function
/// walks the type records that the compiler writes into every image, and follows the superclass references of the
/// classes.
///
/// The scan runs no code of the program for classes that do not derive from `base`. It does not find generic classes,
/// nor classes of libraries that are loaded later. (A Realm includes those when it is opened the next time.)
///
/// The layouts are those of the Swift ABI, which is stable on some platforms. Sections: see `MetadataSections`. Records
/// and class descriptors: see docs/ABI/TypeMetadata.rst of the Swift project.
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

    /// Returns the descriptor of a class. The metadata points to it, after the pointers to the kind and the superclass
    /// and the instance sizes.
    private func descriptor(of type: AnyClass) -> UnsafeRawPointer? {
        unsafeBitCast(type, to: UnsafeRawPointer.self).load(fromByteOffset: 40, as: UnsafeRawPointer?.self)
    }

    /// Returns the metadata of a class, through the accessor function that its descriptor names.
    private func metadata(of descriptor: UnsafeRawPointer) -> AnyClass? {
        typealias Accessor = @convention(thin) (Int) -> (AnyClass, Int)
        guard let accessor = relative(descriptor + 12) else { return nil }
        return unsafeBitCast(accessor, to: Accessor.self)(0).0
    }

    /// Returns the target of a relative pointer; nil if the pointer is 0.
    private func relative(_ at: UnsafeRawPointer) -> UnsafeRawPointer? {
        let offset = at.loadUnaligned(as: Int32.self)
        return offset == 0 ? nil : at + Int(offset)
    }

    private final class Scan {
        private let root: UnsafeRawPointer
        private(set) var found: [UnsafeRawPointer] = []

        init(_ root: UnsafeRawPointer) { self.root = root }

        /// Reads one image. The third of its ranges holds the type records, four bytes each.
        func look(_ sections: UnsafeRawPointer) {
            guard let start = sections.load(fromByteOffset: 64, as: UnsafeRawPointer?.self) else { return }
            let length = sections.load(fromByteOffset: 72, as: Int.self)
            for at in stride(from: 0, to: length, by: 4) {
                guard let descriptor = context(start + at), isClass(descriptor), derives(descriptor) else { continue }
                found.append(descriptor)
            }
        }

        /// Returns the target of a type record, which points to it directly or through another pointer.
        private func context(_ record: UnsafeRawPointer) -> UnsafeRawPointer? {
            let word = record.load(as: Int32.self)
            let to = record + Int(word & ~3)
            switch word & 3 {
            case 0: return to
            case 1: return to.load(as: UnsafeRawPointer?.self)
            default: return nil
            }
        }

        /// Whether the descriptor belongs to a class that is not generic.
        private func isClass(_ descriptor: UnsafeRawPointer) -> Bool {
            let flags = descriptor.load(as: UInt32.self)
            return flags & 0x1F == 16 && flags & 0x80 == 0
        }

        private func derives(_ descriptor: UnsafeRawPointer) -> Bool {
            var at = descriptor
            // No class has this many ancestors. The limit protects against a circle in damaged records.
            for _ in 0..<64 {
                guard let next = superclass(at) else { return false }
                if next == root { return true }
                guard isClass(next) else { return false }
                at = next
            }
            return false
        }

        /// Returns the superclass descriptor that the mangled name refers to. Returns nil if there is no superclass,
        /// and for names that are not symbolic references.
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
