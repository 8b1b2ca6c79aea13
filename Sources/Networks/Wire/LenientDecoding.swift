import Foundation

/// One element of a list, read as far as it can be.
struct LenientElement<Value: Decodable>: Decodable {
    /// Nil if the element is not what was expected.
    let value: Value?
    /// The element's `id`, even where the rest cannot be read.
    let id: String?

    private enum CodingKeys: CodingKey {
        case id
    }

    init(from decoder: any Decoder) throws {
        value = try? Value(from: decoder)
        id = (try? decoder.container(keyedBy: CodingKeys.self))?.identifier(.id)
    }
}

/// Reading fields that servers fill in their own ways: what is missing, null or of another type is nil.
extension KeyedDecodingContainer {
    /// A string, or the digits of a whole number.
    func text(_ key: Key) -> String? {
        // A key that is missing would otherwise be an error for each type that is tried, and errors are slow.
        guard isPresent(key) else { return nil }
        if let text = try? decode(String.self, forKey: key) { return text }
        if let number = try? decode(Int64.self, forKey: key) { return String(number) }
        if let number = try? decode(UInt64.self, forKey: key) { return String(number) }
        return nil
    }

    /// A text that can be an id.
    func identifier(_ key: Key) -> String? {
        text(key).flatMap { MastodonID.isUsable($0) ? $0 : nil }
    }

    /// `true`, 1, `"true"` or `"1"`; or their opposites.
    func flag(_ key: Key) -> Bool? {
        guard isPresent(key) else { return nil }
        if let flag = try? decode(Bool.self, forKey: key) { return flag }
        switch text(key) {
        case "1", "true": return true
        case "0", "false": return false
        default: return nil
        }
    }

    /// A whole number, or a string of its digits.
    func integer(_ key: Key) -> Int? {
        text(key).flatMap(Int.init)
    }

    /// A value of any type.
    func value<Value: Decodable>(_ type: Value.Type, _ key: Key) -> Value? {
        isPresent(key) ? try? decode(type, forKey: key) : nil
    }

    /// The readable elements of a list.
    func list<Value: Decodable>(of type: Value.Type, _ key: Key) -> [Value] {
        value([LenientElement<Value>].self, key)?.compactMap(\.value) ?? []
    }

    /// Whether there is something at all that is not null.
    func isPresent(_ key: Key) -> Bool {
        contains(key) && (try? decodeNil(forKey: key)) == false
    }
}
