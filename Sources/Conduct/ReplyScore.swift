/// How well an old reply answers a mention.
package struct ReplyScore: Equatable, Sendable {
    /// The factor of ``kind`` in ``total``.
    private static let kindWeight = 0.3

    /// The kinds of a mention and of a reply.
    package struct Kinds: Equatable, Sendable {
        package let mention: ReplyKinds.Mention
        package let reply: ReplyKinds.Reply

        package init(_ mention: ReplyKinds.Mention, _ reply: ReplyKinds.Reply) {
            self.mention = mention
            self.reply = reply
        }
    }

    /// One of the three summands of ``total``.
    package enum Part: String, Codable, Sendable {
        case words, kind, centre
    }

    /// The likeness of the reply to the mention, or of the mention to the post that the reply once
    /// answered, by significant words alone.
    package var words: Double
    /// The logarithm of how many times more likely than usual a reply of this kind is after such a
    /// mention.
    package var kind: Double
    /// The mean likeness of the reply to the human's other short replies.
    package var centre: Double
    /// The kinds of the mention and the reply; nil for a language without kinds.
    package var kinds: Kinds?

    package init(words: Double = 0, kind: Double = 0, centre: Double = 0, kinds: Kinds? = nil) {
        self.words = words
        self.kind = kind
        self.centre = centre
        self.kinds = kinds
    }

    package var total: Double { words + Self.kindWeight * kind + centre }

    /// The largest summand; nil if none is above 0.
    package var largest: Part? {
        let parts: [(part: Part, value: Double)] = [
            (.words, words), (.kind, Self.kindWeight * kind), (.centre, centre),
        ]
        // In a tie, the first part counts.
        let largest = parts.dropFirst().reduce(parts[0]) { $1.value > $0.value ? $1 : $0 }
        return largest.value > 0 ? largest.part : nil
    }

    /// Whether the score is too low for a likely reply.
    ///
    /// Always false in a language without kinds, for which no threshold can be found.
    ///
    /// - Parameter threshold: The least total of a likely reply; nil if none is known yet.
    package func isDoubtful(below threshold: Double?) -> Bool {
        guard let threshold, kinds != nil else { return false }
        return total < threshold
    }
}
