import CRealmHeaders
import CoreEngine

/// Queries.
final class QueryHandle: Handle {
    let box: RealmBox
    let query: ObjectQuery
    /// The text handed out last; replaced by the next call.
    private var description: UnsafeMutablePointer<CChar>?
    init(_ box: RealmBox, _ query: ObjectQuery) {
        self.box = box
        self.query = query
        super.init(.query)
    }
    deinit { description?.deallocate() }
    override func cloned() -> Handle? { QueryHandle(box, query) }
    func text() throws(RealmError) -> UnsafePointer<CChar>? {
        let bytes = Array(try query.text().utf8)
        description?.deallocate()
        let p = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
        for (i, b) in bytes.enumerated() { p[i] = CChar(bitPattern: b) }
        p[bytes.count] = 0
        description = p
        return UnsafePointer(p)
    }
}
func queryHandle(_ p: OpaquePointer?) -> QueryHandle? { handle(p, .query, QueryHandle.self) }

private func arguments(_ n: Int, _ args: UnsafePointer<realm_query_arg_t>?) throws(RealmError) -> [QueryArgument] {
    guard n >= 0, n <= 1 << 20, n == 0 || args != nil else { throw nullArgument() }
    var all: [QueryArgument] = []
    guard let args else { return all }
    for i in 0..<n {
        let a = args[i]
        guard a.nb_args >= 0, a.nb_args <= 1 << 24, a.nb_args == 0 || a.arg != nil else { throw nullArgument() }
        if a.is_list {
            var values: [Mixed] = []
            for j in 0..<a.nb_args { if let p = a.arg { values.append(try load(p[j])) } }
            all.append(.list(values))
        } else {
            guard let p = a.arg else { throw nullArgument() }
            all.append(.value(try load(p.pointee)))
        }
    }
    return all
}

@_cdecl("realm_query_parse")
public func realm_query_parse(
    _ r: OpaquePointer?, _ table: UInt32, _ text_: UnsafePointer<CChar>?, _ n: Int, _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    guard let r = realmHandle(r) else { return nil }
    return attemptHandle { () throws(RealmError) in
        QueryHandle(r.box, try ObjectQuery(r.realm, TableKey(table), try text(text_), try arguments(n, args)))
    }
}
@_cdecl("realm_query_get_description")
public func realm_query_get_description(_ q: OpaquePointer?) -> UnsafePointer<CChar>? {
    guard let q = queryHandle(q) else { return nil }
    do throws(RealmError) { return try q.text() } catch { return fail(error) }
}
@_cdecl("realm_query_append_query")
public func realm_query_append_query(
    _ q: OpaquePointer?, _ text_: UnsafePointer<CChar>?, _ n: Int, _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    guard let q = queryHandle(q) else { return nil }
    return attemptHandle { () throws(RealmError) in QueryHandle(q.box, try q.query.appending(try text(text_), try arguments(n, args))) }
}
private func parse(
    in c: CollectionHandle?, _ text_: UnsafePointer<CChar>?, _ n: Int, _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    guard let c else { return nil }
    return attemptHandle { () throws(RealmError) in
        _ = try c.content()
        return QueryHandle(c.box, try ObjectQuery(in: c.path, c.realm, try text(text_), try arguments(n, args)))
    }
}
@_cdecl("realm_query_parse_for_list")
public func realm_query_parse_for_list(
    _ l: OpaquePointer?, _ text: UnsafePointer<CChar>?, _ n: Int, _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? { parse(in: handle(l, .list, CollectionHandle.self), text, n, args) }
@_cdecl("realm_query_parse_for_set")
public func realm_query_parse_for_set(
    _ s: OpaquePointer?, _ text: UnsafePointer<CChar>?, _ n: Int, _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? { parse(in: handle(s, .set, CollectionHandle.self), text, n, args) }
@_cdecl("realm_query_parse_for_results")
public func realm_query_parse_for_results(
    _ r: OpaquePointer?, _ text_: UnsafePointer<CChar>?, _ n: Int, _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    guard let r = resultsHandle(r) else { return nil }
    return attemptHandle { () throws(RealmError) in
        try r.results.verify()
        return QueryHandle(r.box, try ObjectQuery(of: r.results, try text(text_), try arguments(n, args)))
    }
}
@_cdecl("realm_query_count")
public func realm_query_count(_ q: OpaquePointer?, _ out: UnsafeMutablePointer<Int>?) -> Bool {
    guard let q = queryHandle(q) else { return false }
    return attempt { () throws(RealmError) in
        guard let out else { throw nullArgument() }
        out.pointee = try q.query.count()
    }
}
@_cdecl("realm_query_find_first")
public func realm_query_find_first(_ q: OpaquePointer?, _ out: UnsafeMutablePointer<realm_value_t>?, _ found: UnsafeMutablePointer<Bool>?) -> Bool {
    guard let q = queryHandle(q) else { return false }
    return attempt { () throws(RealmError) in
        let first = try q.query.first()
        if let (t, k) = first, let out { store(.typedLink(t, k), out) }
        found?.pointee = first != nil
    }
}
@_cdecl("realm_query_find_all")
public func realm_query_find_all(_ q: OpaquePointer?) -> OpaquePointer? {
    guard let q = queryHandle(q) else { return nil }
    return attemptHandle { () throws(RealmError) in ResultsHandle(q.box, try q.query.results()) }
}
@_cdecl("realm_query_delete_all")
public func realm_query_delete_all(_ q: OpaquePointer?) -> Bool {
    guard let q = queryHandle(q) else { return false }
    return attempt { () throws(RealmError) in try q.query.deleteAll() }
}
