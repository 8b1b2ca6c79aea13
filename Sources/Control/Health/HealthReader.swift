import Archive
import Favorites
package import Foundation
package import Mirroring
import Networks
import Outbox
import Posts
import Schedule
import Settings
import Storage

/// The facts of a mirror's health, with the rows that they were read from.
struct HealthReading {
    var facts: HealthFacts
    let record: MirrorRecord
    let accounts: FoundAccounts
    /// Nil unless one of the accounts is on X.
    let spending: Spending?
    /// Nil before anybody held the mirror.
    let lease: LeaseRecord?
    let numbers: HealthNumbers
}

/// What one statement counts.
struct HealthNumbers {
    var posts = 0
    /// The networks of the archived posts: the first and the last by name, which are all if there
    /// are two at most.
    var networks: Set<String> = []
    /// When the oldest and the newest post of the archive were made; nil without any.
    var span: (oldest: Date, newest: Date)?
    var suggestions = 0
    var favoritesToday = 0
    /// Whether a favorite was ever decided on, as far as they are kept.
    var hasFavorites = false
    /// When the next stored post is due; nil if none is stored.
    var next: Date?
    /// Actions of the last day that may or may not have arrived.
    var unconfirmed = 0
    /// Spans of other zones that are noted.
    var zones = 0
    /// Probes and changes of the profile that are not over.
    var effects = 0
    var undo = UndoTally()
    var examination: LastExamination?
}

extension HealthNumbers {
    /// - Throws: `StorageError` if a column is missing.
    fileprivate init(row: SQLRow) throws {
        posts = try row.int("posts")
        let names = try ["first_network", "last_network"].compactMap { try row.optionalText($0) }
        networks = Set(names)
        if let oldest = try row.optionalDate("oldest_ms"), let newest = try row.optionalDate("newest_ms") {
            span = (oldest, newest)
        }
        (suggestions, favoritesToday) = (try row.int("suggestions"), try row.int("favorites_today"))
        hasFavorites = try row.int("has_favorites") == 1
        next = try row.optionalDate("next_ms")
        (unconfirmed, zones) = (try row.int("unconfirmed"), try row.int("zones"))
        effects = try row.int("effects")
        undo = try UndoTally(row: row)
        if let at = try row.optionalDate("examined_ms") {
            examination = LastExamination(at: at, failed: try row.int("failed"), warned: try row.int("warned"))
        }
    }
}

/// The stored rows from which the facts of a mirror's health follow.
struct HealthRows {
    var record: MirrorRecord
    var accounts: FoundAccounts
    /// Nil before any worker held the mirror.
    var lease: LeaseRecord?
    var refusals: [AccountRole: StoredFault] = [:]
    var waits: [AccountRole: [AccountWait]] = [:]
    var feeds: [FeedHealth] = []
    /// What is left of the month's money; nil unless one of the accounts is on X.
    var money: MoneyFact?
    /// Whether the archive has no text that may be posted by itself; false if that was not read.
    var isWithoutText = false
    var numbers = HealthNumbers()
}

/// Reads the facts of a mirror's health: some statements, and no change.
struct HealthReader {
    private let mirror: HumanMirror
    private let silence: TimeInterval?

    /// - Parameters:
    ///   - mirror: The mirror, open.
    ///   - silence: From how many seconds on a worker's last beat is too old; nil for the usual limit.
    init(_ mirror: HumanMirror, silence: TimeInterval? = nil) { (self.mirror, self.silence) = (mirror, silence) }

    private var storage: any StorageEngine { mirror.storage }
    private var configuration: MirrorSettings { mirror.configuration }
    private var outbox: OutboxStore { mirror.outbox(lease: nil) }

