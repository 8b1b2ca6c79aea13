import Foundation
import Mirroring
import Networks
import Posts
import Settings

extension HealthFacts {
    /// Every obstacle that follows from the facts, in the order of ``Obstacle/Code``.
    var obstacles: [Obstacle] {
        // Without the mirror's own settings, no other fact can be judged.
        if let settingProblem { return [unusableSetting(settingProblem)] }
        if let retirement, retirement.isOver, !isElsewhere {
            return [retired(retirement)] + databaseObstacles
        }
        let all = [
            moveAndPauseObstacles, retirementObstacles, consentObstacles, standingObstacles,
            ruleObstacles, botObstacles, databaseObstacles, workerObstacles, policyObstacles,
            archiveObstacles, budgetObstacles, feedObstacles, partObstacles, planObstacles,
            favoriteObstacles, reviewObstacles, humanObstacles,
        ].flatMap(\.self)
        return all.enumerated()
            .sorted { ($0.element.code.rank, $0.offset) < ($1.element.code.rank, $1.offset) }.map(
                \.element)
    }

    private func unusableSetting(_ problem: String) -> Obstacle {
        make(.settingUnusable, .stops, problem, brief: "a stored setting cannot be used")
    }

    private static let all = Obstacle.Work.allCases

    private func make(
        _ code: Obstacle.Code, _ weight: Obstacle.Weight,
        of stops: [Obstacle.Work] = HealthFacts.all,
        since: Date? = nil, _ cause: String, brief: String? = nil, _ remedy: Obstacle.Remedy? = nil,
        by mender: Finding.Cause = .configuration
    ) -> Obstacle {
        func withFlags(_ text: String) -> String { CommandWords.adding(flags, to: text) }
        let remedy = remedy.map {
            Obstacle.Remedy(
                command: $0.command.map(withFlags), setting: $0.setting,
                text: $0.text.map(withFlags))
        }
        return Obstacle(
            code: code, since: since, stops: stops, weight: weight, cause: withFlags(cause),
            brief: withFlags(brief ?? cause),
            remedy: remedy, mender: mender)
    }

    /// `2026-11-20 12:03` on the mirror's clock.
    private func words(_ date: Date) -> String { LocalTime(date, in: zone ?? .gmt).description }

