// What the macros refuse, and where: a line ends with the sentence. Scripts/check_macros.py compares.
import Foundation
import RealmMacros

@Model class Plain {  // refused: a model derives from 'Object' or 'EmbeddedObject'
    var name: String = ""
}

@Model struct Row {  // refused: '@Model' is for classes
    var name: String = ""
}

// What the mistakes leave is not stored, and `name` has no value: that is why the compiler misses an initialiser.
@Model class Mistakes: Object {  // refused: class 'Mistakes' has no initializers
    let born: Date = Date()  // refused: 'born' is set when an object is read from the file: write 'var'
    var name  // refused: 'name' needs a type
    var a: Int = 0, b: Int = 0  // refused: each stored property has a 'var' of its own
    var count: UInt = 0  // refused: integers have a sign: write 'Int'
    var tags: [String] = []  // refused: 'tags' cannot be stored as '[String]': write 'List<String>'
    var scores: [String: Int] = [:]  // refused: write 'Map<String, Int>'
    var names: Set<String> = []  // refused: write 'MutableSet'
    var initial: Character? = nil  // refused: write 'String'
    var pair: (Int, Int) = (0, 0)  // refused: the file has no such values
    var watched: Int = 0 {  // refused: a stored property has no 'willSet' or 'didSet'
        didSet { print(watched) }
    }
}

@Model class NoKeyType: Object {
    @PrimaryKey var id = 0  // refused: the primary key 'id' needs a written type
}

@Model class WrongKey: Object {
    // refused: a primary key is an integer, 'String', 'ObjectId' or 'UUID', or an optional one, not 'Double'
    @PrimaryKey var id: Double = 0
}

class NoModel: Object {
    @Indexed var name: String = ""  // refused: '@Indexed' is for properties of a class with '@Model'
}

@Model class Person: Object {
    var name: String
}

@Snapshot(of: Person.self) class NoStruct {}  // refused: '@Snapshot' is for structs

@Snapshot(of: Person.self) struct Untyped {
    let name  // refused: 'name' needs a type
}

@Snapshot(of: Person.self) struct Empty {  // refused: 'Empty' has no stored property that could be copied
    var isNew: Bool { true }
}
