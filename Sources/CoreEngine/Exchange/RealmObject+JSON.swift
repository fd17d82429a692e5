extension RealmObject {
    /// One line of JSON: properties in column order, links as keys, embedded objects in full.
    public func json() throws(RealmError) -> String { try realm.inside(.object, do: try realm.json(table, key)) }

    /// Replaces the value of a Mixed property by that of a JSON text.
    public func setJSON(_ name: Name, _ text: String) throws(RealmError) {
        let property = try property(name)
        try Array(text.utf8).withBytes { (bytes) throws(RealmError) in
            try realm.inside(.object, do: try realm.setJSON(table, key, property.key, bytes))
        }
    }
}
