import Foundation
import Posts
import TestSupport

/// Checks a signature from nothing but what arrived, with arithmetic of its own.
enum XSignature {
    /// Whether the request is signed with these secrets for the address where it arrived.
    static func isRight(
        _ request: LoopbackServer.Request, at base: String, secrets: (String, String)
    ) -> Bool {
        guard let header = request.header("Authorization"), header.hasPrefix("OAuth ") else {
            return false
        }
        var pairs: [String] = []
        var signature = ""
        for part in header.dropFirst(6).components(separatedBy: ", ") {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { return false }
            let value = pair[1].dropFirst().dropLast()
            if pair[0] == "oauth_signature" {
                signature = value.removingPercentEncoding ?? ""
            } else {
                pairs.append("\(pair[0])=\(value)")
            }
        }
        // As they were sent: an encoding that differs from what was signed makes the signature
        // wrong.
        let query = request.target.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        pairs += query.split(separator: "&").map(String.init)
        let sorted = pairs.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
        let text = [request.method, base + request.path, sorted.joined(separator: "&")].map(encoded)
            .joined(separator: "&")
        let key = "\(encoded(secrets.0))&\(encoded(secrets.1))"
        return Data(code(Array(text.utf8), key: Array(key.utf8))).base64EncodedString() == signature
    }

    private static func encoded(_ text: String) -> String {
        let plain = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }

    /// HMAC-SHA1 (RFC 2104).
    static func code(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        let short = key.count > 64 ? digest(key) : key
        let block = short + [UInt8](repeating: 0, count: 64 - short.count)
        return digest(block.map { $0 ^ 0x5C } + digest(block.map { $0 ^ 0x36 } + message))
    }

    /// SHA-1 (RFC 3174).
    static func digest(_ message: [UInt8]) -> [UInt8] {
        var bytes = message + [0x80]
        while bytes.count % 64 != 56 { bytes.append(0) }
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: UInt64(message.count * 8) >> UInt64(shift)))
        }
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        for start in stride(from: 0, to: bytes.count, by: 64) {
            mix(Array(bytes[start..<start + 64]), into: &state)
        }
        return state.flatMap { word in
            (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) }
        }
    }

    private static func mix(_ block: [UInt8], into state: inout [UInt32]) {
        var words = (0..<16).map { index in
            block[index * 4..<index * 4 + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        for index in 16..<80 {
            words.append(
                rotated(
                    words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1))
        }
        var a = state[0]
        var b = state[1]
        var c = state[2]
        var d = state[3]
        var e = state[4]
        for index in 0..<80 {
            let (mixed, constant): (UInt32, UInt32) =
                switch index / 20 {
                case 0: (b & c | ~b & d, 0x5A82_7999)
                case 1: (b ^ c ^ d, 0x6ED9_EBA1)
                case 2: (b & c | b & d | c & d, 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            let next = rotated(a, 5) &+ mixed &+ e &+ words[index] &+ constant
            (a, b, c, d, e) = (next, a, rotated(b, 30), c, d)
        }
        for (index, word) in [a, b, c, d, e].enumerated() { state[index] = state[index] &+ word }
    }

    private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word << count | word >> (32 - count)
    }
}
