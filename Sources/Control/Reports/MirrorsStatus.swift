package import Foundation
import Localization
package import Mirroring
import Outbox
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
        /// The verdict without the command-line flags that name the mirror, so that mirrors with
        /// the same problem have the same text.
        ///
        /// Nil for a healthy mirror, and in reports of earlier versions.
        package let reason: String?
        /// The decisive obstacle; nil for a healthy mirror.
        package let code: Obstacle.Code?
        /// The time since which the verdict has been the same; nil if unknown.
        package let since: Date?
        /// The number of obstacles that stop or hinder work.
        package let obstacles: Int
        /// The number of suggestions that wait for a person.
        package let suggestions: Int
        /// The time at which the next planned post is due; nil if none is stored.
        package let nextSlot: Date?
    }

    /// A verdict that several mirrors have.
    package struct Shared: Codable, Equatable, Sendable {
        /// The ``Line/reason`` that these mirrors have in common.
        package let text: String
        /// The number of found mirrors with this verdict, on all pages.
        package let count: Int
    }

    /// A living worker that cannot do the work of any mirror, or is less able than another one.
    package struct UnableWorker: Codable, Equatable, Sendable {
        package let worker: String
        package let since: Date
        /// Whether the worker can do no work at all; false for one that can do a part of it.
        package let isIdle: Bool
        package let reason: String
        /// The number of mirrors that the worker holds: 0 after a more able worker has taken them.
        package let mirrors: Int
    }

    /// The mirrors to list.
    package struct Query: Codable, Equatable, Sendable {
        /// Words in the name or a handle; case, width and accents make no difference.
        package var words: String?
        /// The state to show; nil for all.
        package var state: Health.Verdict.State?
        /// Whether to show only mirrors with suggestions that wait for a person.
        package var areAsking = false
        /// The name after which the page begins, instead of ``page``; nil for none.
        package var after: String?
        /// The number of the page, from 1.
        package var page = 1
        /// Mirrors on a page.
        package var size = 50
        /// Seconds after which a worker's last heartbeat is too old; nil for the usual limit.
        package var silence: TimeInterval?

        package init(words: String? = nil, page: Int = 1) {
            self.words = words
            self.page = page
        }
    }

    /// The check result of all mirrors for a watchdog.
    package struct Check: Codable, Equatable, Sendable {
        /// The result in one line, which names at most `listed` mirrors.
        package let text: String
        /// The party that can end the worst obstacle; nil if there are mirrors, and all of them
        /// work or pause as a person wants.
        package let failure: Finding.Cause?

        fileprivate static let listed = 10
    }

    package private(set) var schema = "mirror-bot/mirrors-status/1"
    package let mirrors: [Line]
    /// The number of found mirrors, on all pages.
    package let total: Int
    /// The verdicts of the listed mirrors that other found mirrors share, in the order of the list;
    /// `nil` in reports of earlier versions.
    package let shared: [Shared]?
    /// The number of mirrors in each state, among all that match the words; zeros are left out.
    package let states: [String: Int]
    /// The number of mirrors that wait for a person, among all that match the words.
    package let asking: Int
    /// The earliest of the next posts, among all that match the words; nil if none is planned.
    package let nextSlot: Date?
    /// The name after which the next page begins; nil for the last page.
    package let next: String?
    package let page: Int
    /// The number of pages; 1 without a mirror.
    package let pages: Int
    package let check: Check
    /// The workers that cannot do their work, in the order of their names; nil in reports of
    /// earlier versions.
    package let unableWorkers: [UnableWorker]?
}

extension MirrorsStatus {
    /// Reads the states, with a few statements for each 500 mirrors.
    ///
    /// Each verdict equals the verdict of `status` for that mirror.
    ///
    /// - Throws: The store's error.
    package init(of installation: Installation, _ query: Query = Query(), now: Date) async throws {
        let searchWords = SearchWords(query.words)
        let matchingMirrors = try await MirrorTable.all(in: installation.storage).filter {
            name, record in
            searchWords.occur(in: [name, record.humanHandle, record.botHandle].compactMap(\.self))
        }
        let reader = HealthReader(installation, silence: query.silence)
        var standings: [Standing] = []
        for portion in matchingMirrors.portions(of: HealthReader.mirrorsAtOnce) {
            standings += try await reader.readings(of: portion, now: now).map {
                Standing($0, now: now)
            }
        }
        standings.sort { $0.order < $1.order }
        let size = max(1, query.size)
        states = standings.reduce(into: [:]) {
            $0[$1.health.verdict.state.rawValue, default: 0] += 1
        }
        asking = standings.count { $0.suggestions > 0 }
        nextSlot = standings.compactMap(\.nextPost).min()
        let matchingStandings = standings.filter { standing in
            (query.state == nil || standing.health.verdict.state == query.state)
                && (!query.areAsking || standing.suggestions > 0)
        }
        total = matchingStandings.count
        page = query.page
        // The quotient is rounded up.
        pages = max(1, (matchingStandings.count + size - 1) / size)
        let skipped: Int
        if let name = query.after {
            // The page begins after the mirror with that name, or with the first one.
            skipped = matchingStandings.firstIndex { $0.name == name }.map { $0 + 1 } ?? 0
        } else {
            // A page after the last one is empty.
            let shownPage = max(1, min(query.page, pages + 1))
            skipped = (shownPage - 1) * size
        }
        let shownStandings = matchingStandings.dropFirst(skipped).prefix(size)
        let hasMore = matchingStandings.count > skipped + shownStandings.count
        next = hasMore ? shownStandings.last?.name : nil
        mirrors = shownStandings.map(\.line)
        let mirrorsByReason: [String: Int] = matchingStandings.reduce(into: [:]) {
            $0[$1.reason ?? "", default: 0] += 1
        }
        var listedReasons: Set<String> = []
        var shared: [Shared] = []
        for reason in shownStandings.compactMap(\.reason)
        where listedReasons.insert(reason).inserted {
            let count = mirrorsByReason[reason] ?? 0
            if count > 1 { shared.append(Shared(text: reason, count: count)) }
        }
        self.shared = shared
        check = Check(standings, query, in: installation)
        let workers = try await WorkerTable(storage: installation.storage).records()
        unableWorkers = UnableWorker.among(
            workers, silence: query.silence ?? HumanMirror.usualSilence, now: now)
    }
}

