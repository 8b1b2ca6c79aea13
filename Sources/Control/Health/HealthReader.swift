import Archive
import Favorites
package import Foundation
import Localization
package import Mirroring
import Networks
import Outbox
import Posts
import Schedule
import Settings
import Storage

/// The facts of a mirror's health, with the rows that they were read from.
struct HealthReading: Sendable {
    /// The mirror with its effective settings, or with those of the process if a stored setting
    /// cannot be used.
    let mirror: HumanMirror
    var facts: HealthFacts
    let record: MirrorRecord
    let accounts: FoundAccounts
    /// Nil unless one of the accounts is on X.
    let spending: Spending?
    /// The cost of the mirror's calls to X in all months.
    let totalSpent: Money
    /// Nil if no worker has ever held the mirror.
    let lease: LeaseRecord?
    /// When the next stored post is due; nil if none is stored.
    let nextStoredPost: Date?
}

/// Reads the facts of the health of mirrors, with a few SQL statements for each ``mirrorsAtOnce``
/// mirrors.
///
/// It changes nothing.
///
/// A single mirror is read in the same way as a list, so that all reports of a mirror agree. If
/// rows or settings of a mirror cannot be used, that is an obstacle of this mirror; the other
/// mirrors are read all the same.
struct HealthReader {
    /// The most mirrors that share a statement.
    static let mirrorsAtOnce = 500

    private let installation: Installation
    private let silence: TimeInterval?
    private static let day: TimeInterval = 86_400
    /// The most unconfirmed actions of the last day that are named.
    private static let mostUnconfirmed = 1_000

    /// - Parameters:
    ///   - installation: The installation with the mirrors.
    ///   - silence: The age in seconds from which on a worker's last heartbeat is too old; nil for
    ///     the usual limit.
    init(_ installation: Installation, silence: TimeInterval? = nil) {
        self.installation = installation
        self.silence = silence
    }

    private var storage: any StorageEngine { installation.storage }

    /// Reads the facts of mirrors from the database, the settings and this process; contacts no
    /// network and no Redis.
    ///
    /// - Parameters:
    ///   - mirrors: Their names and records.
    ///   - pulses: The live state of the workers of this process, by mirror.
    ///   - now: The present.
    /// - Returns: The facts in the same order. Facts that need the classifier, the plan, or stored
    ///   actions of another version are missing.
    /// - Throws: The store's error.
    func readings(
        of mirrors: [(name: String, record: MirrorRecord)], pulses: [String: WorkerPulse] = [:],
        now: Date
    ) async throws -> [HealthReading] {
        var readings: [HealthReading] = []
        for part in mirrors.portions(of: Self.mirrorsAtOnce) {
            readings += try await self.readings(
                ofOpened: try await open(part), pulses: pulses, now: now)
        }
        return readings
    }

    /// Reads the same facts of one mirror, which is open with its settings.
    func reading(of mirror: HumanMirror, now: Date) async throws -> HealthReading {
        let opened = Opened(
            mirror: mirror, record: try await mirror.table.record(),
            accounts: try await FoundAccounts(in: mirror),
            problem: nil)
        return try await readings(ofOpened: [opened], pulses: [:], now: now)[0]
    }

