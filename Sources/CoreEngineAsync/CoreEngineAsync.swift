/// The engine for programs with tasks and actors: changes as sequences, writes to be awaited, an executor for actors
/// that own a Realm.
///
///     for await change in try results.changes() { … }
///     let id = try await realm.writeAsync { try realm.create("Person", primaryKey: 1).key }
///
/// A module of its own, so that programs without tasks, and those that use the C API, carry no runtime for them.
@_exported import CoreEngine
