/// Copies objects into another group, or beside the originals: all properties, and embedded objects in full.
///
/// Merging copies from another file, a migration copies inside one. They differ in the `Rules`: which table and columns
/// belong together, and where links lead.
///
/// Invariants
/// 1. Embedded objects that a copy needs are created when their owner is copied, and filled later: the depth of the
///    data needs no stack.
/// 2. A value of a damaged source is read at most as often as a sound file could need (`Group.startWalk`).
final class ObjectCopier<Rules: CopyRules> {
    private let source: Group
    private let target: Group
    private let rules: Rules

    /// Objects whose properties are still to be copied.
    private var pending: [Job] = []

    /// The property that is being copied, and the level of its object below the object that the caller passed.
    private var column: Column?
    private var owned: CopyPlan?
    private var depth = 0

    private struct Job {
        let old: ObjKey
        let new: ObjKey
        let plan: CopyPlan
        let depth: Int
    }

    init(from source: Group, to target: Group, _ rules: Rules) {
        self.source = source
        self.target = target
        self.rules = rules
    }

    /// Copies the properties of object `old` to the existing object `new`. Values that `new` has are replaced.
    func copy(_ old: ObjKey, to new: ObjKey, _ plan: CopyPlan) throws(RealmError) {
        pending = [Job(old: old, new: new, plan: plan, depth: 0)]
        while let job = pending.popLast() {
            guard job.depth < Tables.maxNesting else { throw Tables.embeddedTooDeeply }
            depth = job.depth
            for (column, facts) in job.plan.columns { try copyProperty(column, facts, job) }
        }
    }

    private func copyProperty(_ column: Column, _ facts: ColumnFacts, _ job: Job) throws(RealmError) {
        let plan = job.plan
        source.startWalk()
        self.column = column
        owned = column.type == .link ? try rules.ownedPlan(column.oppositeTable) : nil
        let path = CollectionPath(table: plan.to.key, object: job.new, column: facts.key)
        if let shape = column.shape {
            let from = CollectionPath(table: plan.from.key, object: job.old, column: column.key)
            guard let content = try source.resolve(from) else {
                return try plan.to.edit(path, as: shape) { (editor) throws(RealmError) in try editor.clear() }
            }
            return try fill(plan.to, path, shape, content, clearing: true)
        }
        guard let value = try plan.from.get(job.old, plan.from.facts(column.key) ?? facts) else { return }
        if owned != nil, let child = value.objectKey {
            return created(try plan.to.setNewTarget(job.new, facts), for: child)
        }
        switch try element(value) {
        case .omitted: _ = try plan.to.set(job.new, facts, .null)
        case .value(let value): _ = try plan.to.set(job.new, facts, value)
        case .owned: break
        case .nested(let shape, let content):
            // An existing collection would be kept: null removes it.
            _ = try plan.to.set(job.new, facts, .null)
            _ = try plan.to.set(job.new, facts, shape == .list ? .emptyList : .emptyDictionary)
            try fill(plan.to, path, shape, content)
        }
    }

    private func element(_ value: Mixed) throws(RealmError) -> CopiedElement<CollectionContent> {
        guard let column else { return .omitted }
        switch value {
        case .link(let key): return try rules.link(column.oppositeTable, key).map { .value($0) } ?? .omitted
        case .typedLink(let table, let key): return try rules.link(table, key).map { .value($0) } ?? .omitted
        case .list(let root):
            try source.enterNested(at: .null)
            return .nested(.list, .list(try ElementList(source.store, root: root, kind: .mixed, target: .null)))
        case .dictionary(let root):
            try source.enterNested(at: .null)
            return .nested(
                .dictionary,
                .dictionary(
                    try ElementDictionary(source.store, root: root, keyType: .string, format: Format.currentVersion)))
        default: return .value(value)
        }
    }
}

extension ObjectCopier: ValueSource {
    func eachElement(
        _ content: CollectionContent, _ body: (Bytes, Mixed?) throws(RealmError) -> Void
    ) throws(RealmError) {
        switch content {
        case .list(let list): for i in 0..<list.count { try body(Bytes(start: nil, count: 0), try list.get(i)) }
        case .dictionary(let dictionary):
            for i in 0..<dictionary.count {
                if case .string(let name) = try dictionary.key(i) { try body(name, try dictionary.value(i)) }
            }
        }
    }

    func copied(_ value: Mixed?, into shape: CollectionShape, _: CollectionContent) throws(RealmError)
        -> CopiedElement<CollectionContent>
    {
        guard let value else { return .omitted }
        if owned != nil {
            if let child = value.objectKey { return .owned(child) }
            return shape == .dictionary ? .value(.null) : .omitted
        }
        let new = try element(value)
        // A link whose target was not copied becomes null in a list of Mixed values and in a dictionary. Other
        // collections leave it out.
        if case .omitted = new, shape == .dictionary || (shape == .list && column?.type == .mixed) {
            return .value(.null)
        }
        return new
    }

    func created(_ new: ObjKey, for old: ObjKey) {
        if let owned { pending.append(Job(old: old, new: new, plan: owned, depth: depth + 1)) }
    }
}

/// The tables of a class on both sides of a copy, and the columns to copy.
struct CopyPlan {
    let from: Table
    let to: Table
    var columns: [(from: Column, to: ColumnFacts)] = []
}

/// The decisions that a copy of objects needs, in addition to the values.
protocol CopyRules {
    /// How objects of a table of the source are copied, if the table is embedded.
    func ownedPlan(_ table: TableKey) throws(RealmError) -> CopyPlan?

    /// The link of the target in place of a link of the source; nil if its object does not exist in the target.
    func link(_ table: TableKey, _ key: ObjKey) throws(RealmError) -> Mixed?
}

extension Mixed {
    fileprivate var objectKey: ObjKey? {
        switch self {
        case .link(let key), .typedLink(_, let key): key
        default: nil
        }
    }
}
