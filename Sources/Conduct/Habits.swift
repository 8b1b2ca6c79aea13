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
    ///   - text: With its links.
    ///   - client: What the archive says it was written with; nil if it does not.
    ///   - date: When it was posted.
    ///   - isAnswer: Whether it answers somebody.
    package mutating func count(
        _ text: String, by client: String?, at date: Date, isAnswer: Bool = false
    ) {
        if let client { machines.count(client, text, isAnswer: isAnswer) }
        hashtags.count(text, at: date)
    }

    /// The verdict on a post, with what the archive tells of it.
    ///
    /// - Parameters:
    ///   - verdict: That of the text's own words; asked for where no program wrote it.
    ///   - parts: The texts of what follows it in a thread that is sent whole.
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

    /// The ``version`` of a text that was judged while nothing was known of the archive's habits.
    package static let unknown = " unknown"

    /// Differs where the programs or the hashtags do; empty for none.
    package var version: String { machines.version + hashtags.version }

    /// Whether what was found of a text with other habits holds with these.
    ///
    /// - Parameters:
    ///   - other: Their ``version``.
    /// - Returns: False if the text must be judged again.
    package func sayTheSame(of text: String, as other: Substring) -> Bool {
        if other == version { return true }
        // Nearly always it is a hashtag that has become usual.
        let machines =
            other.range(of: Hashtags.versionMark).map { other[..<$0.lowerBound] } ?? other
        return machines == self.machines.version && !Hashtags.mayOccur(in: text)
    }
}

/// The hashtags that somebody used in at least five different spans of 30 days.
///
/// All others are of an occasion: a conference, a match, a week's talk.
struct Hashtags: Sendable {
    private static let fewest = 5
    private static let span = 30 * 86_400.0

    /// The prefix of a ``version`` that is not empty.
    static let versionMark = " tags "

    private var spans: [String: Set<Int>] = [:]

    init() {}

    mutating func count(_ text: String, at date: Date) {
        let span = Int((date.timeIntervalSince1970 / Self.span).rounded(.down))
        // Some spans are enough; a year's diary would be long.
        for tag in Self.tags(in: text) where spans[tag, default: []].count < Self.fewest {
            spans[tag, default: []].insert(span)
        }
    }

    /// Whether a text has one that was not used often enough.
    func haveRare(in text: String) -> Bool { Self.tags(in: text).contains { !isUsual($0) } }

    /// Differs where the usual ones do; empty for none.
    var version: String {
        let names = spans.keys.filter(isUsual).sorted()
        return names.isEmpty
            ? "" : Self.versionMark + StableHash.digest(of: names).prefix(8).hexadecimal
    }

    private func isUsual(_ tag: String) -> Bool {
        spans[tag].map { $0.count >= Self.fewest } ?? false
    }

    /// Whether a text may have one.
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