    private func readings(ofOpened opened: [Opened], pulses: [String: WorkerPulse], now: Date)
        async throws -> [HealthReading]
    {
        let names = opened.map(\.name)
        let leases = try await LeaseTable.records(of: names, in: storage)
        let faults = try await FaultTable.all(of: names, in: storage)
        let feeds = try await FeedTable.health(of: names, in: storage, now: now)
        let paying = opened.filter(\.hasPrices).map(\.name)
        let totals =
            try await paying.isEmpty ? [:] : SpendingTable.totals(of: paying, in: storage, now: now)
        let withText = try await mirrorsWithText(opened)
        let numbers = try await numbers(of: opened, now: now)
        let learned = try await ExampleTable.categories(of: names, in: storage)
        let setups = try await setups(opened)
        let store = try await storeFault()
        var readings: [HealthReading] = []
        for mirror in opened {
            let name = mirror.name
            let stored = faults[mirror.name] ?? StoredFaults()
            let numbers = numbers[name] ?? HealthNumbers()
            let budget = mirror.mirror.configuration.monthlyBudget
            let spending =
                mirror.hasPrices
                ? Spending(at: now, budget: budget, total: totals[name]?.month ?? .zero) : nil
            var facts = self.facts(of: mirror, numbers, spending, now: now)
            facts.refusals = stored.refusals
            facts.waits = stored.waits
            facts.feeds = feeds[name] ?? []
            facts.isWithoutText = !withText.contains(name)
            let examples = learned[name] ?? CategoryCounts()
            facts.learned = LearnedFact(
                favorites: Int(examples.favorites), normals: Int(examples.normals),
                seen: Int(examples.seen),
                needed: mirror.mirror.configuration.favorites.minimumPerCategory,
                hasDecided: numbers.hasFavorites)
            facts.worker = WorkerFact(
                leases[name], limit: silence, rate: mirror.mirror.clock.rate, now: now)
            setFaults(of: name, stored: stored.faults, pulse: pulses[name], in: &facts)
            let liveFaults = pulses[name]?.faults ?? installation.faults.of(name)
            facts.store =
                store?.kind == .full ? store : refusedWrite(in: liveFaults, now: now) ?? store
            if numbers.effects > 0 { facts.effects = try await mirror.mirror.effects.all() }
            if numbers.unconfirmed > 0 {
                facts.unconfirmed = try await mirror.mirror.outbox(lease: nil).unconfirmed(
                    since: now - Self.day, limit: Self.mostUnconfirmed)
            }
            if mirror.isUnset {
                var rows = setups[name] ?? SetupRows()
                rows.hasPosts = numbers.hasPosts
                facts.setup = mirror.mirror.setupSteps(mirror.record, mirror.accounts, rows)
            }
            readings.append(
                HealthReading(
                    mirror: mirror.mirror, facts: facts, record: mirror.record,
                    accounts: mirror.accounts,
                    spending: spending, totalSpent: totals[name]?.all ?? .zero, lease: leases[name],
                    nextStoredPost: numbers.nextPost))
        }
        return readings
    }

    /// The facts that follow from settings, accounts, record and numbers.
    private func facts(
        of opened: Opened, _ numbers: HealthNumbers, _ spending: Spending?, now: Date
    ) -> HealthFacts {
        let mirror = opened.mirror
        let record = opened.record
        let accounts = opened.accounts
        let zone = opened.zone
        var facts = HealthFacts(now: now)
        facts.flags = mirror.configuration.flagWords
        facts.settingProblem = opened.problem
        facts.zone = zone
        facts.proposedZone = record.archiveTimeZone
        facts.zoneToCome = mirror.zoneToCome(record)
        facts.adoptedZone = mirror.adoptedZone(record)
        facts.move = record.move
        facts.pause = record.pause(at: now)
        facts.retirement = record.retirement
        facts.standing = record.standing
        facts.accounts = accounts.facts
        facts.areAccountsSame = accounts.areSame
        facts.money = spending.map { money($0, accounts, mirror.configuration) }
        let policy = accounts.accounts[.bot]?.network.descriptor.policy
        facts.mayPublish = policy?.isAcknowledged(mirror.configuration) ?? true
        facts.consent = consent(record, accounts, mirror.configuration)
        facts.deliberateLimits = deliberateLimits(
            accounts, mirror.configuration, now: now, zone: zone)
        facts.knowsPast = record.past != nil
        facts.unverified = unverified(numbers.networks, accounts, mirror.configuration)
        facts.hasPosts = numbers.hasPosts
        facts.favoritesToday = numbers.favoritesToday
        facts.suggestions = numbers.suggestions
        facts.proposedUndos = numbers.proposedUndos
        facts.changedRules = numbers.changedRules
        return facts
    }

