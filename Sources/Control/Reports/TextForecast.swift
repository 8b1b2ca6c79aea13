import Archive
import Conduct
package import Foundation
import Localization
package import Mirroring
import Outbox
package import Posts
import Schedule
import Settings

/// A forecast of the day on which the plain texts are used up.
///
/// The forecast assumes that the bot continues to post as often as in its last plans.
package struct TextForecast: Codable, Equatable, Sendable {
    /// The number of plain texts that may be used now.
    package var free: Int
    /// The assumed number of posts a day.
    package var perDay: Double
    /// The first day with fewer plain texts than a choice needs; `nil` if they last.
    package var until: LocalDay?
    /// The consequence from that day on, without a full stop; `nil` if they last.
    package var then: String?

    package init(free: Int, perDay: Double, until: LocalDay? = nil, then: String? = nil) {
        self.free = free
        self.perDay = perDay
        self.until = until
        self.then = then
    }

    /// The forecast in one line for people, without a full stop.
    ///
    /// - Parameter today: The current day of the human.
    package func sentence(today: LocalDay?) -> String {
        let rate = perDay.formatted(.number.precision(.fractionLength(0...1)).grouping(.never))
        let isOne = rate == "1"
        let pace = localized(isOne ? "at \(rate) post a day" : "at \(rate) posts a day")
        guard let until, let then else { return localized("plain ones last \(pace)") }
        if let today, until <= today {
            return localized("plain ones are used up \(pace); \(then)")
        }
        return localized("plain ones last until about \(until) \(pace); \(then)")
    }
}

/// The plain texts of an archive and their further uses.
struct TextStock: Equatable {
    /// The number of days to simulate if the uses of a text are limited.
    private static let mostDays = 3_650

    /// The number of texts that may be used now, by their remaining uses; `Int.max` without a
    /// limit.
    var free: [Int: Int] = [:]
    /// The number of recently used texts, by the days until they may be used again and by their
    /// remaining uses.
    var resting: [Int: [Int: Int]] = [:]
    /// The average number of plain texts that reach the minimum age each day.
    var gained = 0.0
    /// Days between two uses of a text.
    let restDays: Int
    /// The most uses of a text; `nil` without a limit.
    let mostUses: Int?

    var freeCount: Int { free.values.reduce(0, +) }

    /// Returns the number of days after which fewer than `fewest` texts are free; `nil` if that
    /// does not happen.
    ///
    /// - Parameters:
    ///   - perDay: Uses a day.
    ///   - fewest: The number of texts that a choice needs.
    func days(perDay: Double, fewest: Int) -> Int? {
        var free = free
        var resting = resting
        var dueUses = 0.0
        var newTexts = 0.0
        // Without a limit of uses one rest period is enough: afterwards as many texts become free
        // again each day as are used.
        for day in 0...(mostUses == nil ? restDays : Self.mostDays) {
            for (usesLeft, count) in resting.removeValue(forKey: day) ?? [:] {
                free[usesLeft, default: 0] += count
            }
            newTexts += gained
            if newTexts >= 1 {
                free[mostUses ?? .max, default: 0] += Int(newTexts)
                newTexts -= newTexts.rounded(.down)
            }
            if free.values.reduce(0, +) < fewest { return day }
            dueUses += perDay
            while dueUses >= 1, let usesLeft = free.keys.max() {
                dueUses -= 1
                let count = free[usesLeft] ?? 0
                free[usesLeft] = count > 1 ? count - 1 : nil
                let usesAfter = usesLeft == .max ? usesLeft : usesLeft - 1
                if usesAfter > 0 {
                    resting[day + max(1, restDays), default: [:]][usesAfter, default: 0] += 1
                }
            }
        }
        return nil
    }
}

extension HumanMirror {
    /// The days of plans that determine the posts a day.
    private static let ratedDays = 28
    /// The days that determine the gain of texts a day.
    private static let gainedDays = 60
    /// The number of plain texts above which they are not listed, if they certainly last.
    private static let mostListed = 4_000

