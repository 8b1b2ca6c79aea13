import Foundation

/// The members of a record or of a part of it, read as strictly as its lexicon demands.
struct RecordFields {
    let collection: String
    /// Where in the record this is: `Record`, `Record/reply/root`.
    let path: String
    private let members: [String: RecordValue]

    /// - Throws: `InvalidRequest` unless the value is an object of known members.
    init(
        _ value: RecordValue?, of collection: String, path: String = "Record", allowed: Set<String>
    ) throws(BlueskyRefusal) {
        self.collection = collection
        self.path = path
        guard case .map(let members) = value else {
            throw Self.refusal(collection, path, "must be an object")
        }
        self.members = members
        if let unknown = members.keys.sorted().first(where: { !allowed.contains($0) }) {
            throw Self.refusal(collection, path, "has an unknown field \(unknown.prefix(40))")
        }
    }

    private static func refusal(_ collection: String, _ path: String, _ message: String) -> BlueskyRefusal {
        .invalid("Invalid \(collection) record: \(path) \(message)")
    }

    /// What is wrong with a member, or with all of them.
    func refusal(_ name: String? = nil, _ message: String) -> BlueskyRefusal {
        Self.refusal(collection, name.map { "\(path)/\($0)" } ?? path, message)
    }

    func value(_ name: String) -> RecordValue? { members[name] }

    func text(_ name: String) throws(BlueskyRefusal) -> String? {
        guard let value = members[name] else { return nil }
        guard let text = value.text else { throw refusal(name, "must be a string") }
        return text
    }

    func requiredText(_ name: String) throws(BlueskyRefusal) -> String {
        guard let text = try text(name) else { throw missing(name) }
        return text
    }

    /// A text within its limits.
    func text(_ name: String, characters: Int, bytes: Int) throws(BlueskyRefusal) -> String? {
        guard let text = try text(name) else { return nil }
        guard text.utf8.count <= bytes else { throw refusal(name, "must not be longer than \(bytes) bytes") }
        guard text.count <= characters else {
            throw refusal(name, "must not be longer than \(characters) graphemes")
        }
        return text
    }

    func offset(_ name: String) throws(BlueskyRefusal) -> Int {
        guard let value = members[name] else { throw missing(name) }
        guard case .integer(let number) = value else { throw refusal(name, "must be an integer") }
        guard let offset = Int(exactly: number), offset >= 0 else { throw refusal(name, "can not be less than 0") }
        return offset
    }

    func list(_ name: String, atMost maximum: Int = .max) throws(BlueskyRefusal) -> [RecordValue]? {
        guard let value = members[name] else { return nil }
        guard let items = value.list else { throw refusal(name, "must be an array") }
        guard items.count <= maximum else { throw refusal(name, "must not have more than \(maximum) elements") }
        return items
    }

    func requiredDate(_ name: String) throws(BlueskyRefusal) -> Date {
        guard let date = RecordSyntax.date(try requiredText(name)) else {
            throw refusal(name, "must be a datetime with zone")
        }
        return date
    }

    /// The member's own members; nil where it is absent.
    func fields(_ name: String, allowed: Set<String>) throws(BlueskyRefusal) -> RecordFields? {
        guard let value = members[name] else { return nil }
        return try RecordFields(value, of: collection, path: "\(path)/\(name)", allowed: allowed)
    }

    func requiredFields(_ name: String, allowed: Set<String>) throws(BlueskyRefusal) -> RecordFields {
        guard let fields = try fields(name, allowed: allowed) else { throw missing(name) }
        return fields
    }

    func missing(_ name: String) -> BlueskyRefusal { refusal(nil, "must have the property \"\(name)\"") }

    /// - Throws: `InvalidRequest` unless the record says of itself what it is.
    func requireType(_ type: String) throws(BlueskyRefusal) {
        let actual = try requiredText("$type")
        guard actual == type else { throw refusal("$type", "must be \(type)") }
    }

    /// Address and identifier of a record.
    func reference(_ name: String) throws(BlueskyRefusal) -> StrongReference {
        let fields = try requiredFields(name, allowed: ["$type", "uri", "cid"])
        let (uri, cid) = (try fields.requiredText("uri"), try fields.requiredText("cid"))
        guard RecordAddress(uri) != nil else { throw fields.refusal("uri", "must be a valid at-uri") }
        guard ContentID.bytes(of: cid) != nil else { throw fields.refusal("cid", "must be a cid string") }
        return StrongReference(uri: uri, cid: cid)
    }

    /// The labels that the author puts on the record.
    func selfLabels() throws(BlueskyRefusal) -> [String] {
        guard let fields = try fields("labels", allowed: ["$type", "values"]) else { return [] }
        try fields.requireType("com.atproto.label.defs#selfLabels")
        guard let values = try fields.list("values", atMost: 10) else { throw fields.missing("values") }
        var labels: [String] = []
        for (index, value) in values.enumerated() {
            let label = try RecordFields(
                value, of: collection, path: "\(fields.path)/values/\(index)", allowed: ["$type", "val"])
            guard let text = try label.text("val", characters: 128, bytes: 128) else { throw label.missing("val") }
            labels.append(text)
        }
        return labels
    }
}
