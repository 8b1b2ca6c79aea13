import Favorites
package import Foundation
import Localization
import MeCab
package import Mirroring
import Networks
import Outbox
import Posts
import Redis
import Settings
import Storage

/// Examines all requirements of a mirror, and contacts each of its servers.
///
/// Changes nothing except stored results: those of a probe, the server's rules as shown to a
/// person, and the findings, which `HumanMirror.keep(_:now:)` stores. On X, verifying credentials
/// costs as much as reading one account.
package struct Doctor: Sendable {
    /// Seconds of clock error above which responses are considered stale and OAuth is refused.
    private static let clockTolerance: TimeInterval = 60

    let mirror: HumanMirror
    /// Whether to test the server with a post of the bot.
    private let probes: Bool

    /// - Parameters:
    ///   - mirror: The mirror, open.
    ///   - probes: Whether to publish an unlisted post as the bot, and a reply to it, and to delete
    ///     both.
    package init(mirror: HumanMirror, probes: Bool = false) {
        self.mirror = mirror
        self.probes = probes
    }

    /// Examines the mirror; returns the findings in the order in which a person would fix them.
    package func findings(now: Date) async -> [Finding] {
        var findings = mirror.configuration.values.storedWarnings.map { warning in
            Finding.warn("settings", warning)
        }
        findings += await examined("database", database)
        findings += await examined("redis", counts)
        findings += await examined("dictionary", dictionary)
        findings += await examined("time zone", zone)
        findings += await examined("texts", texts)
        for role in AccountRole.allCases {
            findings += await examined(role.rawValue) { try await account(role) }
        }
        let seen = findings
        return findings + (await examined("health") { try await health(besides: seen, now: now) })
    }

    /// Examines the mirror, and stores the findings in place of the previous ones.
    ///
    /// - Returns: The findings; if the database cannot store them, one of them says so.
    package func examine(now: Date) async -> [Finding] {
        let findings = await findings(now: now)
        // A read-only database is one of the findings.
        try? await mirror.keep(findings, now: now)
        return findings
    }

    /// Returns the findings of an examination, or the error that it throws as a failed finding.
    private func examined(_ subject: String, _ find: () async throws -> [Finding]) async
        -> [Finding]
    {
        do { return try await find() } catch { return [.fail(subject, error)] }
    }

    // MARK: This installation

    private func database() async throws -> [Finding] {
        if let problem = try await mirror.databaseProblem() {
            return [.fail("database", problem, cause: .unavailable)]
        }
        return [
            .ok(
                "database",
                localized("\(mirror.process.storage), with the tables of this version"))
        ]
    }

    private func counts() async throws -> [Finding] {
        guard let redis = try mirror.installation.redis() else {
            return [
                .ok(
                    "redis",
                    localized(
                        "not used: \(Setting.redisURL.name) is not set, and the counts are kept in the database"
                    ))
            ]
        }
        do {
            _ = try await redis.command(RedisCommand(["PING"]))
            try await RedisCountStore(client: redis, mirror: mirror.name).tryOut()
        } catch let error as RedisError where error.serverCode == "NOPERM" {
            var finding = Finding.fail("redis", error)
            finding.fix = localized("give its user the rights that docs/deploy.md names")
            return [finding]
        }
        return [.ok("redis", localized("\(Setting.redisURL.name) answers and takes changes"))]
    }

    private func dictionary() throws -> [Finding] {
        _ = try mirror.installation.tokenizer()
        return [.ok("dictionary", mirror.process.dictionary)]
    }

    /// The least number of judged texts for which the share of usable texts is meaningful.
    private static let fewestTexts = 50

    /// Warns if fewer than a tenth of the human's texts may be posted, and names the rule that
    /// excludes most.
    private func texts() async throws -> [Finding] {
        let mode = mirror.configuration.fitness
        let texts = StatusReport.TextState(try await mirror.unsentTexts(), mode)
        let usable = texts.fit + texts.sometimes
        let judged = texts.fit + texts.sometimes + texts.unfit
        guard judged >= Self.fewestTexts, usable * 10 < judged, let commonest = texts.reasons.first
        else { return [] }
        return [
            .warn(
                "texts",
                localized(
                    "\(usable) of \(judged) texts may be posted; the rule \(commonest.reason) leaves out \(commonest.count), since \(ReportedReason(commonest.reason).text)"
                ),
                fix: localized(
                    "look at them with mirror-bot texts; \(Setting.fitness.name), \(Setting.links.name) and \(Setting.media.name) decide on some"
                ))
        ]
    }

    private func zone() async throws -> [Finding] {
        let record = try await mirror.table.record()
        guard let zone = mirror.knownTimeZone(record) else {
            throw try await mirror.missingTimeZone()
        }
        let rules = rules(of: zone)
        if let sentence = mirror.zoneToCome(record) {
            return [.warn("time zone", sentence), rules]
        }
        if let sentence = mirror.adoptedZone(record) {
            return [
                .warn(
                    "time zone",
                    localized("\(sentence); set \(Setting.timeZone.name) if it is another")),
                rules,
            ]
        }
        return [.ok("time zone", zone.identifier), rules]
    }

    /// Returns a finding about the source of a time zone's rules.
    private func rules(of zone: TimeZone) -> Finding {
        let rules = ZoneRules.current
        let builtIn = localized("the built-in rules \(ZoneRules.builtInVersion)")
        guard let folder = rules.folder else {
            return .warn(
                "time zone", localized("no zone files were found, so \(builtIn) count"),
                fix: localized("install the package tzdata, or name the folder in TZDIR"))
        }
        if rules.isOutdated {
            return .warn(
                "time zone",
                localized(
                    "the zone files in \(folder) are of \(rules.version ?? ""), so \(builtIn) count"
                ),
                fix: localized("update the package tzdata"))
        }
        guard rules.isFromSystem(zone) || zone == .gmt else {
            return .warn(
                "time zone",
                localized("\(folder) has no file of \(zone.identifier), so \(builtIn) count"),
                fix: localized(
                    "use the zone's usual name, or install the package tzdata-legacy"))
        }
        guard let version = rules.version else {
            return .ok("time zone", localized("by the rules in \(folder)"))
        }
        return .ok("time zone", localized("by the rules \(version) in \(folder)"))
    }

    // MARK: Accounts

    private func account(_ role: AccountRole) async throws -> [Finding] {
        guard let configured = try await mirror.account(role) else { return [missingAccount(role)] }
        let network = try await mirror.measuredNetwork(for: configured)
        let account = try await network.verifyAccount()
        let record = try await mirror.table.record()
        let bound = role == .human ? record.human : record.bot
        if let bound, bound.canonical != account.id.canonical {
            return [
                .fail(
                    role.rawValue,
                    localized(
                        "the credentials open \(account.id.reference), but the mirror belongs to \(bound.reference)"
                    ),
                    cause: .configuration,
                    fix: localized("set the right credentials, or run mirror-bot rebind"))
            ]
        }
        let handle = account.handle
        let site = network.name.displayName
        let loginFinding = Finding.ok(
            role.rawValue,
            localized(
                configured.origin == .login
                    ? "@\(handle) on \(site), with credentials from mirror-bot login"
                    : "@\(handle) on \(site), with credentials from the settings"))
        let scopes = await examined("scopes") { try await self.scopes(configured) }
        var serverFindings: [Finding] = []
        if role == .bot {
            serverFindings = try await probe(account, network)
            serverFindings += habits(probes ? try await networkAfterProbe(configured) : network)
            serverFindings += await examined("rules") { try await rules(of: network, account.id) }
        }
        return [loginFinding] + scopes + clock(network) + serverFindings
            + (role == .bot ? profile(account, of: record, on: network) : [])
            + (await links(role, account, record, network))
    }

    /// The server's rules about bots; a change since the operator last saw them is a warning.
    ///
    /// A failure to read them now is no fault of the mirror.
    private func rules(of network: any SocialNetwork, _ account: AccountID) async throws
        -> [Finding]
    {
        do {
            let now = mirror.clock.now
            return try await mirror.showServerRules(of: network, account: account, now: now)
                .findings
        } catch let error as NetworkError {
            return [
                .warn(
                    "rules", "\(error)",
                    fix: localized("read them on the page of \(network.host)"))
            ]
        }
    }

    /// The account's network with the findings of the latest probe.
    private func networkAfterProbe(_ account: AccountConfiguration) async throws
        -> any SocialNetwork
    {
        let network = try await mirror.measuredNetwork(for: account)
        if network.name.traits.site == nil { _ = try await network.verifyAccount() }
        return network
    }

    /// Returns a finding with the habits of the bot's server that a probe can correct; a failed
    /// finding if publishing is impossible there.
    ///
    /// Habits are behavior for which the server has no request; they are assumed or measured.
    private func habits(_ network: any SocialNetwork) -> [Finding] {
        let habits = network.serverHabits.filter { $0.promise != nil }
        if habits.isEmpty { return [] }
        let listedHabits = habits.map { "\($0.name) \($0.value) (\($0.source))" }.joined(
            separator: "; ")
        do {
            try network.requireAudiences()
        } catch {
            return [
                .fail(
                    "server", "\(error.detail ?? error.description)", cause: .configuration,
                    fix: localized(
                        "log the bot in at another server, or run mirror-bot doctor --probe if this one has changed"
                    ))
            ]
        }
        // Mastodon itself has no special habits.
        return network.capabilities.supportsIdempotencyKey ? [] : [.ok("server", listedHabits)]
    }

    /// Returns the findings of a probe post on the bot's server, sent now or earlier.
    private func probe(_ account: Account, _ network: any SocialNetwork) async throws -> [Finding] {
        var findings: [Finding] = []
        if probes {
            guard network.price(ofReading: 1, from: .ownPosts) == nil else {
                let name = network.name.displayName
                return [
                    .ok(
                        "probe",
                        localized(
                            "not needed: \(name) is one server, and each request costs money there")
                    )
                ]
            }
            // Posts of an earlier probe are deleted first.
            let recovery = EffectRecovery(mirror, network: network, account: account.id)
            _ = try await recovery.carryOut(takingOver: true)
            let result = await ServerProbe(mirror, network: network, account: account).run()
            if !result.kept.isEmpty {
                try await mirror.probes.note(result.kept, of: account.id, now: mirror.clock.now)
            }
            if let error = result.error {
                findings.append(
                    .warn("probe", localized("the probe could not finish: \(error)")))
            }
            for address in result.left {
                findings.append(
                    .warn(
                        "probe", localized("the post \(address) could not be deleted"),
                        fix: localized("run mirror-bot undo --resume, or delete it by hand")))
            }
        }
        guard let (kept, time) = try await mirror.probes.findings(of: account.id),
            kept[.publishes] != nil
        else {
            // The habits of a network with a single site, and of Mastodon, are known.
            guard network.name.traits.site == nil, !network.capabilities.supportsIdempotencyKey,
                !probes
            else {
                return findings
            }
            return [
                .warn(
                    "probe",
                    localized("the bot's server does not run Mastodon, and was never probed"),
                    fix: localized(
                        "run mirror-bot doctor --probe, which publishes an unlisted post and deletes it again"
                    ))
            ]
        }
        let day = time.rfc3339.prefix(10)
        // A promise that was not tested is missing; one that cannot be observed has the value nil.
        let tested = ServerPromise.allCases.compactMap { promise in
            kept[promise].map { (promise: promise, isKept: $0) }
        }
        let broken = tested.filter { $0.isKept == false }.map(\.promise)
        let unseen = tested.filter { $0.isKept == nil }.map(\.promise)
        let holds = tested.filter { $0.isKept == true }.map(\.promise.text)
        if !holds.isEmpty {
            let list = holds.joined(by: .semicolon)
            findings.append(.ok("probe", localized("on \(day): \(list)")))
        }
        findings += broken.map {
            .warn("probe", localized("on \(day) not so: \($0.text); \($0.consequence)"))
        }
        findings += unseen.map {
            .ok("probe", localized("unknown, because the server does not show it: \($0.text)"))
        }
        return findings
    }

    private func missingAccount(_ role: AccountRole) -> Finding {
        let error = mirror.configuration.missing(role)
        guard role == .human else { return .fail("bot", error) }
        return .warn(
            "human", "\(error)",
            fix: localized(
                "without it nothing new is learned; an archive alone is enough to post"))
    }

    /// Checks the bot's token for missing scopes, if the server reports scopes.
    private func scopes(_ account: AccountConfiguration) async throws -> [Finding] {
        guard account.role == .bot, let missingScopes = account.network.descriptor.missingScopes
        else {
            return []
        }
        let missing = try await missingScopes(account, mirror.installation.client, mirror.origin) {
            [clock = mirror.clock] in
            clock.now
        }
        guard !missing.isEmpty else {
            return [.ok("scopes", localized("the bot's token allows what the bot does"))]
        }
        let names = missing.map(\.name).joined(by: .comma)
        let fix = localized(
            "run mirror-bot login \(account.network) --as bot and allow everything that is listed")
        if missing.contains(where: { $0.consequence == nil }) {
            return [
                .fail(
                    "scopes", localized("the bot's token lacks \(names)"), cause: .refused, fix: fix
                )
            ]
        }
        let consequences = missing.compactMap(\.consequence).joined(by: .semicolon)
        return [
            .warn("scopes", localized("the bot's token lacks \(names): \(consequences)"), fix: fix)
        ]
    }

    private func clock(_ network: any SocialNetwork) -> [Finding] {
        guard let lead = network.clockLead else { return [] }
        let name = network.name.displayName
        guard abs(lead) > Self.clockTolerance else {
            return [.ok("clock", localized("within a minute of that of \(name)"))]
        }
        let seconds = Int(abs(lead))
        return [
            .warn(
                "clock",
                localized(
                    lead > 0
                        ? "\(seconds) s ahead of that of \(name)"
                        : "\(seconds) s behind that of \(name)"),
                fix: localized("synchronize this machine's clock with a time server"))
        ]
    }

    /// Checks that the human's profile names the bot; for the bot, that its server has verified a
    /// link back from the human's page.
    private func links(
        _ role: AccountRole, _ account: Account, _ record: MirrorRecord,
        _ network: any SocialNetwork
    ) async -> [Finding] {
        switch role {
        case .human:
            guard let bot = record.botHandle else { return [] }
            return [
                isNamed(bot, in: account.bio)
                    ? .ok("link", localized("the human's profile names \(bot)"))
                    : .warn(
                        "link",
                        localized(
                            "the human's profile does not name the bot, so anybody could claim to be your mirror"
                        ),
                        fix: localized(
                            "write @\(bot), or the address of its page, into your own profile"))
            ]
        case .bot:
            guard network.name.traits.verifiesLinks, let profiled = network as? any ProfiledNetwork
            else { return [] }
            let rows: [AccountProfile.Field]
            do {
                rows = try await profiled.profile().fields
            } catch {
                let problem = "\(error)"
                return [
                    .warn("link", localized("the bot's profile could not be read: \(problem)"))
                ]
            }
            guard let row = rows.first(where: { $0.name == ProfileProposal.fieldName }) else {
                return []
            }
            return [
                row.verified != nil
                    ? .ok(
                        "link",
                        localized("the bot's server has seen that the human's page links back"))
                    : .warn(
                        "link",
                        localized("the bot's server has not seen that the human's page links back"),
                        fix: localized(
                            "put the address of the bot's page into your own profile; a page of yours elsewhere needs rel=\"me\" on it"
                        ))
            ]
        }
    }

    /// Whether a text contains the part of a handle before its server.
    private func isNamed(_ handle: String, in text: String) -> Bool {
        let name = handle.split(separator: "@").first.map(String.init) ?? handle
        return text.lowercased().contains(name.lowercased())
    }

    /// Checks the disclosures of the bot's profile to the people who meet it.
    private func profile(_ bot: Account, of record: MirrorRecord, on network: any SocialNetwork)
        -> [Finding]
    {
        var findings: [Finding] = []
        let name = network.name.displayName
        if !network.name.traits.returnsBotMark {
            findings.append(
                .warn(
                    "bot label",
                    localized(
                        "\(name) does not tell whether the account is labelled as automated"),
                    fix: localized("see Settings, Your account, Automation")))
            findings.append(
                .ok(
                    "other bots",
                    localized(
                        "\(name) does not tell which accounts are bots: this bot takes them for people, unless their profile says #nobot; mirror-bot people deny NAME leaves one alone"
                    )))
        } else if bot.isBot {
            findings.append(.ok("bot label", localized("the account says that it is automated")))
        } else {
            findings.append(
                .warn(
                    "bot label", localized("the account does not say that it is automated"),
                    fix: localized(
                        "mirror-bot run says so where the network lets it; else set it in the profile"
                    )))
        }
        if network.name.descriptor.policy?.wantsOperatorNamed == true {
            findings.append(
                OperatorAccount(mirror.configuration.operatorContact, on: network.name.traits)
                    .finding(bio: bot.bio, on: name))
        }
        guard let human = record.humanHandle else { return findings }
        let remedy =
            network is any ProfiledNetwork
            ? localized(
                "mirror-bot profile writes it there, or prints the line where the server takes none"
            )
            : localized("mirror-bot profile prints a line to paste into the bot's profile")
        findings.append(
            isNamed(human, in: bot.bio)
                ? .ok("profile", localized("names \(human)"))
                : .warn(
                    "profile", localized("does not say whose mirror the bot is"), fix: remedy))
        return findings
    }

    // MARK: Health

    /// Returns the findings of the mirror's health on subjects that no other check reported, and
    /// passed findings on some subjects without a problem.
    private func health(besides examined: [Finding], now: Date) async throws -> [Finding] {
        let reading = try await HealthReader(mirror.installation).reading(of: mirror, now: now)
        let bad = Set(examined.filter { $0.verdict != .ok }.map(\.subject))
        let newFindings = Health(reading.facts).findings.filter { !bad.contains($0.subject) }
        let reported = bad.union(newFindings.map(\.subject))
        var passed: [Finding] = []
        if let spending = reading.spending, !reported.contains("budget") {
            passed.append(
                .ok(
                    "budget",
                    localized(
                        "\(spending.left) of the month's \(spending.budget) is left until \(spending.renews.rfc3339.prefix(10))"
                    )))
        }
        if let forecast = try await mirror.monthForecast(now: now) {
            passed.append(finding(forecast))
        }
        if let policy = mirror.configuration.botNetwork.descriptor.policy,
            !reported.contains("policies")
        {
            passed.append(
                .ok(
                    "policies",
                    localized("\(policy.setting) is yes: posts and replies are sent")))
        }
        if !reported.contains("worker") {
            passed.append(.ok("worker", localized("a worker is running")))
        }
        return newFindings + passed
    }

    /// The expected cost of the next month, and its assumptions.
    private func finding(_ forecast: MonthForecast) -> Finding {
        let lines = forecast.lines.map { "\($0.what) \($0.amount.cents)" }
        let work =
            lines.isEmpty ? localized("nothing is read or written") : lines.joined(by: .comma)
        let assumptions = forecast.assumptions.joined(by: .comma)
        let text = localized(
            "about \(forecast.total.cents) of \(forecast.budget.cents): \(work); assumes \(assumptions)"
        )
        guard !forecast.isEnough else { return .ok("next month", text) }
        return .warn(
            "next month", text,
            fix: localized(
                "raise \(Setting.xBudget.name) to \(forecast.costOfDailyWork.cents), or lower \(Setting.maxPerDay.name); else the bot is silent at the month's end"
            ))
    }
}

