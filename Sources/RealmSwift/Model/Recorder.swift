/// Names of key paths: Swift has none to ask for, so a stand-in for the object notes which properties the key path reads.
///
/// Each stand-in knows how deep in the path it stands, so a property that is computed from two stored ones is found out: the path is longer than
/// the stand-in's depth when the second one is read.
public final class _Recording {
    final class Path {
        var names: [String] = []
        /// A getter read more than one stored property.
        var isComputed = false
    }
    let path: Path
    private let depth: Int

    init() { (path, depth) = (Path(), 0) }
    private init(_ path: Path, _ depth: Int, pending: String? = nil) { (self.path, self.depth, self.pending) = (path, depth, pending) }

    /// Of a field without a wrapper, which is read without a call: its name, until something behind it is read, or the key path ends there.
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
        if info.isPlain { for p in info.properties { p.access.attach(self, p, recording: recording) } }
    }
}

/// The name of a key path, as texts name it: `best.name`.
public func _name<T: ObjectBase>(for keyPath: PartialKeyPath<T>) -> String { name(of: keyPath) }
public func _name<O: ObjectBase, T: Projection<O>>(for keyPath: PartialKeyPath<T>) -> String { name(ofProjected: keyPath) }

/// The name of a key path: `best.name`.
func name<Root: ObjectBase, Value>(of keyPath: Swift.KeyPath<Root, Value>) -> String { name(of: keyPath as PartialKeyPath<Root>) }
func name<Root: ObjectBase>(of keyPath: PartialKeyPath<Root>) -> String {
    guard let name = storedName(of: keyPath) else { misuse("The key path reads a property of '\(Root.className())' that is not stored") }
    return name
}
/// nil where no stored property is read, or more than one.
func storedName<Root: ObjectBase>(of keyPath: PartialKeyPath<Root>) -> String? {
    let recording = _Recording()
    let standIn = unsafeDowncast(recording.standIn(Root.self), to: Root.self)
    // A field without a wrapper at the end of the key path.
    (standIn[keyPath: keyPath] as? any PlainProperty)?.plainRecorder?.noteRead()
    guard !recording.path.names.isEmpty, !recording.path.isComputed else { return nil }
    return recording.path.names.joined(separator: ".")
}
