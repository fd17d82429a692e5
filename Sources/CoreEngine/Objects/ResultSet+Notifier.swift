extension ResultSet {
    /// Makes the notifier for these rows.
    package func makeNotifier(_ transaction: Transaction) throws(RealmError) -> Notifier {
        guard !isSnapshot else {
            throw RealmError(.illegalOperation, "A snapshot of results does not change: there is nothing to be told of")
        }
        switch source {
        case .collection(let path) where table == nil:
            return try CollectionNotifier(path, .rows, limit: valueLimit, transaction)
        case .keys(let path): return try CollectionNotifier(path, .rows, limit: valueLimit, transaction)
        default: return ResultsNotifier(table ?? .null, source, query, at: transaction.version)
        }
    }
}