    /// Reads what the database, the settings and this process know; asks no network and no Redis.
    ///
    /// - Parameters:
    ///   - now: The present.
    ///   - pulse: The worker of this process, which holds the mirror; nil elsewhere.
    /// - Returns: The facts, without what only a look at the classifier, the plan or the last actions tells.
    /// - Throws: The store's error.
    func reading(now: Date, pulse: WorkerPulse? = nil) async throws -> HealthReading {
        let record = try await mirror.table.record()
        let accounts = try await FoundAccounts(in: mirror)
        let lease = try await LeaseTable(storage: storage, mirror: mirror.name).record()
        let faults = try await mirror.refusals.rows()
        let feeds = try await mirror.feeds.health(now: now)
        let spending =
            accounts.networks.contains { $0.descriptor.prices != nil }
            ? try await mirror.spending.spending(at: now) : nil
        let hasText = try await mirror.archive.hasText(mirror.textFilter())
        let zone = mirror.knownTimeZone(record)
        let numbers = try await numbers(now: now, zone: zone)
        let rows = HealthRows(
            record: record, accounts: accounts, lease: lease, refusals: faults.refusals, waits: faults.waits,
            feeds: feeds, money: spending.map { money($0, accounts) },
            isWithoutText: !hasText, numbers: numbers)
        var facts = self.facts(of: rows, zone: zone, now: now)
        if pulse != nil { facts.worker = .running }
        note(faults.faults, pulse, in: &facts)
        facts.store = try await storeFault(pulse?.faults ?? live, now: now)
        if numbers.effects > 0 { facts.effects = try await mirror.effects.all() }
        if record.activated == nil || record.past == nil {
            facts.setup = try await mirror.setupSteps(record, accounts, posts: numbers.posts)
        }
        return HealthReading(
            facts: facts, record: record, accounts: accounts, spending: spending, lease: lease,
            numbers: numbers)
    }

    /// Returns the facts that follow from rows and settings alone: without the faults of the work, the state of the
    /// database and the checklist of the setup.
    func facts(of rows: HealthRows, zone: TimeZone?, now: Date) -> HealthFacts {
        let (record, accounts, numbers) = (rows.record, rows.accounts, rows.numbers)
        var facts = HealthFacts(now: now)
        (facts.zone, facts.proposedZone) = (zone, record.archiveTimeZone)
        facts.zoneToCome = mirror.zoneToCome(record)
        facts.adoptedZone = mirror.adoptedZone(record)
        (facts.move, facts.pause) = (record.move, record.pause.flatMap { $0.holds(at: now) ? $0 : nil })
        (facts.accounts, facts.areAccountsSame) = (accounts.facts, accounts.areSame)
        facts.refusals = rows.refusals
        facts.waits = rows.waits
        facts.feeds = rows.feeds
        facts.worker = WorkerFact(rows.lease, limit: silence, rate: mirror.clock.rate, now: now)
        facts.money = rows.money
        facts.mayPublish = accounts.accounts[.bot]?.network.descriptor.policy?.isAcknowledged(configuration) ?? true
        facts.wishes = wishes(accounts, now: now, zone: zone)
        facts.knowsPast = record.past != nil
        facts.isWithoutText = rows.isWithoutText
        facts.unverified = unverified(numbers.networks, accounts)
        (facts.posts, facts.favoritesToday) = (numbers.posts, numbers.favoritesToday)
        (facts.suggestions, facts.proposedUndos) = (numbers.suggestions, numbers.undo.proposed)
        return facts
    }

    /// The posts that nobody can be asked about: those of networks on which the human has no
    /// account here.
    private func unverified(_ networks: Set<String>, _ accounts: FoundAccounts) -> UnverifiedPosts? {
        let human = accounts.accounts[.human]?.network.rawValue
        let others = networks.filter { $0 != human }
        guard !others.isEmpty, configuration.archiveTrust != true else { return nil }
        return UnverifiedPosts(
            isAll: others == networks, isDecided: configuration.archiveTrust == false)
    }

    /// The faults of the mirror's work in this process.
    var live: [WorkFault] { mirror.installation.faults.of(mirror.name) }

