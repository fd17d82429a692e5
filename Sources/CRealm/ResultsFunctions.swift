import CRealmHeaders
import CoreEngine

/// Live results.

/// Runs `body` on results and returns a handle of the new results.
private func derive(_ results: OpaquePointer?, _ body: (ResultSet) throws(RealmError) -> ResultSet) -> OpaquePointer? {
    handle(.results, results) { (handle, results) throws(RealmError) in ResultsHandle(handle.box, try body(results)) }
}

@_cdecl("realm_object_find_all")
public func realm_object_find_all(_ realm: OpaquePointer?, _ table: UInt32) -> OpaquePointer? {
    handle(.realm, realm) { (handle, realm) throws(RealmError) in
        _ = try realm.tableName(TableKey(table))
        return ResultsHandle(handle.box, try ResultSet(realm, .table(TableKey(table))))
    }
}

@_cdecl("realm_get_backlinks")
public func realm_get_backlinks(_ object: OpaquePointer?, _ table: UInt32, _ property: Int64) -> OpaquePointer? {
    handle(.object, object) { (handle, realm) throws(RealmError) in
        _ = try realm.backlinks(handle.table, handle.key, from: TableKey(table), ColKey(property))
        return ResultsHandle(
            handle.box,
            try ResultSet(realm, .backlinks(of: handle.table, handle.key, from: TableKey(table), ColKey(property))))
    }
}

// MARK: Reading

@_cdecl("realm_results_is_valid")
public func realm_results_is_valid(_ results: OpaquePointer?, _ out: UnsafeMutablePointer<Bool>?) -> Bool {
    anywhere(.results, results, false) { (results) throws(RealmError) in
        let isValid =
            results.isClosed ? false : try results.insideRealm { (results) throws(RealmError) in try results.isValid() }
        out?.pointee = isValid
        return true
    }
}

@_cdecl("realm_results_count")
public func realm_results_count(_ results: OpaquePointer?, _ out: UnsafeMutablePointer<Int>?) -> Bool {
    inside(.results, results) { (_, results) throws(RealmError) in
        let found = try results.count()
        out?.pointee = found
    }
}

@_cdecl("realm_results_get")
public func realm_results_get(_ results: OpaquePointer?, _ index: Int, _ out: UnsafeMutablePointer<realm_value_t>?)
    -> Bool
{
    inside(.results, results) { (_, results) throws(RealmError) in
        let value = try results.value(index)
        if let out { store(value, out) }
    }
}

@_cdecl("realm_results_get_object")
public func realm_results_get_object(_ results: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    do throws(RealmError) { return try readObject(results, index) } catch { return fail(error) }
}

@_cdecl("crealm_results_fetch")
public func crealm_results_fetch(
    _ results: OpaquePointer?, _ first: Int, _ count: Int, _ properties: UnsafePointer<Int64>?, _ propertyCount: Int,
    _ values: UnsafeMutablePointer<realm_value_t>?,
    _ objects: UnsafeMutablePointer<realm_link_t>?, _ outCount: UnsafeMutablePointer<Int>?
) -> Bool {
    inside(.results, results) { (_, results) throws(RealmError) in
        guard propertyCount >= 0, propertyCount <= 1 << 20, properties != nil || propertyCount == 0 else {
            throw nullArgument()
        }
        let columns = UnsafeBufferPointer(start: properties, count: propertyCount)
        let found = try results.fetch(
            // A size_t above the largest Int means "no row" for `first` and "all rows" for `count`.
            first < 0 ? .max : first, count < 0 ? .max : count, columns,
            value: { row, column, value in if let values { store(value, values + (row &* propertyCount &+ column)) } },
            object: { row, table, key in
                if let objects { objects[row] = realm_link_t(target_table: table.raw, target: key.raw) }
            })
        outCount?.pointee = found
    }
}

private func nested(_ results: OpaquePointer?, _ index: Int, _ kind: Handle.Kind) -> OpaquePointer? {
    handle(.results, results) { (handle, results) throws(RealmError) in
        guard let path = try results.nestedPath(index) else { return nil }
        switch (try results.value(index), kind) {
        case (.list, .list), (.dictionary, .dictionary): return CollectionHandle(kind, handle.box, path)
        default: return nil
        }
    }
}

@_cdecl("realm_results_get_list")
public func realm_results_get_list(_ results: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    nested(results, index, .list)
}

@_cdecl("realm_results_get_dictionary")
public func realm_results_get_dictionary(_ results: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    nested(results, index, .dictionary)
}

@_cdecl("realm_results_find")
public func realm_results_find(
    _ results: OpaquePointer?, _ value: UnsafeMutablePointer<realm_value_t>?, _ index: UnsafeMutablePointer<Int>?,
    _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    report(nil, index, found)
    return inside(.results, results) { (_, results) throws(RealmError) in
        guard let value else { throw nullArgument() }
        report(try results.find(try load(value.pointee)), index, found)
    }
}

