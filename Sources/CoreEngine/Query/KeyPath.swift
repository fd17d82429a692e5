/// A chain of properties from a class on: links, and any property at its end. Rules: live-objects §6.10.
package struct KeyPath: Hashable {
    package struct Step: Hashable {
        /// Class at which the step stands, its column there (for computed properties that of the backlinks), and the
        /// class it leads to.
        package let table: TableKey
        package let column: ColKey
        package let target: TableKey?
        package let isBacklink: Bool

        package init(table: TableKey, column: ColKey, target: TableKey?, isBacklink: Bool) {
            self.table = table
            self.column = column
            self.target = target
            self.isBacklink = isBacklink
        }
    }

    package let steps: [Step]

    package init(_ steps: [Step]) { self.steps = steps }
}

extension KeyPath.Step {
    init(_ hop: Hop) {
        self.init(table: hop.origin, column: hop.column, target: hop.target, isBacklink: hop.kind == .backlink)
    }
}

/// What decides about a row: properties of its own, and of the objects that it leads to.
struct RowReads {
    /// Each with the links on the way, which are read, too.
    private(set) var paths: Set<KeyPath> = []

    /// Whether these are all; otherwise anything in the file may decide.
    private(set) var isComplete = true

    mutating func add(_ steps: [KeyPath.Step]) { if !steps.isEmpty { paths.insert(KeyPath(steps)) } }

    mutating func addAnything() { isComplete = false }

    /// Classes on the paths.
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