extension HumanMirror {
    /// Returns why the database accepts no changes; nil if it accepts them, or is only busy.
    ///
    /// Tries a change that needs some space, and rolls it back.
    ///
    /// - Throws: The store's error, if the database cannot be used at all.
    fileprivate func databaseProblem() async throws -> String? {
        if let problem = process.storage.lackOfRoom { return problem }
        struct WriteAccepted: Error {}
        let text = String(repeating: " ", count: 20_000)
        do {
            try await storage.transaction { [name] connection in
                try connection.execute(
                    """
                    INSERT INTO refusals (mirror, role, error, since_ms, noted_ms) VALUES (\(name), 'none', \(text), 0, 0)
                    """)
                throw WriteAccepted()
            }
            return nil
        } catch is WriteAccepted {
            return nil
        } catch let error as StorageError where [.readOnly, .full].contains(error.code) {
            return "\(error)"
        } catch let error as StorageError where [.busy, .serialization].contains(error.code) {
            return nil
        }
    }

    /// Reads the findings of `doctor`'s last examination and its time; `nil` if it never examined
    /// the mirror.
    ///
    /// - Throws: The store's error.
    package func lastFindings() async throws -> (findings: [Finding], at: Date)? {
        let rows = try await storage.query(
            """
            SELECT subject, verdict, text, fix, cause, noted_ms FROM findings WHERE mirror = \(name) ORDER BY position
            """)
        guard let first = rows.first else { return nil }
        let findings = try rows.map { row in
            Finding(
                subject: try row.text("subject"),
                verdict: Finding.Verdict(rawValue: try row.text("verdict")) ?? .warn,
                text: try row.text("text"),
                fix: try row.optionalText("fix"),
                cause: try row.optionalText("cause").flatMap(Finding.Cause.init(rawValue:)))
        }
        return (findings, try first.date("noted_ms"))
    }

