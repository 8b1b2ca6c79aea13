/// The scalars that nearly all posts consist of, whose compatibility composition and lower case are known.
///
/// Each of them becomes the same whatever stands beside it, as long as that is one of them too. A text of nothing else
/// needs no tables of Unicode, which cost more than cutting the text into words.
enum PlainScalars {
    /// The text in compatibility composition and lower case, with spaces for control characters.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - limit: How many scalars are returned at most.
    /// - Returns: Nil if the text has other scalars, as far as it matters.
    static func unified(_ text: String, atMost limit: Int) -> [Unicode.Scalar]? {
        var text = text
        return text.withUTF8 { bytes in
            var isPlain = true
            // A scalar becomes at most as many as it has bytes.
            let scalars = [Unicode.Scalar](unsafeUninitializedCapacity: bytes.count) { result, count in
                var index = 0
                while index < bytes.count {
                    let scalar = scalar(in: bytes, at: &index)
                    guard let plain = plain(scalar) else {
                        isPlain = false
                        return
                    }
                    // The scalar behind the last one is looked at, since it might have been composed with it.
                    if count >= limit { break }
                    result[count] = plain
                    count += 1
                    if scalar == ellipsis {
                        result[count] = plain
                        result[count + 1] = plain
                        count += 2
                    }
                }
                count = min(count, limit)
            }
            return isPlain ? scalars : nil
        }
    }

    /// The one that becomes three.
    private static let ellipsis: UInt32 = 0x2026

    /// What becomes of a scalar, or of each of the three that it becomes; nil if that is not known here.
    @inline(__always)
    static func plain(_ scalar: UInt32) -> Unicode.Scalar? {
        switch scalar {
        case 0..<0x20, 0x7f, 0x3000: " "
        case 0x41...0x5a: Unicode.Scalar(scalar + 0x20)
        case 0x20...0x7e: Unicode.Scalar(scalar)
        // Kana with their long marks, usual kanji.
        case 0x3041...0x3096, 0x30A1...0x30FC, 0x4E00...0x9FEF: Unicode.Scalar(scalar)
        case 0x3001...0x3003, 0x3005...0x3011, 0x3014...0x301B: Unicode.Scalar(scalar)
        case ellipsis: "."
        // Wide forms of ASCII.
        case 0xFF21...0xFF3A: Unicode.Scalar(scalar - 0xFEE0 + 0x20)
        case 0xFF01...0xFF5E: Unicode.Scalar(scalar - 0xFEE0)
        // Dashes, quotation marks, arrows and faces, with what chooses their looks.
        case 0x2013...0x2014, 0x2018...0x201D, 0x2190...0x2193, 0x2600...0x27BF, 0xFE0F, 0x200D: Unicode.Scalar(scalar)
        case 0x1F300...0x1F6FF, 0x1F900...0x1F9FF: Unicode.Scalar(scalar)
        default: nil
        }
    }

    /// Reads one scalar of text that is known to be UTF-8.
    private static func scalar(in bytes: UnsafeBufferPointer<UInt8>, at index: inout Int) -> UInt32 {
        let first = bytes[index]
        let size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        guard size > 1 else {
            index += 1
            return UInt32(first)
        }
        var scalar = UInt32(first & 0xFF >> UInt8(size + 1))
        for place in 1..<size { scalar = scalar << 6 | UInt32(bytes[index + place] & 0x3F) }
        index += size
        return scalar
    }
}