    /// Returns the recorded consent; before the first start, also a consent that the start will
    /// record.
    private func consent(
        _ record: MirrorRecord, _ accounts: FoundAccounts, _ configuration: MirrorSettings
    ) -> ConsentFact {
        if let stopped = record.stopped { return .stopped(stopped) }
        if let consent = record.consent { return consent.ground == .earlier ? .unstated : .given }
        let isToCome = record.activated == nil && accounts.willAgree(configuration)
        return isToCome ? .given : .missing
    }

    /// The posts that cannot be checked: those of networks on which the human has no account here.
    private func unverified(
        _ networks: Set<String>, _ accounts: FoundAccounts, _ configuration: MirrorSettings
    ) -> UnverifiedPosts? {
        let human = accounts.accounts[.human]?.network.rawValue
        let otherNetworks = networks.filter { $0 != human }
        guard !otherNetworks.isEmpty, configuration.archiveTrust != true else { return nil }
        return UnverifiedPosts(
            isAll: otherNetworks == networks, isDecided: configuration.archiveTrust == false)
    }

    /// Sets the faults of the work.
    ///
    /// A fault that this process noted replaces the stored fault of the same part, because it may
    /// be newer. With a pulse, no stored fault is used.
    private func setFaults(
        of mirror: String, stored: [WorkFault], pulse: WorkerPulse?, in facts: inout HealthFacts
    ) {
        let liveFaults = pulse?.faults ?? installation.faults.of(mirror)
        let liveParts = Set(liveFaults.map(\.part))
        let otherFaults = pulse == nil ? stored.filter { !liveParts.contains($0.part) } : []
        facts.faults = liveFaults + otherFaults
        facts.knowsFaults = pulse?.knowsEarlierFaults ?? true
        facts.clockLead = pulse?.clockLead
        if pulse?.holdsMirror == true { facts.worker = .running }
    }

    // MARK: Opening

    /// A mirror with its effective settings, its record and its accounts.
    private struct Opened {
        let mirror: HumanMirror
        let record: MirrorRecord
        let accounts: FoundAccounts
        /// Set if a stored setting of the mirror cannot be used.
        let problem: String?

        var name: String { mirror.name }
        var zone: TimeZone? { mirror.knownTimeZone(record) }
        var hasPrices: Bool { accounts.networks.contains { $0.descriptor.prices != nil } }
        /// Whether the mirror has not worked yet.
        var isUnset: Bool { record.isUnset }
    }

    private func open(_ mirrors: [(name: String, record: MirrorRecord)]) async throws -> [Opened] {
        let names = mirrors.map(\.name)
        let settings = try await settings(of: names)
        let logins = try await logins(of: names)
        // With an invalid key file every login fails, as it does when a single mirror is opened.
        let keyed = names.first.flatMap { try? installation.vault(of: $0).keyed() }
        var configurations = Configurations(installation: installation)
        return try mirrors.map { name, record -> Opened in
            let vault = keyed?.of(name) ?? installation.vault(of: name)
            var opened: [AccountRole: Result<StoredLogin, any Error>] = [:]
            for (role, sealed) in logins[name] ?? [:] {
                opened[role] = Result { try vault.opened(sealed, of: role) }
            }
            // A login that cannot be opened names no network, and is an obstacle of its own.
            let networks = opened.compactMapValues { try? $0.get().network }
            let (configuration, problem) = try configurations.effective(
                of: name, stored: settings[name] ?? [:], networks)
            let mirror = try HumanMirror(configuration, settledIn: installation)
            return Opened(
                mirror: mirror, record: record, accounts: FoundAccounts(in: mirror, logins: opened),
                problem: problem)
        }
    }

    private func settings(of names: [String]) async throws -> [String: [String: String]] {
        let rows = try await storage.query(
            "SELECT mirror, name, value FROM settings\(SQL.condition(on: names))")
        return try rows.reduce(into: [:]) { settings, row in
            settings[try row.text("mirror"), default: [:]][try row.text("name")] = try row.text(
                "value")
        }
    }

