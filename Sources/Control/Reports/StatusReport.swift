import Archive
import Conduct
import Favorites
package import Foundation
import Localization
import MeCab
package import Mirroring
import Networks
import Outbox
package import Posts
import Schedule
package import Settings
import Storage

/// The status of a mirror: its knowledge, past actions and next steps.
package struct StatusReport: Codable, Sendable {
    /// One of the two accounts.
    package struct AccountState: Codable, Sendable {
        package var role: AccountRole
        package var network: NetworkName
        /// The handle at the last verification of the account.
        package var handle: String?
        /// The source of the credentials; nil without any.
        package var credentials: AccountOrigin?
    }

    /// The cost of calls on X this month, in US dollars.
    package struct SpendingState: Codable, Sendable {
        /// The month in UTC, as `2026-11`.
        package var month: String
        package var budget: Double
        package var spent: Double
        package var left: Double
        /// The amounts by purpose, such as `home` or `look_up`.
        package var byPurpose: [String: Double]
        package var renews: Date

        init(_ spending: Spending) {
            month = spending.month
            budget = spending.budget.dollars
            spent = spending.total.dollars
            left = spending.left.dollars
            let amounts = spending.byPurpose.map {
                ($0.key.replacing("-", with: "_"), $0.value.dollars)
            }
            byPurpose = Dictionary(uniqueKeysWithValues: amounts)
            renews = spending.renews
        }
    }

    /// The rest of trainings that the monthly budget interrupted.
    package struct TrainingState: Codable, Equatable, Sendable {
        /// The most older posts of the human that are still to be read; 0 for none.
        package var postsLeft: Int
        /// The most favorites that are still to be read.
        package var favoritesLeft: Int
        /// The most posts of others, for comparison with the favorites, that are still to be read.
        package var comparedLeft: Int
        /// The months in which the worker reads all of them by itself; nil if the budget never
        /// suffices.
        package var monthsLeft: Int?
        /// The time at which the worker continues.
        package var goesOn: Date

        /// Creates the state of a training; nil if nothing is left to read.
        init?(
            _ left: TrainingLeft, _ plan: MonthPlan, now: Date,
            _ price: @escaping (Int, Feed) -> Money?
        ) {
            guard left.isBegun else { return nil }
            postsLeft = left.itemsLeft(of: .ownPosts) ?? 0
            favoritesLeft = left.itemsLeft(of: .favorites) ?? 0
            comparedLeft = left.itemsLeft(of: .home) ?? 0
            let feeds = left.begunFeeds
            let months = feeds.map {
                left.months(by: plan, of: SpendingPurpose.past($0).part, price)
            }
            monthsLeft = months.contains(nil) ? nil : months.compactMap(\.self).max()
            goesOn =
                feeds.map { feed in
                    let page = price(TrainingLeft.smallestPage, feed) ?? .zero
                    let isOpen = plan.left(for: .past(feed)) >= page
                    return isOpen ? now : plan.nextChance(for: .past(feed), toPay: page)
                }.min() ?? now
        }
    }

    /// The time in which a deletion by the human is noticed, if each check of a post costs money.
    package struct FollowingState: Codable, Equatable, Sendable {
        /// The human's posts of which copies exist.
        package var originals: Int
        /// Originals that were never checked since their copies were sent.
        package var unchecked: Int
        /// The number of originals that the budget allows to be checked on one day.
        package var perDay: Int
        /// The days in which all originals are checked once; nil if the month's budget covers none.
        package var days: Int?
        /// The additional dollars a month with which all originals would be checked each day.
        package var missing: Double

        /// - Parameters:
        ///   - count: The numbers of originals; the result is nil if there are none.
        ///   - each: The price of checking one of them.
        ///   - list: The number of posts in the human's own list, and the price of reading it.
        init?(
            _ count: OutboxStore.FollowingCount, _ plan: MonthPlan, each: Money,
            list: (posts: Int, price: Money)
        ) {
            guard count.all > 0, each > .zero else { return nil }
            originals = count.all
            unchecked = count.unchecked
            // The cheaper way of two: to check each original alone, or to read the human's list and
            // to check alone only the originals outside of it.
            let costOfAll = min(
                each * count.all, list.price + each * max(0, count.all - list.posts))
            let share = plan.followingShare
            let needed = costOfAll * plan.days
            missing = max(needed - share, .zero).dollars
            // A day gets its part of the month's budget, and covers that part of all checks.
            let checksPerDay =
                Double(count.all) * Double(share.microdollars) / Double(needed.microdollars)
            perDay = min(Int(checksPerDay), count.all)
            // The quotient is rounded up.
            let dividend = needed.microdollars + share.microdollars - 1
            days = share > .zero ? max(1, dividend / share.microdollars) : nil
        }
    }

    /// The places of a mirror's data and settings.
    package struct Place: Codable, Equatable, Sendable {
        /// The database: a path, or a server with its host and the name there.
        package var database: String
        /// The folder of the embedded database, in which `.env` is read too; nil if unknown.
        package var home: String?
        /// The `.env` files that were read, in order of precedence.
        package var settings: [String]
        /// Other working folders whose `.env` was used for the same mirror.
        package var sharedWith: [String]

        /// - Parameters:
        ///   - process: The settings that name the database.
        ///   - mirror: The settings of the mirror, with their places.
        package init(_ process: ProcessSettings, _ mirror: MirrorSettings) {
            let places = mirror.places
            database = process.storage.place
            home = places?.home
            settings = places?.files ?? []
            sharedWith = places?.otherFolders(of: mirror.mirror) ?? []
        }
    }

    /// Counts of the requests to undo that are not completed.
    package struct UndoState: Codable, Equatable, Sendable {
        package var waiting: Int
        /// The number of requests to undo an action of which it is unknown whether it happened.
        package var unknown: Int
        /// The number of undos that the network refuses permanently.
        package var refused: Int
        /// Copies of posts that the human deleted or edited, about which a person must decide.
        package var proposed: Int

        /// Creates the counts; nil if there are no requests.
        init?(_ tally: UndoTally) {
            guard tally != UndoTally() else { return nil }
            waiting = tally.waiting
            unknown = tally.remembered
            refused = tally.refused
            proposed = tally.proposed
        }
    }

    /// The archive of posts.
    package struct ArchiveState: Codable, Sendable {
        package var posts: Int
        package var limit: Int
        package var oldest: Date?
        package var newest: Date?
        /// Nil in reports of earlier versions.
        package var texts: TextState?
        /// The numbers of posts that may be sent with their pictures, and of their stored files;
        /// nil if no pictures are sent.
        package var pictures: PictureState?
    }

    /// Counts of the posts without replies, by their use under the setting `FITNESS`.
    package struct TextState: Codable, Equatable, Sendable {
        /// The number of texts that are used at any time.
        package var fit: Int
        /// The number of plain texts among these, which are preferred; nil in reports of earlier
        /// versions, and if plain texts are not preferred.
        package var plain: Int?
        /// The number of texts that are used only on some days or at some hours.
        package var sometimes: Int
        /// The number of texts that are never used.
        package var unfit: Int
        /// The numbers of unfit texts by rule, the most frequent first.
        package var reasons: [ReasonCount]
        /// The number of texts that are not judged yet; the worker judges them soon.
        package var unjudged: Int
        /// The time at which the plain texts are used up; nil if unknown, and in reports of earlier
        /// versions.
        package var forecast: TextForecast?

        init(_ unsent: Archive.Unsent, _ mode: FitnessMode) {
            plain = mode == .plain ? unsent.plain : nil
            var reasons = unsent.unfit
            if unsent.tooLong > 0 {
                reasons[Refusal.Reason.tooLong.rawValue, default: 0] += unsent.tooLong
            }
            fit = unsent.fit
            sometimes = unsent.sometimes.values.reduce(0, +)
            unfit = reasons.values.reduce(0, +)
            unjudged = unsent.unjudged
            let mostFrequentFirst = reasons.sorted { first, second in
                first.value == second.value
                    ? first.key < second.key : first.value > second.value
            }
            self.reasons = mostFrequentFirst.map {
                ReasonCount(reason: $0.key, count: $0.value, text: ReportedReason($0.key).text)
            }
        }

        /// The number of posts that one rule leaves out.
        package struct ReasonCount: Codable, Equatable, Sendable {
            package var reason: String
            package var count: Int
            /// The reason in plain words; nil in reports of earlier versions.
            package var text: String?
        }

        /// `1,200 time-bound, 900 dated and 1,304 others`: the most frequent reasons, or an empty
        /// text.
        package var commonest: String {
            let shown = 3
            let others = reasons.dropFirst(shown).reduce(0) { $0 + $1.count }
            let listed = reasons.prefix(shown).map { "\($0.count) \($0.reason)" }
                .joined(by: .comma)
            return others > 0 ? localized("\(listed) and \(others) others") : listed
        }
    }

    /// The human's pictures.
    package struct PictureState: Codable, Equatable, Sendable {
        package var posts: Int
        package var files: Int
    }

    /// The classifier's training.
    package struct ClassifierState: Codable, Sendable {
        package var favorites: Int
        package var normals: Int
        package var seen: Int
        /// Learned posts without any learned word; nil while they are not counted.
        package var wordless: Int?
        /// The number of counts, one for each feature and category; nil if they cannot be read, or
        /// were not counted.
        package var counts: Int?
        /// The reason why favorites wait; nil if they do not.
        package var waiting: String?
        /// The weights of words and authors; nil while all count alike.
        package var weights: ReportedWeights?
    }

    /// The state of the human's account, as its network reported it.
    package struct StandingState: Codable, Equatable, Sendable {
        /// `memorial`, `suspended`, `moved`, `deactivated` or `deleted`.
        package var state: String
        package var since: Date
        /// The time at which the network reported the state again, a day later or more; nil before.
        package var confirmed: Date?
        /// The new account of a human who has moved; nil for another state.
        package var successor: String?
        /// The time at which a person decided that the mirror continues anyway; nil if none did.
        package var goesOn: Date?
        /// The state as a part of a sentence.
        package var words: String

        init(_ standing: HumanStanding) {
            state = standing.name
            since = standing.since
            confirmed = standing.confirmed
            successor = standing.successor
            goesOn = standing.goesOn
            words = standing.words
        }
    }

    package typealias Verdict = Health.Verdict

    /// The state of the worker that does the mirror's work.
    package struct WorkerState: Codable, Equatable, Sendable {
        package enum State: String, Codable, Sendable {
            case running
            /// `run --once` is called repeatedly, as by cron.
            case passes
            case late
            case absent
        }

        package var state: State
        /// The name of the last process that held the mirror; nil if none ever did.
        package var name: String?
        /// The last heartbeat of a worker; nil if there was never one.
        package var beat: Date?
        /// The time at which `run --once` last ended; nil if a continuous worker has held the
        /// mirror since.
        package var lastPass: Date?

        init(_ fact: WorkerFact, _ lease: LeaseRecord?) {
            state =
                switch fact {
                case .running: .running
                case .passes: .passes
                case .late, .passLate: .late
                case .absent: .absent
                }
            name = lease.flatMap { $0.owner.isEmpty ? nil : $0.owner }
            beat = lease.map { Date(milliseconds: $0.updatedMilliseconds) }
            lastPass = lease?.lastPass
        }
    }

    package var schema = "mirror-bot/status/2"
    /// Nil in reports of earlier versions.
    package var verdict: Verdict?
    /// The obstacles to parts of the mirror's work, and notes for its operator; `nil` in reports of
    /// earlier versions.
    package var obstacles: [Obstacle]?
    /// The digest of the mirror's pause or hold, to be sent with a change; nil in reports of
    /// earlier versions.
    package var pauseSeen: Seen?
    /// The setup steps before the mirror works; `nil` once it has worked.
    package var setup: [SetupStep]?
    /// The command that leads through these steps; nil if there are none, and in reports of earlier
    /// versions.
    package var setupCommand: String?
    package var mirror: String
    package var storage: String
    /// Nil in reports of earlier versions.
    package var place: Place?
    package var human: String?
    package var bot: String?
    package var accounts: [AccountState] = []
    /// The consent to mirroring the human; `nil` if there is none, and in reports of earlier
    /// versions.
    package var consent: HumanConsent?
    /// Nil for the usual state of the human's account, and in reports of earlier versions.
    package var standing: StandingState?
    /// Nil unless one of the accounts is on X.
    package var spending: SpendingState?
    /// Nil unless the budget interrupted a training; nil in reports of earlier versions.
    package var training: TrainingState?
    /// Nil if checking the human's posts is free, or no copies exist; nil in reports of earlier
    /// versions.
    package var following: FollowingState?
    package var timeZone: String?
    /// The periods in other time zones; nil for none.
    package var zones: [ZonesReport.Line]?
    package var archive: ArchiveState
    /// Nil if the dictionary or the counts are unreachable; `idle` says why.
    package var classifier: ClassifierState?
    /// The number of favorites and other actions that wait for a person.
    package var suggestions = 0
    /// Nil if there are no requests to undo.
    package var undo: UndoState?
    package var today: LocalDay?
    package var slots: [PlanReport.Slot]
    /// The time at which the next post is due, on any day; nil if none is planned or previewed.
    package var nextSlot: Date?
    package var recent: [ReportedAction]
    /// The present use of the day's and the network's limits; nil without a time zone, and in
    /// reports of earlier versions.
    package var limits: [LimitState]?
    /// Whether a worker holds the mirror now.
    package var isRunning: Bool
    /// Nil in reports of earlier versions.
    package var worker: WorkerState?
    /// Nil if `doctor` never examined the mirror.
    package var examination: LastExamination?
    /// The health of each feed.
    package var feeds: [FeedHealth] = []
    /// The obstacles as sentences.
    package var idle: [String]
}

