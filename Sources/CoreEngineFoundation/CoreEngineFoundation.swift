/// The engine for programs with Foundation: Realms that are confined to a dispatch queue or a run loop, `Date`, `Data`
/// and `UUID` as values, and errors with a localized description.
///
///     let realm = try Realm(configuration, queue: .main)
///     try person.set("born", Date())
///     let born = try person.get("born", as: Date?.self)
///
/// It is a separate module and product, because the engine and programs that only use the engine do not link
/// Foundation.
///
/// May use: Objects, ObjectStore, Scheduling, Platform, Basics.
@_exported import CoreEngine
