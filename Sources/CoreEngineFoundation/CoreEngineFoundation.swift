/// The engine for programs with Foundation: Realms that belong to a dispatch queue or a run loop, `Date`, `Data` and
/// `UUID` as values, errors with a localized description.
///
///     let realm = try Realm(configuration, queue: .main)
///     try person.set("born", Date())
///     let born = try person.get("born", as: Date?.self)
///
/// A module and product of its own: the engine itself is free of Foundation, and so are programs that do without.
@_exported import CoreEngine