    /// Notes the faults of the work: those of this process, which may know better, and stored ones.
    func note(_ stored: [WorkFault], _ pulse: WorkerPulse? = nil, in facts: inout HealthFacts) {
        let live = pulse?.faults ?? self.live
        let ours = Set(live.map(\.part))
        facts.faults = pulse == nil ? live + stored.filter { !ours.contains($0.part) } : live
        facts.knowsFaults = pulse?.knowsEarlierFaults ?? true
        facts.clockLead = pulse?.clockLead
    }

    // MARK: Numbers

    private func numbers(now: Date, zone: TimeZone?) async throws -> HealthNumbers {
        let today = Self.midnight(of: now, in: zone).milliseconds
        let rows = try await storage.query(
            "SELECT \(Self.numbers(of: "\(mirror.name)", today: "\(today)", now: now))")
        return try rows.first.map(HealthNumbers.init(row:)) ?? HealthNumbers()
    }

    /// Reads the numbers of some mirrors, by name, in one statement.
    ///
    /// - Parameter zones: The zone of each mirror, some hundred at most; UTC where none is known.
    /// - Throws: The store's error.
    static func numbers(
        of zones: [(mirror: String, zone: TimeZone?)], in storage: any StorageEngine, now: Date
    ) async throws -> [String: HealthNumbers] {
        let asked = zones.map { mirror, zone -> SQL in
            "(CAST(\(mirror) AS TEXT), CAST(\(midnight(of: now, in: zone).milliseconds) AS BIGINT))"
        }
        let rows = try await storage.query(
            """
            SELECT asked.column1 AS name, \(numbers(of: "asked.column1", today: "asked.column2", now: now))
            FROM (VALUES \(SQL(joined: asked))) AS asked
            """)
        return try rows.reduce(into: [:]) { $0[try $1.text("name")] = try HealthNumbers(row: $1) }
    }

    private static func midnight(of now: Date, in zone: TimeZone?) -> Date {
        let zone = zone ?? .gmt
        return LocalDayMinutes(LocalTime(now, in: zone).day, in: zone).start ?? now
    }

    /// The columns of ``HealthNumbers``.
    ///
    /// - Parameters:
    ///   - name: The mirror's name as a value, or a column with names.
    ///   - today: When the day of `now` began, in milliseconds, as a value or a column.
    private static func numbers(of name: SQL, today: SQL, now: Date) -> SQL {
        """
        (SELECT COUNT(*) FROM posts WHERE mirror = \(name)) AS posts,
            (SELECT MIN(network) FROM posts WHERE mirror = \(name)) AS first_network,
            (SELECT MAX(network) FROM posts WHERE mirror = \(name)) AS last_network,
            (SELECT MIN(created_ms) FROM posts WHERE mirror = \(name)) AS oldest_ms,
            (SELECT MAX(created_ms) FROM posts WHERE mirror = \(name)) AS newest_ms,
            (SELECT COUNT(*) FROM (
                SELECT 1 FROM actions WHERE mirror = \(name) AND state = 'suggested' LIMIT 1000
            ) AS waiting) AS suggestions,
            (SELECT COUNT(*) FROM actions WHERE mirror = \(name) AND kind = 'favorite'
                AND due_ms >= \(today) AND state IN ('planned', 'claimed', 'sending', 'done'))
                AS favorites_today,
            (SELECT CASE WHEN EXISTS (SELECT 1 FROM actions WHERE mirror = \(name) AND kind = 'favorite')
                THEN 1 ELSE 0 END) AS has_favorites,
            (SELECT MIN(due_ms) FROM actions WHERE mirror = \(name) AND \(OutboxStore.comes(after: now))) AS next_ms,
            (SELECT COUNT(*) FROM actions WHERE mirror = \(name) AND updated_ms >= \((now - 86_400).milliseconds)
                AND state = 'failed' AND reason = \(Action.Reason.unconfirmed)) AS unconfirmed,
            (SELECT COUNT(*) FROM zones WHERE mirror = \(name)) AS zones,
            \(EffectTable.number(of: name)) AS effects,
            (SELECT COUNT(*) FROM findings WHERE mirror = \(name) AND verdict = 'fail') AS failed,
            (SELECT COUNT(*) FROM findings WHERE mirror = \(name) AND verdict = 'warn') AS warned,
            (SELECT MAX(noted_ms) FROM findings WHERE mirror = \(name)) AS examined_ms,
            \(OutboxStore.undoNumbers(of: name))
        """
    }

