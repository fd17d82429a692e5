import CRealmHeaders
import CoreEngine

/// Queries.

private func arguments(_ n: Int, _ args: UnsafePointer<realm_query_arg_t>?) throws(RealmError) -> [QueryArgument] {
    guard n >= 0, n <= 1 << 20, n == 0 || args != nil else { throw nullArgument() }
    var all: [QueryArgument] = []
    guard let args else { return all }
    for i in 0..<n {
        let argument = args[i]
        guard argument.nb_args >= 0, argument.nb_args <= 1 << 24, argument.nb_args == 0 || argument.arg != nil else {
            throw nullArgument()
        }
        if argument.is_list {
            var values: [Mixed] = []
            for j in 0..<argument.nb_args { if let elements = argument.arg { values.append(try load(elements[j])) } }
            all.append(.list(values))
        } else {
            guard let element = argument.arg else { throw nullArgument() }
            all.append(.value(try load(element.pointee)))
        }
    }
    return all
}

@_cdecl("realm_query_parse")
public func realm_query_parse(
    _ r: OpaquePointer?, _ table: UInt32, _ text_: UnsafePointer<CChar>?, _ n: Int,
    _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    handle(.realm, r) { (r, realm) throws(RealmError) in
        QueryHandle(r.box, try ObjectQuery(realm, TableKey(table), try text(text_), try arguments(n, args)))
    }
}

@_cdecl("realm_query_get_description")
public func realm_query_get_description(_ q: OpaquePointer?) -> UnsafePointer<CChar>? {
    from(.query, q) { (q, query) throws(RealmError) in q.show(try query.text()) }
}

@_cdecl("realm_query_append_query")
public func realm_query_append_query(
    _ q: OpaquePointer?, _ text_: UnsafePointer<CChar>?, _ n: Int, _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    handle(.query, q) { (q, query) throws(RealmError) in
        QueryHandle(q.box, try query.appending(try text(text_), try arguments(n, args)))
    }
}

private func parse(
    in door: Door<CollectionHandle>, _ p: OpaquePointer?, _ text_: UnsafePointer<CChar>?, _ n: Int,
    _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    handle(door, p) { (c, realm) throws(RealmError) in
        _ = try c.contents()
        return QueryHandle(c.box, try ObjectQuery(in: c.path, realm, try text(text_), try arguments(n, args)))
    }
}

@_cdecl("realm_query_parse_for_list")
public func realm_query_parse_for_list(
    _ l: OpaquePointer?, _ text: UnsafePointer<CChar>?, _ n: Int, _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? { parse(in: .list, l, text, n, args) }

@_cdecl("realm_query_parse_for_set")
public func realm_query_parse_for_set(
    _ s: OpaquePointer?, _ text: UnsafePointer<CChar>?, _ n: Int, _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? { parse(in: .set, s, text, n, args) }

@_cdecl("realm_query_parse_for_results")
public func realm_query_parse_for_results(
    _ r: OpaquePointer?, _ text_: UnsafePointer<CChar>?, _ n: Int, _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    handle(.results, r) { (r, results) throws(RealmError) in
        return QueryHandle(r.box, try ObjectQuery(of: results, try text(text_), try arguments(n, args)))
    }
}

@_cdecl("realm_query_count")
public func realm_query_count(_ q: OpaquePointer?, _ out: UnsafeMutablePointer<Int>?) -> Bool {
    inside(.query, q) { (_, query) throws(RealmError) in
        guard let out else { throw nullArgument() }
        out.pointee = try query.count()
    }
}

@_cdecl("crealm_query_explain")
public func crealm_query_explain(_ q: OpaquePointer?, _ out: UnsafeMutablePointer<crealm_query_plan_t>?) -> Bool {
    inside(.query, q) { (_, query) throws(RealmError) in
        guard let out else { throw nullArgument() }
        let plan = try query.plan()
        out.pointee.access = crealm_access_e(rawValue: plan.access.rawValue)
        out.pointee.property = plan.property == .null ? RLM_INVALID_PROPERTY_KEY : plan.property.raw
        (out.pointee.objects, out.pointee.tested, out.pointee.found) = (plan.objects, plan.tested, plan.found)
    }
}

@_cdecl("realm_query_find_first")
public func realm_query_find_first(
    _ q: OpaquePointer?, _ out: UnsafeMutablePointer<realm_value_t>?, _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    inside(.query, q) { (_, query) throws(RealmError) in
        let first = try query.first()
        if let (table, key) = first, let out { store(.typedLink(table, key), out) }
        found?.pointee = first != nil
    }
}

@_cdecl("realm_query_find_all")
public func realm_query_find_all(_ q: OpaquePointer?) -> OpaquePointer? {
    handle(.query, q) { (q, query) throws(RealmError) in ResultsHandle(q.box, try query.results()) }
}

@_cdecl("realm_query_delete_all")
public func realm_query_delete_all(_ q: OpaquePointer?) -> Bool {
    inside(.query, q) { (_, query) throws(RealmError) in try query.deleteAll() }
}
