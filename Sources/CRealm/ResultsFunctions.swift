import CRealmHeaders
import CoreEngine

/// Live results.

/// Runs `body` on results and returns a handle of the new results.
private func derive(_ p: OpaquePointer?, _ body: (ResultSet) throws(RealmError) -> ResultSet) -> OpaquePointer? {
    handle(.results, p) { (r, results) throws(RealmError) in ResultsHandle(r.box, try body(results)) }
}

@_cdecl("realm_object_find_all")
public func realm_object_find_all(_ r: OpaquePointer?, _ table: UInt32) -> OpaquePointer? {
    handle(.realm, r) { (r, realm) throws(RealmError) in
        _ = try realm.tableName(TableKey(table))
        return ResultsHandle(r.box, try ResultSet(realm, .table(TableKey(table))))
    }
}

@_cdecl("realm_get_backlinks")
public func realm_get_backlinks(_ o: OpaquePointer?, _ table: UInt32, _ property: Int64) -> OpaquePointer? {
    handle(.object, o) { (o, realm) throws(RealmError) in
        _ = try realm.backlinks(o.table, o.key, from: TableKey(table), ColKey(property))
        return ResultsHandle(
            o.box, try ResultSet(realm, .backlinks(of: o.table, o.key, from: TableKey(table), ColKey(property))))
    }
}

// MARK: Reading

@_cdecl("realm_results_is_valid")
public func realm_results_is_valid(_ r: OpaquePointer?, _ out: UnsafeMutablePointer<Bool>?) -> Bool {
    anywhere(.results, r, false) { (r) throws(RealmError) in
        let isValid = r.isClosed ? false : try r.visit { (results) throws(RealmError) in try results.isValid() }
        out?.pointee = isValid
        return true
    }
}

@_cdecl("realm_results_count")
public func realm_results_count(_ r: OpaquePointer?, _ out: UnsafeMutablePointer<Int>?) -> Bool {
    inside(.results, r) { (_, results) throws(RealmError) in
        let found = try results.count()
        out?.pointee = found
    }
}

@_cdecl("realm_results_get")
public func realm_results_get(_ r: OpaquePointer?, _ index: Int, _ out: UnsafeMutablePointer<realm_value_t>?) -> Bool {
    inside(.results, r) { (_, results) throws(RealmError) in
        let value = try results.value(index)
        if let out { store(value, out) }
    }
}

@_cdecl("realm_results_get_object")
public func realm_results_get_object(_ r: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    do throws(RealmError) { return try readObject(r, index) } catch { return fail(error) }
}

@_cdecl("crealm_results_fetch")
public func crealm_results_fetch(
    _ r: OpaquePointer?, _ first: Int, _ count: Int, _ properties: UnsafePointer<Int64>?, _ n: Int,
    _ values: UnsafeMutablePointer<realm_value_t>?,
    _ objects: UnsafeMutablePointer<realm_link_t>?, _ outCount: UnsafeMutablePointer<Int>?
) -> Bool {
    inside(.results, r) { (_, results) throws(RealmError) in
        guard n >= 0, n <= 1 << 20, properties != nil || n == 0 else { throw nullArgument() }
        let columns = UnsafeBufferPointer(start: properties, count: n)
        let found = try results.fetch(
            // A size_t above the largest Int means "no row" for `first` and "all rows" for `count`.
            first < 0 ? .max : first, count < 0 ? .max : count, columns,
            value: { row, column, v in if let values { store(v, values + (row &* n &+ column)) } },
            object: { row, table, key in
                if let objects { objects[row] = realm_link_t(target_table: table.raw, target: key.raw) }
            })
        outCount?.pointee = found
    }
}

private func nested(_ r: OpaquePointer?, _ index: Int, _ kind: Handle.Kind) -> OpaquePointer? {
    handle(.results, r) { (r, results) throws(RealmError) in
        guard let path = try results.nestedPath(index) else { return nil }
        switch (try results.value(index), kind) {
        case (.list, .list), (.dictionary, .dictionary): return CollectionHandle(kind, r.box, path)
        default: return nil
        }
    }
}