    private func logins(of names: [String]) async throws -> [String: [AccountRole: String]] {
        let rows = try await storage.query(
            "SELECT mirror, role, sealed FROM credentials\(SQL.condition(on: names))")
        return try rows.reduce(into: [:]) { logins, row in
            guard let role = AccountRole(rawValue: try row.text("role")) else { return }
            logins[try row.text("mirror"), default: [:]][role] = try row.text("sealed")
        }
    }

    /// The effective settings of mirrors; equal settings of several mirrors are parsed once.
    private struct Configurations {
        private struct Key: Hashable {
            let settings: [String: String]
            let networks: [AccountRole: NetworkName]
            let isNamed: Bool
        }

        private let installation: Installation
        private var effectiveSettings: [Key: (settings: MirrorSettings, problem: String?)] = [:]

        init(installation: Installation) { self.installation = installation }

        /// - Returns: The settings under the mirror's name; the settings of the process, and the
        ///   problem, if the stored settings cannot be used.
        /// - Throws: `ConfigurationError` for settings of the process that cannot be used.
        mutating func effective(
            of name: String, stored settings: [String: String],
            _ networks: [AccountRole: NetworkName]
        ) throws -> (MirrorSettings, String?) {
            let key = Key(
                settings: settings, networks: networks, isNamed: installation.isNamed(name))
            var result =
                try effectiveSettings[key] ?? parsed(key, given: installation.settings(of: name))
            effectiveSettings[key] = result
            result.settings.mirror = name
            return result
        }

        private func parsed(_ key: Key, given: MirrorSettings) -> (
            settings: MirrorSettings, problem: String?
        ) {
            do {
                var settings = try given.with(stored: key.settings)
                try settings.adopt(key.networks)
                return (settings, nil)
            } catch {
                return (given, "\(error)")
            }
        }
    }

    // MARK: Rows

    /// Returns the names of the mirrors with a text that may be posted; runs one statement for each
    /// different filter.
    private func mirrorsWithText(_ opened: [Opened]) async throws -> Set<String> {
        var names: Set<String> = []
        for (filter, group) in Dictionary(grouping: opened, by: { $0.mirror.textFilter() }) {
            names.formUnion(try await Archive.havingText(group.map(\.name), filter, in: storage))
        }
        return names
    }

    /// Reads the rows for the setup checklists, except posts, of the mirrors that have not worked
    /// yet.
    private func setups(_ opened: [Opened]) async throws -> [String: SetupRows] {
        let unset = opened.filter(\.isUnset)
        guard !unset.isEmpty else { return [:] }
        let examples = try await storage.query(
            """
            SELECT asked.column1 AS name FROM \(SQL.asked(unset.map(\.name)))
            WHERE EXISTS (SELECT 1 FROM examples WHERE mirror = asked.column1)
            """)
        var setups = try examples.reduce(into: [String: SetupRows]()) {
            $0[try $1.text("name"), default: SetupRows()].hasExamples = true
        }
        let paying = unset.filter { $0.accounts.accounts[.human]?.network.descriptor.prices != nil }
            .map(\.name)
        guard !paying.isEmpty else { return setups }
        for (name, left) in try await FeedTable.trainingLeft(of: paying, in: storage) {
            setups[name, default: SetupRows()].trainings = SetupRows.trainings(left)
        }
        return setups
    }

    /// Counts of one mirror.
    ///
    /// A single statement reads the counts of many mirrors; its cost does not grow with an archive.
    private struct HealthNumbers {
        /// The first and the last by name of the networks with archived posts.
        ///
        /// These are all such networks if there are at most two.
        var networks: Set<String> = []
        var suggestions = 0
        var proposedUndos = 0
        /// Actions of the last day that may or may not have arrived.
        var unconfirmed = 0
        var favoritesToday = 0
        /// Whether a decision about a favorite is stored; old ones are cleaned away.
        var hasFavorites = false
        var nextPost: Date?
        /// Probes and changes of the profile that are not over.
        var effects = 0
        /// See ``HealthFacts/changedRules``.
        var changedRules = 0

