import Foundation

/// Collects the words of one post, each once, in the order in which they come.
///
/// Words are told apart by their bytes: cleaned texts are in one Unicode form. A post has few words, so looking through
/// the hashes of those before costs less than a table.
struct DistinctWords {
    private(set) var words: [String] = []
    private var hashes: [UInt64] = []

    init() {
        words.reserveCapacity(32)
        hashes.reserveCapacity(32)
    }

    /// Adds a word unless it is there.
    mutating func insert(_ word: String) {
        var word = word
        word.withUTF8 { insert($0) }
    }

    /// Adds a word, given by its bytes, unless it is there; bytes that are not UTF-8 are repaired.
    mutating func insert(_ bytes: UnsafeBufferPointer<UInt8>) {
        let hash = FNV1a.hash(bytes)
        for (index, other) in hashes.enumerated() where other == hash && Self.isEqual(words[index], bytes) { return }
        hashes.append(hash)
        words.append(String(decoding: bytes, as: UTF8.self))
    }

    private static func isEqual(_ word: String, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var word = word
        return word.withUTF8 { $0.elementsEqual(bytes) }
    }
}
