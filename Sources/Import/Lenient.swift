/// A value, or nil where something else stands: for fields that are useful but not needed.
struct Lenient<Value: Decodable>: Decodable {
    var value: Value?

    init(from decoder: any Decoder) throws { value = try? Value(from: decoder) }
}

extension KeyedDecodingContainer {
    /// The value, or nil if it is missing or of another type.
    func lenient<Value: Decodable>(_ type: Value.Type, _ key: Key) -> Value? {
        contains(key) ? try? decodeIfPresent(type, forKey: key) : nil
    }

    /// The entries of a list that are of this type.
    func lenientList<Value: Decodable>(_ type: Value.Type, _ key: Key) -> [Value] {
        (lenient([Lenient<Value>].self, key) ?? []).compactMap(\.value)
    }

    /// The text, or nil if it is missing, empty or of another type.
    func lenientText(_ key: Key) -> String? {
        lenient(String.self, key).flatMap { $0.isEmpty ? nil : $0 }
    }
}