        var hasPosts: Bool { !networks.isEmpty }
    }

    private func numbers(of opened: [Opened], now: Date) async throws -> [String: HealthNumbers] {
        guard !opened.isEmpty else { return [:] }
        // In the statement, column1 is the name of a mirror, and column2 its last midnight.
        // Many mirrors share a zone.
        var midnights: [TimeZone: Date] = [:]
        let mirrorsAndMidnights = opened.map { mirror -> SQL in
            let zone = mirror.zone ?? .gmt
            let today =
                midnights[zone] ?? LocalDayMinutes(LocalTime(now, in: zone).day, in: zone).start
                ?? now
            midnights[zone] = today
            return "(CAST(\(mirror.name) AS TEXT), CAST(\(today.milliseconds) AS BIGINT))"
        }
        let rows = try await storage.query(
            """
            SELECT asked.column1 AS name,
                (SELECT MIN(network) FROM posts WHERE mirror = asked.column1) AS first_network,
                (SELECT MAX(network) FROM posts WHERE mirror = asked.column1) AS last_network,
                (SELECT COUNT(*) FROM (
                    SELECT 1 FROM actions WHERE mirror = asked.column1 AND state = 'suggested' LIMIT 1000
                ) AS waiting) AS suggestions,
                (SELECT COUNT(*) FROM actions WHERE mirror = asked.column1 AND \(OutboxStore.isProposed))
                    AS proposed_undos,
                (SELECT COUNT(*) FROM actions
                    WHERE mirror = asked.column1 AND \(OutboxStore.isUnconfirmed(since: now - Self.day)))
                    AS unconfirmed,
                (SELECT COUNT(*) FROM actions WHERE mirror = asked.column1 AND kind = 'favorite'
                    AND due_ms >= asked.column2 AND state IN ('planned', 'claimed', 'sending', 'done'))
                    AS favorites_today,
                (SELECT CASE WHEN EXISTS (
                    SELECT 1 FROM actions WHERE mirror = asked.column1 AND kind = 'favorite'
                ) THEN 1 ELSE 0 END) AS has_favorites,
                (SELECT MIN(due_ms) FROM actions
                    WHERE mirror = asked.column1 AND \(OutboxStore.comes(after: now))) AS next_ms,
                \(EffectTable.number(of: "asked.column1")) AS effects,
                \(ServerRuleTable.news(of: "asked.column1")) AS changed_rules
            FROM (VALUES \(SQL(joined: mirrorsAndMidnights))) AS asked
            """)
        return try rows.reduce(into: [:]) { all, row in
            var numbers = HealthNumbers()
            numbers.networks = Set(
                try ["first_network", "last_network"].compactMap { try row.optionalText($0) })
            numbers.suggestions = try row.int("suggestions")
            numbers.proposedUndos = try row.int("proposed_undos")
            numbers.unconfirmed = try row.int("unconfirmed")
            numbers.favoritesToday = try row.int("favorites_today")
            numbers.hasFavorites = try row.int("has_favorites") == 1
            numbers.nextPost = try row.optionalDate("next_ms")
            numbers.effects = try row.int("effects")
            numbers.changedRules = try row.int("changed_rules")
            all[try row.text("name")] = numbers
        }
    }

    // MARK: The database

    /// Seconds after which a refused write no longer says anything about the database.
    private static let refusalLifetime: TimeInterval = 1_200

    /// Returns why the database takes no changes, as far as that is visible without trying one.
    func storeFault() async throws -> StoreFault? {
        if let problem = installation.process.storage.lackOfRoom {
            return StoreFault(.full, problem)
        }
        return try await refusalOfChanges()
    }

