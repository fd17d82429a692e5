internal import CoreEngine
import Foundation

/// Names of key paths: Swift has none to ask for, so a stand-in for the object notes which properties the key path
/// reads.
///
/// Each stand-in knows how deep in the path it stands, so a property that is computed from two stored ones is found
/// out: the path is longer than the stand-in's depth when the second one is read.
public final class _Recording {
    final class Path {
        var names: [String] = []

        /// A getter read more than one stored property.
        var isComputed = false

        /// What was handed out last, and the type of the property that it stands for.
        var last: (value: Any, type: Any.Type)?

        /// Which of the sample values stand for those of properties; 0: those that properties begin with.
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

    /// Of a field without a wrapper, which is read without a call: its name, until something behind it is read, or the
    /// key path ends there.
    private var pending: String?
    func later(_ name: String) -> _Recording { _Recording(path, depth + 1, pending: name) }
    func noteRead() {
        guard let name = pending else { return }
        pending = nil
        if path.names.count != depth - 1 { path.isComputed = true }
        path.names.append(name)
    }

    /// A stand-in at this depth reads one of its properties.
    func reading(_ name: String, _ info: ClassInfo) -> _Recording {
        noteRead()
        if path.names.count != depth { path.isComputed = true }
        path.names.append(name)
        return _Recording(path, depth + 1)
    }
    /// The object behind the property that was read last.
    func standIn(_ type: ObjectBase.Type) -> ObjectBase {
        noteRead()
        // A property that holds a copy of itself has no end of stand-ins: only what a key path names is made.
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

/// The name of a key path, as texts name it: `best.name`.
public func _name<T: ObjectBase>(for keyPath: PartialKeyPath<T>) -> String { name(of: keyPath) }

public func _name<O: ObjectBase, T: Projection<O>>(for keyPath: PartialKeyPath<T>) -> String {
    name(ofProjected: keyPath)
}

/// The name of the property that a key path reads, `best.name`: of a computed one, that of the stored property which it
/// reads. For those who want to know on what a value depends: observers, sections, projections.
func name<Root: ObjectBase>(of keyPath: PartialKeyPath<Root>) -> String {
    guard let name = storedName(of: keyPath) else {
        misuse("The key path reads a property of '\(Root.className())' that is not stored")
    }
    return name
}

/// nil where no stored property is read, or more than one.
func storedName<Root: ObjectBase>(of keyPath: PartialKeyPath<Root>) -> String? {
    let recording = _Recording()
    _ = recording.value(of: keyPath)
    guard !recording.path.names.isEmpty, !recording.path.isComputed else { return nil }
    return recording.path.names.joined(separator: ".")
}

// MARK: Stored properties only

/// The name of a stored property, `best.name`. For those who ask the engine for its values: conditions, orders,
/// aggregates. A computed property has other values than the stored one that it reads, so it is misuse.
func nameOfStored<Root: ObjectBase>(_ keyPath: PartialKeyPath<Root>) -> String {
    if let name = knownNames.with({ $0[keyPath] }) { return name }
    let name = name(of: keyPath)
    // What a getter makes of one value may be that value; what it makes of three hardly is three times.
    for sample in 0..<3 where !showsStored(keyPath, name, sample) {
        misuse("The key path reads a property of '\(Root.className())' that is not stored, but computed from '\(name)'")
    }
    knownNames.with { names in
        // Key paths with an index in them are without number.
        if names.count >= 4096 { names = [:] }
        names[keyPath] = name
    }
    return name
}

private let knownNames = Lock<[AnyKeyPath: String]>(initial: [:])

/// Whether a key path gives exactly what stands for the property that it reads.
private func showsStored<Root: ObjectBase>(_ keyPath: PartialKeyPath<Root>, _ name: String, _ sample: Int) -> Bool {
    let recording = _Recording(sample: sample), path = recording.path
    let value = recording.value(of: keyPath), type = Swift.type(of: keyPath).valueType
    guard !path.isComputed, path.names.joined(separator: ".") == name else { return false }
    // A field without a wrapper is the property itself.
    if value is any PlainProperty, path.last == nil || type == Swift.type(of: value) { return true }
    guard let last = path.last else { return false }
    // One step of the program reads one property. (Of a key path only its description tells the steps.)
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
    /// What a key path of a stand-in gives.
    fileprivate func value<Root: ObjectBase>(of keyPath: PartialKeyPath<Root>) -> Any {
        let value = unsafeDowncast(standIn(Root.self), to: Root.self)[keyPath: keyPath]
        // A field without a wrapper at the end of the key path.
        (value as? any PlainProperty)?.plainRecorder?.noteRead()
        return value
    }
}

extension ObjectBase {
    /// What a stand-in shows in the place of a property.
    @usableFromInline final func recorded<Value: _Persistable>(_ index: Int16) -> Value {
        let value = Value._rlmRecord(self, index)
        recorder?.path.last = (value, Value.self)
        return value
    }
}
