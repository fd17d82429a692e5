extension KeyPath.Step {
    init(_ hop: Hop) {
        self.init(table: hop.origin, column: hop.column, target: hop.target, isBacklink: hop.kind == .backlink)
    }
}

/// The properties that decide whether a row matches: those of the row, and those of objects that its links lead to.
struct RowReads {
    /// The paths. The links on each path are read too.
    private(set) var paths: Set<KeyPath> = []

    /// Whether `paths` is complete. If not, anything in the file can decide.
    private(set) var isComplete = true

    mutating func add(_ steps: [KeyPath.Step]) { if !steps.isEmpty { paths.insert(KeyPath(steps)) } }

    mutating func addAnything() { isComplete = false }

    /// All classes on the paths.
    var tables: Set<TableKey> {
        var found: Set<TableKey> = []
        for path in paths {
            for step in path.steps {
                found.insert(step.table)
                if let target = step.target { found.insert(target) }
            }
        }
        return found
    }
}