    /// Returns the forecast of the day on which the plain texts are used up.
    ///
    /// The texts are listed only if there are few, or if they may run out.
    ///
    /// - Parameters:
    ///   - plain: The number of plain texts, of any age.
    ///   - others: The number of texts that are fit but not plain.
    ///   - isFollowed: Whether new posts of the human are read.
    ///   - zone: The human's time zone; `nil` if unknown.
    ///   - now: The current time.
    /// - Returns: `nil` if plain texts are not preferred, nothing is posted, or none is plain.
    /// - Throws: The store's error.
    package func textForecast(
        plain: Int, others: Int, isFollowed: Bool, zone: TimeZone?, now: Date
    ) async throws -> TextForecast? {
        guard configuration.fitness == .plain, configuration.schedule.maximumPerDay > 0, plain > 0,
            let zone
        else { return nil }
        let today = LocalTime(now, in: zone).day
        let perDay = try await postsPerDay(today, now: now)
        guard perDay > 0 else { return nil }
        var filter = textFilter()
        filter.grade = Fitness.Grade.plain.rawValue
        filter.end = now - Double(configuration.minimumAgeDays) * 86_400
        filter.start =
            configuration.maximumAgeDays.map { now - Double($0) * 86_400 } ?? .distantPast
        let restDays = configuration.noRepeatDays
        let lastUses = try await archive.usedTexts(since: now - Double(restDays) * 86_400)
        // The texts that rest at the same time, and those that a choice needs.
        let neededTexts = Int(perDay * Double(restDays)) + TextJudge.fewestTexts
        let isLimited = configuration.maximumUses != nil || configuration.maximumAgeDays != nil
        if plain > Self.mostListed, !isLimited, plain - lastUses.count >= neededTexts {
            return TextForecast(free: plain - lastUses.count, perDay: perDay)
        }
        let stock = try await stock(
            filter, lastUses: lastUses, restDays: restDays, isFollowed: isFollowed, now: now)
        guard let days = stock.days(perDay: perDay, fewest: TextJudge.fewestTexts) else {
            return TextForecast(free: stock.freeCount, perDay: perDay)
        }
        let consequence =
            others > 0
            ? localized("then the \(others) others that stand for themselves are posted too")
            : localized("then those that name a day or speak to somebody are posted too")
        let then =
            configuration.maximumUses == nil
            ? localized("\(consequence), until plain ones were not used for \(restDays) days")
            : consequence
        return TextForecast(
            free: stock.freeCount, perDay: perDay, until: today.advanced(by: days),
            then: then
        )
    }

    /// Lists each plain text once, from any of its posts.
    private func stock(
        _ filter: Archive.TextFilter, lastUses: [String: Date], restDays: Int,
        isFollowed: Bool,
        now: Date
    ) async throws -> TextStock {
        let mostUses = configuration.maximumUses
        let uses = mostUses == nil ? [:] : try await archive.uses()
        var stock = TextStock(restDays: restDays, mostUses: mostUses)
        var includedKeys: Set<String> = []
        var newTexts = 0
        for text in try await archive.texts(in: [0...MinuteOfDay.count - 1], filter) {
            guard includedKeys.insert(text.textKey).inserted else { continue }
            if text.createdAt > filter.end - Double(Self.gainedDays) * 86_400 { newTexts += 1 }
            let usesLeft = mostUses.map { max(0, $0 - uses[text.textKey, default: 0]) } ?? .max
            guard usesLeft > 0 else { continue }
            if let lastUse = lastUses[text.textKey] {
                let daysUntilFree = Int(
                    ((lastUse.timeIntervalSince(now) / 86_400) + Double(restDays)).rounded(.up))
                stock.resting[max(1, daysUntilFree), default: [:]][usesLeft, default: 0] += 1
            } else {
                stock.free[usesLeft, default: 0] += 1
            }
        }
        // A human who is not followed adds no posts.
        if isFollowed { stock.gained = Double(newTexts) / Double(Self.gainedDays) }
        return stock
    }

    /// The number of posts a day in the bot's last plans; without a plan, the number in the human's
    /// last days.
    private func postsPerDay(_ today: LocalDay, now: Date) async throws -> Double {
        let counts = try await outbox(lease: nil).slotCounts(
            of: today.advanced(by: -Self.ratedDays)..<today)
        guard !counts.isEmpty else { return try await rates(now: now).posts }
        return Double(counts.values.reduce(0, +)) / Double(counts.count)
    }
}
