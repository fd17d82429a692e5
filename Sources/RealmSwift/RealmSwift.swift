/// # RealmSwift
///
/// Realm's Swift API over this engine: models are classes with `@Persisted` properties, and programs that were written
/// for Realm's own package compile with `import RealmSwift` as it is.
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
/// 1. Names, signatures and behaviour are Realm's; `docs/realmswift.md` lists what is there, what is not, and where
///    Linux differs.
/// 2. Every access goes through the door of the engine's Realm: another thread, a closed Realm or a deleted object is
///    found out before anything is read. What cannot throw ends the program through one function (`misuse`), never with
///    a plausible value.
/// 3. Keys of classes and properties are looked up once for each class and Realm. Reading a property is a load of its
///    number, a call, and the engine's read: no names, no boxes.
/// 4. Nothing of Objective-C is needed: classes are found in the type records of the program (`ClassScan`), properties
///    by reflection (`ClassInfo`), names of key paths by recording what a key path reads (`Recorder`).
///
/// Confinement is decided in `Realm/Confinement.swift`, misuse in `Misuse.swift`, and nowhere else.
///
/// May use: CoreEngine, through its package interface.
internal import CoreEngine

typealias EngineRealm = CoreEngine.Realm
typealias EngineError = CoreEngine.RealmError
typealias EngineValue = CoreEngine.RealmValue
typealias EngineSchema = CoreEngine.Schema
typealias EngineObjectSchema = CoreEngine.ObjectSchema
typealias EngineProperty = CoreEngine.Property
typealias EngineType = CoreEngine.PropertyType
