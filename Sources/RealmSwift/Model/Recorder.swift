internal import CoreEngine
import Foundation

/// Finds the names of key paths. Swift cannot return the name of a key path, so a stand-in for the object records the
/// properties that the key path reads.
///
/// Each stand-in knows its depth in the path. This detects a property that is computed from two stored ones: the path
/// is longer than the depth of the stand-in when the second property is read.
public final class _Recording {
    final class Path {
        var names: [String] = []

        /// Whether a getter read more than one stored property.
        var isComputed = false

        /// The value that was returned last, and the type of the property that it represents.
        var last: (value: Any, type: Any.Type)?

        /// The set of sample values that represent properties; 0: the default values of properties.
        let sample: Int

        init(sample: Int) { self.sample = sample }
    }
    let path: Path
    private let depth: Int
    var sample: Int { path.sample }

    init(sample: Int = 0) { (path, depth) = (Path(sample: sample), 0) }
    private init(_ path: Path, _ depth: Int, pending: String? = nil) {
        (self.path, self.depth, self.pending) = (path, depth, pending)
    }

    /// The name of a field without a wrapper. The recorder cannot notice that a key path reads such a field. So the
    /// name is pending until the key path reads a property of the field's value, or ends at the field.
    private var pending: String?
    func later(_ name: String) -> _Recording { _Recording(path, depth + 1, pending: name) }
    func noteRead() {
        guard let name = pending else { return }
        pending = nil
        if path.names.count != depth - 1 { path.isComputed = true }
        path.names.append(name)
    }

    /// Records that a stand-in at this depth reads one of its properties.
    func reading(_ name: String, _ info: ClassInfo) -> _Recording {
        noteRead()
        if path.names.count != depth { path.isComputed = true }
        path.names.append(name)
        return _Recording(path, depth + 1)
    }
    /// Returns a stand-in for the target of the property that was read last.
    func standIn(_ type: ObjectBase.Type) -> ObjectBase {
        noteRead()
        // A class may have a property of its own type, so stand-ins are made only for the objects that a key path
        // names.
        let info = ClassInfo.of(type), object = type.init()
        object.bind(recording: self, info)
        return object
    }
}

extension ObjectBase {
    /// Makes this instance a stand-in.
    final func bind(recording: _Recording, _ info: ClassInfo) {
        let base = UnsafeMutableRawPointer(Unmanaged.passUnretained(self).toOpaque())
        info.number(base)
        recorder = recording
        _rlmState = ObjectBase.recording
        if info.isPlain {
            for property in info.properties { property.access.attach(self, property, recording: recording) }
        }
    }
}

/// Returns the name of a key path in its text form, such as `best.name`.
public func _name<T: ObjectBase>(for keyPath: PartialKeyPath<T>) -> String { name(of: keyPath) }

public func _name<O: ObjectBase, T: Projection<O>>(for keyPath: PartialKeyPath<T>) -> String {
    name(ofProjected: keyPath)
}

/// Returns the name of the property that a key path reads, such as `best.name`. For a computed property it returns the
/// name of the stored property that the getter reads. Observers, sections and projections use it to find the
/// dependencies of a value.
func name<Root: ObjectBase>(of keyPath: PartialKeyPath<Root>) -> String {
    guard let name = storedName(of: keyPath) else {
        misuse("The key path reads a property of '\(Root.className())' that is not stored")
    }
    return name
}

/// Returns the name of the stored property that a key path reads; nil if it reads no stored property, or more than one.
func storedName<Root: ObjectBase>(of keyPath: PartialKeyPath<Root>) -> String? {
    let recording = _Recording()
    _ = recording.value(of: keyPath)
    guard !recording.path.names.isEmpty, !recording.path.isComputed else { return nil }
    return recording.path.names.joined(separator: ".")
}

// MARK: Stored properties only

/// Returns the name of a stored property, such as `best.name`. Conditions, orders and aggregates use it to ask the
/// engine for the values. The values of a computed property differ from the stored ones, so a computed property is
/// misuse.
func nameOfStored<Root: ObjectBase>(_ keyPath: PartialKeyPath<Root>) -> String {
    if let name = knownNames.with({ $0[keyPath] }) { return name }
    let name = name(of: keyPath)
    // A computed property may return one sample value unchanged. It is very unlikely to do so for three values.
    for sample in 0..<3 where !showsStored(keyPath, name, sample) {
        misuse("The key path reads a property of '\(Root.className())' that is not stored, but computed from '\(name)'")
    }
    knownNames.with { names in
        // A program can make any number of key paths that contain an index, so the cache has a limit.
        if names.count >= 4096 { names = [:] }
        names[keyPath] = name
    }
    return name
}

private let knownNames = Lock<[AnyKeyPath: String]>(initial: [:])

/// Whether a key path returns exactly the sample value of the property that it reads.
private func showsStored<Root: ObjectBase>(_ keyPath: PartialKeyPath<Root>, _ name: String, _ sample: Int) -> Bool {
    let recording = _Recording(sample: sample), path = recording.path
    let value = recording.value(of: keyPath), type = Swift.type(of: keyPath).valueType
    guard !path.isComputed, path.names.joined(separator: ".") == name else { return false }
    // A field without a wrapper is the property itself.
    if value is any PlainProperty, path.last == nil || type == Swift.type(of: value) { return true }
    guard let last = path.last else { return false }
    // Each step of the key path must read one property. Only the description of a key path shows its steps.
    let text = keyPath.debugDescription, parts = text.components(separatedBy: "<computed ").count - 1
    if parts == 1, !text.contains(">?"), !text.contains(">!") {
        guard path.names.count == 1, type == last.type else { return false }
    } else if last.type is any OptionalProtocol.Type, !(type is any OptionalProtocol.Type), !text.hasSuffix("!") {
        return false
    }
    switch (unwrapped(value), unwrapped(last.value)) {
    case (nil, nil): return true
    case (let a as ObjectBase, let b as ObjectBase): return a === b
    case (let a?, let b?):
        guard let x = a as? AnyHashable, let y = b as? AnyHashable else {
            return Swift.type(of: a) == Swift.type(of: b)
        }
        return x == y
    default: return false
    }
}

extension _Recording {
    /// Returns the value of a key path that starts at a stand-in.
    fileprivate func value<Root: ObjectBase>(of keyPath: PartialKeyPath<Root>) -> Any {
        let value = unsafeDowncast(standIn(Root.self), to: Root.self)[keyPath: keyPath]
        // The key path ends at a field without a wrapper.
        (value as? any PlainProperty)?.plainRecorder?.noteRead()
        return value
    }
}

extension ObjectBase {
    /// Returns the sample value of a property of a stand-in.
    @usableFromInline final func recorded<Value: _Persistable>(_ index: Int16) -> Value {
        let value = Value._rlmRecord(self, index)
        recorder?.path.last = (value, Value.self)
        return value
    }
}
