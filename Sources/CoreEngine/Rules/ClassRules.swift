/// The rules of one class, as a program declares them.
package struct ClassRules: Sendable, Equatable {
    /// Properties whose values together occur once in the class.
    package struct Unique: Sendable, Equatable {
        /// A name for error messages; empty: the names of the properties.
        package var name = ""
        package var properties: [Name]

        /// Texts that differ only in case are equal.
        package var ignoresCase = false

        /// Objects with a null are equal to each other; otherwise an object with a null is equal to no other.
        package var nullsAreEqual = false

        package init(_ properties: [Name]) { self.properties = properties }
    }

    /// A condition of the query language that each object meets.
    package struct Check: Sendable, Equatable {
        /// A name for error messages; empty: the condition.
        package var name = ""
        package var condition: String

        /// Each call is tested, not only the commit.
        package var isAtCall = false

        /// For a short form: its property, and whether it limits the number of elements. Not stored.
        package var property: Name?
        package var countsElements = false

        package init(_ condition: String) { self.condition = condition }
    }

    /// A subclass, whose objects belong to this class of the file.
    package struct Subclass: Sendable, Equatable {
        /// The text that its objects have in the type property.
        package var name: String

        /// The subclass that it extends; empty: this class itself.
        package var parent = ""

        /// The properties that the subclass adds. In the file they are properties of this class.
        package var properties: [Name] = []

        /// Whether the subclass is abstract: each of its objects is of a subclass of it.
        package var isAbstract = false

        package init(_ name: String) { self.name = name }
    }

    /// The value of a property of new objects.
    package enum Initial: Sendable, Equatable {
        case constant(StoredValue)
        case now
        case newUUID
        case newObjectId
    }

    /// What happens to the targets of a link property when the object that has it is deleted.
    package var onDelete: [Name: DeleteRule] = [:]

    /// What happens to the object that has the link property when its target is deleted.
    package var onTargetDelete: [Name: DeleteRule] = [:]

    /// Properties whose values the engine makes.
    package var automatic: Set<Name> = []
    package var initial: [Name: Initial] = [:]
    package var unique: [Unique] = []
    package var checks: [Check] = []

    /// The text property that names the subclass of each object; nil: the class has no subclasses.
    package var typeProperty: Name?

    /// The text for objects of no subclass; empty: the name of the class.
    package var typeName = ""

    /// Each object is of a subclass.
    package var isAbstract = false
    package var subclasses: [Subclass] = []

    /// The expressions of computed properties, by name.
    package var computed: [Name: String] = [:]

    /// Properties for the time of the creation, the time of the last change, and the number of changes.
    package var created: Set<Name> = []
    package var modified: Set<Name> = []
    package var revision: Set<Name> = []

    /// The name that the class had in the file before, and the former names of properties by the new ones: they are
    /// renamed when the schema changes, and keep their objects, values, links, indexes and rules. Not stored.
    package var renamedFrom: Name?
    package var renamedProperties: [Name: Name] = [:]

    package init() {}

    package var isEmpty: Bool { self == ClassRules() }

    /// Whether the program declares nothing but former names.
    package var isOnlyRenames: Bool {
        var rest = self
        (rest.renamedFrom, rest.renamedProperties) = (nil, [:])
        return !isEmpty && rest.isEmpty
    }
}

extension StoredValue: Equatable {
    package static func == (a: StoredValue, b: StoredValue) -> Bool {
        switch (a, b) {
        case (.single(let left), .single(let right)): left.isNull == right.isNull && Mixed.equal(left, right)
        case (.string(let left), .string(let right)), (.binary(let left), .binary(let right)): left == right
        default: false
        }
    }
}
