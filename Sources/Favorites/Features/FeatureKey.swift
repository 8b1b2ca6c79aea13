/// A feature as a dictionary key that is compared by its bytes.
///
/// Features are in one Unicode form, so those that Swift considers equal have the same bytes.
/// Swift's own comparison of non-ASCII text, which considers other forms, takes three times as
/// long.
struct FeatureKey: Hashable, Sendable {
    let feature: String

    static func == (left: FeatureKey, right: FeatureKey) -> Bool {
        left.withBytes { left in
            right.withBytes { left.count == $0.count && left.elementsEqual($0) }
        }
    }

    func hash(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: $0) }
    }

    private func withBytes<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        var feature = feature
        return feature.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}

/// An index of the distinct features of some posts.
struct FeatureIndex {
    /// A post's features as positions in the index.
    struct Places {
        let words: [Int]
        let pairs: [Int]
        let spelling: [Int]
        let form: [Int]
        let author: Int?

        fileprivate init(_ set: FeatureSet, place: (String) -> Int) {
            words = set.words.map(place)
            pairs = set.pairs.map(place)
            spelling = set.spelling.map(place)
            form = set.form.map(place)
            author = set.author.map(place)
        }

        /// Consecutive positions, in the order of ``FeatureSet/all``.
        init(of set: FeatureSet) {
            self.init(
                words: set.words.count, pairs: set.pairs.count, spelling: set.spelling.count,
                form: set.form.count,
                hasAuthor: set.author != nil)
        }

        private init(words: Int, pairs: Int, spelling: Int, form: Int, hasAuthor: Bool) {
            var end = 0
            func next(_ number: Int) -> [Int] {
                defer { end += number }
                return Array(end..<end + number)
            }
            self.words = next(words)
            self.pairs = next(pairs)
            self.spelling = next(spelling)
            self.form = next(form)
            author = hasAuthor ? end : nil
        }

        /// The places in the order of ``FeatureSet/all``.
        var all: [Int] { words + pairs + spelling + form + (author.map { [$0] } ?? []) }

        /// The positions in ``all`` instead of those in the index.
        var placesInAll: Places {
            Places(
                words: words.count, pairs: pairs.count, spelling: spelling.count, form: form.count,
                hasAuthor: author != nil)
        }
    }

    private(set) var features: [String] = []
    private var places: [FeatureKey: Int] = [:]

    /// - Parameter posts: About how many posts follow, to reserve memory for their features.
    init(posts: Int = 0) {
        places.reserveCapacity(8 * min(posts, 1_000))
    }

    /// The positions of a post's features; new features are added.
    mutating func places(of set: FeatureSet) -> Places {
        Places(set) { place(of: $0) }
    }

    private mutating func place(of feature: String) -> Int {
        let nextPlace = features.count
        let place = Self.insertingDefault(&places[FeatureKey(feature: feature), default: nextPlace])
        if place == nextPlace { features.append(feature) }
        return place
    }

    /// Returns the place unchanged.
    ///
    /// A default value of a dictionary that is passed as `inout` is inserted too, which saves a
    /// second look-up.
    private static func insertingDefault(_ place: inout Int) -> Int { place }
}
