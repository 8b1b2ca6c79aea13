package import Foundation
package import Mirroring
import Settings
import Storage

/// The state of all mirrors of a database, the worst first, by pages.
package struct MirrorsStatus: Codable, Equatable, Sendable {
    /// One mirror.
    package struct Line: Codable, Equatable, Sendable {
        package let name: String
        package let human: String?
        package let bot: String?
        package let state: Health.Verdict.State
        /// The verdict in one line.
        package let text: String
        /// The obstacle that decides; nil for a healthy mirror.
        package let code: Obstacle.Code?
        /// Since when it holds; nil if that is not known.
        package let since: Date?
        /// How many obstacles lose all or a part of some work.
        package let obstacles: Int
        /// How many suggestions wait for a person.
        package let suggestions: Int
        /// When the next planned post is due; nil if none is stored.
        package let nextSlot: Date?
    }

    /// Which mirrors to list.
    package struct Query: Codable, Equatable, Sendable {
        /// Words in the name or a handle; case, width and accents make no difference.
        package var words: String?
        /// Only those in this state; nil for all.
        package var state: Health.Verdict.State?
        /// Only those of which something waits for a person.
        package var areAsking = false
        /// The name behind which the page begins, instead of ``page``; nil for none.
        package var after: String?
        /// From 1.
        package var page = 1
        /// Mirrors on a page.
        package var size = 50
        /// From how many seconds on a worker's last beat is too old; nil for the usual limit.
        package var silence: TimeInterval?

        package init(words: String? = nil, page: Int = 1) { (self.words, self.page) = (words, page) }
    }

    /// What a watchdog is told of all of them.
    package struct Check: Codable, Equatable, Sendable {
        /// One line, which names at most `listed` mirrors.
        package let text: String
        /// The cause of the worst obstacle; nil if there are mirrors and all are healthy.
        package let failure: Finding.Cause?

        fileprivate static let listed = 10
    }

    package private(set) var schema = "mirror-bot/mirrors-status/1"
    package let mirrors: [Line]
    /// How many mirrors were found, on all pages.
    package let total: Int
    /// How many of all that have the words are in each state; states without any are left out.
    package let states: [String: Int]
    /// How many of all that have the words wait for a person.
    package let asking: Int
    /// The earliest of the next posts of all that have the words; nil if none is planned.
    package let nextSlot: Date?
    /// Behind which name the next page begins; nil where nothing follows.
    package let next: String?
    package let page: Int
    /// The number of the last page; 1 without a mirror.
    package let pages: Int
    package let check: Check
}

extension MirrorsStatus {
    /// Reads the states, with the same number of statements however many mirrors there are.
    ///
    /// Verdicts are those of `status`, but for what `HealthSurvey` leaves out.
    ///
    /// - Parameter mirror: Any mirror of the database.
    /// - Throws: The store's error; `ConfigurationError` for a key file that cannot be used.
    package init(of mirror: HumanMirror, _ query: Query = Query(), now: Date) async throws {
        let standings = try await HealthSurvey(mirror, silence: query.silence)
            .standings(query.words.map(SearchWords.init), now: now)
        let size = max(1, query.size)
        states = standings.reduce(into: [:]) { $0[$1.verdict.state.rawValue, default: 0] += 1 }
        asking = standings.count { $0.suggestions > 0 }
        nextSlot = standings.compactMap(\.nextSlot).min()
        let found = standings.filter { standing in
            (query.state == nil || standing.verdict.state == query.state)
                && (!query.areAsking || standing.suggestions > 0)
        }
        (total, page, pages) = (found.count, query.page, max(1, (found.count + size - 1) / size))
        let skipped =
            query.after.map { name in (found.firstIndex { $0.name == name } ?? -1) + 1 }
            ?? (max(1, min(query.page, pages + 1)) - 1) * size
        let shown = found.dropFirst(skipped).prefix(size)
        next = found.count > skipped + shown.count ? shown.last?.name : nil
        mirrors = shown.map { standing in
            let verdict = standing.verdict
            let lost = standing.health.obstacles.count { [.stops, .hinders].contains($0.weight) }
            return Line(
                name: standing.name, human: standing.record.humanHandle, bot: standing.record.botHandle,
                state: verdict.state, text: verdict.text, code: verdict.code,
                since: standing.settingError == nil ? standing.health.leading?.since : nil,
                obstacles: lost + (standing.settingError == nil ? 0 : 1),
                suggestions: standing.suggestions, nextSlot: standing.nextSlot)
        }
        let ill = standings.filter { $0.failure != nil }
        let names = ill.prefix(Check.listed).map(\.name).joined(separator: ", ")
        let rest = ill.count > Check.listed ? " and \(ill.count - Check.listed) more" : ""
        let text =
            if let worst = ill.first {
                "\(ill.count) of \(standings.count) mirrors do not work: \(names)\(rest); "
                    + "\(worst.name): \(worst.verdict.text)"
            } else {
                "all \(standings.count) mirrors do their work, or pause as they were told"
            }
        guard !standings.isEmpty else {
            let place = mirror.process.storage.place
            check = Check(
                text: query.words == nil
                    ? "there is no mirror in the database \(place)"
                    : "no mirror of the database \(place) has these words in its name or its handles",
                failure: .configuration)
            return
        }
        check = Check(text: text, failure: ill.first?.failure)
    }
}
