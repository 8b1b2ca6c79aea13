import Posts

/// Runs of neighbouring letters as features, each hashed to one of a fixed number of counters.
///
/// They represent endings, dialects and emoticons that no dictionary lists. A text has several
/// times as many runs as words, so the number of counters is fixed: runs with the same hash share
/// one.
package enum Spelling {
    /// The first byte of each such feature: cleaned texts have no control character, so no word
    /// begins with it.
    package static let marker = UInt8(0x1E)
    /// The number of counters of a category.
    static let counters = 32_768
    /// The length of a run in scalars.
    private static let length = 5
    /// The length of a run in a text of kana and kanji.
    private static let lengthOfIdeographs = 2

    /// The counters of the runs of a text, each once, in the order of the text.
    ///
    /// - Parameter text: Valid UTF-8 in lower case without links. Several blanks count as one;
    ///   blanks at the ends are ignored.
    static func features(of text: [UInt8]) -> [String] {
        let runs = Runs(text)
        guard runs.count > 0 else { return [] }
        var features: [String] = []
        features.reserveCapacity(runs.count)
        var seenCounters = [UInt64](repeating: 0, count: counters / 64)
        runs.forEach { hash in
            let counter = Int(truncatingIfNeeded: hash % UInt64(counters))
            let bit: UInt64 = 1 << UInt64(counter % 64)
            guard seenCounters[counter / 64] & bit == 0 else { return }
            seenCounters[counter / 64] |= bit
            features.append(feature(counter))
        }
        return features
    }

    /// The feature of a counter: the marker and three base-32 digits, which take few bytes in a
    /// store.
    static func feature(_ counter: Int) -> String {
        String(unsafeUninitializedCapacity: 4) { bytes in
            bytes[0] = marker
            for place in 0..<3 {
                let digit = UInt8(truncatingIfNeeded: counter >> (5 * (2 - place)) & 0x1F)
                bytes[place + 1] =
                    digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            }
            return 4
        }
    }

    /// The runs of letters of a text, and their hashes.
    private struct Runs {
        private var bytes: [UInt8] = []
        /// For each scalar, the index of its first byte in ``bytes``; the last element is the
        /// number of bytes.
        private var starts: [Int] = []
        private var length = Spelling.length

        init(_ text: [UInt8]) {
            bytes.reserveCapacity(text.count)
            starts.reserveCapacity(text.count + 1)
            var letters = 0
            var ideographs = 0
            var followsBlank = false
            text.withUnsafeBufferPointer { text in
                var index = 0
                while index < text.count {
                    let start = index
                    let scalar = PlainScalars.scalar(in: text, at: &index)
                    if scalar == 0x20 {
                        followsBlank = letters > 0
                        continue
                    }
                    if followsBlank {
                        starts.append(bytes.count)
                        bytes.append(0x20)
                        followsBlank = false
                    }
                    starts.append(bytes.count)
                    for place in start..<index { bytes.append(text[place]) }
                    letters += 1
                    if Self.isIdeograph(scalar) { ideographs += 1 }
                }
            }
            starts.append(bytes.count)
            if 2 * ideographs > letters { length = Spelling.lengthOfIdeographs }
        }

        var count: Int { max(0, starts.count - length) }

        func forEach(_ body: (UInt64) -> Void) {
            bytes.withUnsafeBufferPointer { bytes in
                for first in 0..<count {
                    body(
                        StableHash.fnv1a(
                            .init(rebasing: bytes[starts[first]..<starts[first + length]])))
                }
            }
        }

        /// Whether a scalar is kana or a kanji.
        private static func isIdeograph(_ scalar: UInt32) -> Bool {
            switch scalar {
            case 0x3005, 0x3041...0x30FF, 0x31F0...0x31FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
                0x2_0000...0x3_FFFF:
                true
            default: false
            }
        }
    }
}
