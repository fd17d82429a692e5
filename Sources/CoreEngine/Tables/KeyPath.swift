/// A chain of properties that starts at a class: links, and any property at the end. Rules: live-objects §6.10.
package struct KeyPath: Hashable {
    package struct Step: Hashable {
        /// The class at which the step starts, its column there (for computed properties, the backlink column), and the
        /// class that the step leads to.
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
