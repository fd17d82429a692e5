import CRealmHeaders
import CoreEngine

/// Results: rows that follow the data.
final class ResultsHandle: Handle {
    let box: RealmBox
    let results: ResultSet
    private let unmanagedResults: Unmanaged<ResultSet>
    init(_ box: RealmBox, _ results: ResultSet) {
        self.box = box
        self.results = results
        unmanagedResults = .passUnretained(results)
        super.init(.results)
    }
    override func cloned() -> Handle? { ResultsHandle(box, results) }
    @inline(__always) func object(_ i: Int) throws(RealmError) -> (TableKey, ObjKey) {
        try unmanagedResults.borrow { (r: ResultSet) throws(RealmError) in try r.object(i) }
    }
}
func resultsHandle(_ p: OpaquePointer?) -> ResultsHandle? { handle(p, .results, ResultsHandle.self) }

/// Runs `body` on results and makes a handle of the results it returns.
private func derive(_ p: OpaquePointer?, _ body: (ResultSet) throws(RealmError) -> ResultSet) -> OpaquePointer? {
    guard let r = resultsHandle(p) else { return nil }
    return attemptHandle { () throws(RealmError) in ResultsHandle(r.box, try body(r.results)) }
}

@_cdecl("realm_object_find_all")
public func realm_object_find_all(_ r: OpaquePointer?, _ table: UInt32) -> OpaquePointer? {
    guard let r = realmHandle(r) else { return nil }
    return attemptHandle { () throws(RealmError) in
        _ = try r.realm.tableName(TableKey(table))
        return ResultsHandle(r.box, try ResultSet(r.realm, .table(TableKey(table))))
    }
}
@_cdecl("realm_get_backlinks")
public func realm_get_backlinks(_ o: OpaquePointer?, _ table: UInt32, _ property: Int64) -> OpaquePointer? {
    guard let o = objectHandle(o) else { return nil }
    return attemptHandle { () throws(RealmError) in
        _ = try o.realm.backlinks(o.table, o.key, from: TableKey(table), ColKey(property))
        return ResultsHandle(o.box, try ResultSet(o.realm, .backlinks(of: o.table, o.key, from: TableKey(table), ColKey(property))))
    }
}

// MARK: Reading

@_cdecl("realm_results_is_valid")
public func realm_results_is_valid(_ r: OpaquePointer?, _ out: UnsafeMutablePointer<Bool>?) -> Bool {
    guard let r = resultsHandle(r) else { return false }
    return attempt { () throws(RealmError) in
        let valid = try r.results.isValid()
        out?.pointee = valid
    }
}
@_cdecl("realm_results_count")
public func realm_results_count(_ r: OpaquePointer?, _ out: UnsafeMutablePointer<Int>?) -> Bool {
    guard let r = resultsHandle(r) else { return false }
    return attempt { () throws(RealmError) in
        let n = try r.results.count()
        out?.pointee = n
    }
}
@_cdecl("realm_results_get")
public func realm_results_get(_ r: OpaquePointer?, _ index: Int, _ out: UnsafeMutablePointer<realm_value_t>?) -> Bool {
    guard let r = resultsHandle(r) else { return false }
    return attempt { () throws(RealmError) in
        let v = try r.results.value(index)
        if let out { store(v, out) }
    }
}
@_cdecl("realm_results_get_object")
public func realm_results_get_object(_ r: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    guard let r else { return fail(nullArgument()) }
    let u = Unmanaged<ResultsHandle>.fromOpaque(UnsafeRawPointer(r))
    do throws(RealmError) {
        return try u.borrow { (r: ResultsHandle) throws(RealmError) -> OpaquePointer in
            guard r.kind == .results else { throw RealmError(.invalidArgument, "A handle of another kind was passed") }
            let (t, k) = try r.object(index)
            return ObjectHandle.make(r.box, t, k)
        }
    } catch { return fail(error) }
}
private func nested(_ r: OpaquePointer?, _ index: Int, _ kind: Handle.Kind) -> OpaquePointer? {
    guard let r = resultsHandle(r) else { return nil }
    return attemptHandle { () throws(RealmError) in
        guard let path = try r.results.nestedPath(index) else { return nil }
        switch (try r.results.value(index), kind) {
        case (.list, .list), (.dictionary, .dictionary): return CollectionHandle(kind, r.box, path)
        default: return nil
        }
    }
}
@_cdecl("realm_results_get_list")
public func realm_results_get_list(_ r: OpaquePointer?, _ index: Int) -> OpaquePointer? { nested(r, index, .list) }
@_cdecl("realm_results_get_dictionary")
public func realm_results_get_dictionary(_ r: OpaquePointer?, _ index: Int) -> OpaquePointer? { nested(r, index, .dictionary) }