    /// Returns the fault of the database that a refused write of the worker shows; nil if none was
    /// refused lately.
    private func refusedWrite(in liveFaults: [WorkFault], now: Date) -> StoreFault? {
        let refused = liveFaults.first { fault in
            guard let kind = fault.storeKind,
                (0..<Self.refusalLifetime).contains(now.timeIntervalSince(fault.noted))
            else {
                return false
            }
            // A database that is unreachable for a moment is tried again.
            return kind != .unreachable || fault.isLasting
        }
        guard let refused, let kind = refused.storeKind else { return nil }
        return StoreFault(kind, refused.error, since: refused.since)
    }

    /// Returns a fault if the database is read-only, found without trying a change.
    private func refusalOfChanges() async throws -> StoreFault? {
        switch installation.process.storage {
        case .sqlite(let path):
            guard FileManager.default.fileExists(atPath: path), access(path, W_OK) != 0 else {
                return nil
            }
            return StoreFault(
                .readOnly, localized("could not change the database at \(path): it is read-only"))
        case .postgres:
            guard storage.kind == .postgres else { return nil }
            let rows = try await storage.query(
                """
                SELECT CASE WHEN pg_is_in_recovery() OR EXISTS (
                        SELECT 1 FROM pg_db_role_setting AS role_settings
                            JOIN pg_database AS databases ON databases.oid = role_settings.setdatabase
                        WHERE databases.datname = current_database()
                            AND 'default_transaction_read_only=on' = ANY (role_settings.setconfig)
                    ) OR EXISTS (
                        SELECT 1 FROM pg_settings WHERE name = 'default_transaction_read_only' AND setting = 'on'
                            AND source NOT IN ('database', 'database user')
                    ) THEN 1 ELSE 0 END AS refuses
                """)
            guard try rows.first?.int("refuses") == 1 else { return nil }
            return StoreFault(
                .readOnly,
                localized(
                    "could not change the database: it is read-only, as a standby or by default_transaction_read_only"
                )
            )
        }
    }

    // MARK: Settings

    private func money(
        _ spending: Spending, _ accounts: FoundAccounts, _ configuration: MirrorSettings
    ) -> MoneyFact {
        func lacks(_ role: AccountRole, _ feed: Feed) -> Bool {
            guard let prices = accounts.accounts[role]?.network.descriptor.prices else {
                return false
            }
            return spending.left < prices.minimumPriceOfPoll(feed, role, configuration)
        }
        let post = accounts.networks.compactMap { $0.descriptor.prices?.post }.min() ?? .zero
        return MoneyFact(
            left: "\(spending.left)", budget: "\(spending.budget)", renews: spending.renews,
            isSpent: spending.left < post, lacksMentions: lacks(.bot, .mentions),
            lacksOwnPosts: lacks(.human, .ownPosts))
    }

    private func deliberateLimits(
        _ accounts: FoundAccounts, _ configuration: MirrorSettings, now: Date, zone: TimeZone?
    ) -> DeliberateLimits {
        var limits = DeliberateLimits()
        limits.wantsFavorites = configuration.favoriteMode != .off
        limits.favoritesPerDay = configuration.favoritesPerDay
        limits.onlyAnswers = configuration.schedule.maximumPerDay == 0
        limits.noAnswers =
            if configuration.repliesPerPerson == 0 {
                Setting.repliesPerPerson.name
            } else if configuration.repliesPerThread == 0 {
                Setting.repliesPerThread.name
            } else {
                nil
            }
        let quiet = configuration.schedule.quiet
        limits.isAlwaysQuiet = quiet.count >= MinuteOfDay.count
        if let zone, !limits.isAlwaysQuiet {
            let minute = LocalTime(now, in: zone).minute
            if quiet.contains(minute) {
                // The hour and minute wrap around, so that minutes after midnight follow those
                // before it.
                let laterMinutes = (1..<MinuteOfDay.count).lazy.map {
                    MinuteOfDay(hour: 0, minute: minute.value + $0)
                }
                let end = laterMinutes.first { !quiet.contains($0) }
                limits.quietUntil = end?.description
            }
        }
        limits.uselessHold = configuration.uselessHold(accounts)
        limits.threshold = configuration.favorites.threshold
        return limits
    }
}

