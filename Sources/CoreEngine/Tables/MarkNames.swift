/// The names of the tables that hold the state of synchronisation. They do not begin with `class_`, so they are no
/// classes, and other libraries leave them as they are. Format: sync.md §2.
enum MarkNames {
    static let settings: Name = "crealm_sync"
    static let classes: Name = "crealm_sync_classes"
    static let inflight: Name = "crealm_sync_inflight"
    static let refused: Name = "crealm_sync_refused"
    static let links: Name = "crealm_sync_links"

    /// The table with the unsent changes of a class.
    static func pending(_ owner: TableKey) -> Name { Name("crealm_sync_pending_\(owner.raw)") }
}
