import Foundation

/// The Redis keys of one mirror's counts.
///
/// The mirror is a hash tag, so that all of them are in one slot of a cluster
/// and one script may change them together.
struct CountKeys: Sendable {
    let categories: String
    let favoriteFeatures: String
    let normalFeatures: String

    /// The keys that readers use.
    init(mirror: String) { self.init(prefix: Self.prefix(mirror)) }

    private init(prefix: String) {
        categories = prefix + "categories"
        favoriteFeatures = prefix + "features:favorite"
        normalFeatures = prefix + "features:normal"
    }

    /// Keys that nobody else uses, to build counts under.
    static func temporary(mirror: String) -> CountKeys {
        CountKeys(prefix: prefix(mirror) + "rebuild:\(UUID().uuidString.lowercased()):")
    }

    /// In the order that the scripts expect.
    var all: [String] { [categories, favoriteFeatures, normalFeatures] }

    private static func prefix(_ mirror: String) -> String {
        // Braces of a name would move the end of the hash tag.
        let tag = mirror.replacingOccurrences(of: "{", with: "%7B").replacingOccurrences(of: "}", with: "%7D")
        return "mirror-bot:{\(tag)}:"
    }

    /// The field of all three hashes that holds the stamp of the counts.
    ///
    /// No feature contains a space, so it cannot be taken for one.
    static let stampField = "applied batch"
    static let favoriteField = "favorite"
    static let normalField = "normal"
    static let seenField = "seen"
    static let seenFavoriteField = "seen:favorite"
}

extension CountStamp {
    /// The stamp as Redis holds it: `sequence:extraction`.
    var text: String { "\(sequence):\(extraction)" }

    init?(text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Int64($0) }
        guard parts.count == 2, let sequence = parts[0], let extraction = parts[1] else { return nil }
        self.init(sequence: sequence, extraction: extraction)
    }
}
