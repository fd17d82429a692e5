// What the compiler must refuse: live Realms, objects, collections and results on their way to other tasks and actors.
// A line that ends with "refused" has an error, and no other line has. `Scripts/check_refusals.py` compiles it.
import CoreEngine

func detaches(_ realm: Realm) {
    Task.detached { _ = realm.isClosed }  // refused
}

func starts(_ object: RealmObject) {
    Task { _ = object["name"] }  // refused
}

func groups(_ results: Results) async {
    await withTaskGroup(of: Int.self) { group in
        group.addTask { results.count }  // refused
    }
}

func binds(_ list: RealmList) async -> Int {
    async let count = list.count  // refused
    return await count
}

actor Other {
    var all: [RealmValue] = []

    func keep(_ set: RealmSet) { all = Array(set) }

    func keep(_ text: String) { all.append(.string(text)) }
}

func sends(_ set: RealmSet, to other: Other) async {
    await other.keep(set)  // refused
}

// What it must allow.

func freezes(_ object: RealmObject) throws {
    let frozen = try Frozen(object)
    Task.detached { print(frozen.value["name"], frozen.isFrozen) }
}

func refers(_ object: RealmObject) throws -> Task<Void, any Error> {
    let reference = try ThreadSafeReference(to: object), configuration = object.realm.configuration
    return Task.detached {
        let realm = try Realm(configuration)
        print(try reference.object(in: realm)["name"])
    }
}

func opens(_ path: String, _ other: Other) async throws {
    let realm = try Realm(RealmConfiguration(path: path)), text = try realm.objects("Person").first?["name"].string
    await other.keep(text ?? "")
}
