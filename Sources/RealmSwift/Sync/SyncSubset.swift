internal import CoreEngine
import Foundation

/// The objects of a class that a file has: those that fulfil a condition.
///
///     try realm.sync.enable(subsets: [.of(Chore.self) { !$0.isDone }, .of(Note.self, "owner == %@", "ann")])
///
/// A condition compares properties of the class itself with constants; `&&`, `||` and `!` combine comparisons. Links,
/// collections, values of any type, `caseInsensitive` and `like` are refused, because the hub could not notice all
/// changes, or would compare other letters.
public struct SyncSubset {
    private let type: ObjectBase.Type
    private let condition: any StorableCondition

    init(_ type: ObjectBase.Type, _ condition: any StorableCondition) {
        self.type = type
        self.condition = condition
    }

    /// Returns the subset of the objects that match a condition.
    public static func of<T: Object>(_ type: T.Type, where isIncluded: (Query<T>) -> Query<Bool>) -> SyncSubset {
        SyncSubset(type, BuiltCondition(isIncluded))
    }

    /// Returns the subset of the objects that match a condition, such as `"isDone == false AND owner == %@"`.
    public static func of(_ type: Object.Type, _ predicateFormat: String, _ args: Any...) -> SyncSubset {
        SyncSubset(type, FormatString(predicateFormat, args))
    }

    /// Returns the subset of the objects that match a predicate.
    public static func of(_ type: Object.Type, _ predicate: NSPredicate) -> SyncSubset {
        SyncSubset(type, FormatString(predicate))
    }

    /// Returns the class, and its condition as the file stores it. It runs inside the entry point of the Realm.
    func stored(_ realm: EngineRealm) throws(EngineError) -> (name: Name, condition: String) {
        let name = try SyncSubset.name(type)
        return (name, try condition.stored(realm, name))
    }

    /// Returns the name of a class in the file.
    ///
    /// - Throws: 2007 for a subclass that shares the class of the file with its base.
    static func name(_ type: ObjectBase.Type) throws(EngineError) -> Name {
        let info = ClassInfo.of(type)
        if let base = info.membership?.base, base != type {
            throw EngineError(
                .illegalOperation,
                "'\(info.name)' shares a class of the file with '\(base.className())', which is synchronised as a whole"
            )
        }
        return Name(info.fileName)
    }
}

/// A condition that a file can store as a text.
protocol StorableCondition {
    func stored(_ realm: EngineRealm, _ className: Name) throws(EngineError) -> String
}

extension FormatString: StorableCondition {}

extension BuiltCondition: StorableCondition {}
