// As isolation.swift, for what the compiler finds when it looks at types: closures that run anywhere, and values that
// must be `Sendable`.
import CoreEngine

func runs(_ dictionary: RealmDictionary, _ body: (@escaping @Sendable () -> Void) -> Void) {
    body { _ = dictionary.count }  // refused
}

func needs<Value: Sendable>(_ value: Value) {}

func passes(_ realm: Realm, _ object: RealmObject, _ results: Results) throws {
    needs(realm)  // refused
    needs(object)  // refused
    needs(results)  // refused
    needs(try Frozen(realm))
    needs(try Frozen(results))
    needs(try ThreadSafeReference(to: object))
    needs(realm.configuration)
}
