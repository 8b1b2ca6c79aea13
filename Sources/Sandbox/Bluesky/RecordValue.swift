import Foundation

/// A value of the protocol's data model; what is null stays apart from what is absent.
enum RecordValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case text(String)
    case list([RecordValue])
    case map([String: RecordValue])

    subscript(name: String) -> RecordValue? {
        guard case .map(let members) = self else { return nil }
        return members[name]
    }

    var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    var list: [RecordValue]? {
        guard case .list(let items) = self else { return nil }
        return items
    }

    /// The value as an answer shows it, its members in the order of their names.
    var json: WireJSON {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .integer(let value): .integer(Int(value))
        case .text(let value): .string(value)
        case .list(let items): .array(items.map(\.json))
        case .map(let members): .object(members.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) })
        }
    }
}

extension RecordValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    init(stringLiteral value: String) { self = .text(value) }
    init(integerLiteral value: Int64) { self = .integer(value) }
    init(arrayLiteral elements: RecordValue...) { self = .list(elements) }
    init(dictionaryLiteral elements: (String, RecordValue)...) {
        self = .map(Dictionary(elements, uniquingKeysWith: { $1 }))
    }
}

extension RecordValue: Decodable {
    private static let maximumDepth = 32

    /// Numbers with a fraction have no place in the data model.
    init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= Self.maximumDepth else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "nested too deeply"))
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if var items = try? decoder.unkeyedContainer() {
            var values: [RecordValue] = []
            while !items.isAtEnd { values.append(try items.decode(RecordValue.self)) }
            self = .list(values)
        } else {
            self = .map(try container.decode([String: RecordValue].self))
        }
    }

    /// - Returns: The members of a JSON object; nil for anything else.
    static func members(ofJSON bytes: [UInt8]) -> [String: RecordValue]? {
        try? JSONDecoder().decode([String: RecordValue].self, from: Data(bytes))
    }
}