    // MARK: The database

    /// Seconds after which a refused write no longer tells how the database is.
    private static let memory: TimeInterval = 1_200

    /// Why the database takes no changes, as far as the worker's own writes and a look without a change tell.
    func storeFault(_ live: [WorkFault], now: Date) async throws -> StoreFault? {
        if let problem = mirror.process.storage.lackOfRoom { return StoreFault(.full, problem) }
        if let refused = refusedWrite(live, now: now) { return refused }
        return try await refusalOfChanges()
    }

    /// Returns the fault of the database that a refused write of the worker shows; nil if none was refused lately.
    func refusedWrite(_ live: [WorkFault], now: Date) -> StoreFault? {
        let refused = live.first { fault in
            guard let kind = fault.storeKind, (0..<Self.memory).contains(now.timeIntervalSince(fault.noted)) else {
                return false
            }
            // A database that is away for a moment is asked again.
            return kind != .away || fault.isLasting
        }
        guard let refused, let kind = refused.storeKind else { return nil }
        return StoreFault(kind, refused.error, since: refused.since)
    }

    /// Whether the database takes no changes, found without trying one.
    private func refusalOfChanges() async throws -> StoreFault? {
        switch mirror.process.storage {
        case .sqlite(let path):
            guard FileManager.default.fileExists(atPath: path), access(path, W_OK) != 0 else { return nil }
            return StoreFault(.readOnly, "could not change the database at \(path): it is read-only")
        case .postgres:
            guard storage.kind == .postgres else { return nil }
            let rows = try await storage.query(
                """
                SELECT CASE WHEN pg_is_in_recovery() OR EXISTS (
                        SELECT 1 FROM pg_db_role_setting AS kept JOIN pg_database AS one ON one.oid = kept.setdatabase
                        WHERE one.datname = current_database() AND 'default_transaction_read_only=on' = ANY (kept.setconfig)
                    ) OR EXISTS (
                        SELECT 1 FROM pg_settings WHERE name = 'default_transaction_read_only' AND setting = 'on'
                            AND source NOT IN ('database', 'database user')
                    ) THEN 1 ELSE 0 END AS refuses
                """)
            guard try rows.first?.int("refuses") == 1 else { return nil }
            return StoreFault(
                .readOnly,
                "could not change the database: it is read-only, as a standby or by default_transaction_read_only")
        }
    }

    // MARK: Settings

    func money(_ spending: Spending, _ accounts: FoundAccounts) -> MoneyFact {
        func lacks(_ role: AccountRole, _ feed: Feed) -> Bool {
            guard let prices = accounts.accounts[role]?.network.descriptor.prices else { return false }
            return spending.left < prices.look(feed, role, configuration)
        }
        let post = accounts.networks.compactMap { $0.descriptor.prices?.post }.min() ?? .zero
        return MoneyFact(
            left: "\(spending.left)", budget: "\(spending.budget)", renews: spending.renews,
            isSpent: spending.left < post, lacksMentions: lacks(.bot, .mentions),
            lacksOwnPosts: lacks(.human, .ownPosts))
    }

