internal import CMeCab
import Foundation

/// One word that MeCab found in a text: a view that is valid only inside the closure it is passed
/// to.
@usableFromInline package struct Morpheme {
    // The struct is so small that it is passed in registers.
    /// The first byte of the word in the analysed text.
    @usableFromInline let start: UnsafePointer<UInt8>
    /// The dictionary's record, which ends with a zero.
    private let record: UnsafePointer<UInt8>
    /// The number of bytes of the word.
    @usableFromInline let length: UInt16
    /// The number of the part of speech.
    @usableFromInline let number: UInt16
    /// Whether the word is missing from the dictionary.
    package let isUnknown: Bool

    /// - Parameters:
    ///   - start: The first byte of the word in the analysed text, which is UTF-8.
    ///   - length: The number of its bytes.
    ///   - number: The number of its part of speech.
    ///   - isUnknown: Whether it is missing from the dictionary.
    ///   - record: The dictionary's record, which ends with a zero.
    init(
        start: UnsafePointer<UInt8>, length: UInt16, number: UInt16, isUnknown: Bool,
        record: UnsafePointer<UInt8>
    ) {
        self.start = start
        self.record = record
        self.length = length
        self.number = number
        self.isUnknown = isUnknown
    }

    /// The bytes of the word in the analysed text, without leading white space.
    @inlinable package var surface: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: start, count: Int(length))
    }

    /// The number that the dictionary gives to the part of speech (`posid`).
    @inlinable package var partOfSpeech: Int { Int(number) }

    /// The word as text; bytes that are not UTF-8 are repaired.
    @inlinable package var text: String {
        hasWholeScalars ? String(validUTF8: surface) : String(decoding: surface, as: UTF8.self)
    }

    /// Whether the word begins and ends at the boundary of a scalar; it is then valid UTF-8, as the
    /// text is.
    @inlinable var hasWholeScalars: Bool {
        let bytes = surface
        let count = bytes.count
        guard let first = bytes.first, first & 0xC0 != 0x80 else { return false }
        // The last scalar is complete if its lead byte stands as far from the end as the scalar is
        // long. Three bytes are tried before two, because Japanese has mostly three.
        return bytes[count - 1] < 0x80 || (count >= 3 && bytes[count - 3] & 0xF0 == 0xE0)
            || (count >= 2 && bytes[count - 2] & 0xE0 == 0xC0)
            || (count >= 4 && bytes[count - 4] & 0xF8 == 0xF0)
    }

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
        var start = record
        for _ in 0..<index {
            guard let comma = Self.comma(from: start) else { return nil }
            start = comma + 1
        }
        let length = Self.comma(from: start).map { $0 - start } ?? Self.length(from: start)
        guard length > 0, !(length == 1 && start.pointee == UInt8(ascii: "*")) else { return nil }
        return UnsafeBufferPointer(start: start, count: length)
    }

    private static func comma(from start: UnsafePointer<UInt8>) -> UnsafePointer<UInt8>? {
        start.withMemoryRebound(to: CChar.self, capacity: 1) {
            strchr($0, Int32(UInt8(ascii: ",")))
        }
        .map { UnsafeRawPointer($0).assumingMemoryBound(to: UInt8.self) }
    }

    private static func length(from start: UnsafePointer<UInt8>) -> Int {
        start.withMemoryRebound(to: CChar.self, capacity: 1) { strlen($0) }
    }
}

/// Walks through the words of one analysed text.
@usableFromInline struct MorphemeCursor {
    private var node: UnsafePointer<mecab_node_t>?

    /// - Parameter lattice: An analysed text; it must not be freed or cleared while the cursor and
    ///   its words are in use.
    @usableFromInline init(_ lattice: OpaquePointer) {
        node = mecab_lattice_get_bos_node(lattice).map { UnsafePointer($0) }
    }

    /// Returns the next word; nil after the last one.
    @usableFromInline mutating func next() -> Morpheme? {
        var next = node
        while let current = next {
            next = UnsafePointer(current.pointee.next)
            let kind = Int32(current.pointee.stat)
            guard kind == MECAB_NOR_NODE || kind == MECAB_UNK_NODE,
                let surface = current.pointee.surface,
                let record = current.pointee.feature
            else { continue }
            node = next
            return Morpheme(
                start: UnsafeRawPointer(surface).assumingMemoryBound(to: UInt8.self),
                length: current.pointee.length, number: current.pointee.posid,
                isUnknown: kind == MECAB_UNK_NODE,
                record: UnsafeRawPointer(record).assumingMemoryBound(to: UInt8.self))
        }
        node = nil
        return nil
    }
}

/// The parts of speech that matter to the classifier; everything else is `other`.
@usableFromInline package enum WordClass: Sendable {
    case noun
    case verb
    case adjective
    case adverb
    case interjection
    /// A word that stands only before a noun, such as この.
    case adnominal
    /// Particles, auxiliaries, conjunctions, prefixes, punctuation known to the dictionary.
    case other

    /// Whether the word is inflected, so that its base form may differ from its surface.
    package var isInflected: Bool { self == .verb || self == .adjective }
}

extension String {
    /// Copies bytes that are known to be valid UTF-8, without validating them again.
    ///
    /// - Parameter bytes: Whole scalars in UTF-8; anything else is a programming error.
    @inlinable package init(validUTF8 bytes: UnsafeBufferPointer<UInt8>) {
        if #available(macOS 26, *) {
            self.init(copying: unsafe UTF8Span(unchecked: bytes.span))
        } else {
            self.init(decoding: bytes, as: UTF8.self)
        }
    }
}
