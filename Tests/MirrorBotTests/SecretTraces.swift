import Foundation

/// A word that must stay where it was put.
struct PlantedSecret: Hashable, Sendable {
    /// What it opens, for the person who reads a failure.
    let name: String
    let value: String

    /// A value that no other text holds, with the characters that encodings change.
    static func fresh(_ name: String) -> PlantedSecret {
        let letters = Array("abcdefghjkmnpqrstuvwxyzABCDEFGHJKMNPQRSTUVWXYZ23456789")
        func word(_ count: Int) -> String {
            String((0..<count).map { _ in letters.randomElement() ?? "x" })
        }
        // Long enough for a key.
        return PlantedSecret(name: name, value: "\(word(14))/\(word(8))+\(word(11))=")
    }
}

/// Finds a secret in what was left behind, however it is written.
///
/// Small and capital letters count as the same, and eight characters of either end are enough.
struct SecretTraces: Sendable {
    private struct Needle: Sendable {
        let secret: PlantedSecret
        let form: String
        let bytes: [UInt8]
    }

    /// By their first eight bytes; none has fewer.
    private var needles: [UInt64: [Needle]] = [:]
    /// For each value of ``hash(_:)`` whether a needle begins so: nearly everything is passed over
    /// by that.
    private var beginnings = [Bool](repeating: false, count: 1 << 16)

    init(of secrets: some Sequence<PlantedSecret>) {
        for secret in secrets {
            for (name, bytes) in Self.forms(of: secret.value) {
                let needle = Needle(secret: secret, form: name, bytes: bytes.map(Self.small))
                let beginning = needle.bytes.prefix(Self.enough).reduce(0) { $0 << 8 | UInt64($1) }
                needles[beginning, default: []].append(needle)
                beginnings[Self.hash(beginning)] = true
            }
        }
    }

    /// What was found, by secret and form.
    func search(_ data: Data) -> [String] {
        var found: Set<String> = []
        // Logs and databases are long, and tests are not optimised: no function is called for a
        // byte.
        data.withUnsafeBytes { haystack in
            beginnings.withUnsafeBufferPointer { beginnings in
                var index = 0
                var window = UInt64(0)
                while index < haystack.count {
                    let byte = haystack[index]
                    window = window &<< 8 | UInt64(byte &- 0x41 < 26 ? byte | 0x20 : byte)
                    index &+= 1
                    guard
                        beginnings[
                            Int(truncatingIfNeeded: window ^ window &>> 24 ^ window &>> 48) & 0xFFFF
                        ],
                        index >= Self.enough, let candidates = needles[window]
                    else { continue }
                    let rest = haystack[(index - Self.enough)...].lazy.map(Self.small)
                    for needle in candidates where rest.starts(with: needle.bytes) {
                        found.insert("\(needle.secret.name) (\(needle.form))")
                    }
                }
            }
        }
        return found.sorted()
    }

    private static func hash(_ beginning: UInt64) -> Int {
        Int(truncatingIfNeeded: beginning ^ beginning &>> 24 ^ beginning &>> 48) & 0xFFFF
    }

    private static func small(_ byte: UInt8) -> UInt8 {
        (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }

    /// How many characters give a secret away.
    private static let enough = 8

    private static func forms(of value: String) -> [(name: String, bytes: [UInt8])] {
        let all = Array(value.utf8)
        let ends = [("beginning", Array(all.prefix(enough))), ("end", Array(all.suffix(enough)))]
        var forms: [(String, [UInt8])] = []
        for (name, bytes) in ends where bytes.count == enough {
            forms.append((name, bytes))
            forms.append(
                ("\(name), hex", Array(bytes.map { String(format: "%02x", $0) }.joined().utf8)))
            forms.append(("\(name), URL-encoded", Array(bytes.map(escaped).joined().utf8)))
            forms.append(
                (
                    name + ", all URL-encoded",
                    Array(bytes.map { String(format: "%%%02x", $0) }.joined().utf8)
                ))
            forms.append((name + ", JSON", Array(bytes.map(inJSON).joined().utf8)))
            forms.append((name + ", UTF-16", bytes.flatMap { [$0, 0] }))
        }
        for offset in 0..<3 {
            let inner = base64(all, offset: offset)
            forms.append(("base64", inner))
            let inURLs = inner.map { sign -> UInt8 in
                switch sign {
                case 0x2B: 0x2D
                case 0x2F: 0x5F
                default: sign
                }
            }
            forms.append(("base64 for URLs", inURLs))
        }
        if let key = bytes(hex: value) { forms.append(("the bytes of its digits", key)) }
        return Array(
            Dictionary(forms.map { ($0.1, $0.0) }, uniquingKeysWith: { first, _ in first })
        )
        .map { (name: $0.value, bytes: $0.key) }
    }

    /// The Base64 of the first bytes wherever they stand in a longer text, without the characters
    /// that depend on it.
    private static func base64(_ bytes: [UInt8], offset: Int) -> [UInt8] {
        let text = Data([UInt8](repeating: 0, count: offset) + bytes.prefix(9))
            .base64EncodedString()
        return Array(text.utf8.dropFirst(offset == 0 ? 0 : offset + 1).prefix(8))
    }

    private static func escaped(_ byte: UInt8) -> String {
        let isPlain =
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
            || (0x61...0x7A).contains(byte)
            || [0x2D, 0x2E, 0x5F, 0x7E].contains(byte)
        return isPlain ? String(UnicodeScalar(byte)) : String(format: "%%%02x", byte)
    }

    private static func inJSON(_ byte: UInt8) -> String {
        let character = String(UnicodeScalar(byte))
        return ["/", "\"", "\\"].contains(character) ? "\\" + character : character
    }

    private static func bytes(hex text: String) -> [UInt8]? {
        let digits = text.compactMap(\.hexDigitValue)
        guard text.utf8.count >= 32, digits.count == text.utf8.count, digits.count % 2 == 0 else {
            return nil
        }
        return stride(from: 0, to: digits.count, by: 2).map { (index: Int) -> UInt8 in
            UInt8(digits[index] * 16 + digits[index + 1])
        }
    }
}
