/// A day of the proleptic Gregorian calendar. Any year; no leap seconds.
struct CivilDate {
    /// Year 0 is 1 BC.
    let year: Int64

    /// 1 to 12, and 1 to 31.
    let month, day: Int64

    private static let daysOfEra: Int64 = 146_097, yearsOfEra: Int64 = 400

    /// Days from 0000-03-01 to 1970-01-01.
    private static let epoch: Int64 = 719_468

    /// - Parameter days: since 1970-01-01. Any number of days that a `Timestamp` can have.
    init(days: Int64) {
        // Years begin in March here, so that the day that may be missing is the last of a year.
        let (era, dayOfEra) = (days + Self.epoch).dividedDown(by: Self.daysOfEra)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - Self.daysBefore(yearOfEra)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = era * Self.yearsOfEra + yearOfEra + (month <= 2 ? 1 : 0)
    }

    /// Days since 1970-01-01 of the first day of a month. The month is 1 to 12.
    static func days(year: Int64, month: Int64) -> Int64 {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).dividedDown(by: yearsOfEra)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5
        return era * daysOfEra + daysBefore(yearOfEra) + dayOfYear - epoch
    }

    private static func daysBefore(_ yearOfEra: Int64) -> Int64 { yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 }
}

extension Int64 {
    /// Quotient and remainder; the remainder is not negative.
    @inline(__always) func dividedDown(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
