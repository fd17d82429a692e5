/// The computed properties that a Realm has read in its present state.
///
/// Thread rule: that of the Realm.
package final class ComputedProperties {
    /// A version, and the number of changes and moves of the Realm.
    package struct State: Equatable {
        package init(version: UInt64, change: UInt64) { (self.version, self.change) = (version, change) }
        private let version, change: UInt64
    }

    private struct Key: Hashable {
        let table: TableKey
        let name: Name
    }

    private var state = State(version: 0, change: 0)
    private var known: [Key: ComputedProperty] = [:]

    package init() {}

    package func find(_ table: TableKey, _ name: Name, _ state: State) -> ComputedProperty? {
        state == self.state ? known[Key(table: table, name: name)] : nil
    }

    package func add(_ property: ComputedProperty, _ table: TableKey, _ name: Name, _ state: State) {
        if state != self.state { (self.state, known) = (state, [:]) }
        known[Key(table: table, name: name)] = property
    }
}