@_cdecl("realm_results_find")
public func realm_results_find(
    _ r: OpaquePointer?, _ value: UnsafeMutablePointer<realm_value_t>?, _ index: UnsafeMutablePointer<Int>?, _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    report(nil, index, found)
    guard let r = resultsHandle(r) else { return false }
    return attempt { () throws(RealmError) in
        guard let value else { throw nullArgument() }
        report(try r.results.find(try load(value.pointee)), index, found)
    }
}
@_cdecl("realm_results_find_object")
public func realm_results_find_object(
    _ r: OpaquePointer?, _ o: OpaquePointer?, _ index: UnsafeMutablePointer<Int>?, _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    report(nil, index, found)
    guard let r = resultsHandle(r), let o = objectHandle(o) else { return false }
    return attempt { () throws(RealmError) in report(try r.results.find(o.table, o.key), index, found) }
}

// MARK: Making others

@_cdecl("realm_results_filter")
public func realm_results_filter(_ r: OpaquePointer?, _ q: OpaquePointer?) -> OpaquePointer? {
    guard let q = queryHandle(q) else { return nil }
    return derive(r) { (r) throws(RealmError) in try r.filtered(q.query) }
}
@_cdecl("realm_results_sort")
public func realm_results_sort(_ r: OpaquePointer?, _ sort: UnsafePointer<CChar>?) -> OpaquePointer? {
    derive(r) { (r) throws(RealmError) in try r.sorted(try text(sort)) }
}
@_cdecl("realm_results_distinct")
public func realm_results_distinct(_ r: OpaquePointer?, _ distinct: UnsafePointer<CChar>?) -> OpaquePointer? {
    derive(r) { (r) throws(RealmError) in try r.distinct(try text(distinct)) }
}
@_cdecl("realm_results_limit")
public func realm_results_limit(_ r: OpaquePointer?, _ n: Int) -> OpaquePointer? {
    // A size_t beyond the largest Int limits nothing.
    derive(r) { (r) throws(RealmError) in try r.limited(n < 0 ? .max : n) }
}
@_cdecl("realm_results_snapshot")
public func realm_results_snapshot(_ r: OpaquePointer?) -> OpaquePointer? { derive(r) { (r) throws(RealmError) in try r.snapshot() } }
@_cdecl("realm_results_resolve_in")
public func realm_results_resolve_in(_ r: OpaquePointer?, _ target: OpaquePointer?) -> OpaquePointer? {
    guard let r = resultsHandle(r), let target = realmHandle(target) else { return nil }
    return attemptHandle { () throws(RealmError) in
        try r.results.verifyOwner()
        try target.realm.verify()
        return ResultsHandle(target.box, try r.results.resolved(in: target.realm))
    }
}
@_cdecl("realm_results_get_query")
public func realm_results_get_query(_ r: OpaquePointer?) -> OpaquePointer? {
    guard let r = resultsHandle(r) else { return nil }
    return attemptHandle { () throws(RealmError) in QueryHandle(r.box, try r.results.objectQuery()) }
}
@_cdecl("realm_results_delete_all")
public func realm_results_delete_all(_ r: OpaquePointer?) -> Bool {
    guard let r = resultsHandle(r) else { return false }
    return attempt { () throws(RealmError) in try r.results.deleteAll() }
}

// MARK: Aggregates

private func aggregate(
    _ r: OpaquePointer?, _ kind: ResultSet.Aggregation, _ property: Int64, _ out: UnsafeMutablePointer<realm_value_t>?, _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    guard let r = resultsHandle(r) else { return false }
    return attempt { () throws(RealmError) in
        let result = try r.results.aggregate(kind, ColKey(property))
        if let out { store(result.value, out) }
        found?.pointee = result.found
    }
}
@_cdecl("realm_results_min")
public func realm_results_min(_ r: OpaquePointer?, _ p: Int64, _ out: UnsafeMutablePointer<realm_value_t>?, _ found: UnsafeMutablePointer<Bool>?) -> Bool {
    aggregate(r, .min, p, out, found)
}
@_cdecl("realm_results_max")
public func realm_results_max(_ r: OpaquePointer?, _ p: Int64, _ out: UnsafeMutablePointer<realm_value_t>?, _ found: UnsafeMutablePointer<Bool>?) -> Bool {
    aggregate(r, .max, p, out, found)
}
@_cdecl("realm_results_sum")
public func realm_results_sum(_ r: OpaquePointer?, _ p: Int64, _ out: UnsafeMutablePointer<realm_value_t>?, _ found: UnsafeMutablePointer<Bool>?) -> Bool {
    aggregate(r, .sum, p, out, found)
}
@_cdecl("realm_results_average")
public func realm_results_average(_ r: OpaquePointer?, _ p: Int64, _ out: UnsafeMutablePointer<realm_value_t>?, _ found: UnsafeMutablePointer<Bool>?) -> Bool {
    aggregate(r, .average, p, out, found)
}