    /// Stores the findings of an examination, in place of the previous ones; does nothing for a
    /// mirror that has been moved away.
    ///
    /// - Throws: The store's error.
    package func keep(_ findings: [Finding], now: Date) async throws {
        guard try await table.record().move?.problem == nil else { return }
        let name = name
        try await storage.transaction { connection in
            try connection.execute("DELETE FROM findings WHERE mirror = \(name)")
            for (position, finding) in findings.enumerated() {
                try connection.execute(
                    """
                    INSERT INTO findings (mirror, position, subject, verdict, text, fix, cause, noted_ms)
                    VALUES (\(name), \(position), \(finding.subject), \(finding.verdict.rawValue), \(finding.text),
                        \(finding.fix), \(finding.cause?.rawValue), \(now.milliseconds))
                    """)
            }
        }
    }
}

/// The operator's own account on the bot's network, according to `OPERATOR_CONTACT`.
struct OperatorAccount: Equatable {
    /// The handle without `@`; nil if the contact is missing, or is no account of the network.
    let handle: String?
    private let site: String?

    /// - Parameter contact: A handle such as `@ann`, or the address of a profile such as
    ///   `https://x.com/ann`.
    init(_ contact: String?, on traits: NetworkTraits) {
        site = traits.site
        let text = contact ?? ""
        let name: Substring
        if text.hasPrefix("@") {
            name = text.dropFirst()
        } else if let url = URLComponents(string: text), let host = url.host,
            let site = traits.site,
            host == site || host == "www.\(site)"
        {
            name = url.path.drop { $0 == "/" }.prefix { $0 != "/" }
        } else {
            name = ""
        }
        handle = traits.isHandle(String(name)) ? String(name) : nil
    }

    /// Whether a profile's text names the account, as `@ann` or by its address.
    func isNamed(in bio: String) -> Bool {
        guard let handle = handle?.lowercased() else { return false }
        let text = bio.lowercased()
        let prefixes = ["@", site.map { "\($0)/" }].compactMap(\.self)
        return prefixes.contains { prefix in
            text.ranges(of: prefix + handle).contains { range in
                text[range.upperBound...].first.map { !$0.isLetter && !$0.isNumber && $0 != "_" }
                    ?? true
            }
        }
    }

    /// - Parameter network: The network's name for people.
    func finding(bio: String, on network: String) -> Finding {
        guard let handle else {
            return .warn(
                "operator",
                localized(
                    "\(Setting.operatorContact.name) does not name an account on \(network), which wants the profile of a bot to name the account of who runs it"
                ),
                fix: localized(
                    "set it to your own account there, such as @ann, and write that into the bot's profile"
                ))
        }
        if isNamed(in: bio) {
            return .ok("operator", localized("the bot's profile names @\(handle)"))
        }
        return .warn(
            "operator",
            localized(
                "the bot's profile does not name @\(handle), the account of who runs it, as \(network) wants"
            ),
            fix: localized("write @\(handle) into the bot's bio"))
    }
}
