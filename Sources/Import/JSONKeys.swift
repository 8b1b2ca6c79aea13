import Foundation

/// Looks at the keys of a JSON object, which a decoder cannot: it keeps one of two equal ones without saying so.
enum JSONKeys {
    /// The first key that the outermost object of `bytes` has twice; nil if there is none.
    ///
    /// Made for valid JSON; for other bytes the answer means nothing.
    static func duplicate(in bytes: [UInt8]) -> String? {
        var seen: Set<String> = []
        var depth = 0
        var expectsKey = false
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case Byte.openBrace, Byte.openBracket:
                depth += 1
                expectsKey = depth == 1
            case Byte.closeBrace, Byte.closeBracket: depth -= 1
            case Byte.comma: expectsKey = depth == 1
            case Byte.quote:
                let end = endOfString(in: bytes, from: index)
                if expectsKey {
                    expectsKey = false
                    let key = decoded(bytes[index..<end])
                    guard seen.insert(key).inserted else { return key }
                }
                index = end
                continue
            default: break
            }
            index += 1
        }
        return nil
    }

    /// The index behind the closing quote of the string that begins at `start`.
    private static func endOfString(in bytes: [UInt8], from start: Int) -> Int {
        var index = start + 1
        while index < bytes.count, bytes[index] != Byte.quote {
            index += bytes[index] == Byte.backslash ? 2 : 1
        }
        return min(index + 1, bytes.count)
    }

    /// A string with its quotes; the same key may be written with and without escapes.
    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        if bytes.contains(Byte.backslash), let key = try? JSONDecoder().decode(String.self, from: Data(bytes)) {
            return key
        }
        return String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self)
    }
}
