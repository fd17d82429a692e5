/// Conditions on one property that programs declare by a word and a number.
extension ClassRules {
    package enum ShortForm: String, CaseIterable {
        /// Of values: not null; the least and the greatest one.
        case required, min, max
        /// Of texts and binary data: the number of bytes.
        case minLength = "min_length", maxLength = "max_length"
        /// Of collections: the number of elements.
        case minCount = "min_count", maxCount = "max_count"

        fileprivate var countsElements: Bool { self == .minCount || self == .maxCount }
    }

    /// Adds the check of a short form.
    ///
    /// - Parameter limit: a number or a date; not used for `required`.
    /// - Throws: 3000 for another limit.
    package mutating func add(_ form: ShortForm, _ property: Name, _ limit: Mixed) throws(RealmError) {
        func wrong(_ what: String) -> RealmError {
            RealmError(.invalidArgument, "Rules of property '\(property)': '\(form.rawValue)' is \(what)")
        }
        let name = Lexer.spelled(property)
        let condition: String
        switch form {
        case .required: condition = "\(name) != NULL"
        case .min, .max:
            switch limit {
            case .int, .decimal, .timestamp: break
            case .double(let number) where number.isFinite: break
            case .float(let number) where number.isFinite: break
            default: throw wrong("a finite number, or a date")
            }
            condition = "\(name) \(form == .min ? ">=" : "<=") \(ConstantText.of(limit))"
        case .minLength, .maxLength, .minCount, .maxCount:
            guard case .int(let count) = limit, count >= 0 else { throw wrong("a whole number, at least 0") }
            let isLeast = form == .minLength || form == .minCount
            condition = "\(name).@\(form.countsElements ? "count" : "size") \(isLeast ? ">=" : "<=") \(count)"
        }
        var check = Check(condition)
        check.name = "\(property).\(form.rawValue)"
        check.property = property
        check.countsElements = form.countsElements
        checks.append(check)
    }
}
