/// The engine for programs with tasks and actors: changes as asynchronous sequences, asynchronous writes, and an
/// executor for actors that own a Realm.
///
///     for await change in try results.changes() { … }
///     let id = try await realm.writeAsync { try realm.create("Person", primaryKey: 1).key }
///
/// It is a separate module, so that programs without tasks and programs that use the C API do not link the concurrency
/// runtime.
///
/// May use: Objects, ObjectStore, Scheduling, Platform, Basics.
@_exported import CoreEngine
