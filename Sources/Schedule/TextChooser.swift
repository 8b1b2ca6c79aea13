package import Foundation
package import Posts

/// A text that the bot may post, with the facts that decide its choice.
package struct TextCandidate: Sendable {
    /// The human's post with the text.
    package let id: PostID
    /// The minute at which the human posted it; nil if it was lost.
    package let minute: MinuteOfDay?
    /// The key shared by all texts that read the same.
    package let textKey: String
    /// The time at which this mirror last posted the text; nil if never.
    package let lastUsed: Date?
    /// The time at which the human posted the text; nil if its age does not matter.
    package let createdAt: Date?
    /// How often this mirror posted the text; fewer uses are preferred.
    package let uses: Int

    package init(
        id: PostID, minute: MinuteOfDay?, textKey: String, lastUsed: Date? = nil,
        createdAt: Date? = nil, uses: Int = 0
    ) {
        self.id = id
        self.minute = minute
        self.textKey = textKey
        self.lastUsed = lastUsed
        self.createdAt = createdAt
        self.uses = uses
    }
}

/// The text chosen for a slot, and why.
package struct TextChoice: Equatable, Sendable {
    package let id: PostID
    package let textKey: String
    package var explanation: TextExplanation

    package init(id: PostID, textKey: String, explanation: TextExplanation) {
        self.id = id
        self.textKey = textKey
        self.explanation = explanation
    }

    fileprivate init(_ chosen: TextCandidate, _ explanation: TextExplanation) {
        self.init(id: chosen.id, textKey: chosen.textKey, explanation: explanation)
    }
}