extension StatusReport {
    /// Whether a worker has what it needs to start.
    package var canStart: Bool {
        timeZone != nil && accounts.contains { $0.role == .bot && $0.credentials != nil }
    }

    /// The first obstacle that stops posts, other than a missing worker; nil if there is none.
    package var obstacleToPosts: String? {
        let workerCodes: Set<Obstacle.Code> = [.noWorker, .workerEnded, .workerLate, .passLate]
        return obstacles?.first {
            $0.weight != .note && $0.stops.contains(.sending) && !workerCodes.contains($0.code)
        }?
        .sentence
    }

    /// The time at which the next post is due, such as `20:13 (in 2 h)`; nil if none is planned or
    /// previewed.
    package func nextPost(now: Date) -> String? {
        nextSlot.map {
            Health.words(
                for: $0, now: now, in: timeZone.flatMap(TimeZone.init(identifier:)) ?? .gmt)
        }
    }
}

/// Gathers the state of a mirror.
package struct StatusReporter: Sendable {

    let mirror: HumanMirror
    let recentShown: Int
    private let countsAll: Bool
    private static let setAsideShown = 5

    /// - Parameters:
    ///   - mirror: The mirror's data.
    ///   - recentShown: The number of recent actions to include.
    ///   - countsAll: Whether to count the archive's texts by their use, and the classifier's
    ///     counts, which requires reading all of them.
    package init(mirror: HumanMirror, recentShown: Int = 10, countsAll: Bool = true) {
        self.mirror = mirror
        self.recentShown = recentShown
        self.countsAll = countsAll
    }

    /// Reads the status.
    ///
    /// An unreachable classifier, or a login that cannot be opened, is reported, not thrown.
    package func report(now: Date) async throws -> StatusReport {
        let configuration = mirror.configuration
        var reading = try await HealthReader(mirror.installation).reading(of: mirror, now: now)
        let record = reading.record
        let outbox = mirror.outbox(lease: nil)
        let zone = reading.facts.zone
        let today = zone.map { LocalTime(now, in: $0).day }
        let planned = try await plan(today, zone, now: now)
        let plan = planned?.shown
        let numbers = try await ReportNumbers(of: mirror, now: now)
        let (classifier, lack) = await classifierAndLack()
        reading.facts.classifierLack = lack
        reading.facts.isSilentDay = plan.map { $0.isStored && $0.slots.isEmpty } ?? false
        if !reading.facts.setup.isEmpty {
            // The steps include a proposal for the time zone, for which the archive is read.
            reading.facts.setup = try await mirror.setupSteps(
                record, reading.accounts, posts: numbers.posts)
        }
        reading.facts.setAside = try await outbox.setAside(limit: Self.setAsideShown)
        let next = try await mirror.nextPost(reading, today: planned?.previewed, now: now)
        let health = Health(reading.facts, next: next, now: now)
        var limits: [LimitState]?
        if let today, let zone, let day = today.period(in: zone) {
            let posts =
                plan?.slots.count {
                    [ActionState.sending, .done].map(\.rawValue).contains($0.state)
                } ?? 0
            limits = try await mirror.limits(
                of: reading.accounts.accounts[.bot], posts: posts, since: day.lowerBound, now: now)
        }
        let spans =
            numbers.zones == 0 ? [] : try await mirror.archive.zones(home: zone ?? .gmt).spans
        let zones = spans.map(ZonesReport.Line.init)
        return StatusReport(
            verdict: health.verdict, obstacles: health.obstacles,
            pauseSeen: record.pauseSeen(at: now),
            setup: reading.facts.setup.isEmpty ? nil : reading.facts.setup,
            setupCommand: reading.facts.setup.isEmpty ? nil : mirror.setupCommand,
            mirror: configuration.mirror,
            storage: "\(mirror.process.storage)",
            place: StatusReport.Place(mirror.process, configuration),
            human: record.humanHandle,
            bot: record.botHandle, accounts: reading.accounts.states(record),
            consent: record.consent,
            standing: record.standing.map(StatusReport.StandingState.init),
            spending: reading.spending == nil
                ? nil : StatusReport.SpendingState(try await mirror.spending.spending(at: now)),
            training: try await training(reading.accounts, now: now),
            following: try await following(reading.accounts, outbox, now: now),
            timeZone: mirror.timeZoneName(record), zones: zones.isEmpty ? nil : zones,
            archive: .init(
                posts: numbers.posts, limit: configuration.archiveLimit,
                oldest: numbers.span?.oldest,
                newest: numbers.span?.newest,
                texts: countsAll
                    ? try await texts(
                        zone, isFollowed: reading.accounts.accounts[.human] != nil, now: now) : nil,
                pictures: try await pictures()),
            classifier: classifier, suggestions: reading.facts.suggestions,
            undo: StatusReport.UndoState(numbers.undo), today: today, slots: plan?.slots ?? [],
            nextSlot: next, recent: try await recent(outbox), limits: limits,
            isRunning: reading.facts.worker == .running,
            worker: StatusReport.WorkerState(reading.facts.worker, reading.lease),
            examination: numbers.examination,
            feeds: reading.facts.feeds, idle: health.obstacles.map(\.sentence))
    }

    /// Reads only the archive's part of ``report(now:)``.
    ///
    /// - Parameter zone: The human's time zone; nil if unknown.
    /// - Throws: The store's error.
    package func archive(zone: TimeZone?, now: Date) async throws -> StatusReport.ArchiveState {
        let span = try await mirror.archive.span()
        return StatusReport.ArchiveState(
            posts: try await mirror.archive.count(), limit: mirror.configuration.archiveLimit,
            oldest: span?.oldest,
            newest: span?.newest,
            texts: try await texts(
                zone, isFollowed: try await mirror.watchesHuman(), now: now),
            pictures: try await pictures())
    }

    private func texts(
        _ zone: TimeZone?, isFollowed: Bool, now: Date
    ) async throws -> StatusReport.TextState {
        let unsent = try await mirror.unsentTexts()
        var texts = StatusReport.TextState(unsent, mirror.configuration.fitness)
        texts.forecast = try await mirror.textForecast(
            plain: unsent.plain, others: unsent.fit - unsent.plain, isFollowed: isFollowed,
            zone: zone, now: now)
        return texts
    }

    /// Reads only the classifier's part of ``report(now:)``; nil if the dictionary or the counts
    /// are unreachable.
    ///
    /// - Throws: The store's error.
    package func classifier() async throws -> StatusReport.ClassifierState? {
        await classifierAndLack().0
    }

    /// Returns the progress of trainings, if the human's network charges for reading.
    private func training(_ accounts: FoundAccounts, now: Date) async throws -> StatusReport
        .TrainingState?
    {
        guard let prices = accounts.accounts[.human]?.network.descriptor.prices else { return nil }
        let trainingLeft = try await mirror.feeds.trainingLeft()
        let plan = try await mirror.spending.plan(at: now)
        return StatusReport.TrainingState(trainingLeft, plan, now: now) {
            [settings = mirror.configuration] items, feed in
            prices.priceOfReading(items, feed, .human, settings)
        }
    }

    /// Returns how far the budget for checks reaches, if the human's network charges for reading.
    private func following(
        _ accounts: FoundAccounts, _ outbox: OutboxStore, now: Date
    ) async throws -> StatusReport.FollowingState? {
        guard let network = accounts.accounts[.human]?.network,
            let prices = network.descriptor.prices
        else {
            return nil
        }
        let settings = mirror.configuration
        // The worker estimates the length of the human's list in the same way.
        let listed = min(settings.archiveLimit, SchedulerTrainer.backfillLimit)
        return StatusReport.FollowingState(
            try await outbox.following(on: network, now: now),
            try await mirror.spending.plan(at: now),
            each: prices.priceOfOwnPost(settings),
            list: (listed, prices.priceOfReading(listed, .ownPosts, .human, settings)))
    }

    private func pictures() async throws -> StatusReport.PictureState? {
        guard mirror.configuration.pictures != .leftOut else { return nil }
        let (posts, files) = try await mirror.archive.pictureCounts()
        return StatusReport.PictureState(posts: posts, files: files)
    }

    /// The last actions that ended or are in flight, with the names of all people in one query.
    private func recent(_ outbox: OutboxStore) async throws -> [ReportedAction] {
        let actions = try await outbox.recent(recentShown, onlyEnded: true)
        let persons = try await mirror.persons(of: actions)
        let network = mirror.configuration.botNetwork
        return actions.map { ReportedAction($0, persons[$0.id], on: network) }
    }

    /// Returns today's plan as displayed, and its posts if they are a preview.
    private func plan(
        _ today: LocalDay?, _ zone: TimeZone?, now: Date
    ) async throws -> (shown: (isStored: Bool, slots: [PlanReport.Slot]), previewed: [Action]?)? {
        guard let today, let zone else { return nil }
        let reporter = PlanReporter(mirror: mirror, zone: zone)
        guard let (stored, actions) = try await reporter.actions(of: today, now: now) else {
            return nil
        }
        let slots = reporter.slots(of: actions, isStored: stored != nil)
        return (
            shown: (isStored: stored != nil, slots: slots), previewed: stored == nil ? actions : nil
        )
    }

    /// Returns the classifier's state for the report, and its lack as a fact of the mirror's
    /// health.
    private func classifierAndLack() async -> (StatusReport.ClassifierState?, ClassifierLack?) {
        do {
            let status = try await mirror.favorites().status(countsFeatures: countsAll)
            var problem: String?
            if case .unavailable(let error) = status.counts { problem = error.description }
            let state = StatusReport.ClassifierState(
                favorites: Int(status.favorites), normals: Int(status.normals),
                seen: Int(status.seen),
                wordless: status.wordless.map(Int.init), counts: status.features,
                waiting: problem ?? status.waiting.map { localized("\($0) learned") },
                weights: status.weights.map(ReportedWeights.init))
            return (state, problem.map(ClassifierLack.counts))
        } catch let error as MeCabError {
            return (nil, .dictionary("\(error)"))
        } catch {
            return (nil, .counts("\(error)"))
        }
    }
}