extension MirrorsStatus.UnableWorker {
    /// - Parameter silence: Seconds after which a worker's last heartbeat is too old.
    fileprivate static func among(_ workers: [WorkerRecord], silence: TimeInterval, now: Date)
        -> [Self]
    {
        let living = workers.filter { $0.silence(at: now) < silence }
        let leastSeverity = living.filter(\.isSharing).map(\.severity).min() ?? 0
        return living.compactMap { worker in
            guard let disability = worker.disability else { return nil }
            // A disability that all workers share, such as a missing dictionary, is reported by the
            // affected mirrors.
            guard disability.extent == .all || worker.severity > leastSeverity else { return nil }
            return Self(
                worker: worker.worker, since: disability.since, isIdle: disability.extent == .all,
                reason: disability.reason, mirrors: worker.mirrors)
        }
    }
}

/// A mirror and its health.
private struct Standing {
    let name: String
    let record: MirrorRecord
    let health: Health
    let suggestions: Int
    let nextPost: Date?
    private let flags: [String]

    init(_ reading: HealthReading, now: Date) {
        name = reading.mirror.name
        record = reading.record
        nextPost = reading.nextStoredPost
        health = Health(reading.facts, next: nextPost, now: now)
        suggestions = reading.facts.suggestions
        flags = reading.facts.flags
    }

    var line: MirrorsStatus.Line {
        let verdict = health.verdict
        return MirrorsStatus.Line(
            name: name, human: record.humanHandle, bot: record.botHandle, state: verdict.state,
            text: verdict.text, reason: reason,
            code: verdict.code, since: health.leading?.since,
            obstacles: health.obstacles.count { [.stops, .hinders].contains($0.weight) },
            suggestions: suggestions,
            nextSlot: nextPost)
    }

    /// See ``MirrorsStatus/Line/reason``.
    var reason: String? {
        guard health.verdict.state != .healthy else { return nil }
        guard !flags.isEmpty else { return health.verdict.text }
        return health.verdict.text.replacing(" " + flags.joined(separator: " "), with: "")
    }

    /// The sort key of a list with the worst first: the state, then the leading obstacle and its
    /// words, then the name.
    var order: (Int, Int, String, String) {
        (health.verdict.state.severity, health.verdict.code?.rank ?? .max, reason ?? "", name)
    }
}

extension MirrorsStatus.Check {
    fileprivate init(
        _ standings: [Standing], _ query: MirrorsStatus.Query, in installation: Installation
    ) {
        let failing = standings.filter { $0.health.failure != nil }
        guard let worst = failing.first else {
            // A watchdog on the wrong database must raise an alarm.
            let place = installation.process.storage.place
            failure = standings.isEmpty ? .configuration : nil
            text =
                switch standings.count {
                case 0 where query.words == nil:
                    localized("there is no mirror in the database \(place)")
                case 0:
                    localized(
                        "no mirror of the database \(place) has these words in its name or its handles"
                    )
                case let count:
                    localized("all \(count) mirrors do their work, or pause as they were told")
                }
            return
        }
        let listed = failing.prefix(Self.listed).map(\.name).joined(by: .comma)
        let names =
            failing.count > Self.listed
            ? localized("\(listed) and \(failing.count - Self.listed) more") : listed
        failure = worst.health.failure
        text = localized(
            "\(failing.count) of \(standings.count) mirrors do not work: \(names); \(worst.name): \(worst.health.verdict.text)"
        )
    }
}

extension Health.Verdict.State {
    /// The rank of the state; 0 is the worst.
    fileprivate var severity: Int {
        switch self {
        case .failing: 0
        case .unset: 1
        case .hindered: 2
        case .paused: 3
        case .healthy: 4
        }
    }
}
