/// # RealmMacros
///
/// Models whose properties need no attribute, and copies of objects that may go to any thread. `@Model` writes the
/// `@Persisted` that a program would write itself, so everything that `RealmSwift` says of models holds; `@Snapshot`
/// writes an initialiser. Nothing else is added, and nothing of the two is there when the program runs.
@_exported import RealmSwift

/// Stores each `var` of a class that derives from `Object` or `EmbeddedObject`, as if it said `@Persisted`.
///
///     @Model class Person: Object {
///         @PrimaryKey var id: ObjectId
///         @Indexed var name: String
///         var age = 0
///         var dogs: List<Dog>
///         @NotStored var isSelected = false
///     }
///
/// Computed properties, `static` ones, `lazy` ones and those with an attribute of their own that is none of these stay
/// as they are.
@attached(memberAttribute)
public macro Model() = #externalMacro(module: "RealmMacroPlugin", type: "ModelMacro")

/// The property of a `@Model` class by which its objects are found: an integer, a text, an `ObjectId` or a `UUID`, or
/// an optional one of these.
@attached(peer)
public macro PrimaryKey() = #externalMacro(module: "RealmMacroPlugin", type: "MarkerMacro")

/// A property of a `@Model` class with an index for searching.
@attached(peer)
public macro Indexed() = #externalMacro(module: "RealmMacroPlugin", type: "MarkerMacro")

/// A property of a `@Model` class that the file does not have.
@attached(peer)
public macro NotStored() = #externalMacro(module: "RealmMacroPlugin", type: "MarkerMacro")

/// Objects that link here: `@Origin("owner") var dogs: LinkingObjects<Dog>`.
@attached(peer)
public macro Origin(_ property: String) = #externalMacro(module: "RealmMacroPlugin", type: "MarkerMacro")

/// A `Sendable` struct with copies of properties of an object, by their names.
///
///     @Snapshot(of: Person.self) struct PersonRow {
///         let name: String
///         let age: Int
///         let dogs: [DogRow]          // another snapshot: a copy of each object of the list
///     }
///     let rows = realm.objects(Person.self).where { $0.age > 17 }.snapshots(of: PersonRow.self)
///
/// Lists become arrays, sets `Set`, maps dictionaries, links an optional snapshot. Stored properties with a value of
/// their own keep it.
@attached(extension, conformances: ObjectSnapshot, names: named(init), named(Model))
public macro Snapshot<Model: ObjectBase>(of model: Model.Type) =
    #externalMacro(module: "RealmMacroPlugin", type: "SnapshotMacro")
