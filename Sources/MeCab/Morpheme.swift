/// One word as MeCab cut it from a text: a view that is valid only inside the closure it is passed to.
package struct Morpheme {
    /// The bytes of the word in the analysed text, without leading white space.
    package let surface: UnsafeBufferPointer<UInt8>
    /// The number that the dictionary gives to the part of speech (`posid`).
    package let partOfSpeech: Int
    /// The word is not in the dictionary.
    package let isUnknown: Bool
    private let record: UnsafePointer<UInt8>

    init(surface: UnsafeBufferPointer<UInt8>, partOfSpeech: Int, isUnknown: Bool, record: UnsafePointer<UInt8>) {
        self.surface = surface
        self.partOfSpeech = partOfSpeech
        self.isUnknown = isUnknown
        self.record = record
    }

    /// The word as text; bytes that are not UTF-8 are repaired.
    package var text: String { String(decoding: surface, as: UTF8.self) }

    /// One field of the dictionary's comma separated record, as text.
    ///
    /// - Parameter index: The position of the field, from 0.
    /// - Returns: Nil if the record is shorter or the field is empty or `*`.
    package func field(_ index: Int) -> String? {
        bytes(ofField: index).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The bytes of one field of the record.
    ///
    /// Scans only as far as that field: splitting whole records costs several
    /// times as much as the analysis itself.
    package func bytes(ofField index: Int) -> UnsafeBufferPointer<UInt8>? {
        let comma = UInt8(ascii: ",")
        var start = record
        for _ in 0..<index {
            while start.pointee != 0, start.pointee != comma { start += 1 }
            guard start.pointee == comma else { return nil }
            start += 1
        }
        var end = start
        while end.pointee != 0, end.pointee != comma { end += 1 }
        guard end > start, !(end == start + 1 && start.pointee == UInt8(ascii: "*")) else { return nil }
        return UnsafeBufferPointer(start: start, count: end - start)
    }
}
