import CBaseline
import Favorites
import MeCab
import Posts

/// The examples as C reads them: texts that are cleaned already, and hashtags beside them.
final class PostBlock: Sendable {
    let count: Int
    private let ids: TextBlock
    private let texts: TextBlock
    private let authors: TextBlock
    private let cleaned: TextBlock
    private let hashtags: TextBlock
    private let isFavorite: [UInt8]

    init(_ examples: [Example], isFavorite: [Bool]) {
        let cleaned = examples.map { TextCleaner($0.text) }
        count = examples.count
        ids = TextBlock(examples.map(\.id.value))
        texts = TextBlock(examples.map(\.text))
        authors = TextBlock(examples.map { "@" + ($0.author ?? "") })
        self.cleaned = TextBlock(cleaned.map(\.text))
        hashtags = TextBlock(cleaned.map { $0.hashtags.map { $0 + "\n" }.joined() })
        self.isFavorite = isFavorite.map { $0 ? 1 : 0 }
    }

    func withPosts<Value>(_ body: (UnsafePointer<baseline_posts>) throws -> Value) rethrows -> Value
    {
        try ids.withTexts { ids in
            try texts.withTexts { texts in
                try authors.withTexts { authors in
                    try cleaned.withTexts { cleaned in
                        try hashtags.withTexts { hashtags in
                            try isFavorite.withUnsafeBufferPointer { isFavorite in
                                var posts = baseline_posts(
                                    ids: ids, texts: texts, authors: authors, cleaned: cleaned,
                                    hashtags: hashtags,
                                    favorite: isFavorite.baseAddress)
                                return try body(&posts)
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Owns the baseline's classifier.
final class CClassifier: @unchecked Sendable {
    // Sendable: the pointer never changes, and only one thread at a time is given the work.
    private let posts: PostBlock
    private let tokeniser: CTokeniser
    private let pointer: OpaquePointer

    /// The number of posts in a transaction, which is also ours.
    private static let batch = 1_000

    init(posts: PostBlock, words: FeatureWords, postgres: String, redisPort: UInt16, mirror: String)
        throws
    {
        tokeniser = try CTokeniser()
        let opened = baseline_classifier_open(
            tokeniser.model, words.baseline, postgres, "127.0.0.1", Int32(redisPort), mirror)
        guard let pointer = opened else { throw BaselineError.last() }
        self.pointer = pointer
        self.posts = posts
    }

    deinit { baseline_classifier_close(pointer) }

    func learn() throws {
        _ = try posts.withPosts { try BaselineError.check(baseline_learn(pointer, $0, Self.batch)) }
    }

    /// The logs of the favorite rates of a range of the posts.
    func classify(_ range: Range<Int>) throws -> [Double] {
        try [Double](unsafeUninitializedCapacity: range.count) { rates, count in
            _ = try posts.withPosts {
                try BaselineError.check(
                    baseline_classify(
                        pointer, $0, range.lowerBound, range.upperBound, rates.baseAddress))
            }
            count = range.count
        }
    }

    /// One round trip to Redis.
    func ping() throws { _ = try BaselineError.check(baseline_ping(pointer)) }

    func clear() throws { _ = try BaselineError.check(baseline_clear(pointer)) }
}
