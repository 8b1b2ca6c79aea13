import Foundation

/// A token, password or key that must never be shown.
///
/// Printing, interpolating, reflecting and dumping it give `<redacted>`; it is not `Codable` and
/// not `Equatable`. The value is accessible only through ``reveal()``, so that a search for that
/// word finds every use.
package struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let value: String

    package init(_ value: String) {
        self.value = value
    }

    /// The value itself, for the code that must send it.
    package func reveal() -> String { value }

    /// Whether the value is empty.
    package var isEmpty: Bool { value.isEmpty }

    /// `text` with all traces of the secret removed.
    ///
    /// For messages from outside, such as a server's error text, which may repeat the request
    /// shortened, in another case or encoded. Any eight consecutive characters of the secret, or of
    /// its Base64, hexadecimal or URL form, are removed. A shorter secret is found only as a whole.
    package func redacted(from text: String) -> String { Self.redacted([self], from: text) }

    /// `text` with all traces of the secrets removed.
    package static func redacted(_ secrets: some Sequence<Secret>, from text: String) -> String {
        let bytes = Array(text.utf8)
        var isSecretByte = [Bool](repeating: false, count: bytes.count)
        // All secrets are marked before anything is removed, because they may overlap.
        for secret in secrets { SecretPieces(of: secret.value).mark(bytes, in: &isSecretByte) }
        guard isSecretByte.contains(true) else { return text }
        return SecretPieces.text(bytes, without: isSecretByte, leaving: mark)
    }

    private static let mark = "<redacted>"

    package var description: String { Self.mark }

    package var debugDescription: String { description }

    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// The short pieces of a secret by which it is recognized in a text.
struct SecretPieces {
    /// The length, in bytes, of a piece of a secret or of one of its encodings.
    private static let usualLength = 8

    /// The length of this secret's pieces: shorter than usual for a short secret.
    private let length: Int
    /// Every run of this length of every encoding, in lower case.
    private var pieces: Set<UInt64> = []

    init(of value: String) {
        let bytes = Array(value.utf8)
        length = min(Self.usualLength, bytes.count)
        add(bytes)
        guard length == Self.usualLength else { return }
        add(bytes.flatMap(Self.percentEncoded))
        add(bytes.flatMap(Self.hexadecimalDigits))
        for offset in 0..<3 {
            let text = Array(
                Data(repeatElement(0, count: offset) + bytes).base64EncodedString().utf8)
            // The first and last characters depend on the bytes around the secret, and the last
            // ones may be padding, so they are not used as pieces.
            let inner = Array(text.dropFirst(offset == 0 ? 0 : offset + 1).dropLast(4))
            add(inner)
            add(inner.map(Self.forURLs))
        }
    }

    /// Marks each byte of a text that belongs to a piece.
    func mark(_ bytes: [UInt8], in isSecretByte: inout [Bool]) {
        forEachPiece(of: bytes) { piece, end in
            guard pieces.contains(piece) else { return }
            for index in (end - length)..<end { isSecretByte[index] = true }
        }
    }

    /// `bytes` as text, with `mark` in the place of each run of marked bytes.
    static func text(_ bytes: [UInt8], without isSecretByte: [Bool], leaving mark: String) -> String
    {
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            guard isSecretByte[index] else {
                result.append(bytes[index])
                index += 1
                continue
            }
            result += Array(mark.utf8)
            while index < bytes.count, isSecretByte[index] { index += 1 }
            // A character with a removed byte is removed as a whole.
            while index < bytes.count, bytes[index] & 0xC0 == 0x80 { index += 1 }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private mutating func add(_ bytes: [UInt8]) {
        var newPieces: Set<UInt64> = []
        forEachPiece(of: bytes) { piece, _ in newPieces.insert(piece) }
        pieces.formUnion(newPieces)
    }

    /// Calls `body` with each run of ``length`` bytes and its end.
    private func forEachPiece(of bytes: [UInt8], _ body: (UInt64, Int) -> Void) {
        guard length > 0 else { return }
        let mask = length == 8 ? UInt64.max : (1 << UInt64(length * 8)) - 1
        var piece: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            piece = (piece << 8 | UInt64(byte.lowercaseASCII)) & mask
            if index + 1 >= length { body(piece, index + 1) }
        }
    }

    /// The two hexadecimal digits of a byte.
    private static func hexadecimalDigits(_ byte: UInt8) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    /// A byte as in a URL: itself, or `%` and two hexadecimal digits.
    private static func percentEncoded(_ byte: UInt8) -> [UInt8] {
        let isPlain = byte.isASCIIAlphanumeric || [0x2D, 0x2E, 0x5F, 0x7E].contains(byte)
        return isPlain ? [byte] : [UInt8(ascii: "%")] + hexadecimalDigits(byte)
    }

    /// Converts a character of Base64 to the URL-safe alphabet.
    private static func forURLs(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: byte
        }
    }
}