/// Chooses the human's text for a minute of the day.
///
/// With a probability of four fifths the text is of the same era as the previous text, so that a
/// week has topics of one time and not of all years. All texts that were written around that
/// minute, and that this mirror has not posted for a long time, are equally likely; if uses are
/// counted, only those with the fewest. A text with an unknown time of day is used only if there is
/// no other.
package struct TextChooser: Sendable {
    /// The maximum distances, in minutes around the clock, of a text's time of day from the slot's.
    ///
    /// The next wider window is used if there are too few texts.
    package static let windows = [30, 60, 120, 240, 720]
    /// The least number of texts of a window; with fewer, the next wider window is used.
    package static let fewestTexts = 10
    /// The number of days after which a text may be repeated if there is no other.
    package static let lastResortDays = 7
    /// The probability of a choice among the texts of the previous text's era.
    package static let eraShare = 0.8
    /// Half the length of an era, in seconds: it extends this far before and after the previous
    /// text.
    package static let halfEra = 45.0 * 86_400

    /// The number of days before the same text is posted again.
    package let noRepeatDays: Int
    /// The minimum age of a text in days, unless no text is that old.
    package let minimumAgeDays: Int

    package init(noRepeatDays: Int = 180, minimumAgeDays: Int = 30) {
        self.noRepeatDays = max(0, noRepeatDays)
        self.minimumAgeDays = max(0, minimumAgeDays)
    }

    /// Chooses the text for a slot among those of one window, if there are enough.
    ///
    /// Called for one window after the other, it has the same result as
    /// ``choose(from:at:now:excluding:generator:)`` as long as any text is neither too young nor
    /// used too recently.
    ///
    /// - Parameters:
    ///   - candidates: The texts that were written around that minute and are old enough.
    ///   - window: The texts' maximum distance from that minute, in minutes; one of ``windows``. In
    ///     the last window a single text is enough.
    ///   - now: The time from which uses are counted.
    ///   - excluded: Keys of texts that must not be chosen.
    ///   - generator: Exactly one number is drawn if there is a choice.
    /// - Returns: The text; nil if the next wider window must be tried.
    package func choose(
        from candidates: [TextCandidate], at minute: MinuteOfDay, within window: Int, now: Date,
        excluding excluded: Set<String>, generator: inout SplitMix64
    ) -> TextChoice? {
        let allowed = candidates.filter { !excluded.contains($0.textKey) }
        let texts = Self.distinct(unused(allowed, lastUsesIn: candidates, now: now))
        let pool = Self.leastUsed(texts)
        guard !pool.isEmpty, texts.count >= Self.fewestTexts || window == Self.windows.last,
            let chosen = pool.element(atUniform: generator.nextUniform())
        else { return nil }
        return TextChoice(
            chosen,
            TextExplanation(
                minute: minute, windowMinutes: window, poolSize: pool.count, isAgeRelaxed: false,
                isTimeKnown: chosen.minute != nil))
    }

    /// Chooses the text for a slot among those of the previous text's era.
    ///
    /// - Parameters:
    ///   - candidates: The texts that the human posted within ``halfEra`` of the previous text, at
    ///     known times of day; the caller has drawn, by ``eraShare``, that the era counts.
    ///   - now: The time from which uses are counted.
    ///   - excluded: Keys of texts that must not be chosen.
    ///   - generator: Exactly one number is drawn if there are enough texts.
    /// - Returns: The text, from the narrowest window that has ``fewestTexts``; `nil` if the era
    ///   has fewer.
    package func choose(
        fromEra candidates: [TextCandidate], at minute: MinuteOfDay, now: Date,
        excluding excluded: Set<String>,
        generator: inout SplitMix64
    ) -> TextChoice? {
        let allowed = candidates.filter { !excluded.contains($0.textKey) }
        let unusedTexts = unused(allowed, lastUsesIn: candidates, now: now)
        guard Self.distinct(unusedTexts).count >= Self.fewestTexts else { return nil }
        for window in Self.windows {
            let nearTexts = candidates.filter { $0.isNear(minute, within: window) }
            var choice = choose(
                from: nearTexts, at: minute, within: window, now: now, excluding: excluded,
                generator: &generator)
            guard choice != nil else { continue }
            choice?.explanation.isOfEra = true
            return choice
        }
        return nil
    }

    /// Chooses the text for a slot.
    ///
    /// The order of the candidates does not matter.
    ///
    /// - Parameters:
    ///   - now: The time from which ages are counted.
    ///   - excluded: Keys of texts that must not be chosen: planned for today, or being sent.
    ///   - generator: Seeded with ``PlanSeed/text(mirror:day:minute:seed:)``; exactly one number is
    ///     drawn if there is a choice.
    /// - Returns: The text; nil if all were used too recently, so that the slot is skipped.
    package func choose(
        from candidates: [TextCandidate], at minute: MinuteOfDay, now: Date,
        excluding excluded: Set<String> = [],
        generator: inout SplitMix64
    ) -> TextChoice? {
        let allowed = candidates.filter { !excluded.contains($0.textKey) }
        let oldEnough = allowed.filter { isOldEnough($0, at: now) }
        let isAgeRelaxed = oldEnough.isEmpty && !allowed.isEmpty
        let eligible = isAgeRelaxed ? allowed : oldEnough
        let (window, texts) = Self.pool(
            from: unused(eligible, lastUsesIn: candidates, now: now), around: minute)
        let pool = Self.leastUsed(texts)
        if let chosen = pool.element(atUniform: pool.isEmpty ? 0 : generator.nextUniform()) {
            return TextChoice(
                chosen,
                TextExplanation(
                    minute: minute, windowMinutes: window, poolSize: pool.count,
                    isAgeRelaxed: isAgeRelaxed,
                    isTimeKnown: chosen.minute != nil))
        }
        let lastUses = Self.lastUses(in: candidates)
        return leastRecentlyUsed(of: eligible, lastUses: lastUses, now: now).map { chosen in
            TextChoice(
                chosen,
                TextExplanation(
                    minute: minute, windowMinutes: nil, poolSize: 1, isAgeRelaxed: isAgeRelaxed,
                    isTimeKnown: chosen.minute != nil))
        }
    }

    /// Returns the texts that no candidate, with the same text key, used within ``noRepeatDays``.
    private func unused(
        _ texts: [TextCandidate], lastUsesIn candidates: [TextCandidate], now: Date
    ) -> [TextCandidate] {
        let lastUses = Self.lastUses(in: candidates)
        return texts.filter { candidate in
            lastUses[candidate.textKey].map {
                now.timeIntervalSince($0) >= Double(noRepeatDays) * 86_400
            } ?? true
        }
    }

    private func isOldEnough(_ candidate: TextCandidate, at now: Date) -> Bool {
        candidate.createdAt.map { now.timeIntervalSince($0) >= Double(minimumAgeDays) * 86_400 }
            ?? true
    }

    private func leastRecentlyUsed(
        of candidates: [TextCandidate], lastUses: [String: Date], now: Date
    ) -> TextCandidate? {
        var leastRecent: (candidate: TextCandidate, used: Date)?
        for candidate in candidates {
            guard let lastUse = lastUses[candidate.textKey],
                now.timeIntervalSince(lastUse) > Double(Self.lastResortDays) * 86_400
            else { continue }
            if let earlierChoice = leastRecent {
                guard
                    lastUse < earlierChoice.used
                        || lastUse == earlierChoice.used
                            && candidate.id.order < earlierChoice.candidate.id.order
                else { continue }
            }
            leastRecent = (candidate, lastUse)
        }
        return leastRecent?.candidate
    }

    /// The latest use of each text, from any post with that text.
    private static func lastUses(in candidates: [TextCandidate]) -> [String: Date] {
        var lastUses: [String: Date] = [:]
        for candidate in candidates {
            guard let lastUse = candidate.lastUsed else { continue }
            lastUses[candidate.textKey] = max(lastUses[candidate.textKey] ?? lastUse, lastUse)
        }
        return lastUses
    }

    /// Returns the narrowest window with enough texts, or else the widest one, and one candidate
    /// for each text in it.
    ///
    /// If the widest window has no text, because no time of day is known, the candidates are those
    /// of all texts.
    private static func pool(
        from candidates: [TextCandidate], around minute: MinuteOfDay
    ) -> (window: Int, texts: [TextCandidate]) {
        var pool: [TextCandidate] = []
        for window in windows {
            pool = distinct(candidates.filter { $0.isNear(minute, within: window) })
            if pool.count >= fewestTexts { return (window, pool) }
        }
        return (windows.last ?? 720, pool.isEmpty ? distinct(candidates) : pool)
    }

    /// Returns the candidates with the fewest uses, in the same order.
    private static func leastUsed(_ candidates: [TextCandidate]) -> [TextCandidate] {
        let fewest = candidates.map(\.uses).min()
        return candidates.filter { $0.uses == fewest }
    }

    /// Returns one candidate for each text, in an order that depends only on the candidates.
    private static func distinct(_ candidates: [TextCandidate]) -> [TextCandidate] {
        var includedKeys: Set<String> = []
        return candidates.sorted { $0.id.order < $1.id.order }.filter {
            includedKeys.insert($0.textKey).inserted
        }
    }
}

