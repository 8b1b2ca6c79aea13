package import Foundation
package import Posts

/// Facts about a text that need the whole archive: whether a program wrote it, and whether the
/// author uses its hashtags again and again or used them on one occasion.
package struct Habits: Sendable {
    private var machines = MachineClients()
    private var hashtags = Hashtags()

    package init() {}

    /// Counts one post of the archive, replies too.
    ///
    /// - Parameters:
    ///   - text: The text with its links.
    ///   - client: The client program that the archive names; nil if it names none.
    ///   - date: The time of posting.
    ///   - isAnswer: Whether it is a reply.
    package mutating func include(
        _ text: String, by client: String?, at date: Date, isAnswer: Bool = false
    ) {
        if let client { machines.include(text, by: client, isAnswer: isAnswer) }
        hashtags.include(text, at: date)
    }

    /// Returns the verdict on a post with regard to the habits.
    ///
    /// - Parameters:
    ///   - verdict: The verdict on the text alone; evaluated only if a person wrote the post.
    ///   - parts: The texts of the further parts of a thread that is sent whole.
    package func complete(
        _ verdict: @autoclosure () -> Fitness.Verdict, on post: Post,
        followedBy parts: [String] = []
    ) -> Fitness.Verdict {
        var complete = Fitness.Verdict()
        if machines.wrote(post.text, by: post.client) {
            complete.refuse(.machineClient)
            return complete
        }
        complete = verdict()
        if ([post.text] + parts).contains(where: hashtags.haveRare) { complete.refuse(.rareTag) }
        return complete
    }

    /// The ``version`` of a text that was judged before any habits were known.
    package static let unknown = " unknown"

    /// A string that changes with the programs or the hashtags; empty for none.
    package var version: String { machines.version + hashtags.version }

    /// Whether a text that was judged with other habits has the same verdict with these.
    ///
    /// - Parameters:
    ///   - other: The ``version`` of the other habits.
    /// - Returns: False if the text must be judged again.
    package func giveSameVerdict(on text: String, as other: Substring) -> Bool {
        if other == version { return true }
        // Mostly, the only difference is that one more hashtag is used often enough.
        let otherMachines =
            other.range(of: Hashtags.versionMark).map { other[..<$0.lowerBound] } ?? other
        return otherMachines == machines.version && !Hashtags.mayOccur(in: text)
    }
}

/// The hashtags that the author used in at least five different spans of 30 days.
///
/// All others belong to one occasion: a conference, a match, a topic of one week.
struct Hashtags: Sendable {
    private static let fewestSpans = 5
    private static let secondsOfSpan = 30 * 86_400.0

    /// The prefix of a ``version`` that is not empty.
    static let versionMark = " tags "

    /// For each hashtag, the numbers of the spans of 30 days in which it was used.
    private var spans: [String: Set<Int>] = [:]

    init() {}

    mutating func include(_ text: String, at date: Date) {
        let span = Int((date.timeIntervalSince1970 / Self.secondsOfSpan).rounded(.down))
        // More spans need not be stored; a tag of many years has many.
        for tag in Self.tags(in: text) where spans[tag, default: []].count < Self.fewestSpans {
            spans[tag, default: []].insert(span)
        }
    }

    /// Whether a text has a hashtag that was not used often enough.
    func haveRare(in text: String) -> Bool { Self.tags(in: text).contains { !isUsual($0) } }

    /// A string that changes with the usual hashtags; empty for none.
    var version: String {
        let names = spans.keys.filter(isUsual).sorted()
        return names.isEmpty
            ? "" : Self.versionMark + StableHash.digest(of: names).prefix(8).hexadecimal
    }

    private func isUsual(_ tag: String) -> Bool {
        spans[tag].map { $0.count >= Self.fewestSpans } ?? false
    }

    /// Whether a text may contain a hashtag.
    static func mayOccur(in text: String) -> Bool {
        text.unicodeScalars.contains(where: \.isHashSign)
    }

    private static func tags(in text: String) -> Set<String> {
        guard mayOccur(in: text) else { return [] }
        let plain = PlainTokens(text)
        return Set(
            plain.hashtags.map { range in
                let scalars = plain.tokens[range].dropFirst().compactMap { token in
                    if case .scalar(let scalar) = token { scalar } else { nil }
                }
                return String(String.UnicodeScalarView(scalars))
                    .precomposedStringWithCompatibilityMapping.lowercased()
            })
    }
}
