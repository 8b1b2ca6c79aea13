package import Foundation
import Localization
package import Posts

/// One of the human's old replies to a person, ready to be sent again.
package struct ReplyCandidate: Equatable, Sendable {
    /// The human's old reply.
    package let id: PostID
    /// The key shared by all texts that read the same; see ``TextRules/textKey(_:)``.
    package let textKey: String
    /// When the bot last sent this text to this person; nil if never.
    package let lastUsed: Date?
    /// Whether the text is being sent to this person, or the result of sending it is not known yet.
    package let isInFlight: Bool
    /// Whether it passes the ``ReplyFilter``.
    package let isPlain: Bool
    /// How well the reply answers the mention.
    package let score: ReplyScore

    package init(
        id: PostID, textKey: String, lastUsed: Date? = nil, isInFlight: Bool = false,
        isPlain: Bool = true,
        score: ReplyScore = ReplyScore()
    ) {
        self.id = id
        self.textKey = textKey
        self.lastUsed = lastUsed
        self.isInFlight = isInFlight
        self.isPlain = isPlain
        self.score = score
    }
}

/// The old reply chosen for a mention, and why.
package struct ReplyChoice: Equatable, Sendable {
    package let id: PostID
    /// The number of old replies to this person that could be sent.
    package let poolSize: Int
    /// The number of those that pass the ``ReplyFilter``; if none do, all of them were compared
    /// with the mention.
    package let plainCount: Int
    /// The number of candidates with the best score, the chosen one included; the seed chose among
    /// these.
    package let nearestCount: Int
}

/// Chooses which of the human's old replies to a person answers their mention.
package struct ReplyChooser: Equatable, Sendable {
    /// The number of days after which a person may get the same text again.
    package var repeatAfterDays: Int
    /// Scores that differ by less count as equal, because sums are rounded.
    private static let tolerance = 1e-9

    package init(repeatAfterDays: Int = 7) { self.repeatAfterDays = repeatAfterDays }

    /// Chooses by the mention and the candidates alone, so that the same mention always gets the
    /// same reply.
    ///
    /// Texts that this person never got from the bot are preferred: of the texts that pass the
    /// ``ReplyFilter``, or of all if none pass, the one with the highest score is chosen. A seed of
    /// mirror and mention breaks ties. If all were sent before, the one sent longest ago is used,
    /// if that is long enough ago.
    ///
    /// - Parameters:
    ///   - candidates: The human's old replies to the person, in any order.
    ///   - now: The present, from which the time since the last use is counted.
    /// - Returns: The choice; nil to send no reply.
    package func choose(
        from candidates: [ReplyCandidate], mirror: String, mention: PostID, now: Date
    ) -> ReplyChoice? {
        let sorted = candidates.sorted {
            ($0.id.network.rawValue, $0.id.value) < ($1.id.network.rawValue, $1.id.value)
        }
        let inFlightKeys = Set(sorted.filter(\.isInFlight).map(\.textKey))
        let allowed = sorted.filter { !inFlightKeys.contains($0.textKey) }
        var lastUses: [String: Date] = [:]
        for candidate in sorted {
            guard let lastUse = candidate.lastUsed else { continue }
            lastUses[candidate.textKey] = max(lastUses[candidate.textKey] ?? lastUse, lastUse)
        }
        let unused = allowed.filter { lastUses[$0.textKey] == nil }
        if !unused.isEmpty {
            let plain = unused.filter(\.isPlain)
            let compared = plain.isEmpty ? unused : plain
            let highest = compared.map(\.score.total).max() ?? 0
            let nearest = compared.filter { $0.score.total >= highest - Self.tolerance }
            let index = Self.draw(below: nearest.count, mirror: mirror, mention: mention)
            return ReplyChoice(
                id: nearest[index].id, poolSize: unused.count, plainCount: plain.count,
                nearestCount: nearest.count)
        }
        let oldest = allowed.min {
            (lastUses[$0.textKey] ?? .distantPast) < (lastUses[$1.textKey] ?? .distantPast)
        }
        guard let oldest, let lastUse = lastUses[oldest.textKey],
            now.timeIntervalSince(lastUse) > Double(repeatAfterDays) * 86_400
        else { return nil }
        return ReplyChoice(
            id: oldest.id, poolSize: 1, plainCount: oldest.isPlain ? 1 : 0, nearestCount: 1)
    }

    /// Why none of the human's old replies to a person may be sent.
    ///
    /// The reason that most of them share is named, so that a person can distinguish a rule from a
    /// mistake.
    ///
    /// - Parameters:
    ///   - past: The number of old replies.
    ///   - refused: The refusals of replies that may never be sent; all others were sent lately, or
    ///     are being sent.
    package static func refusal(ofAll past: Int, refused: [Refusal]) -> Refusal {
        guard past > 0 else { return Refusal(.noPastReply) }
        let groups = Dictionary(grouping: refused, by: \.reason)
        // Of two reasons that refuse equally many, the alphabetically first one counts.
        let commonest = groups.max { left, right in
            left.value.count == right.value.count
                ? left.key.rawValue > right.key.rawValue : left.value.count < right.value.count
        }
        var causes: [String] = []
        if let commonest {
            let sentences = Set(commonest.value.map(\.message))
            let sentence =
                sentences.count == 1 ? commonest.value[0].message : commonest.key.sentence
            causes.append(
                commonest.value.count == past
                    ? localized("each because \(sentence)")
                    : localized("\(commonest.value.count) of them because \(sentence)"))
        }
        let otherCount = refused.count - (commonest?.value.count ?? 0)
        if otherCount > 0 { causes.append(localized("\(otherCount) for other reasons")) }
        let usedCount = past - refused.count
        if usedCount > 0 {
            causes.append(
                localized("\(usedCount) because this person got the text lately or is about to"))
        }
        let list = causes.joined(by: .comma)
        return Refusal(
            .noPastReply,
            localized("none of \(past) earlier replies to this person may be sent now: \(list)"))
    }

    /// Returns a number that depends only on mirror and mention, distributed evenly over
    /// 0 ..< `count`.
    private static func draw(below count: Int, mirror: String, mention: PostID) -> Int {
        let number = StableHash.seed(of: [
            "reply/1", mirror, mention.network.rawValue, mention.value,
        ])
        return Int(number.multipliedFullWidth(by: UInt64(count)).high)
    }
}