extension TextCandidate {
    /// Whether the time of day of the text is known and at most `window` minutes from `minute`.
    fileprivate func isNear(_ minute: MinuteOfDay, within window: Int) -> Bool {
        guard let ownMinute = self.minute else { return false }
        return ownMinute.circularDistance(to: minute) <= window
    }
}

extension PostID {
    fileprivate var order: (String, String) { (network.rawValue, value) }
}

extension Array {
    /// The element at the relative position `u`; nil if there is none.
    fileprivate func element(atUniform u: Double) -> Element? {
        isEmpty ? nil : self[Swift.min(Int(u * Double(count)), count - 1)]
    }
}

/// The reason why a text was chosen for a slot, for people and for the `explanation` of an action.
package struct TextExplanation: Equatable, Sendable, CustomStringConvertible {
    /// The slot's minute.
    package let minute: MinuteOfDay
    /// The distance from the slot's minute within which texts were searched; nil if only the least
    /// recently used one was left.
    package let windowMinutes: Int?
    /// The number of equally likely texts.
    package let poolSize: Int
    /// Whether no text had the required age.
    package let isAgeRelaxed: Bool
    /// Whether the text's time of day is known.
    package let isTimeKnown: Bool
    /// Whether the text was chosen among those of the previous text's era.
    package var isOfEra = false

    package init(
        minute: MinuteOfDay, windowMinutes: Int?, poolSize: Int, isAgeRelaxed: Bool,
        isTimeKnown: Bool = true
    ) {
        self.minute = minute
        self.windowMinutes = windowMinutes
        self.poolSize = poolSize
        self.isAgeRelaxed = isAgeRelaxed
        self.isTimeKnown = isTimeKnown
    }

    /// The explanation in one line, for people.
    package var description: String {
        var line: String
        if let windowMinutes {
            let texts = poolSize == 1 ? "the only text" : "one of \(poolSize) texts"
            let timeOfDay =
                windowMinutes < 720
                ? "within \(windowMinutes) minutes of \(minute)" : "of any time of day"
            line =
                "\(texts) \(isTimeKnown ? timeOfDay : "whose time of day was lost, for there is no other")"
            if isOfEra {
                line += " and \(Int(TextChooser.halfEra / 86_400)) days of the text before"
            }
        } else {
            line = "the least recently used text, since all were used lately"
        }
        return isAgeRelaxed ? line + ", younger than wished" : line
    }
}
