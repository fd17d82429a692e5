/// # RealmSwift
///
/// Realm's Swift API on top of CoreEngine: models are classes with `@Persisted` properties. Programs written for
/// Realm's own package compile unchanged with `import RealmSwift`.
///
///     class Person: Object {
///         @Persisted(primaryKey: true) var id: Int
///         @Persisted var name: String
///         @Persisted var dogs: List<Dog>
///     }
///     let realm = try Realm()
///     try realm.write { realm.add(Person(value: ["id": 1, "name": "Ida"])) }
///     for person in realm.objects(Person.self).where({ $0.name.starts(with: "I") }) { print(person.name) }
///
/// Promise
/// 1. Names, signatures and behaviour match Realm's. `docs/realmswift.md` lists what is supported, what is missing, and
///    where Linux differs.
/// 2. Every access goes through the entry point of the engine's Realm, which detects a wrong thread, a closed Realm or
///    a deleted object before it reads anything. Code that cannot throw ends the program through one function
///    (`misuse`); it never returns a plausible value.
/// 3. Keys of classes and properties are looked up once for each class and Realm. Reading a property loads its number,
///    makes one call, and performs the engine's read. It uses no names and no boxes.
/// 4. Objective-C is not needed. Classes are found in the type records of the program (`ClassScan`), properties by
///    reflection (`ClassInfo`), and the names of key paths by recording what a key path reads (`Recorder`).
///
/// Confinement is decided only in `Realm/Confinement.swift`, and misuse only in `Misuse.swift`.
///
/// It uses the package interface of the engine.
/// May use: CoreEngineAsync, CoreEngineFoundation, Sync, Blobs, Grouping, Updates, Objects, ObjectStore, Scheduling,
/// Notifications, Rules, Language, Schema, Transactions, Tables, Elements, Basics.
///
/// Folders:
/// - `Collections` may use: Model, Notifications, Query, Realm, RealmSwift, Schema, Values.
/// - `Model` may use: Collections, Notifications, Query, Realm, RealmSwift, Schema, Values.
/// - `Notifications` may use: Collections, Model, Query, Realm, RealmSwift, Values.
/// - `Query` may use: Collections, Model, RealmSwift, Values.
/// - `Realm` may use: Collections, Model, Notifications, RealmSwift, Schema, Values.
/// - `RealmSwift` may use: nothing.
/// - `Schema` may use: Collections, Model, Realm, RealmSwift, Values.
/// - `Sync` may use: Model, Query, Realm, RealmSwift.
/// - `Values` may use: Collections, Model, Query, Realm, RealmSwift, Schema.
internal import CoreEngine

typealias EngineRealm = CoreEngine.Realm
typealias EngineError = CoreEngine.RealmError
typealias EngineValue = CoreEngine.RealmValue
typealias EngineSchema = CoreEngine.Schema
typealias EngineObjectSchema = CoreEngine.ObjectSchema
typealias EngineProperty = CoreEngine.Property
typealias EngineDeleteRule = CoreEngine.DeleteRule
typealias EngineType = CoreEngine.PropertyType
