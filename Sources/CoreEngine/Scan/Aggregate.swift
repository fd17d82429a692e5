/// Sum, average, minimum and maximum of values. Nulls and NaN are skipped (in Mixed values, only the decimal NaN). Sums
/// and averages also skip values that are not numbers.
enum Aggregate {
    static func over(_ kind: AggregateKind, _ type: ValueType, _ values: ArraySlice<Mixed>) -> Mixed {
        switch kind {
        case .min, .max:
            var best: Mixed?
            for value in values where !value.isNull && (type == .mixed ? !value.isDecimalNaN : !value.isNaN) {
                guard let current = best else {
                    best = value
                    continue
                }
                let order = Mixed.compare(value, current)
                if kind == .min ? order < 0 : order > 0 { best = value }
            }
            return best ?? .null
        case .sum, .average:
            var ints: Int128 = 0, doubles = 0.0, decimals = Decimal128.zero
            var count: Int64 = 0
            for value in values where type == .mixed ? !value.isDecimalNaN : !value.isNaN {
                switch (type, value) {
                case (.int, .int(let integer)):
                    ints &+= Int128(integer)
                    doubles += Double(integer)
                case (.float, .float(let float)): doubles += Double(float)
                case (.double, .double(let double)): doubles += double
                case (.decimal, .decimal(let decimal)): decimals = decimals + decimal
                case (.mixed, .int(let integer)): decimals = decimals + Decimal128(integer)
                case (.mixed, .float(let float)): decimals = decimals + Decimal128(rounding: Double(float), digits: 7)
                case (.mixed, .double(let double)): decimals = decimals + Decimal128(rounding: double, digits: 15)
                case (.mixed, .decimal(let decimal)): decimals = decimals + decimal
                default: continue
                }
                count += 1
            }
            if kind == .sum {
                switch type {
                case .int: return .whole(ints)
                case .float, .double: return .double(doubles)
                default: return .decimal(decimals)
                }
            }
            guard count > 0 else { return .null }
            switch type {
            case .int, .float, .double: return .double(doubles / Double(count))
            default: return .decimal(decimals / Decimal128(count))
            }
        }
    }
}

extension Mixed {
    /// An integer, or a decimal if the value does not fit into 64 bits.
    static func whole(_ value: Int128) -> Mixed {
        if let small = Int64(exactly: value) { return .int(small) }
        // A sum of fewer than 2^49 integers has at most 34 digits.
        return .decimal(
            Decimal128(negative: value < 0, coefficient: min(value.magnitude, Decimal128.maxCoefficient), exponent: 0))
    }

    var isNaN: Bool {
        switch self {
        case .float(let float): float.isNaN
        case .double(let double): double.isNaN
        case .decimal(let decimal): decimal.isNaN
        default: false
        }
    }

    fileprivate var isDecimalNaN: Bool { if case .decimal(let decimal) = self { decimal.isNaN } else { false } }
}
