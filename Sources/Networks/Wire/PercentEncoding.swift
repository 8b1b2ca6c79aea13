/// Percent-encoding as RFC 3986 has it and OAuth 1.0a demands it.
enum PercentEncoding {
    /// The UTF-8 bytes of `text`, with all but letters, digits, `-`, `.`, `_` and `~` as `%` and two upper-case digits.
    static func encoded(_ text: String) -> String {
        var result: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: result.append(byte)
            default: result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// `name=value` pairs joined with `&`, in the given order; names may repeat.
    static func query(_ pairs: [(name: String, value: String)]) -> String {
        pairs.map { encoded($0.name) + "=" + encoded($0.value) }.joined(separator: "&")
    }
}
