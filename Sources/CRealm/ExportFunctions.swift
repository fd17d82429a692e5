import CRealmHeaders
import CoreEngine

/// Export of columns as Arrow streams.

/// Returns the paths of a C array; nil for NULL.
private func names(_ paths: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int) throws(RealmError) -> [Name]? {
    guard let paths else { return nil }
    guard count >= 0, count <= 1 << 20 else {
        throw RealmError(.invalidArgument, "\(UInt(bitPattern: count)) columns are too many")
    }
    var names: [Name] = []
    for i in 0..<count { names.append(Name(try text(paths[i]))) }
    return names
}

@_cdecl("crealm_results_export_arrow")
public func crealm_results_export_arrow(
    _ results: OpaquePointer?, _ paths: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int, _ rows: Int,
    _ out: UnsafeMutablePointer<ArrowArrayStream>?
) -> Bool {
    inside(.results, results) { (_, results) throws(RealmError) in
        guard let out else { throw nullArgument() }
        try results.exportColumns(try names(paths, count), rows: rows < 0 ? .max : rows, to: out)
    }
}

@_cdecl("crealm_results_fetch_arrow")
public func crealm_results_fetch_arrow(
    _ results: OpaquePointer?, _ first: Int, _ count: Int, _ paths: UnsafePointer<UnsafePointer<CChar>?>?,
    _ pathCount: Int,
    _ schema: UnsafeMutablePointer<ArrowSchema>?, _ array: UnsafeMutablePointer<ArrowArray>?
) -> Bool {
    inside(.results, results) { (_, results) throws(RealmError) in
        guard let array else { throw nullArgument() }
        // A size_t above the largest Int means "no row" for `first` and "all rows" for `count`.
        try results.exportRows(
            first < 0 ? .max : first, count < 0 ? .max : count, try names(paths, pathCount), schema: schema,
            array: array)
    }
}

@_cdecl("crealm_results_aggregate_arrow")
public func crealm_results_aggregate_arrow(
    _ results: OpaquePointer?, _ query: UnsafePointer<CChar>?, _ argumentCount: Int,
    _ arguments: UnsafePointer<realm_query_arg_t>?, _ out: UnsafeMutablePointer<ArrowArrayStream>?
) -> Bool {
    inside(.results, results) { (_, results) throws(RealmError) in
        guard let out else { throw nullArgument() }
        try results.exportGroups(try text(query), try queryArguments(argumentCount, arguments), to: out)
    }
}

@_cdecl("crealm_query_aggregate_arrow")
public func crealm_query_aggregate_arrow(
    _ query: OpaquePointer?, _ clauses: UnsafePointer<CChar>?, _ argumentCount: Int,
    _ arguments: UnsafePointer<realm_query_arg_t>?, _ out: UnsafeMutablePointer<ArrowArrayStream>?
) -> Bool {
    inside(.query, query) { (_, query) throws(RealmError) in
        guard let out else { throw nullArgument() }
        try query.results().exportGroups(
            try text(clauses), try queryArguments(argumentCount, arguments), to: out)
    }
}

@_cdecl("crealm_class_export_arrow")
public func crealm_class_export_arrow(
    _ realm: OpaquePointer?, _ table: UInt32, _ paths: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int, _ rows: Int,
    _ out: UnsafeMutablePointer<ArrowArrayStream>?
) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in
        guard let out else { throw nullArgument() }
        _ = try realm.tableName(TableKey(table))
        let all = try ResultSet(realm, .table(TableKey(table)))
        try all.exportColumns(try names(paths, count), rows: rows < 0 ? .max : rows, to: out)
    }
}
