import Archive
import Blocking
import Conduct
package import Favorites
package import Foundation
import Localization
package import Logging
package import Networks
package import Outbox
package import Posts
package import Settings
package import Storage
import Transport

/// A mirror: its name and settings, its accounts, its data and its networks.
package struct HumanMirror: Sendable {
    /// The mirror's effective settings: those of the process, the stored ones, and the networks of
    /// stored logins.
    package let configuration: MirrorSettings
    /// The settings without the stored ones.
    let given: MirrorSettings
    /// The resources shared with the other mirrors of the process.
    package let installation: Installation
    /// The mirror's data: the installation's database, or a scratch copy of it.
    package let storage: any StorageEngine
    /// The tables of the mirror.
    let stores: MirrorStores
    /// Differences from normal operation, for demos and tests: clock, fault points.
    package private(set) var rehearsal = Rehearsal.off
    /// The contact in the user agent of the mirror's requests.
    let contact: RequestContact
    /// The destination of log events.
    package let logger: Logger
    /// The resources that ``close()`` closes.
    private let holding: Holding

    /// The resources that closing a mirror closes.
    private enum Holding: Sendable {
        /// Nothing: other mirrors share the installation.
        case nothing
        /// The installation, which was opened for the mirror.
        case installation
        /// The scratch copy of the mirror's data. Changes are discarded; counts are then kept in
        /// the database, because Redis has no rollback.
        case scratch
    }

    /// The parts that opening a mirror may create if they are missing.
    package enum Making: Sendable {
        /// A mirror of a new name, as for training and logging in.
        case mirror
        /// The embedded database, for a mirror that exists.
        case database
        /// Nothing.
        case nothing
    }

    /// Opens a mirror in an installation of its own.
    ///
    /// - Parameters:
    ///   - configuration: The settings, including the place of the data.
    ///   - making: The parts that may be created if they are missing.
    ///   - clock: The clock for times and waits, unless `rehearsal` has its own.
    ///   - rehearsal: Differences from normal operation, unless the environment sets them.
    ///   - logger: The destination of log events.
    ///   - opening: Opens the database at a location.
    /// - Returns: The opened mirror; close it with ``close()`` or ``closing(after:)``.
    /// - Throws: `StorageError`; `.outOfDate` names the command that migrates. `ConfigurationError`
    ///   for a missing thing that may not be created.
    package static func open(
        _ configuration: MirrorConfiguration, making: Making = .mirror,
        clock: any WallClock = SystemClock(),
        rehearsal: Rehearsal = .off, logger: Logger = Logger(label: "mirror-bot"),
        opening: (StorageLocation) async throws -> any StorageEngine = {
            try await Storage.open($0)
        }
    ) async throws -> HumanMirror {
        if making == .nothing { try configuration.process.requireDatabase() }
        let installation = try await Installation.open(
            configuration, clock: clock, logger: logger, opening: opening)
        do {
            return try await HumanMirror(
                configuration.mirror, in: installation, mayBeNew: making == .mirror,
                rehearsal: rehearsal,
                holding: .installation)
        } catch {
            await installation.close()
            throw error
        }
    }

    /// Opens an empty mirror in memory, to report what is missing if there is no database yet.
    ///
    /// - Throws: `ConfigurationError`; `StorageError`.
    package static func openEmpty(_ configuration: MirrorConfiguration) async throws -> HumanMirror
    {
        try await open(configuration) { _ in try await Storage.openInMemory() }
    }

    /// Opens a mirror, and waits for an unreachable database server, which may be starting at the
    /// same time.
    ///
    /// - Parameters:
    ///   - configuration: The address of the data, and the settings of the process.
    ///   - logger: The destination of log events, including every attempt.
    /// - Returns: The opened mirror; close it with ``close()`` or ``closing(after:)``.
    /// - Throws: As ``open(_:making:clock:rehearsal:logger:opening:)``.
    package static func openWhenReachable(
        _ configuration: MirrorConfiguration, logger: Logger = Logger(label: "mirror-bot")
    ) async throws -> HumanMirror {
        try await Installation.whenReachable(configuration.process, logger: logger) {
            try await open(configuration, making: .database, logger: logger)
        }
    }

    /// Opens a mirror of an open installation with one statement, including the networks of its
    /// stored logins.
    ///
    /// - Throws: `ConfigurationError` for a missing mirror that may not be created; the store's
    ///   error.
    init(
        _ given: MirrorSettings, in installation: Installation, mayBeNew: Bool = true,
        rehearsal: Rehearsal = .off
    ) async throws {
        try await self.init(
            given, in: installation, mayBeNew: mayBeNew, rehearsal: rehearsal, holding: .nothing)
    }

    private init(
        _ given: MirrorSettings, in installation: Installation, mayBeNew: Bool,
        rehearsal: Rehearsal, holding: Holding
    ) async throws {
        let storage = installation.storage
        let process = installation.process
        let vault = installation.vault(of: given.mirror)
        let stored = try await StoredConfiguration(of: given.mirror, in: storage)
        if !mayBeNew, !stored.isKnown { try await MirrorTable.requireFirst(given, in: storage) }
        let configuration = try Self.effective(given, stored, vault)
        self.init(
            configuration, given: given, installation: installation, storage: storage,
            stores: MirrorStores(
                configuration, in: storage, vault: vault, times: installation.readTimes),
            contact: RequestContact(Self.contact(configuration, stored)), holding: holding)
        self.rehearsal = rehearsal
        guard !process.rehearsal.isEmpty else { return }
        let accounts = try AccountRole.allCases.compactMap { role in
            try configuration.account(role)
                ?? stored.logins[role].map {
                    try account(role, openedBy: try vault.opened($0, of: role))
                }
        }
        self.rehearsal = try Rehearsal(
            variables: process.rehearsal,
            accounts: Dictionary(uniqueKeysWithValues: accounts.map { ($0.role, $0.address) })
        ).sharing(installation.faultPoints)
    }

    /// The contact in the settings, or else the bot's handle if it is known.
    private static func contact(_ configuration: MirrorSettings, _ stored: StoredConfiguration)
        -> String?
    {
        configuration.operatorContact ?? stored.botHandle.map { "@\($0)" }
    }

    /// The effective settings: the given ones, and the stored ones.
    private static func effective(
        _ given: MirrorSettings, _ stored: StoredConfiguration, _ vault: CredentialVault
    ) throws -> MirrorSettings {
        var configuration = given
        if !given.ignoresStored { configuration = try given.with(stored: stored.settings) }
        try configuration.adopt(try vault.networks(of: stored.logins))
        return configuration
    }

    private init(
        _ configuration: MirrorSettings, given: MirrorSettings, installation: Installation,
        storage: any StorageEngine, stores: MirrorStores, contact: RequestContact,
        holding: Holding
    ) {
        self.configuration = configuration
        self.given = given
        self.installation = installation
        self.storage = storage
        self.stores = stores
        logger = installation.logger(of: configuration.mirror)
        self.contact = contact
        self.holding = holding
    }

    /// Returns the same mirror on a scratch copy; the changes to it are discarded when it is
    /// closed.
    package func scratch() async throws -> HumanMirror {
        let copy = try await storage.scratch(of: configuration.mirror)
        var mirror = HumanMirror(
            configuration, given: given, installation: installation, storage: copy,
            stores: stores.scratch(configuration, in: copy),
            contact: contact,
            holding: .scratch)
        mirror.rehearsal = rehearsal
        return mirror
    }

    /// Returns the same open mirror with the settings and the networks of the logins that are
    /// stored now.
    ///
    /// For a process that keeps running after they changed; see ``stamp()``. ``account(_:)`` reads
    /// the logins each time.
    ///
    /// - Throws: `ConfigurationError` for a value that cannot be used; the store's error.
    package func withCurrentSettings() async throws -> HumanMirror {
        let stored = try await StoredConfiguration(of: given.mirror, in: storage)
        let configuration = try Self.effective(given, stored, vault)
        var mirror = HumanMirror(
            configuration, given: given, installation: installation, storage: storage,
            stores: MirrorStores(
                configuration, in: storage, vault: vault, times: installation.readTimes),
            contact: contact, holding: holding)
        mirror.rehearsal = rehearsal
        contact.tell(Self.contact(configuration, stored))
        return mirror
    }

    /// Another mirror in the same database and process, with its stored settings and logins; an
    /// empty one if it is not stored.
    ///
    /// - Throws: `ConfigurationError` for a stored setting that cannot be used; the store's error.
    package func other(_ name: String) async throws -> HumanMirror {
        try await HumanMirror(try installation.settings(of: name), in: installation)
    }

    /// A mirror of an open installation whose effective settings were already read.
    ///
    /// - Throws: `ConfigurationError` as `Installation.mirror(named:rehearsal:)`.
    package init(_ configuration: MirrorSettings, settledIn installation: Installation) throws {
        let storage = installation.storage
        let vault = installation.vault(of: configuration.mirror)
        self.init(
            configuration, given: try installation.settings(of: configuration.mirror),
            installation: installation, storage: storage,
            stores: MirrorStores(
                configuration, in: storage, vault: vault, times: installation.readTimes),
            contact: RequestContact(configuration.operatorContact), holding: .nothing)
    }

    /// Closes the resources that were opened for this mirror: its installation, the scratch copy,
    /// or none.
    package func close() async {
        switch holding {
        case .nothing: break
        case .installation: await installation.close()
        case .scratch: await storage.close()
        }
    }

    /// Runs `body` on the mirror and closes it, also after an error.
    package func closing<Value>(after body: (HumanMirror) async throws -> Value) async throws
        -> Value
    {
        try await afterwards(close) { try await body(self) }
    }

    /// The settings that the mirrors of the process share.
    package var process: ProcessSettings { installation.process }

    /// The name of the mirror.
    package var name: String { configuration.mirror }

    /// The clock for everything about this mirror.
    package var clock: any WallClock { rehearsal.clock ?? installation.clock }

    /// Returns the outbox: for reading, or with a lease also for changes.
    package func outbox(lease: Lease?) -> OutboxStore {
        let mirror = configuration.mirror
        return OutboxStore(
            storage: storage, mirror: mirror, lease: lease,
            isDenied: { try Self.isDenied($0, in: mirror, on: $1) })
    }

    /// Whether nothing may be sent to the person whom an action concerns.
    ///
    /// A person who asked the bot to stop, and is denied for no other reason, still gets the one
    /// confirmation.
    private static func isDenied(
        _ action: Action, in mirror: String, on connection: any StorageConnection
    ) throws -> Bool {
        guard let person = action.target?.author,
            try People.stances(of: [person], in: mirror, on: connection)[person] == .deny
        else { return false }
        guard action.confirmsStop else { return true }
        return try !People.isDenied(
            person, onlyFor: Refusal.Reason.askedToStop.rawValue, in: mirror, on: connection)
    }

    /// Opens the classifier with its dictionary and counts.
    ///
    /// - Throws: An error of MeCab if the dictionary is missing, or of Redis if `REDIS_URL` is
    ///   wrong.
    package func favorites() throws -> Favorites {
        Favorites(
            storage: storage, mirror: configuration.mirror, counts: try counts(),
            extractor: try featureExtractor(),
            configuration: configuration.favorites,
            onStep: { [faultPoints = rehearsal.faultPoints] in faultPoints.pass(.learning($0)) })
    }

    /// Cuts posts into the features of the mirror's settings, with the dictionary of the process.
    ///
    /// - Throws: An error of MeCab if the dictionary is missing.
    package func featureExtractor() throws -> FeatureExtractor {
        FeatureExtractor(tokenizer: try installation.tokenizer(), words: configuration.featureWords)
    }

    /// Unlearns the posts of a person who objects.
    ///
    /// Costs a few queries if there is nothing to unlearn. Later posts of the person are learned
    /// again unless a rule forbids it by then.
    ///
    /// - Parameters:
    ///   - person: One of the person's accounts; linked accounts are included.
    ///   - handle: Their present handle; nil for the stored one.
    ///   - now: The time of the decision.
    /// - Returns: How many posts were unlearned.
    /// - Throws: As ``favorites()``; the store's error.
    @discardableResult
    package func forgetLearning(
        of person: AccountID, handle: String? = nil, now: Date
    ) async throws -> Int {
        var unlearned = 0
        for account in try await people.linked(to: person) {
            var names = try await names(of: account)
            if account == person, let handle { names.insert(handle) }
            unlearned += try await forgetLearning(of: account, called: names, now: now)
        }
        return unlearned
    }

    /// Unlearns the posts of one account, and posts whose author is stored only as one of these
    /// names.
    package func forgetLearning(of account: AccountID, called names: Set<String>, now: Date)
        async throws -> Int
    {
        guard try await Favorites.hasLearned(from: account, called: names, of: name, in: storage)
        else { return 0 }
        return try await favorites().forget(account, called: names, at: now).unlearned
    }

    /// Returns the names of an account on posts whose author is stored only as a name: its known
    /// handles and its identity, which is the name on Mastodon and in files of labelled posts.
    package func names(of account: AccountID) async throws -> Set<String> {
        var names = try await Favorites.names(of: account, of: name, in: storage)
        names.insert(account.value)
        if let name = try await people.person(account)?.handle { names.insert(name) }
        if let name = try await archive.nameInAnswers(to: account) { names.insert(name) }
        return names
    }

    private func counts(_ namespace: CountNamespace = .favorites) throws -> any CountStore {
        guard holding != .scratch, let client = try installation.redis() else {
            return SQLCountStore(storage: storage, mirror: name, namespace)
        }
        return RedisCountStore(client: client, mirror: name, namespace)
    }

    /// Returns the taste in the human's texts that is learned from a person's decisions; `nil` if
    /// texts are not judged (`FITNESS=off`), or cannot be judged.
    ///
    /// They cannot be judged without the dictionary, or if `REDIS_URL` is wrong. Without a taste,
    /// no text is demoted.
    package func textTaste() -> TextTaste? {
        guard configuration.fitness != .off, let tokenizer = try? installation.tokenizer(),
            let counts = try? counts(.texts)
        else { return nil }
        return TextTaste(
            labels, counts: counts,
            extractor: FeatureExtractor(tokenizer: tokenizer, words: TextTaste.wordSelection),
            configuration: configuration.favorites)
    }

    /// Returns the note that stores a label for the text that an action posts, in the transaction
    /// that changes the action.
    ///
    /// Actions other than posts, further parts of threads and slots without a text get no label.
    package func labelWriter(_ label: PersonLabel, now: Date) -> OutboxStore.Note {
        { [labels] action, connection in
            guard let id = action.labelled else { return }
            try labels.note(label, of: id, now: now, on: connection)
        }
    }

    /// Returns the note that removes the label of an action's text if it is one of `removed`.
    package func labelRemover(_ removed: PersonLabel...) -> OutboxStore.Note {
        { [labels] action, connection in
            guard let id = action.labelled else { return }
            for label in removed { try labels.takeBack(label, of: id, on: connection) }
        }
    }

    /// Returns the zone in which minutes are recorded, after converting them if the zone or the
    /// rules of time zones have changed.
    ///
    /// - Parameter now: The time recorded with the change.
    /// - Returns: The configured zone, else the stored one, else nil.
    /// - Throws: The store's error.
    package func settleTimeZone(now: Date) async throws -> TimeZone? {
        try await settleTimeZone(try await table.record(), now: now)
    }

    private func settleTimeZone(_ record: MirrorRecord, now: Date) async throws -> TimeZone? {
        guard let zone = configuration.timeZone ?? record.zone else { return nil }
        let isStale = try await archive.hasStaleTimes(by: ZoneRules.current.versionNumber)
        if record.zone != zone || isStale { try await archive.rewriteTimes(in: zone) }
        guard configuration.timeZone != nil else { return zone }
        let name = configuration.name(of: zone)
        if record.timeZone != name || record.timeZoneSource != nil {
            try await table.setTimeZone(name, now: now)
        }
        return zone
    }

    /// Returns the zone in which minutes are recorded, for commands that must not convert them
    /// because a worker may use them.
    ///
    /// If none is recorded yet, it is the configured one. Only training and the worker convert
    /// minutes to another zone; an interrupted conversion is finished.
    ///
    /// - Parameter now: Recorded with the change.
    /// - Returns: As ``knownTimeZone()``.
    /// - Throws: The store's error.
    package func recordedTimeZone(now: Date) async throws -> TimeZone? {
        try await recordedTimeZone(try await table.record(), now: now)
    }

    /// As ``recordedTimeZone(now:)``, from a record that was already read.
    package func recordedTimeZone(_ record: MirrorRecord, now: Date) async throws -> TimeZone? {
        guard let zone = record.zone, !overrulesAdoptedZone(record) else {
            return try await settleTimeZone(record, now: now)
        }
        if try await archive.hasStaleTimes() { try await archive.rewriteTimes(in: zone) }
        return zone
    }

    /// Returns a note if minutes are not recorded in the configured zone yet; else nil.
    package func zoneToCome(_ record: MirrorRecord) -> String? {
        guard let zone = configuration.timeZone, let recorded = record.zone, recorded != zone,
            !overrulesAdoptedZone(record)
        else { return nil }
        return """
            minutes are those of \(recorded.name); \(Setting.timeZone.name), \(configuration.name(of: zone)), counts from the next start \
            of mirror-bot run, or the next mirror-bot train scheduler
            """
    }

    /// Returns the zone in which minutes are recorded, or else the configured one.
    ///
    /// - Throws: The store's error.
    package func knownTimeZone() async throws -> TimeZone? {
        knownTimeZone(try await table.record())
    }

    /// As ``knownTimeZone()``, from a record that was already read.
    package func knownTimeZone(_ record: MirrorRecord) -> TimeZone? {
        overrulesAdoptedZone(record)
            ? configuration.timeZone : record.zone ?? configuration.timeZone
    }

    /// The name of the zone that ``knownTimeZone(_:)`` returns; the stored name if this machine
    /// does not know the zone.
    package func timeZoneName(_ record: MirrorRecord) -> String? {
        overrulesAdoptedZone(record)
            ? configuration.timeZoneName : record.timeZone ?? configuration.timeZoneName
    }

    /// Returns the zone that the mirror adopted and its source, as a sentence; nil if a person set
    /// the zone.
    package func adoptedZone(_ record: MirrorRecord) -> String? {
        guard configuration.timeZone == nil, let zone = record.timeZone,
            let source = record.timeZoneSource
        else {
            return nil
        }
        return localized("the time zone is \(zone), \(source.words)")
    }

    /// Whether a person set a zone after the mirror had adopted another one that no worker has used
    /// yet.
    private func overrulesAdoptedZone(_ record: MirrorRecord) -> Bool {
        configuration.timeZone != nil && record.timeZoneSource != nil && record.activated == nil
    }

    /// Returns the host in the human's verified name, which completes local names and may differ
    /// from the server's host.
    ///
    /// Nil before the account is verified, or if names have no hosts.
    package func humanHost() async throws -> String? { try await table.record().human?.addressHost }

    /// Returns the host of local names at the bot's server; nil if names have no hosts.
    ///
    /// - Throws: `ConfigurationError` for an unusable login; the store's error.
    package func botHost() async throws -> String? {
        if let bot = try await table.record().bot { return bot.addressHost }
        return try await account(.bot).flatMap {
            $0.network.traits.namesAreIdentities ? $0.host : nil
        }
    }

    /// Returns the error for a mirror without a zone, with a proposal from the archive if possible.
    package func missingTimeZone() async throws -> ConfigurationError {
        ConfigurationError(
            Setting.timeZone.name, localized("is not set; \(try await timeZoneProposal())"),
            part: .timeZone)
    }

    // MARK: Networks

    /// The origin that this mirror's requests name to servers.
    package var origin: RequestOrigin {
        RequestOrigin(
            mirror: name, contact: contact, gates: installation.gates,
            uptime: { [clock] in clock.uptime })
    }

    /// Updates the contact in the user agent of requests after a verification, which may have
    /// returned the bot's handle: `OPERATOR_CONTACT`, or else that handle.
    ///
    /// - Throws: The store's error.
    package func updateContact() async throws {
        guard configuration.operatorContact == nil else { return }
        contact.tell(try await table.record().botHandle.map { "@\($0)" })
    }

    /// Returns the network of a role's account; nil if the role has none.
    ///
    /// - Throws: As ``account(_:)`` and ``measuredNetwork(for:sessions:)``.
    package func network(of role: AccountRole) async throws -> (any SocialNetwork)? {
        guard let account = try await account(role) else { return nil }
        return try await measuredNetwork(for: account)
    }

    /// Returns the network of a role's account; `nil` also if its login or its server is unusable.
    ///
    /// - Throws: The store's error.
    package func usableNetwork(of role: AccountRole) async throws -> (any SocialNetwork)? {
        do {
            return try await network(of: role)
        } catch is ConfigurationError {
            return nil
        } catch is NetworkError {
            return nil
        }
    }

    /// Returns the network of a role's account, or throws an error that says how to log in.
    ///
    /// - Throws: As ``requiredAccount(_:)`` and ``measuredNetwork(for:sessions:)``.
    package func requiredNetwork(of role: AccountRole) async throws -> any SocialNetwork {
        try await measuredNetwork(for: try await requiredAccount(role))
    }

    /// Returns the network of one account, which uses the findings of `doctor --probe` about its
    /// server.
    ///
    /// - Parameters:
    ///   - account: The account's server and credentials.
    ///   - sessions: The storage of the session; nil for the mirror's.
    /// - Returns: A client that acts as that account.
    /// - Throws: `NetworkError` for an unusable server; the store's error.
    package func measuredNetwork(
        for account: AccountConfiguration, sessions: (any CredentialStore)? = nil
    ) async throws -> any SocialNetwork {
        try network(for: account, sessions: sessions, findings: try await findings(about: account))
    }

    /// The findings of `doctor --probe` about an account's server: it probes the bot's, which may
    /// also be the human's.
    private func findings(about account: AccountConfiguration) async throws -> [ServerPromise: Bool]
    {
        if account.role == .human {
            guard let address = account.address, try await self.account(.bot)?.address == address
            else { return [:] }
        }
        return try await probes.measured()
    }

    /// Returns the network of one account.
    ///
    /// - Parameters:
    ///   - account: The account's server and credentials.
    ///   - sessions: The storage of the session; nil for the mirror's.
    ///   - findings: Whether the server was found to keep a promise.
    /// - Returns: A client that acts as that account.
    /// - Throws: `NetworkError` for an unusable server.
    package func network(
        for account: AccountConfiguration, sessions: (any CredentialStore)? = nil,
        findings: [ServerPromise: Bool] = [:]
    ) throws -> any SocialNetwork {
        let clock = clock
        return try account.network.descriptor.connect(
            .init(
                account: account, settings: configuration,
                sessions: sessions ?? vault.sessions(of: account.role, now: { clock.now }),
                book: spending,
                client: installation.client, origin: origin, findings: findings, now: { clock.now },
                uptime: { clock.uptime }))
    }
}

/// The login of an account that has no credentials yet.
extension HumanMirror {
    /// The account to log in to, for the steps of its network's login.
    ///
    /// - Parameters:
    ///   - role: The role of the account.
    ///   - apiBaseURL: The address for requests; nil for the network's own.
    ///   - hasToken: Whether the person has a token that was made in the settings of the account.
    ///   - other: The credentials of the mirror's other account, where the network asks for them.
    package func loginRequest(
        as role: AccountRole, apiBaseURL: String?, hasToken: Bool, other: AccountCredentials?
    ) -> NetworkLogin.Request {
        NetworkLogin.Request(
            role: role, apiBaseURL: apiBaseURL, hasToken: hasToken, otherCredentials: other,
            client: installation.client, origin: origin, now: { [clock] in clock.now })
    }
}

extension Action {
    /// The human's post whose text the decision about the action labels; nil if the action has
    /// none.
    fileprivate var labelled: PostID? { kind == .post && parent == nil ? wording?.source : nil }
}
