import CBaseline

/// Texts in one block of memory, a zero behind each, as the baselines read them; made before the
/// clock starts.
final class TextBlock: Sendable {
    private let bytes: [CChar]
    private let ends: [Int]

    init(_ texts: [String]) {
        var bytes: [CChar] = []
        ends = texts.map { text in
            bytes += text.utf8.map { CChar(bitPattern: $0) }
            bytes.append(0)
            return bytes.count - 1
        }
        self.bytes = bytes
    }

    /// Shows the block to C, for as long as `body` runs.
    func withTexts<Value>(_ body: (baseline_texts) throws -> Value) rethrows -> Value {
        try bytes.withUnsafeBufferPointer { bytes in
            try ends.withUnsafeBufferPointer { ends in
                try body(
                    baseline_texts(
                        bytes: bytes.baseAddress, ends: ends.baseAddress, count: ends.count))
            }
        }
    }
}
