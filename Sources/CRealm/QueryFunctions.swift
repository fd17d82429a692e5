import CRealmHeaders
import CoreEngine

/// Queries.

func queryArguments(_ count: Int, _ args: UnsafePointer<realm_query_arg_t>?) throws(RealmError) -> [QueryArgument] {
    guard count >= 0, count <= 1 << 20, count == 0 || args != nil else { throw nullArgument() }
    var all: [QueryArgument] = []
    guard let args else { return all }
    for i in 0..<count {
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
    _ realm: OpaquePointer?, _ table: UInt32, _ text_: UnsafePointer<CChar>?, _ count: Int,
    _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    handle(.realm, realm) { (handle, realm) throws(RealmError) in
        QueryHandle(
            handle.box, try ObjectQuery(realm, TableKey(table), try text(text_), try queryArguments(count, args)))
    }
}

@_cdecl("realm_query_get_description")
public func realm_query_get_description(_ query: OpaquePointer?) -> UnsafePointer<CChar>? {
    from(.query, query) { (handle, query) throws(RealmError) in handle.show(try query.text()) }
}

@_cdecl("realm_query_append_query")
public func realm_query_append_query(
    _ query: OpaquePointer?, _ text_: UnsafePointer<CChar>?, _ count: Int, _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    handle(.query, query) { (handle, query) throws(RealmError) in
        QueryHandle(handle.box, try query.appending(try text(text_), try queryArguments(count, args)))
    }
}

private func parse(
    in type: HandleType<CollectionHandle>, _ pointer: OpaquePointer?, _ text_: UnsafePointer<CChar>?, _ count: Int,
    _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    handle(type, pointer) { (collection, realm) throws(RealmError) in
        _ = try collection.contents()
        return QueryHandle(
            collection.box,
            try ObjectQuery(in: collection.path, realm, try text(text_), try queryArguments(count, args)))
    }
}

@_cdecl("realm_query_parse_for_list")
public func realm_query_parse_for_list(
    _ list: OpaquePointer?, _ text: UnsafePointer<CChar>?, _ count: Int, _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? { parse(in: .list, list, text, count, args) }

@_cdecl("realm_query_parse_for_set")
public func realm_query_parse_for_set(
    _ set: OpaquePointer?, _ text: UnsafePointer<CChar>?, _ count: Int, _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? { parse(in: .set, set, text, count, args) }

@_cdecl("realm_query_parse_for_results")
public func realm_query_parse_for_results(
    _ results: OpaquePointer?, _ text_: UnsafePointer<CChar>?, _ count: Int, _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    handle(.results, results) { (handle, results) throws(RealmError) in
        return QueryHandle(handle.box, try ObjectQuery(of: results, try text(text_), try queryArguments(count, args)))
    }
}

@_cdecl("realm_query_count")
public func realm_query_count(_ query: OpaquePointer?, _ out: UnsafeMutablePointer<Int>?) -> Bool {
    inside(.query, query) { (_, query) throws(RealmError) in
        guard let out else { throw nullArgument() }
        out.pointee = try query.count()
    }
}

@_cdecl("crealm_query_explain")
public func crealm_query_explain(_ query: OpaquePointer?, _ out: UnsafeMutablePointer<crealm_query_plan_t>?) -> Bool {
    inside(.query, query) { (_, query) throws(RealmError) in
        guard let out else { throw nullArgument() }
        let plan = try query.plan()
        out.pointee.access = crealm_access_e(rawValue: plan.access.rawValue)
        out.pointee.property = plan.property == .null ? RLM_INVALID_PROPERTY_KEY : plan.property.raw
        (out.pointee.objects, out.pointee.tested, out.pointee.found) = (plan.objects, plan.tested, plan.found)
    }
}

@_cdecl("realm_query_find_first")
public func realm_query_find_first(
    _ query: OpaquePointer?, _ out: UnsafeMutablePointer<realm_value_t>?, _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    inside(.query, query) { (_, query) throws(RealmError) in
        let first = try query.first()
        if let (table, key) = first, let out { store(.typedLink(table, key), out) }
        found?.pointee = first != nil
    }
}

@_cdecl("realm_query_find_all")
public func realm_query_find_all(_ query: OpaquePointer?) -> OpaquePointer? {
    handle(.query, query) { (handle, query) throws(RealmError) in ResultsHandle(handle.box, try query.results()) }
}

@_cdecl("realm_query_delete_all")
public func realm_query_delete_all(_ query: OpaquePointer?) -> Bool {
    inside(.query, query) { (_, query) throws(RealmError) in try query.deleteAll() }
}