@_cdecl("realm_results_find_object")
public func realm_results_find_object(
    _ results: OpaquePointer?, _ object: OpaquePointer?, _ index: UnsafeMutablePointer<Int>?,
    _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    report(nil, index, found)
    return inside(.results, results) { (_, results) throws(RealmError) in
        let (table, key) = try insideRealm(.object, object) { (handle, _) throws(RealmError) in
            (handle.table, handle.key)
        }
        report(try results.find(table, key), index, found)
    }
}

// MARK: Derived results

@_cdecl("realm_results_filter")
public func realm_results_filter(_ results: OpaquePointer?, _ query: OpaquePointer?) -> OpaquePointer? {
    derive(results) { (results) throws(RealmError) in
        try insideRealm(.query, query) { (_, query) throws(RealmError) in try results.filtered(query) }
    }
}

@_cdecl("realm_results_sort")
public func realm_results_sort(_ results: OpaquePointer?, _ sort: UnsafePointer<CChar>?) -> OpaquePointer? {
    derive(results) { (results) throws(RealmError) in try results.sorted(try text(sort)) }
}

@_cdecl("realm_results_distinct")
public func realm_results_distinct(_ results: OpaquePointer?, _ distinct: UnsafePointer<CChar>?) -> OpaquePointer? {
    derive(results) { (results) throws(RealmError) in try results.distinct(try text(distinct)) }
}

@_cdecl("realm_results_limit")
public func realm_results_limit(_ results: OpaquePointer?, _ count: Int) -> OpaquePointer? {
    // A size_t above the largest Int means "no limit".
    derive(results) { (results) throws(RealmError) in try results.limited(count < 0 ? .max : count) }
}

@_cdecl("realm_results_snapshot")
public func realm_results_snapshot(_ results: OpaquePointer?) -> OpaquePointer? {
    derive(results) { (results) throws(RealmError) in try results.snapshot() }
}

@_cdecl("realm_results_resolve_in")
public func realm_results_resolve_in(_ results: OpaquePointer?, _ target: OpaquePointer?) -> OpaquePointer? {
    handle(.results, results) { (_, results) throws(RealmError) in
        try results.verifyOwner()
        return try insideRealm(.realm, target) { (target, realm) throws(RealmError) in
            ResultsHandle(target.box, try results.resolved(in: realm))
        }
    }
}

@_cdecl("realm_results_get_query")
public func realm_results_get_query(_ results: OpaquePointer?) -> OpaquePointer? {
    handle(.results, results) { (handle, results) throws(RealmError) in
        QueryHandle(handle.box, try results.objectQuery())
    }
}

@_cdecl("realm_results_delete_all")
public func realm_results_delete_all(_ results: OpaquePointer?) -> Bool {
    inside(.results, results) { (_, results) throws(RealmError) in try results.deleteAll() }
}

@_cdecl("crealm_results_update")
public func crealm_results_update(
    _ results: OpaquePointer?, _ assignments: UnsafePointer<CChar>?, _ argumentCount: Int,
    _ arguments: UnsafePointer<realm_query_arg_t>?, _ out: UnsafeMutablePointer<Int>?
) -> Bool {
    inside(.results, results) { (_, results) throws(RealmError) in
        let count = try results.update(try text(assignments), try queryArguments(argumentCount, arguments))
        out?.pointee = count
    }
}

// MARK: Aggregates

private func aggregate(
    _ results: OpaquePointer?, _ kind: AggregateKind, _ property: Int64, _ out: UnsafeMutablePointer<realm_value_t>?,
    _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    inside(.results, results) { (_, results) throws(RealmError) in
        let result = try results.aggregate(kind, ColKey(property))
        if let out { store(result.value, out) }
        found?.pointee = result.found
    }
}

@_cdecl("realm_results_min")
public func realm_results_min(
    _ results: OpaquePointer?, _ property: Int64, _ out: UnsafeMutablePointer<realm_value_t>?,
    _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    aggregate(results, .min, property, out, found)
}

@_cdecl("realm_results_max")
public func realm_results_max(
    _ results: OpaquePointer?, _ property: Int64, _ out: UnsafeMutablePointer<realm_value_t>?,
    _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    aggregate(results, .max, property, out, found)
}

@_cdecl("realm_results_sum")
public func realm_results_sum(
    _ results: OpaquePointer?, _ property: Int64, _ out: UnsafeMutablePointer<realm_value_t>?,
    _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    aggregate(results, .sum, property, out, found)
}

@_cdecl("realm_results_average")
public func realm_results_average(
    _ results: OpaquePointer?, _ property: Int64, _ out: UnsafeMutablePointer<realm_value_t>?,
    _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    aggregate(results, .average, property, out, found)
}
