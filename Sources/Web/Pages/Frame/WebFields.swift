import Foundation

/// The fields of a query or a form, in their order; a name may occur several times.
package struct WebFields: Sendable {
    private let fields: [(name: String, value: String)]

    package static let none = WebFields([])

    package init(_ fields: [(String, String)]) {
        self.fields = fields.map { name, value in (name: name, value: value) }
    }

    /// Parses `application/x-www-form-urlencoded`; nil for invalid UTF-8, and for NUL, which no
    /// store accepts.
    init?(encoded text: some StringProtocol) {
        var fields: [(String, String)] = []
        for pair in text.utf8.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]),
                let value = parts.count > 1 ? Self.decoded(parts[1]) : ""
            else {
                return nil
            }
            fields.append((name, value))
        }
        self.init(fields)
    }

    /// The first value of the name; nil for none.
    package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    /// Returns the first value of the name, trimmed; nil if it is missing or blank.
    package func typed(_ name: String) -> String? {
        guard let text = self[name]?.trimmingCharacters(in: .whitespacesAndNewlines), !text.isEmpty
        else { return nil }
        return text
    }

    /// Returns all values of the fields with a name.
    package func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// All fields, in the form that ``query(_:)`` takes.
    var pairs: [(String, String?)] { fields.map { ($0.name, $0.value) } }

    /// Returns the fields as a query that begins with `?`; empty without fields.
    package static func query(_ fields: [(String, String?)]) -> String {
        let pairs = fields.compactMap { name, value in
            value.map { encoded(name) + "=" + encoded($0) }
        }
        return pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")
    }

    /// Returns the text, percent-encoded for a part of a path or of a query.
    package static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain = Self.plain.contains(byte)
            return isPlain
                ? String(UnicodeScalar(byte))
                : "%" + Self.digits[Int(byte >> 4)] + Self.digits[Int(byte & 15)]
        }.joined()
    }

    private static let digits = "0123456789ABCDEF".map { String($0) }
    private static let plain = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8)

    /// Returns a percent-decoded part of a path; nil for invalid UTF-8 or a NUL.
    static func decodedPath(_ text: some StringProtocol) -> String? {
        decoded(Array(text.utf8), plusIsSpace: false)
    }

    private static func decoded(_ bytes: some Collection<UInt8>, plusIsSpace: Bool = true)
        -> String?
    {
        var decoded: [UInt8] = []
        var iterator = bytes.makeIterator()
        while let byte = iterator.next() {
            switch byte {
            case UInt8(ascii: "+") where plusIsSpace: decoded.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = iterator.next().flatMap(hex),
                    let low = iterator.next().flatMap(hex)
                else {
                    return nil
                }
                decoded.append(high << 4 | low)
            default: decoded.append(byte)
            }
        }
        guard !decoded.contains(0) else { return nil }
        return String(validating: decoded, as: UTF8.self)
    }

    private static func hex(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