/// Counts that only the report of one mirror shows; its health does not need them.
///
/// One statement reads them.
struct ReportNumbers {
    private(set) var posts = 0
    /// The times at which the oldest and the newest post of the archive were made; nil without any.
    private(set) var span: (oldest: Date, newest: Date)?
    /// The number of stored periods in other time zones.
    private(set) var zones = 0
    private(set) var undo = UndoTally()
    private(set) var examination: LastExamination?

    /// - Throws: The store's error.
    init(of mirror: HumanMirror, now: Date) async throws {
        let name: SQL = "\(mirror.name)"
        let rows = try await mirror.storage.query(
            """
            SELECT (SELECT COUNT(*) FROM posts WHERE mirror = \(name)) AS posts,
                (SELECT MIN(created_ms) FROM posts WHERE mirror = \(name)) AS oldest_ms,
                (SELECT MAX(created_ms) FROM posts WHERE mirror = \(name)) AS newest_ms,
                (SELECT COUNT(*) FROM zones WHERE mirror = \(name)) AS zones,
                (SELECT COUNT(*) FROM findings WHERE mirror = \(name) AND verdict = 'fail') AS failed,
                (SELECT COUNT(*) FROM findings WHERE mirror = \(name) AND verdict = 'warn') AS warned,
                (SELECT MAX(noted_ms) FROM findings WHERE mirror = \(name)) AS examined_ms,
                \(OutboxStore.undoNumbers(of: name))
            """)
        guard let row = rows.first else { return }
        posts = try row.int("posts")
        zones = try row.int("zones")
        if let oldest = try row.optionalDate("oldest_ms"),
            let newest = try row.optionalDate("newest_ms")
        {
            span = (oldest, newest)
        }
        undo = try UndoTally(row: row)
        if let at = try row.optionalDate("examined_ms") {
            examination = LastExamination(
                at: at, failed: try row.int("failed"), warned: try row.int("warned"))
        }
    }
}

extension FoundAccounts {
    /// Both accounts as shown in a report.
    func states(_ record: MirrorRecord) -> [StatusReport.AccountState] {
        AccountRole.allCases.map { role in
            StatusReport.AccountState(
                role: role, network: accounts[role]?.network ?? configuration.network(of: role),
                handle: role == .human ? record.humanHandle : record.botHandle,
                credentials: accounts[role]?.origin)
        }
    }
}