extension WorkerFact {
    /// Reads the state of the worker from the mirror's lease.
    ///
    /// - Parameters:
    ///   - limit: The age in seconds from which on a heartbeat is too old; nil for the usual limit.
    ///   - rate: `WallClock.rate` of the clock that shows `now`.
    init(_ lease: LeaseRecord?, limit: TimeInterval? = nil, rate: Double = 1, now: Date) {
        self.init(
            silence: lease?.silence(at: now), limit: limit ?? HumanMirror.usualSilence * rate,
            lastPass: lease?.lastPass,
            interval: lease?.passInterval, now: now, isLimitGiven: limit != nil)
    }
}

extension FoundAccounts {
    /// The facts about the accounts, for the mirror's health.
    fileprivate var facts: [AccountRole: AccountFact] {
        Dictionary(
            uniqueKeysWithValues: AccountRole.allCases.map { role in
                var fact = AccountFact(
                    network: accounts[role]?.network ?? configuration.network(of: role))
                fact.problem = problem(role)
                fact.isUnusable = errors[role] != nil
                let unreadHome = reasonHomeIsUnread(of: role)
                fact.homeProblem = unreadHome?.words
                fact.isHomeLeftOut = unreadHome?.isSwitchedOff ?? false
                return (role, fact)
            })
    }

    /// Whether the credentials of both roles certainly open one account.
    fileprivate var areSame: Bool {
        guard let human = accounts[.human], let bot = accounts[.bot] else { return false }
        return bot.credentials.openSameAccount(as: human.credentials)
    }
}

extension FoundAccounts {
    /// Whether a start would find the human's agreement: a login of the human's account, or the
    /// operator's statement in the settings.
    func willAgree(_ configuration: MirrorSettings) -> Bool {
        configuration.statedConsent != nil || accounts[.human]?.credentials.opensAccount == true
    }
}

extension MirrorSettings {
    /// A sentence which says that `HOLD_WHILE_ACTIVE` has no effect, because there is no account of
    /// the human whose activity can be read; nil if it has an effect or is not set.
    func uselessHold(_ accounts: FoundAccounts) -> String? {
        guard holdWhileActive != nil, accounts.accounts[.human] == nil else { return nil }
        return
            localized(
                "\(Setting.holdWhileActive.name) has no effect: there is no account of the human to read"
            )
    }
}

extension HumanMirror {
    /// Seconds without a heartbeat after which a worker counts as gone.
    package static let usualSilence: TimeInterval = 60

    /// Returns the health of the mirror, according to the database, the settings and this process.
    ///
    /// Asks no network and changes nothing, so that it may be called every minute.
    ///
    /// - Parameters:
    ///   - now: The present.
    ///   - silence: The age in seconds from which on a worker's last heartbeat is too old; nil for
    ///     the usual limit.
    /// - Returns: Obstacles and verdict.
    /// - Throws: The store's error.
    package func health(now: Date, silence: TimeInterval? = nil) async throws -> Health {
        let reading = try await HealthReader(installation, silence: silence).reading(
            of: self, now: now)
        let health = Health(reading.facts)
        // Only this verdict names the next post. For other verdicts it is not looked up, because
        // plans may have to be drawn for that.
        guard health.verdict.state == .healthy else { return health }
        return Health(reading.facts, next: try await nextPost(reading, now: now), now: now)
    }

    /// Whether a permanent worker, or regular calls of `run --once`, do the mirror's work now.
    ///
    /// - Throws: The store's error.
    package func isAtWork(now: Date) async throws -> Bool {
        WorkerFact(
            try await LeaseTable(storage: storage, mirror: name).record(), rate: clock.rate,
            now: now
        ).isAtWork
    }
}
