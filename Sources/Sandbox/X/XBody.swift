import Foundation

/// The JSON body of a request.
struct XBody: Sendable {
    indirect enum Value: Decodable, Sendable {
        case null
        case flag(Bool)
        case text(String)
        case list([Value])
        case object([String: Value])
        case number

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let flag = try? container.decode(Bool.self) {
                self = .flag(flag)
            } else if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let list = try? container.decode([Value].self) {
                self = .list(list)
            } else if let object = try? container.decode([String: Value].self) {
                self = .object(object)
            } else {
                _ = try container.decode(Double.self)
                self = .number
            }
        }
    }

    private let members: [String: Value]
    private let place: String

    /// - Throws: 400 for what is no JSON object, and for members that are not known.
    init(_ request: WireRequest, known: Set<String>) throws(XRefusal) {
        guard request.mediaType == "application/json" else {
            throw .invalidBody("The content type must be application/json")
        }
        guard case .object(let members)? = try? JSONDecoder().decode(Value.self, from: Data(request.body)) else {
            throw .invalidBody("The body is not a JSON object")
        }
        try self.init(members, known: known, place: "$")
    }

    private init(_ members: [String: Value], known: Set<String>, place: String) throws(XRefusal) {
        if let unknown = members.keys.sorted().first(where: { !known.contains($0) }) {
            throw .invalidBody(
                "\(place).\(unknown.prefix(40)): is not defined in the schema and the schema does not allow more")
        }
        self.members = members
        self.place = place
    }

    func has(_ name: String) -> Bool { members[name] != nil }

    func text(_ name: String) throws(XRefusal) -> String? {
        switch members[name] {
        case .text(let text): return text
        case nil: return nil
        default: throw .invalidBody("\(place).\(name): must be a text")
        }
    }

    func flag(_ name: String) throws(XRefusal) -> Bool? {
        switch members[name] {
        case .flag(let flag): return flag
        case nil: return nil
        default: throw .invalidBody("\(place).\(name): must be true or false")
        }
    }

    /// The texts of a list; empty without it.
    func texts(_ name: String) throws(XRefusal) -> [String] {
        guard let value = members[name] else { return [] }
        guard case .list(let values) = value else { throw .invalidBody("\(place).\(name): must be a list") }
        var texts: [String] = []
        for value in values {
            guard case .text(let text) = value else { throw .invalidBody("\(place).\(name): must hold texts") }
            texts.append(text)
        }
        return texts
    }

    func object(_ name: String, known: Set<String>) throws(XRefusal) -> XBody? {
        guard let value = members[name] else { return nil }
        guard case .object(let members) = value else { throw .invalidBody("\(place).\(name): must be an object") }
        return try XBody(members, known: known, place: "\(place).\(name)")
    }
}
