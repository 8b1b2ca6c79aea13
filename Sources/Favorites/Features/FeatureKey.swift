/// A feature as the key of a dictionary, told from others by its bytes.
///
/// Features are in one Unicode form, so those that Swift considers equal are the same bytes. To look for other forms,
/// as Swift does with a text outside ASCII, takes three times as long.
struct FeatureKey: Hashable, Sendable {
    let feature: String

    static func == (left: FeatureKey, right: FeatureKey) -> Bool {
        left.withBytes { left in right.withBytes { left.count == $0.count && left.elementsEqual($0) } }
    }

    func hash(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: $0) }
    }

    private func withBytes<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        var feature = feature
        return feature.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}

/// The distinct features of some posts, each at a place of its own.
struct FeatureIndex {
    /// A post's features by their places.
    struct Places {
        let words: [Int]
        let pairs: [Int]
        let author: Int?

        /// Words at places one after the other, then pairs, then the author, as in ``FeatureSet/all``.
        init(words: Int, pairs: Int, hasAuthor: Bool) {
            self.init(
                words: Array(0..<words), pairs: Array(words..<words + pairs), author: hasAuthor ? words + pairs : nil)
        }

        /// The words, the pairs, then the author.
        var all: [Int] { words + pairs + (author.map { [$0] } ?? []) }

        fileprivate init(words: [Int], pairs: [Int], author: Int?) {
            (self.words, self.pairs, self.author) = (words, pairs, author)
        }
    }

    private(set) var features: [String] = []
    private var places: [FeatureKey: Int] = [:]

    /// - Parameter posts: About how many posts follow, to make room for their features.
    init(posts: Int = 0) {
        places.reserveCapacity(8 * min(posts, 1_000))
    }

    /// The places of a post's features, made where they are new.
    mutating func places(of set: FeatureSet) -> Places {
        Places(
            words: set.words.map { place(of: $0) }, pairs: set.pairs.map { place(of: $0) },
            author: set.author.map { place(of: $0) })
    }

    private mutating func place(of feature: String) -> Int {
        let new = features.count
        let place = Self.stored(&places[FeatureKey(feature: feature), default: new])
        if place == new { features.append(feature) }
        return place
    }

    /// A value that is passed for a change is stored with its default, which spares a second look into the table.
    private static func stored(_ place: inout Int) -> Int { place }
}
