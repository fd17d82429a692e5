/// A property that the file defines by an expression over others: `total` is `price * count`. Its value is not stored.
///
/// In conditions and sorts its name stands for the expression. At the end of a path of to-one links, the expression is
/// that of the object at the end.
package struct ComputedProperty {
    private let expression: Expression

    /// Holds the constants of the expression.
    private let arena = ConstantArena()
    private let buffer = ValueBuffer()
    private let table: TableKey

    /// nil: the class has no such property.
    init?(_ table: TableKey, _ name: Name, _ group: Group) throws(RealmError) {
        guard let table = try group.table(table), try group.computed(name, table) != nil else { return nil }
        try self.init(table, .path([.name(name)], nil, .value))
    }

    private init(_ table: Table, _ syntax: ExpressionSyntax) throws(RealmError) {
        self.table = table.key
        var binder = Binder(table.group, QueryNames(), [], arena)
        expression = try binder.expression(syntax, table)
        guard !expression.isList else { throw .query("A computed property has one value, and no list") }
    }

    /// The value of an object, which exists; valid as long as the snapshot. Texts are those of the file.
    ///
    /// - Parameter group: that of the Realm. Its tables may have been opened again since the last call.
    func value(_ key: ObjKey, _ group: Group) throws(RealmError) -> Mixed {
        guard let table = try group.table(table) else { throw RealmError(.noSuchTable, "No such class") }
        try expression.prepare(group)
        buffer.reset()
        try expression.evaluate(table, key, buffer)
        return buffer.values.first ?? .null
    }

    /// Throws unless the row of the table of rules defines a property: 3015 for an invalid expression.
    static func check(_ row: RuleRow, _ table: Table) throws(RealmError) {
        let syntax = try Binder.computedValue(row.text)
        guard !Binder.isConstant(syntax) else { throw .query("A computed property is not a constant") }
        _ = try ComputedProperty(table, syntax)
    }
}