    private func wishes(_ accounts: FoundAccounts, now: Date, zone: TimeZone?) -> Wishes {
        var wishes = Wishes()
        wishes.wantsFavorites = configuration.favoriteMode != .off
        wishes.favoritesPerDay = configuration.favoritesPerDay
        wishes.onlyAnswers = configuration.schedule.maximumPerDay == 0
        wishes.noAnswers =
            configuration.repliesPerPerson == 0
            ? Setting.repliesPerPerson.name : configuration.repliesPerThread == 0 ? Setting.repliesPerThread.name : nil
        let quiet = configuration.schedule.quiet
        wishes.isAlwaysQuiet = quiet.count >= MinuteOfDay.count
        if let zone, !wishes.isAlwaysQuiet {
            let minute = LocalTime(now, in: zone).minute
            if quiet.contains(minute) {
                let end = (1..<MinuteOfDay.count).lazy.map { MinuteOfDay(hour: 0, minute: minute.value + $0) }
                    .first { !quiet.contains($0) }
                wishes.quietUntil = end?.description
            }
        }
        wishes.uselessHold = configuration.uselessHold(accounts)
        wishes.threshold = configuration.favorites.threshold.formatted(.number.grouping(.never))
        return wishes
    }
}

extension WorkerFact {
    /// Reads it off the mirror's lease.
    ///
    /// - Parameters:
    ///   - limit: From how many seconds on a beat is too old; nil for the usual limit.
    ///   - rate: `WallClock.rate` of the clock that shows `now`.
    init(_ lease: LeaseRecord?, limit: TimeInterval? = nil, rate: Double = 1, now: Date) {
        self.init(
            silence: lease?.silence(at: now), limit: limit ?? HumanMirror.usualSilence * rate,
            lastPass: lease?.lastPass,
            interval: lease?.passInterval, now: now, isLimitGiven: limit != nil)
    }
}

extension FoundAccounts {
    /// What the accounts are like, for the mirror's health.
    fileprivate var facts: [AccountRole: AccountFact] {
        Dictionary(
            uniqueKeysWithValues: AccountRole.allCases.map { role in
                var fact = AccountFact(network: accounts[role]?.network ?? configuration.network(of: role))
                fact.problem = problem(role)
                fact.isUnusable = errors[role] != nil
                let gap = homeGap(role)
                (fact.homeProblem, fact.isHomeLeftOut) = (gap?.words, gap?.isChosen ?? false)
                return (role, fact)
            })
    }

    /// Whether the credentials of both roles certainly open one account.
    fileprivate var areSame: Bool {
        guard let human = accounts[.human], let bot = accounts[.bot] else { return false }
        return bot.credentials.openSameAccount(as: human.credentials)
    }
}

extension MirrorSettings {
    /// That posts are meant to wait for the human's silence and nobody can see it; nil if that is not so.
    func uselessHold(_ accounts: FoundAccounts) -> String? {
        guard holdWhileActive != nil, accounts.accounts[.human] == nil else { return nil }
        return "HOLD_WHILE_ACTIVE has no effect: there is no account of the human to read"
    }
}

extension HumanMirror {
    /// Seconds after which a worker that has not beaten counts as gone.
    package static let usualSilence: TimeInterval = 60

    /// How well the mirror is now, by what the database, the settings and this process know.
    ///
    /// Asks no network and changes nothing, so that it may be called every minute.
    ///
    /// - Parameters:
    ///   - now: The present.
    ///   - silence: From how many seconds on a worker's last beat is too old; nil for the usual limit.
    /// - Returns: Obstacles and verdict.
    /// - Throws: The store's error.
    package func health(now: Date, silence: TimeInterval? = nil) async throws -> Health {
        let reading = try await HealthReader(self, silence: silence).reading(now: now)
        let health = Health(reading.facts)
        // No other verdict names the next post, for which plans may have to be drawn.
        guard health.verdict.state == .healthy else { return health }
        return Health(reading.facts, next: try await nextPost(reading, now: now), now: now)
    }

    /// Whether the mirror's work is done now, by a worker or by one pass after the other.
    ///
    /// - Throws: The store's error.
    package func isAtWork(now: Date) async throws -> Bool {
        WorkerFact(
            try await LeaseTable(storage: storage, mirror: name).record(), rate: clock.rate, now: now
        ).isAtWork
    }
}
