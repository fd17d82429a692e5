/// # UniqueIndexes
///
/// The indexes of unique rules: which object has these values? The rules themselves are kept by the layer Rules;
/// queries find their candidates here.
///
/// Promise
/// 1. A look-up in an index that is current finds each object of the class that has the values.
/// 2. A damaged index, or one that another library made out of date, keeps nobody from reading: it is not used.
///
/// May use: Tables, Trees, Crypto, Basics.
enum UniqueIndexes {
    /// The indexes of a class that know its objects as this snapshot has them. The list is empty while a write
    /// transaction has changes of the class, which the indexes do not contain yet.
    static func current(_ table: Table) throws(RealmError) -> [UniqueIndex] {
        let group = table.group
        guard group.hasRules, !table.isModified else { return [] }
        var rows: [(key: ObjKey, row: RuleRow)] = []
        do throws(RealmError) { rows = try group.ruleRows() } catch {
            // The rules are damaged, or of a later version.
            return []
        }
        let own = rows.filter { $0.row.table == table.key }
        let kept = own.first { $0.row.kind == .kept }?.row.number
        guard kept == table.storedContentVersion else { return [] }
        var all: [UniqueIndex] = []
        for (key, row) in own where row.kind == .unique {
            let index = try UniqueIndex(group, table, row, key)
            if index.isWhole { all.append(index) }
        }
        return all
    }
}

extension RuleRow {
    /// Of a unique rule: texts that differ only in case are equal.
    var ignoresCase: Bool { number & 1 != 0 }

    /// Of a unique rule: nulls are equal to each other.
    var nullsAreEqual: Bool { number & 2 != 0 }

    /// The number of a unique rule.
    static func number(ignoringCase: Bool, nullsAreEqual: Bool) -> Int64 {
        (ignoringCase ? 1 : 0) | (nullsAreEqual ? 2 : 0)
    }
}