    /// Converts the times in a stored error to the mirror's clock.
    private func local(_ error: String) -> String {
        error.replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/) { match in
            Date(rfc3339: String(match.output)).map(words) ?? String(match.output)
        }
    }

    // MARK: The mirror as a whole

    private var isElsewhere: Bool { move?.problem != nil }

    /// Whether the bot has an account that its credentials may open.
    private var hasBot: Bool { accounts[.bot].map { $0.problem == nil } ?? true }

    private var moveAndPauseObstacles: [Obstacle] {
        var obstacles: [Obstacle] = []
        if let move, let problem = move.problem {
            let code: Obstacle.Code = move.state == .arriving ? .arriving : .moved
            obstacles.append(make(code, .stops, since: move.since, "the mirror \(local(problem))"))
        }
        if let pause {
            let reason = pause.reason.map { ": \($0)" } ?? ""
            let cause =
                "the mirror pauses since \(pause.beginning(in: zone)) \(pause.ending(in: zone))\(reason)"
            if pause.code == .firstPostHidden {
                obstacles.append(
                    make(
                        .firstPostHidden, .stops, since: pause.since, cause,
                        brief: "the bot's first post cannot be seen without a login",
                        .run("mirror-bot resume", "run mirror-bot resume if that is intended")))
            } else {
                obstacles.append(
                    make(
                        .paused, .wanted, since: pause.since, cause, brief: "the mirror pauses",
                        Obstacle.Remedy(command: "mirror-bot resume"), by: .later))
            }
        }
        return obstacles
    }

    // MARK: The end

    private func retired(_ retirement: Retirement) -> Obstacle {
        let cause = "the mirror has retired at \(words(retirement.ended ?? retirement.date))"
        var obstacle = make(.retired, .wanted, since: retirement.ended, cause, by: .later)
        let rolesWithLogin = AccountRole.allCases.filter {
            accounts[$0].map { $0.problem == nil } ?? false
        }
        if !rolesWithLogin.isEmpty {
            let roles = rolesWithLogin.map(\.rawValue).joined(separator: " and ")
            obstacle.remedy = .doing(
                "the login of the \(roles) is still there: remove it from the settings, or log out")
        } else if let note = retirement.profileNote {
            obstacle.remedy = .doing("the bot's profile does not say so: \(note)")
        }
        return obstacle
    }

    /// The obstacles from a planned or begun retirement.
    private var retirementObstacles: [Obstacle] {
        guard let retirement, !isElsewhere else { return [] }
        let after = retirement.takesBack ? ", and everything is taken back" : ""
        guard retirement.isDue(at: now) else {
            return [
                make(
                    .retiring, .note, of: [],
                    "the mirror retires at \(words(retirement.date))\(after)",
                    .run(
                        "mirror-bot retire --cancel", "mirror-bot retire --cancel takes that back"),
                    by: .later)
            ]
        }
        let step =
            switch (retirement.begun, retirement.profileSettled) {
            case (nil, _): "a worker begins it"
            case (_, nil): "its last post and the bot's profile come first"
            default: "what is to be taken back is, and then the logins are removed"
            }
        return [
            make(
                .retiring, .wanted, of: [.hearing, .favorites, .learning], since: retirement.date,
                "the mirror retires since \(words(retirement.date)): \(step)", by: .later)
        ]
    }

    /// The obstacles from a missing consent of the human; none without a bot that could send.
    private var consentObstacles: [Obstacle] {
        guard !isElsewhere, hasBot else { return [] }
        let network = accounts[.human]?.network.rawValue ?? "NETWORK"
        let login = "mirror-bot login \(network) --as human"
        let setting = Setting.humanConsent.name
        let statement = "mirror-bot set \(setting)=WHO, where WHO is \(HumanConsent.Ground.choices)"
        switch consent {
        case .given: return []
        case .unstated:
            return [
                make(
                    .consentUnstated, .note, of: [],
                    "it is not recorded that the human agreed to this mirror",
                    .set(setting, "say it once: \(statement)"))
            ]
        case .missing:
            return [
                make(
                    .noConsent, .stops, of: [.sending, .favorites],
                    "nobody said that the human agreed to this mirror",
                    .set(setting, "\(login), or \(statement)"))
            ]
        case .stopped(let since):
            let cause = "the human stopped this mirror for good at \(words(since))"
            return [
                make(
                    .stoppedByHuman, .stops, of: [.sending, .favorites], since: since, cause,
                    .set(setting, "if they agree anew: a new \(login), or \(statement)"))
            ]
        }
    }

    /// The obstacles from the state of the human's account, until a person wants the mirror to go
    /// on.
    private var standingObstacles: [Obstacle] {
        guard let standing, standing.goesOn == nil, !isElsewhere, hasBot else { return [] }
        let cause = "\(standing.words), seen at \(words(standing.since))"
        if standing.isHold {
            let memorial =
                standing.state == .memorial
                ? ", best after mirror-bot set \(Setting.memorial.name)=yes" : ""
            return [
                make(
                    .humanAway, .stops, of: [.sending, .favorites], since: standing.since, cause,
                    brief: standing.words,
                    .run(
                        "mirror-bot resume --knowing",
                        "mirror-bot resume --knowing goes on all the same\(memorial), and mirror-bot retire ends the mirror"
                    ))
            ]
        }
        let network = accounts[.human]?.network.rawValue ?? "NETWORK"
        let host = standing.successor?.split(separator: "@").dropFirst().first
        let server = host.map { " --server https://\($0)" } ?? ""
        let login = "mirror-bot login \(network) --as human\(server) --rebind"
        return [
            make(
                .humanMoved, .note, of: [], since: standing.since, cause,
                brief: "the human has moved",
                .run(
                    login,
                    "\(login) lets the mirror follow, and mirror-bot resume --knowing leaves it as it is"
                ))
        ]
    }

    /// Changes of the server's rules that the operator has not been shown.
    private var ruleObstacles: [Obstacle] {
        guard changedRules > 0, !isElsewhere, hasBot else { return [] }
        let what = changedRules == 1 ? "1 sentence" : "\(changedRules) sentences"
        let verb = changedRules == 1 ? "is" : "are"
        return [
            make(
                .rulesChanged, .note, of: [],
                "\(what) about bots in the rules of the bot's server \(verb) new or gone",
                .run("mirror-bot doctor", "mirror-bot doctor shows them"))
        ]
    }

    private var botObstacles: [Obstacle] {
        guard !isElsewhere else { return [] }
        var obstacles: [Obstacle] = []
        let sends: [Obstacle.Work] = [.sending, .hearing, .favorites]
        if let account = accounts[.bot], let problem = account.problem {
            obstacles.append(
                make(
                    account.isUnusable ? .botLoginUnusable : .noBotAccount, .stops, of: sends,
                    problem,
                    brief: "the bot has no account that can be used",
                    Obstacle.Remedy(
                        command: "mirror-bot login \(account.network.rawValue) --as bot")))
        } else if areAccountsSame {
            obstacles.append(
                make(
                    .sameAccount, .stops,
                    "bot and human are logged in with the same account; the bot needs its own"))
        }
        if zone == nil {
            let proposal = proposedZone.map { "; the archive says \($0)" } ?? ""
            obstacles.append(
                make(
                    .noTimeZone, .stops, "\(Setting.timeZone.name) is not set\(proposal)",
                    brief: "\(Setting.timeZone.name) is not set",
                    .set(Setting.timeZone.name)))
        }
        if hasBot {
            if let refusal = refusals[.bot] { obstacles.append(refused(.bot, refusal, sends)) }
            if let wait = wait(of: .bot, .publish), let weight = weight(of: wait) {
                obstacles.append(sendingWaits(wait, weight))
            }
        }
        return obstacles
    }

    // MARK: Waits

    /// Seconds from which on a condition counts as long, although it ends by itself.
    private static let longWait: TimeInterval = 3_600
    /// Seconds from which on a wait in which nothing is sent is reported: the bot's slots are
    /// minutes.
    private static let reportedWait: TimeInterval = 60
    /// Seconds after which a failure that was not repeated is ignored.
    private static let waitLifetime: TimeInterval = 86_400

    /// The longest of the waits of an account that are about an operation.
    private func wait(of role: AccountRole, _ operation: NetworkError.Operation) -> AccountWait? {
        (waits[role] ?? [])
            .filter {
                $0.scope.covers(operation) && now < max($0.until, $0.noted) + Self.waitLifetime
            }
            .max { $0.length < $1.length }
    }

    /// The weight of a wait in which nothing is sent, by its length; `nil` if it is too short, or
    /// over.
    ///
    /// A failure after which calls are not put off is reported only if it lasts, because a retry
    /// may succeed at any time.
    private func weight(of wait: AccountWait) -> Obstacle.Weight? {
        if wait.length >= Self.longWait { return .stops }
        if wait.holdsCalls {
            return wait.until > now && wait.length >= Self.reportedWait ? .hinders : nil
        }
        return wait.length >= WorkFault.recoveryTime ? .hinders : nil
    }

    private func sendingWaits(_ wait: AccountWait, _ weight: Obstacle.Weight) -> Obstacle {
        let stopsEverything = wait.scope == .everything
        let what =
            stopsEverything
            ? "the network takes no requests of the bot" : "the network takes no posts of the bot"
        let end = wait.holdsCalls && wait.until > now ? ", and not before \(words(wait.until))" : ""
        let brief = "\(what) since \(words(wait.since))\(end)"
        return make(
            .sendingWaits, weight,
            of: stopsEverything ? [.sending, .hearing, .favorites] : [.sending],
            since: wait.since,
            "\(brief): \(local(wait.error))", brief: brief, by: .later)
    }

    /// The weight of a feed's error, by its duration until now, or until the end that the network
    /// named.
    ///
    /// - Parameter passes: Whether the error is one that ends by itself within minutes.
    private func weight(of feed: FeedHealth, since: Date, passes: Bool) -> Obstacle.Weight {
        let isMentions = feed.feed == FeedName.botMentions
        let accountWait = Self.operation(of: feed.feed).flatMap {
            wait(of: Self.role(of: feed.feed), $0)
        }
        var end = now
        if let accountWait, accountWait.holdsCalls { end = max(now, accountWait.until) }
        let start = min(since, accountWait?.since ?? since)
        if end.timeIntervalSince(start) >= Self.longWait { return isMentions ? .stops : .hinders }
        guard isOld(since) else { return .note }
        return isMentions && !passes ? .stops : .hinders
    }

    /// The call that reads a feed; `nil` for a part of the work that is no feed.
    private static func operation(of feed: String) -> NetworkError.Operation? {
        switch feed {
        case FeedName.botMentions: .readMentions
        case FeedName.botHome, FeedName.seen: .readHome
        case FeedName.humanPosts: .readOwnPosts
        case FeedName.humanFavorites: .readFavorites
        default: nil
        }
    }

    private func refused(_ role: AccountRole, _ fault: WorkFault, _ stops: [Obstacle.Work])
        -> Obstacle
    {
        let isBot = role == .bot
        let code: Obstacle.Code =
            switch fault.code.flatMap(NetworkError.Code.init(rawValue:)) {
            case .missingScope?: isBot ? .botLacksScope : .humanLacksScope
            case .accountDisabled?: isBot ? .botDisabled : .humanDisabled
            default: isBot ? .botRefused : .humanRefused
            }
        let what =
            fault.code == NetworkError.Code.accountDisabled.rawValue ? "account" : "credentials"
        let cause = "the network refuses the \(role.rawValue)'s \(what) since \(words(fault.since))"
        let network = accounts[role]?.network.rawValue ?? "NETWORK"
        var obstacle = make(
            code, .stops, of: stops, since: fault.since, "\(cause): \(local(fault.error))",
            brief: cause,
            Obstacle.Remedy(
                command: "mirror-bot login \(network) --as \(role.rawValue)",
                text: "mirror-bot login \(network) --as \(role.rawValue) logs in again"),
            by: .refused)
        if what == "account" {
            obstacle.remedy = .doing("log in with a browser to see what the server wants")
        }
        return obstacle
    }

    private var databaseObstacles: [Obstacle] {
        guard let store else { return [] }
        let code: Obstacle.Code =
            switch store.kind {
            case .full: .storeFull
            case .readOnly: .storeReadOnly
            case .away: .storeAway
            }
        return [
            make(
                code, .stops, since: store.since, local(store.text),
                brief: "the database cannot be used",
                by: .unavailable)
        ]
    }

    // MARK: The worker

    private var endFault: WorkFault? { faults.first { $0.part == WorkFault.end } }

    private var workerObstacles: [Obstacle] {
        // Without a bot no worker can start; a mirror that lives elsewhere needs no worker here.
        guard !isElsewhere, hasBot else { return [] }
        let start = Obstacle.Remedy.run("mirror-bot run", "start one with mirror-bot run")
        switch worker {
        // A worker with other mirrors keeps holding a mirror whose own work has ended.
        case .running: if let endFault { return [ended(endFault)] }
        case .passes: break
        case .absent:
            if let endFault { return [ended(endFault)] }
            return [
                make(
                    .noWorker, .stops, "no worker is running", setup.isEmpty ? start : lastStep,
                    by: .later)
            ]
        case .late(let silence, let limit):
            return [
                make(
                    .workerLate, .stops, since: now - silence,
                    "the worker's last beat was \(Int(silence)) s ago; after \(Int(limit)) s it counts as gone",
                    by: .later)
            ]
        case .passLate(let last, let every):
            let minutes = max(1, Int((every / 60).rounded()))
            return [
                make(
                    .passLate, .stops, since: last,
                    "mirror-bot run --once was called every \(minutes) min, and last ended at \(words(last))",
                    .doing("check the schedule that calls it"), by: .later)
            ]
        }
        return lastingFaults.compactMap { fault -> Obstacle? in
            switch fault.part {
            case WorkFault.start:
                failing(.startFails, .stops, HealthFacts.all, "the worker cannot begin", fault)
            case WorkFault.publisher:
                failing(.publisherFails, .stops, [.sending], "\(fault.part) fails each time", fault)
            case FeedName.botMentions where !unreadFeeds.contains(fault.part):
                failing(.mentionsFail, .stops, [.hearing], "\(fault.part) fails each time", fault)
            default: nil
            }
        }
    }

    /// The last step of the setup, which starts the worker; nil while other steps are left.
    private var lastStep: Obstacle.Remedy? {
        guard setup.count(where: { !$0.isDone }) == 1, let last = setup.last else { return nil }
        return .run(last.command, "start one with \(last.command)")
    }

    private func ended(_ fault: WorkFault) -> Obstacle {
        let mender: Finding.Cause =
            switch fault.code {
            case "configuration", "dictionary": .configuration
            case .some(let code) where code.hasPrefix("store-") || code == "counts": .unavailable
            case .some: .refused
            case nil: .unavailable
            }
        return make(
            .workerEnded, .stops, since: fault.since,
            "the worker ended at \(words(fault.since)): \(local(fault.error))",
            brief: "the worker has ended",
            .run("mirror-bot run", "fix that and start it again with mirror-bot run"),
            by: mender)
    }

    private func failing(
        _ code: Obstacle.Code, _ weight: Obstacle.Weight, _ stops: [Obstacle.Work], _ brief: String,
        _ fault: WorkFault
    ) -> Obstacle {
        make(
            code, weight, of: stops, since: fault.since,
            "\(brief) since \(words(fault.since)): \(local(fault.error))",
            brief: brief, by: .unavailable)
    }

    /// The lasting faults, except those of the database, which has an obstacle of its own.
    private var lastingFaults: [WorkFault] {
        guard worker.isAtWork else { return [] }
        return faults.filter {
            $0.isLasting && ![WorkFault.end, WorkFault.clock].contains($0.part)
                && ($0.storeKind == nil || store == nil)
        }
    }

    // MARK: Policies, archive and budget

    private var policyObstacles: [Obstacle] {
        guard !isElsewhere, hasBot, !mayPublish else { return [] }
        return [
            make(
                .policyUnacknowledged, .stops, of: [.sending],
                "\(Setting.acknowledgeXPolicy.name) is no",
                .set(Setting.acknowledgeXPolicy.name, "the README says what X asks of a mirror"))
        ]
    }

    private var archiveObstacles: [Obstacle] {
        guard !isElsewhere else { return [] }
        let train = Obstacle.Remedy.run(
            "mirror-bot train scheduler", "run mirror-bot train scheduler")
        if !knowsPast {
            return [
                make(
                    .pastUnknown, .stops, of: [.sending], "the human's past has not been read",
                    train)
            ]
        }
        if !hasPosts {
            return [make(.archiveEmpty, .stops, of: [.sending], "the archive is empty", train)]
        }
        if let obstacle = unverifiedPosts { return [obstacle] }
        guard isWithoutText, !deliberateLimits.onlyAnswers else { return [] }
        return [
            make(
                .noFitText, .hinders, of: [.sending], "none of the texts may be posted by itself",
                .set(
                    Setting.fitness.name,
                    "mirror-bot status says by which rules; \(Setting.fitness.name), \(Setting.links.name) and \(Setting.media.name) decide on some"
                ))
        ]
    }

    private var unverifiedPosts: Obstacle? {
        guard let unverified else { return nil }
        let weight: Obstacle.Weight
        switch (unverified.isDecided, unverified.isAll) {
        case (true, true): weight = .wanted
        case (true, false): weight = .note
        case (false, true): weight = .stops
        case (false, false): weight = .hinders
        }
        let cause =
            unverified.isAll
            ? "nobody can be asked whether the posts of the archive are still there"
            : "nobody can be asked whether posts of a network that the human is not on are still there"
        let stops: [Obstacle.Work] = unverified.isAll ? [.sending] : []
        let remedy = Obstacle.Remedy.set(
            Setting.trustArchive.name,
            "log the human in there, or \(Setting.trustArchive.name)=yes publishes them")
        return make(.postsUnverified, weight, of: stops, cause, remedy)
    }

    private var budgetObstacles: [Obstacle] {
        var obstacles: [Obstacle] = []
        let paid = accounts.mapValues(\.network).filter { $0.value.descriptor.prices != nil }
        if let money, let network = paid.values.first,
            let setting = network.descriptor.prices?.budgetSetting
        {
            let change = Obstacle.Remedy.set(setting, "\(setting) changes that")
            let until =
                "until \(money.renews.rfc3339.prefix(10)): \(money.left) is left of the month's \(money.budget)"
            let brief =
                "until \(money.renews.rfc3339.prefix(10)), \(money.left) of \(money.budget) being left"
            func unpaid(_ code: Obstacle.Code, _ stops: [Obstacle.Work], _ what: String) -> Obstacle
            {
                make(
                    code, .stops, of: stops, "\(what) \(until)", brief: brief, change,
                    by: .unavailable)
            }
            if money.isSpent {
                var stops: [Obstacle.Work] =
                    paid[.bot] != nil ? [.sending, .hearing, .favorites] : []
                if paid[.human] != nil { stops.append(.learning) }
                obstacles.append(
                    unpaid(.budgetSpent, stops, "\(network.displayName) is left alone"))
            } else {
                if money.lacksOwnPosts {
                    obstacles.append(
                        unpaid(
                            .ownPostsUnpaid, [.learning],
                            "the human's posts on \(network.displayName) are not read")
                    )
                }
                if money.lacksMentions {
                    obstacles.append(
                        unpaid(
                            .mentionsUnpaid, [.hearing],
                            "the bot's mentions on \(network.displayName) are not read")
                    )
                }
            }
        }
        return obstacles
    }

    // MARK: Hearing

    /// The feeds that the worker should read, but cannot now.
    private var unreadableFeeds: [FeedHealth] {
        feeds.filter { feed in
            // Errors of a feed that is not read any more are ignored.
            let account = accounts[Self.role(of: feed.feed)]
            let isHome = [FeedName.botHome, FeedName.seen].contains(feed.feed)
            return feed.error != nil && account?.problem == nil
                && (!isHome || account?.homeProblem == nil)
        }
    }

    private var unreadFeeds: [String] { unreadableFeeds.map(\.feed) }

    private static func role(of feed: String) -> AccountRole {
        feed.hasPrefix("bot-") ? .bot : .human
    }

    private static func work(of part: String) -> [Obstacle.Work] {
        switch part {
        case FeedName.botMentions: [.hearing]
        case FeedName.botHome: [.favorites]
        case FeedName.humanPosts, FeedName.humanFavorites, FeedName.seen: [.learning]
        default: []
        }
    }

    private var feedObstacles: [Obstacle] {
        unreadableFeeds.compactMap { feed -> Obstacle? in
            guard let error = feed.error else { return nil }
            let since = feed.errorSince ?? .distantPast
            let code = feed.errorCode.map(NetworkError.Code.init(rawValue:))
            let cause = "\(feed.feed) cannot be read since \(words(since)): \(local(error))"
            let stops = Self.work(of: feed.feed)
            switch code {
            case .overBudget?:
                // The month's budget is an obstacle of its own; the share of a day is renewed on
                // the next day.
                guard money?.isSpent != true,
                    !(money?.lacksMentions == true && feed.feed == FeedName.botMentions),
                    !(money?.lacksOwnPosts == true && feed.feed == FeedName.humanPosts)
                else { return nil }
                // Learning is spread over the month, so that its feeds wait on most days.
                guard feed.feed == FeedName.botMentions else {
                    return make(
                        .feedWaits, .note, of: stops, since: since, cause, brief: feed.feed,
                        by: .later)
                }
                return waits(feed, since: since, cause)
            case .rateLimited?, .capReached?:
                return waits(feed, since: since, cause)
            case .creditsDepleted?:
                return make(
                    .creditsDepleted, .stops, of: stops, since: since, cause,
                    brief: "X requires payment first",
                    .doing("add credits in the developer console"), by: .unavailable)
            case .notFound?, .forbidden?:
                guard feed.feed == FeedName.humanPosts, isOld(since) else { break }
                return make(
                    .humanGone, .stops, of: stops, since: since, cause, brief: feed.feed,
                    .doing("see whether the human's account is private, or has moved"),
                    by: .unavailable)
            default: break
            }
            // A refusal of the account is an obstacle of its own.
            if let code, [.unauthorized, .missingScope, .accountDisabled].contains(code),
                refusals[Self.role(of: feed.feed)] != nil
            {
                return nil
            }
            let obstacleCode: Obstacle.Code =
                feed.feed == FeedName.botMentions ? .mentionsUnread : .feedUnread
            let weight = weight(of: feed, since: since, passes: false)
            return make(
                obstacleCode, weight, of: stops, since: since, cause, brief: feed.feed,
                by: .unavailable)
        }
    }

    /// The obstacle of a feed that waits until the network, or the budget, allows a request.
    private func waits(_ feed: FeedHealth, since: Date, _ cause: String) -> Obstacle {
        let weight = weight(of: feed, since: since, passes: true)
        let code: Obstacle.Code = weight == .stops ? .mentionsUnread : .feedWaits
        return make(
            code, weight, of: Self.work(of: feed.feed), since: since, cause, brief: feed.feed,
            by: .later)
    }

    /// Whether a condition has lasted so long that it is not expected to end by itself.
    private func isOld(_ since: Date) -> Bool {
        now.timeIntervalSince(since) >= WorkFault.recoveryTime
    }

    // MARK: Parts of the work

    /// The most items that an obstacle names.
    private static let mostNamed = 5

    private func unreached(_ gap: FeedHealth.Unreached, in feed: String) -> Obstacle {
        guard gap.isBeginning else {
            return make(
                .itemsUnreached, .note, of: [], since: gap.from,
                "what came in \(feed) between \(words(gap.from)) and \(words(gap.to)) cannot be read any more"
            )
        }
        return make(
            .itemsUnreached, .note, of: [],
            "the network lists only the newest of \(feed): nothing before \(words(gap.to)) could be read",
            .run(
                "mirror-bot train scheduler --from ARCHIVE",
                "a downloaded archive has the rest: mirror-bot train scheduler --from ARCHIVE"))
    }

    private var partObstacles: [Obstacle] {
        var obstacles: [Obstacle] = []
        let special = [WorkFault.start, WorkFault.publisher, FeedName.botMentions]
        for fault in lastingFaults
        where !special.contains(fault.part) && !unreadFeeds.contains(fault.part) {
            let stops = Self.work(of: fault.part)
            let weight: Obstacle.Weight = stops.isEmpty ? .hinders : .stops
            obstacles.append(
                failing(.partFails, weight, stops, "\(fault.part) fails each time", fault))
        }
        for feed in feeds {
            if feed.unreadable > 0 {
                obstacles.append(
                    make(
                        .itemsUnreadable, .note, of: [],
                        "\(feed.unreadable) of \(feed.feed) could not be read and are skipped until an update of "
                            + "mirror-bot"))
            }
            obstacles += feed.unreached.prefix(Self.mostNamed).map { unreached($0, in: feed.feed) }
        }
        if !unconfirmed.isEmpty {
            let names = unconfirmed.prefix(Self.mostNamed).joined(separator: ", ")
            let rest = unconfirmed.count > Self.mostNamed ? " and others" : ""
            let subject = unconfirmed.count == 1 ? "1 action" : "\(unconfirmed.count) actions"
            obstacles.append(
                make(
                    .unconfirmed, .note, of: [],
                    "\(subject) of the last day may or may not have arrived, because the answers were lost: \(names)\(rest)"
                ))
        }
        obstacles += setAside.map { make(.rowsSetAside, .note, of: [], $0) }
        obstacles += effects.prefix(Self.mostNamed).map(unfinished)
        obstacles += clock
        return obstacles
    }

    /// The obstacle of a probe, or of a change of the profile, that is not over.
    private func unfinished(_ effect: Effect) -> Obstacle {
        let begun = words(effect.begun)
        let what =
            switch effect.kind {
            case .probe:
                "posts of mirror-bot doctor --probe, begun \(begun), may still be at the bot's server"
            case .profile: "a change of the bot's profile, begun \(begun), may not be written"
            }
        let error = effect.error.map { ": \(local($0))" } ?? ""
        let byHand = effect.kind == .probe ? "delete them by hand, or run" : "run"
        let remedy: Obstacle.Remedy =
            effect.next == nil
            ? .run("mirror-bot undo --resume", "\(byHand) mirror-bot undo --resume")
            : .run("mirror-bot undo --resume", "a worker ends that, or mirror-bot undo --resume")
        return make(
            .effectOpen, .note, of: [], since: effect.begun, what + error, brief: what, remedy)
    }

    /// Seconds by which a clock may be wrong: a larger error disturbs OAuth and the age limit of
    /// mentions.
    private static let clockTolerance: TimeInterval = 60

    private var clock: [Obstacle] {
        let fault = faults.first { $0.part == WorkFault.clock }
        guard let lead = clockLead, abs(lead) > Self.clockTolerance else {
            guard clockLead == nil, let fault, worker.isAtWork else { return [] }
            return [wrongClock(since: fault.since, fault.error, brief: "far")]
        }
        let seconds = "\(Int(abs(lead))) s"
        return [
            wrongClock(
                since: fault?.since ?? now, "\(seconds) \(lead > 0 ? "ahead" : "behind")",
                brief: seconds)
        ]
    }

    private func wrongClock(since: Date, _ difference: String, brief: String) -> Obstacle {
        make(
            .clockWrong, .hinders, of: [.sending, .hearing], since: since,
            "this machine's clock is wrong by more than a minute: \(difference)", brief: brief,
            .doing("synchronize it with a time server"), by: .unavailable)
    }

    // MARK: The plan

    private var planObstacles: [Obstacle] {
        guard !isElsewhere else { return [] }
        var obstacles: [Obstacle] = []
        if let zoneToCome { obstacles.append(make(.zoneToCome, .note, of: [], zoneToCome)) }
        if let adoptedZone {
            obstacles.append(
                make(
                    .zoneAdopted, .note, of: [], adoptedZone,
                    .set(
                        Setting.timeZone.name,
                        "set \(Setting.timeZone.name) if the human lives in another")))
        }
        if let hold = deliberateLimits.uselessHold {
            obstacles.append(make(.holdUseless, .note, of: [], hold, brief: hold))
        }
        if let setting = deliberateLimits.noAnswers {
            obstacles.append(make(.noAnswers, .wanted, of: [], "\(setting) is 0", .set(setting)))
        }
        guard knowsPast, hasPosts else { return obstacles }
        if deliberateLimits.onlyAnswers {
            obstacles.append(
                make(
                    .onlyAnswers, .wanted, of: [],
                    "\(Setting.maxPerDay.name) is 0, so the bot only answers and favorites"))
        } else if deliberateLimits.isAlwaysQuiet {
            obstacles.append(
                make(
                    .alwaysQuiet, .wanted, of: [],
                    "\(Setting.quietHours.name) leave no minute of a day"))
        } else if isSilentDay {
            obstacles.append(
                make(
                    .silentDay, .note, of: [],
                    "the plan drew a day of silence, as the human has them"))
        } else if let end = deliberateLimits.quietUntil {
            obstacles.append(
                make(.quietHours, .note, of: [], "\(Setting.quietHours.name) last until \(end)"))
        }
        return obstacles
    }

    // MARK: Favorites

    private var favoriteObstacles: [Obstacle] {
        guard deliberateLimits.wantsFavorites else {
            return [
                make(
                    .favoritesOff, .wanted, of: [.favorites], "\(Setting.favoriteMode.name) is off")
            ]
        }
        guard deliberateLimits.favoritesPerDay > 0 else {
            return [
                make(
                    .noFavoritesADay, .wanted, of: [.favorites],
                    "\(Setting.favoritesPerDay.name) is 0")
            ]
        }
        var obstacles: [Obstacle] = []
        if hasBot, let account = accounts[.bot], let problem = account.homeProblem {
            obstacles.append(
                make(
                    .homeUnread, account.isHomeLeftOut ? .wanted : .stops, of: [.favorites],
                    "the bot's home timeline is not read, for \(problem)"))
        }
        if favoritesToday >= deliberateLimits.favoritesPerDay {
            obstacles.append(
                make(
                    .favoritesSpent, .note, of: [.favorites],
                    "\(favoritesToday) of \(Setting.favoritesPerDay.name) are given"))
        }
        return obstacles + classifierObstacles
    }

    /// If none of so many posts was worth a favorite, the threshold is too high.
    private static let enoughSeen = 1_000

    private var classifierObstacles: [Obstacle] {
        var obstacles: [Obstacle] = []
        switch classifierLack {
        case .dictionary(let problem):
            obstacles.append(
                make(
                    .dictionaryMissing, .stops, of: [.favorites, .learning], problem,
                    brief: "the dictionary cannot be opened",
                    .set(Setting.dictionary.name, "\(Setting.dictionary.name) names it")
                ))
        case .counts(let problem):
            obstacles.append(
                make(
                    .countsUnavailable, .stops, of: [.favorites, .learning], problem,
                    brief: "the classifier's counts cannot be read", by: .unavailable))
        case nil: break
        }
        if !learned.isEnough {
            obstacles.append(learningObstacle)
        } else if learned.seen >= Self.enoughSeen, !learned.hasDecided {
            let threshold = deliberateLimits.threshold.formatted(.number.grouping(.never))
            obstacles.append(
                make(
                    .thresholdUnreached, .hinders, of: [.favorites],
                    "none of \(learned.seen) posts reached \(Setting.favoriteRateThreshold.name), which is \(threshold)",
                    .set(
                        Setting.favoriteRateThreshold.name,
                        "mirror-bot explain --text TEXT shows the rate of a post")))
        }
        return obstacles
    }

    /// The obstacle that too little was learned, with the steps that help; or that there is nothing
    /// to learn from.
    private var learningObstacle: Obstacle {
        var lacks: [String] = []
        if learned.favorites < learned.needed {
            lacks.append("\(learned.favorites) of \(learned.needed) favorites")
        }
        if learned.normals < learned.needed {
            lacks.append("\(learned.normals) of \(learned.needed) normals")
        }
        let waiting = lacks.joined(separator: ", ") + " learned"
        let human = accounts[.human]?.homeProblem
        let bot = accounts[.bot]?.homeProblem
        if let human, let bot, hasBot {
            let causes = human == bot ? human : "\(human), and \(bot)"
            return make(
                .nothingToLearnFrom, accounts[.bot]?.isHomeLeftOut == true ? .wanted : .stops,
                of: [.favorites],
                "\(waiting), and no home timeline is read to learn from, for \(causes)")
        }
        let steps = stepsToLearn
        return make(
            .tooLittleLearned, .hinders, of: [.favorites], waiting,
            steps.isEmpty
                ? nil
                : Obstacle.Remedy(
                    command: "mirror-bot train classifier", text: steps.joined(separator: "; ")))
    }

    /// The steps that bring the posts still to be learned.
    private var stepsToLearn: [String] {
        let lacksFavorites = learned.favorites < learned.needed
        let lacksNormals = learned.normals < learned.needed
        let readsHome = accounts[.human].map { $0.homeProblem == nil } ?? true
        var steps: [String] = []
        if accounts[.human]?.problem != nil {
            if lacksFavorites { steps.append("run mirror-bot train classifier --from ARCHIVE") }
        } else if lacksFavorites || lacksNormals && readsHome {
            steps.append("run mirror-bot train classifier")
        }
        if lacksNormals, !readsHome {
            steps.append(
                "normals are learned from the bot's home timeline while mirror-bot run works")
        }
        return steps
    }

    // MARK: People

    private var reviewObstacles: [Obstacle] {
        var obstacles: [Obstacle] = []
        if suggestions > 0 {
            let subject = suggestions == 1 ? "1 action waits" : "\(suggestions) actions wait"
            obstacles.append(
                make(
                    .review, .note, of: [], "\(subject) for a person",
                    brief: "\(subject) for your decision: mirror-bot suggestions",
                    .run("mirror-bot suggestions", "see mirror-bot suggestions")))
        }
        if proposedUndos > 0 {
            let subject =
                proposedUndos == 1 ? "1 of the bot's posts" : "\(proposedUndos) of the bot's posts"
            obstacles.append(
                make(
                    .undoProposed, .note, of: [],
                    "\(subject) outlived \(proposedUndos == 1 ? "its original" : "their originals")",
                    brief:
                        "\(proposedUndos) of the bot's posts outlived their originals: mirror-bot undo proposed",
                    .run("mirror-bot undo proposed", "see mirror-bot undo proposed")))
        }
        return obstacles
    }

    private var humanObstacles: [Obstacle] {
        if let account = accounts[.human], let problem = account.problem {
            return [
                account.isUnusable
                    ? make(.humanLoginUnusable, .stops, of: [.learning], problem)
                    : make(.noHumanAccount, .wanted, of: [.learning], problem)
            ]
        }
        return refusals[.human].map { [refused(.human, $0, [.learning])] } ?? []
    }
}