@_cdecl("realm_results_get_list")
public func realm_results_get_list(_ r: OpaquePointer?, _ index: Int) -> OpaquePointer? { nested(r, index, .list) }

@_cdecl("realm_results_get_dictionary")
public func realm_results_get_dictionary(_ r: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    nested(r, index, .dictionary)
}

@_cdecl("realm_results_find")
public func realm_results_find(
    _ r: OpaquePointer?, _ value: UnsafeMutablePointer<realm_value_t>?, _ index: UnsafeMutablePointer<Int>?,
    _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    report(nil, index, found)
    return inside(.results, r) { (_, results) throws(RealmError) in
        guard let value else { throw nullArgument() }
        report(try results.find(try load(value.pointee)), index, found)
    }
}

@_cdecl("realm_results_find_object")
public func realm_results_find_object(
    _ r: OpaquePointer?, _ o: OpaquePointer?, _ index: UnsafeMutablePointer<Int>?, _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    report(nil, index, found)
    return inside(.results, r) { (_, results) throws(RealmError) in
        let (table, key) = try visit(.object, o) { (o, _) throws(RealmError) in (o.table, o.key) }
        report(try results.find(table, key), index, found)
    }
}

// MARK: Derived results

@_cdecl("realm_results_filter")
public func realm_results_filter(_ r: OpaquePointer?, _ q: OpaquePointer?) -> OpaquePointer? {
    derive(r) { (r) throws(RealmError) in
        try visit(.query, q) { (_, query) throws(RealmError) in try r.filtered(query) }
    }
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
    // A size_t above the largest Int means "no limit".
    derive(r) { (r) throws(RealmError) in try r.limited(n < 0 ? .max : n) }
}

@_cdecl("realm_results_snapshot")
public func realm_results_snapshot(_ r: OpaquePointer?) -> OpaquePointer? {
    derive(r) { (r) throws(RealmError) in try r.snapshot() }
}

@_cdecl("realm_results_resolve_in")
public func realm_results_resolve_in(_ r: OpaquePointer?, _ target: OpaquePointer?) -> OpaquePointer? {
    handle(.results, r) { (_, results) throws(RealmError) in
        try results.verifyOwner()
        return try visit(.realm, target) { (target, realm) throws(RealmError) in
            ResultsHandle(target.box, try results.resolved(in: realm))
        }
    }
}

@_cdecl("realm_results_get_query")
public func realm_results_get_query(_ r: OpaquePointer?) -> OpaquePointer? {
    handle(.results, r) { (r, results) throws(RealmError) in QueryHandle(r.box, try results.objectQuery()) }
}

@_cdecl("realm_results_delete_all")
public func realm_results_delete_all(_ r: OpaquePointer?) -> Bool {
    inside(.results, r) { (_, results) throws(RealmError) in try results.deleteAll() }
}

// MARK: Aggregates

private func aggregate(
    _ r: OpaquePointer?, _ kind: AggregateKind, _ property: Int64, _ out: UnsafeMutablePointer<realm_value_t>?,
    _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    inside(.results, r) { (_, results) throws(RealmError) in
        let result = try results.aggregate(kind, ColKey(property))
        if let out { store(result.value, out) }
        found?.pointee = result.found
    }
}

@_cdecl("realm_results_min")
public func realm_results_min(
    _ r: OpaquePointer?, _ p: Int64, _ out: UnsafeMutablePointer<realm_value_t>?, _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    aggregate(r, .min, p, out, found)
}

@_cdecl("realm_results_max")
public func realm_results_max(
    _ r: OpaquePointer?, _ p: Int64, _ out: UnsafeMutablePointer<realm_value_t>?, _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    aggregate(r, .max, p, out, found)
}

@_cdecl("realm_results_sum")
public func realm_results_sum(
    _ r: OpaquePointer?, _ p: Int64, _ out: UnsafeMutablePointer<realm_value_t>?, _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    aggregate(r, .sum, p, out, found)
}

@_cdecl("realm_results_average")
public func realm_results_average(
    _ r: OpaquePointer?, _ p: Int64, _ out: UnsafeMutablePointer<realm_value_t>?, _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    aggregate(r, .average, p, out, found)
}
