/// `year(born)`: a part of each point in time, in UTC. NULL gives NULL; so does a value of Mixed of another type.
final class DatePartExpression: Expression {
    private let part: DatePart
    private let whole: Expression
    private let buffer = ValueBuffer()

    init(_ part: DatePart, _ whole: Expression) {
        (self.part, self.whole) = (part, whole)
        super.init(part == .date ? .timestamp : .int, isList: whole.isList, whole.quantifier)
    }

    override func copied() -> Expression { DatePartExpression(part, whole.copied()) }

    override func prepare(_ group: Group) throws(RealmError) { try whole.prepare(group) }

    override func reads(_ found: inout RowReads, _ way: [KeyPath.Step]) { whole.reads(&found, way) }

    override func write(_ printer: QueryPrinter) {
        printer.out += part.rawValue + "("
        whole.write(printer)
        printer.out += ")"
    }

    override func evaluate(_ table: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        buffer.reset()
        try whole.evaluate(table, key, buffer)
        let before = out.values.count
        for value in buffer.values {
            if case .timestamp(let time) = value {
                out.values.append(part.value(time))
            } else {
                out.values.append(.null)
            }
        }
        out.ends.append(contentsOf: buffer.ends.map { $0 + before })
    }
}

extension DatePart {
    /// The part of a point in time: a number, or for `date` a point in time.
    fileprivate func value(_ time: Timestamp) -> Mixed {
        // Nanoseconds have the sign of the seconds.
        let second = time.nanoseconds < 0 && time.seconds > .min ? time.seconds - 1 : time.seconds
        let (days, rest) = second.dividedDown(by: 86_400)
        switch self {
        case .year: return .int(CivilDate(days: days).year)
        case .month: return .int(CivilDate(days: days).month)
        case .day: return .int(CivilDate(days: days).day)
        case .hour: return .int(rest / 3600)
        case .minute: return .int(rest / 60 % 60)
        case .second: return .int(rest % 60)
        // 1970-01-01 was a Thursday.
        case .weekday: return .int((days + 3).dividedDown(by: 7).remainder + 1)
        case .date:
            // The first moment of the first day is before the first second of 64 bits.
            let (start, overflows) = days.multipliedReportingOverflow(by: 86_400)
            return .timestamp(Timestamp(seconds: overflows ? .min : start, nanoseconds: 0))
        }
    }
}

/// A column of a grouping, in HAVING and in the orderings after it. The key of a row is the number of a group.
final class GroupColumnExpression: Expression {
    private let column: GroupColumn
    private let name: Name

    init(_ column: GroupColumn, _ name: Name) {
        (self.column, self.name) = (column, name)
        super.init(column.type, isList: false)
    }

    override func evaluate(_ table: Table, _ key: ObjKey, _ out: ValueBuffer) throws(RealmError) {
        out.values.append(try column.value(Int(key.raw)))
        out.closeGroup()
    }

    override func text(_ printer: QueryPrinter) -> String { QueryPrinter.name(name) }
}

/// The values of a column of a grouping.
protocol GroupColumn {
    var type: ValueType { get }

    /// The value for a group; valid as long as the snapshot.
    func value(_ group: Int) throws(RealmError) -> Mixed
}
