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
        // Obstacles with the same code keep their order.
        return all.enumerated().sorted {
            ($0.element.code.rank, $0.offset) < ($1.element.code.rank, $1.offset)
        }.map(
            \.element)
    }

    private func unusableSetting(_ problem: String) -> Obstacle {
        makeObstacle(
            .settingUnusable, .stops, cause: problem, brief: "a stored setting cannot be used")
    }

    private static let allWork = Obstacle.Work.allCases

    /// Returns an obstacle whose proposed commands have the mirror's flags.
    ///
    /// - Parameter affectedWork: ``Obstacle/stops``; empty for an obstacle that affects no work.
    private func makeObstacle(
        _ code: Obstacle.Code, _ weight: Obstacle.Weight,
        affecting affectedWork: [Obstacle.Work] = HealthFacts.allWork,
        since: Date? = nil, cause: String, brief: String? = nil, remedy: Obstacle.Remedy? = nil,
        mender: Finding.Cause = .configuration
    ) -> Obstacle {
        func withFlags(_ text: String) -> String { CommandWords.adding(flags, to: text) }
        let remedy = remedy.map {
            Obstacle.Remedy(
                command: $0.command.map(withFlags), setting: $0.setting,
                text: $0.text.map(withFlags))
        }
        return Obstacle(
            code: code, since: since, stops: affectedWork, weight: weight, cause: withFlags(cause),
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
            obstacles.append(
                makeObstacle(code, .stops, since: move.since, cause: "the mirror \(local(problem))")
            )
        }
        if let pause {
            let reason = pause.reason.map { ": \($0)" } ?? ""
            let cause =
                "the mirror pauses since \(pause.beginning(in: zone)) \(pause.ending(in: zone))\(reason)"
            if pause.code == .firstPostHidden {
                obstacles.append(
                    makeObstacle(
                        .firstPostHidden, .stops, since: pause.since, cause: cause,
                        brief: "the bot's first post cannot be seen without a login",
                        remedy: .run(
                            "mirror-bot resume", text: "run mirror-bot resume if that is intended"))
                )
            } else {
                obstacles.append(
                    makeObstacle(
                        .paused, .wanted, since: pause.since, cause: cause,
                        brief: "the mirror pauses",
                        remedy: Obstacle.Remedy(command: "mirror-bot resume"), mender: .later))
            }
        }
        return obstacles
    }

    // MARK: The end

    private func retired(_ retirement: Retirement) -> Obstacle {
        let cause = "the mirror has retired at \(words(retirement.ended ?? retirement.date))"
        var obstacle = makeObstacle(
            .retired, .wanted, since: retirement.ended, cause: cause, mender: .later)
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
        let undoClause = retirement.takesBack ? ", and everything is taken back" : ""
        guard retirement.isDue(at: now) else {
            return [
                makeObstacle(
                    .retiring, .note, affecting: [],
                    cause: "the mirror retires at \(words(retirement.date))\(undoClause)",
                    remedy: .run(
                        "mirror-bot retire --cancel",
                        text: "mirror-bot retire --cancel takes that back"),
                    mender: .later)
            ]
        }
        let step =
            switch (retirement.begun, retirement.profileSettled) {
            case (nil, _): "a worker begins it"
            case (_, nil): "its last post and the bot's profile come first"
            default: "what is to be taken back is, and then the logins are removed"
            }
        return [
            makeObstacle(
                .retiring, .wanted, affecting: [.hearing, .favorites, .learning],
                since: retirement.date,
                cause: "the mirror retires since \(words(retirement.date)): \(step)", mender: .later
            )
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
                makeObstacle(
                    .consentUnstated, .note, affecting: [],
                    cause: "it is not recorded that the human agreed to this mirror",
                    remedy: .set(setting, text: "say it once: \(statement)"))
            ]
        case .missing:
            return [
                makeObstacle(
                    .noConsent, .stops, affecting: [.sending, .favorites],
                    cause: "nobody said that the human agreed to this mirror",
                    remedy: .set(setting, text: "\(login), or \(statement)"))
            ]
        case .stopped(let since):
            let cause = "the human stopped this mirror for good at \(words(since))"
            return [
                makeObstacle(
                    .stoppedByHuman, .stops, affecting: [.sending, .favorites], since: since,
                    cause: cause,
                    remedy: .set(
                        setting, text: "if they agree anew: a new \(login), or \(statement)"))
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
                makeObstacle(
                    .humanAway, .stops, affecting: [.sending, .favorites], since: standing.since,
                    cause: cause,
                    brief: standing.words,
                    remedy: .run(
                        "mirror-bot resume --knowing",
                        text:
                            "mirror-bot resume --knowing goes on all the same\(memorial), and mirror-bot retire ends the mirror"
                    ))
            ]
        }
        let network = accounts[.human]?.network.rawValue ?? "NETWORK"
        let host = standing.successor?.split(separator: "@").dropFirst().first
        let server = host.map { " --server https://\($0)" } ?? ""
        let login = "mirror-bot login \(network) --as human\(server) --rebind"
        return [
            makeObstacle(
                .humanMoved, .note, affecting: [], since: standing.since, cause: cause,
                brief: "the human has moved",
                remedy: .run(
                    login,
                    text:
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
            makeObstacle(
                .rulesChanged, .note, affecting: [],
                cause: "\(what) about bots in the rules of the bot's server \(verb) new or gone",
                remedy: .run("mirror-bot doctor", text: "mirror-bot doctor shows them"))
        ]
    }

    private var botObstacles: [Obstacle] {
        guard !isElsewhere else { return [] }
        var obstacles: [Obstacle] = []
        let workOfBot: [Obstacle.Work] = [.sending, .hearing, .favorites]
        if let account = accounts[.bot], let problem = account.problem {
            obstacles.append(
                makeObstacle(
                    account.isUnusable ? .botLoginUnusable : .noBotAccount, .stops,
                    affecting: workOfBot,
                    cause: problem,
                    brief: "the bot has no account that can be used",
                    remedy: Obstacle.Remedy(
                        command: "mirror-bot login \(account.network.rawValue) --as bot")))
        } else if areAccountsSame {
            obstacles.append(
                makeObstacle(
                    .sameAccount, .stops,
                    cause:
                        "bot and human are logged in with the same account; the bot needs its own"))
        }
        if zone == nil {
            let proposal = proposedZone.map { "; the archive says \($0)" } ?? ""
            obstacles.append(
                makeObstacle(
                    .noTimeZone, .stops, cause: "\(Setting.timeZone.name) is not set\(proposal)",
                    brief: "\(Setting.timeZone.name) is not set",
                    remedy: .set(Setting.timeZone.name)))
        }
        if hasBot {
            if let refusal = refusals[.bot] {
                obstacles.append(refused(.bot, by: refusal, affecting: workOfBot))
            }
            if let wait = wait(of: .bot, for: .publish), let weight = weight(of: wait) {
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
    private func wait(of role: AccountRole, for operation: NetworkError.Operation) -> AccountWait? {
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
        return makeObstacle(
            .sendingWaits, weight,
            affecting: stopsEverything ? [.sending, .hearing, .favorites] : [.sending],
            since: wait.since,
            cause: "\(brief): \(local(wait.error))", brief: brief, mender: .later)
    }

    /// The weight of a feed's error, by its duration until now, or until the end that the network
    /// named.
    ///
    /// - Parameter endsByItself: Whether the error is one that ends by itself within minutes.
    private func weight(of feed: FeedHealth, since: Date, endsByItself: Bool) -> Obstacle.Weight {
        let isMentions = feed.feed == FeedName.botMentions
        let accountWait = Self.operation(of: feed.feed).flatMap {
            wait(of: Self.role(of: feed.feed), for: $0)
        }
        var end = now
        if let accountWait, accountWait.holdsCalls { end = max(now, accountWait.until) }
        let start = min(since, accountWait?.since ?? since)
        if end.timeIntervalSince(start) >= Self.longWait { return isMentions ? .stops : .hinders }
        guard isOld(since) else { return .note }
        return isMentions && !endsByItself ? .stops : .hinders
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

    private func refused(
        _ role: AccountRole, by fault: WorkFault, affecting affectedWork: [Obstacle.Work]
    ) -> Obstacle {
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
        var obstacle = makeObstacle(
            code, .stops, affecting: affectedWork, since: fault.since,
            cause: "\(cause): \(local(fault.error))",
            brief: cause,
            remedy: Obstacle.Remedy(
                command: "mirror-bot login \(network) --as \(role.rawValue)",
                text: "mirror-bot login \(network) --as \(role.rawValue) logs in again"),
            mender: .refused)
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
            case .unreachable: .storeAway
            }
        return [
            makeObstacle(
                code, .stops, since: store.since, cause: local(store.text),
                brief: "the database cannot be used",
                mender: .unavailable)
        ]
    }

    // MARK: The worker

    private var endFault: WorkFault? { faults.first { $0.part == WorkFault.end } }

    private var workerObstacles: [Obstacle] {
        // Without a bot no worker can start; a mirror that lives elsewhere needs no worker here.
        guard !isElsewhere, hasBot else { return [] }
        let start = Obstacle.Remedy.run("mirror-bot run", text: "start one with mirror-bot run")
        switch worker {
        // A worker with other mirrors keeps holding a mirror whose own work has ended.
        case .running: if let endFault { return [ended(endFault)] }
        case .passes: break
        case .absent:
            if let endFault { return [ended(endFault)] }
            return [
                makeObstacle(
                    .noWorker, .stops, cause: "no worker is running",
                    remedy: setup.isEmpty ? start : lastStep,
                    mender: .later)
            ]
        case .late(let silence, let limit):
            return [
                makeObstacle(
                    .workerLate, .stops, since: now - silence,
                    cause:
                        "the worker's last beat was \(Int(silence)) s ago; after \(Int(limit)) s it counts as gone",
                    mender: .later)
            ]
        case .passLate(let last, let every):
            let minutes = max(1, Int((every / 60).rounded()))
            return [
                makeObstacle(
                    .passLate, .stops, since: last,
                    cause:
                        "mirror-bot run --once was called every \(minutes) min, and last ended at \(words(last))",
                    remedy: .doing("check the schedule that calls it"), mender: .later)
            ]
        }
        return lastingFaults.compactMap { fault -> Obstacle? in
            switch fault.part {
            case WorkFault.start:
                failing(
                    .startFails, .stops, affecting: HealthFacts.allWork,
                    brief: "the worker cannot begin", fault)
            case WorkFault.publisher:
                failing(
                    .publisherFails, .stops, affecting: [.sending],
                    brief: "\(fault.part) fails each time", fault)
            case FeedName.botMentions where !unreadFeeds.contains(fault.part):
                failing(
                    .mentionsFail, .stops, affecting: [.hearing],
                    brief: "\(fault.part) fails each time", fault)
            default: nil
            }
        }
    }

    /// The last step of the setup, which starts the worker; nil while other steps are left.
    private var lastStep: Obstacle.Remedy? {
        guard setup.count(where: { !$0.isDone }) == 1, let last = setup.last else { return nil }
        return .run(last.command, text: "start one with \(last.command)")
    }

    private func ended(_ fault: WorkFault) -> Obstacle {
        let mender: Finding.Cause =
            switch fault.code {
            case "configuration", "dictionary": .configuration
            case .some(let code) where code.hasPrefix("store-") || code == "counts": .unavailable
            case .some: .refused
            case nil: .unavailable
            }
        return makeObstacle(
            .workerEnded, .stops, since: fault.since,
            cause: "the worker ended at \(words(fault.since)): \(local(fault.error))",
            brief: "the worker has ended",
            remedy: .run("mirror-bot run", text: "fix that and start it again with mirror-bot run"),
            mender: mender)
    }

    /// The obstacle of a part of the work that fails each time, with the fault as its cause.
    private func failing(
        _ code: Obstacle.Code, _ weight: Obstacle.Weight, affecting affectedWork: [Obstacle.Work],
        brief: String, _ fault: WorkFault
    ) -> Obstacle {
        makeObstacle(
            code, weight, affecting: affectedWork, since: fault.since,
            cause: "\(brief) since \(words(fault.since)): \(local(fault.error))",
            brief: brief, mender: .unavailable)
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
            makeObstacle(
                .policyUnacknowledged, .stops, affecting: [.sending],
                cause: "\(Setting.acknowledgeXPolicy.name) is no",
                remedy: .set(
                    Setting.acknowledgeXPolicy.name, text: "the README says what X asks of a mirror"
                ))
        ]
    }

    private var archiveObstacles: [Obstacle] {
        guard !isElsewhere else { return [] }
        let train = Obstacle.Remedy.run(
            "mirror-bot train scheduler", text: "run mirror-bot train scheduler")
        if !knowsPast {
            return [
                makeObstacle(
                    .pastUnknown, .stops, affecting: [.sending],
                    cause: "the human's past has not been read",
                    remedy: train)
            ]
        }
        if !hasPosts {
            return [
                makeObstacle(
                    .archiveEmpty, .stops, affecting: [.sending], cause: "the archive is empty",
                    remedy: train)
            ]
        }
        if let obstacle = unverifiedPosts { return [obstacle] }
        guard isWithoutText, !deliberateLimits.onlyAnswers else { return [] }
        return [
            makeObstacle(
                .noFitText, .hinders, affecting: [.sending],
                cause: "none of the texts may be posted by itself",
                remedy: .set(
                    Setting.fitness.name,
                    text:
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
        let affectedWork: [Obstacle.Work] = unverified.isAll ? [.sending] : []
        let remedy = Obstacle.Remedy.set(
            Setting.trustArchive.name,
            text: "log the human in there, or \(Setting.trustArchive.name)=yes publishes them")
        return makeObstacle(
            .postsUnverified, weight, affecting: affectedWork, cause: cause, remedy: remedy)
    }

    private var budgetObstacles: [Obstacle] {
        var obstacles: [Obstacle] = []
        let paid = accounts.mapValues(\.network).filter { $0.value.descriptor.prices != nil }
        if let money, let network = paid.values.first,
            let setting = network.descriptor.prices?.budgetSetting
        {
            let changeOfBudget = Obstacle.Remedy.set(setting, text: "\(setting) changes that")
            let until =
                "until \(money.renews.rfc3339.prefix(10)): \(money.left) is left of the month's \(money.budget)"
            let brief =
                "until \(money.renews.rfc3339.prefix(10)), \(money.left) of \(money.budget) being left"
            func unpaid(
                _ code: Obstacle.Code, affecting affectedWork: [Obstacle.Work],
                _ consequence: String
            ) -> Obstacle {
                makeObstacle(
                    code, .stops, affecting: affectedWork, cause: "\(consequence) \(until)",
                    brief: brief, remedy: changeOfBudget,
                    mender: .unavailable)
            }
            if money.isSpent {
                var paidWork: [Obstacle.Work] =
                    paid[.bot] != nil ? [.sending, .hearing, .favorites] : []
                if paid[.human] != nil { paidWork.append(.learning) }
                obstacles.append(
                    unpaid(
                        .budgetSpent, affecting: paidWork, "\(network.displayName) is left alone"))
            } else {
                if money.lacksOwnPosts {
                    obstacles.append(
                        unpaid(
                            .ownPostsUnpaid, affecting: [.learning],
                            "the human's posts on \(network.displayName) are not read")
                    )
                }
                if money.lacksMentions {
                    obstacles.append(
                        unpaid(
                            .mentionsUnpaid, affecting: [.hearing],
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
            let affectedWork = Self.work(of: feed.feed)
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
                    return makeObstacle(
                        .feedWaits, .note, affecting: affectedWork, since: since, cause: cause,
                        brief: feed.feed,
                        mender: .later)
                }
                return waitingFeed(feed, since: since, cause: cause)
            case .rateLimited?, .capReached?:
                return waitingFeed(feed, since: since, cause: cause)
            case .creditsDepleted?:
                return makeObstacle(
                    .creditsDepleted, .stops, affecting: affectedWork, since: since, cause: cause,
                    brief: "X requires payment first",
                    remedy: .doing("add credits in the developer console"), mender: .unavailable)
            case .notFound?, .forbidden?:
                guard feed.feed == FeedName.humanPosts, isOld(since) else { break }
                return makeObstacle(
                    .humanGone, .stops, affecting: affectedWork, since: since, cause: cause,
                    brief: feed.feed,
                    remedy: .doing("see whether the human's account is private, or has moved"),
                    mender: .unavailable)
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
            let weight = weight(of: feed, since: since, endsByItself: false)
            return makeObstacle(
                obstacleCode, weight, affecting: affectedWork, since: since, cause: cause,
                brief: feed.feed,
                mender: .unavailable)
        }
    }

    /// The obstacle of a feed that waits until the network, or the budget, allows a request.
    private func waitingFeed(_ feed: FeedHealth, since: Date, cause: String) -> Obstacle {
        let weight = weight(of: feed, since: since, endsByItself: true)
        let code: Obstacle.Code = weight == .stops ? .mentionsUnread : .feedWaits
        return makeObstacle(
            code, weight, affecting: Self.work(of: feed.feed), since: since, cause: cause,
            brief: feed.feed,
            mender: .later)
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
            return makeObstacle(
                .itemsUnreached, .note, affecting: [], since: gap.from,
                cause:
                    "what came in \(feed) between \(words(gap.from)) and \(words(gap.to)) cannot be read any more"
            )
        }
        return makeObstacle(
            .itemsUnreached, .note, affecting: [],
            cause:
                "the network lists only the newest of \(feed): nothing before \(words(gap.to)) could be read",
            remedy: .run(
                "mirror-bot train scheduler --from ARCHIVE",
                text: "a downloaded archive has the rest: mirror-bot train scheduler --from ARCHIVE"
            ))
    }

    private var partObstacles: [Obstacle] {
        var obstacles: [Obstacle] = []
        let special = [WorkFault.start, WorkFault.publisher, FeedName.botMentions]
        for fault in lastingFaults
        where !special.contains(fault.part) && !unreadFeeds.contains(fault.part) {
            let affectedWork = Self.work(of: fault.part)
            let weight: Obstacle.Weight = affectedWork.isEmpty ? .hinders : .stops
            obstacles.append(
                failing(
                    .partFails, weight, affecting: affectedWork,
                    brief: "\(fault.part) fails each time", fault))
        }
        for feed in feeds {
            if feed.unreadable > 0 {
                obstacles.append(
                    makeObstacle(
                        .itemsUnreadable, .note, affecting: [],
                        cause:
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
                makeObstacle(
                    .unconfirmed, .note, affecting: [],
                    cause:
                        "\(subject) of the last day may or may not have arrived, because the answers were lost: \(names)\(rest)"
                ))
        }
        obstacles += setAside.map { makeObstacle(.rowsSetAside, .note, affecting: [], cause: $0) }
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
            ? .run("mirror-bot undo --resume", text: "\(byHand) mirror-bot undo --resume")
            : .run(
                "mirror-bot undo --resume", text: "a worker ends that, or mirror-bot undo --resume")
        return makeObstacle(
            .effectOpen, .note, affecting: [], since: effect.begun, cause: what + error,
            brief: what, remedy: remedy)
    }

    /// Seconds by which a clock may be wrong: a larger error disturbs OAuth and the age limit of
    /// mentions.
    private static let clockTolerance: TimeInterval = 60

    private var clock: [Obstacle] {
        let fault = faults.first { $0.part == WorkFault.clock }
        guard let lead = clockLead, abs(lead) > Self.clockTolerance else {
            guard clockLead == nil, let fault, worker.isAtWork else { return [] }
            return [wrongClock(since: fault.since, difference: fault.error, brief: "far")]
        }
        let seconds = "\(Int(abs(lead))) s"
        return [
            wrongClock(
                since: fault?.since ?? now,
                difference: "\(seconds) \(lead > 0 ? "ahead" : "behind")",
                brief: seconds)
        ]
    }

    private func wrongClock(since: Date, difference: String, brief: String) -> Obstacle {
        makeObstacle(
            .clockWrong, .hinders, affecting: [.sending, .hearing], since: since,
            cause: "this machine's clock is wrong by more than a minute: \(difference)",
            brief: brief,
            remedy: .doing("synchronize it with a time server"), mender: .unavailable)
    }

    // MARK: The plan

    private var planObstacles: [Obstacle] {
        guard !isElsewhere else { return [] }
        var obstacles: [Obstacle] = []
        if let zoneToCome {
            obstacles.append(makeObstacle(.zoneToCome, .note, affecting: [], cause: zoneToCome))
        }
        if let adoptedZone {
            obstacles.append(
                makeObstacle(
                    .zoneAdopted, .note, affecting: [], cause: adoptedZone,
                    remedy: .set(
                        Setting.timeZone.name,
                        text: "set \(Setting.timeZone.name) if the human lives in another")))
        }
        if let hold = deliberateLimits.uselessHold {
            obstacles.append(
                makeObstacle(.holdUseless, .note, affecting: [], cause: hold, brief: hold))
        }
        if let setting = deliberateLimits.noAnswers {
            obstacles.append(
                makeObstacle(
                    .noAnswers, .wanted, affecting: [], cause: "\(setting) is 0",
                    remedy: .set(setting)))
        }
        guard knowsPast, hasPosts else { return obstacles }
        if deliberateLimits.onlyAnswers {
            obstacles.append(
                makeObstacle(
                    .onlyAnswers, .wanted, affecting: [],
                    cause: "\(Setting.maxPerDay.name) is 0, so the bot only answers and favorites"))
        } else if deliberateLimits.isAlwaysQuiet {
            obstacles.append(
                makeObstacle(
                    .alwaysQuiet, .wanted, affecting: [],
                    cause: "\(Setting.quietHours.name) leave no minute of a day"))
        } else if isSilentDay {
            obstacles.append(
                makeObstacle(
                    .silentDay, .note, affecting: [],
                    cause: "the plan drew a day of silence, as the human has them"))
        } else if let end = deliberateLimits.quietUntil {
            obstacles.append(
                makeObstacle(
                    .quietHours, .note, affecting: [],
                    cause: "\(Setting.quietHours.name) last until \(end)"))
        }
        return obstacles
    }

    // MARK: Favorites

    private var favoriteObstacles: [Obstacle] {
        guard deliberateLimits.wantsFavorites else {
            return [
                makeObstacle(
                    .favoritesOff, .wanted, affecting: [.favorites],
                    cause: "\(Setting.favoriteMode.name) is off")
            ]
        }
        guard deliberateLimits.favoritesPerDay > 0 else {
            return [
                makeObstacle(
                    .noFavoritesADay, .wanted, affecting: [.favorites],
                    cause: "\(Setting.favoritesPerDay.name) is 0")
            ]
        }
        var obstacles: [Obstacle] = []
        if hasBot, let account = accounts[.bot], let problem = account.homeProblem {
            obstacles.append(
                makeObstacle(
                    .homeUnread, account.isHomeLeftOut ? .wanted : .stops, affecting: [.favorites],
                    cause: "the bot's home timeline is not read, for \(problem)"))
        }
        if favoritesToday >= deliberateLimits.favoritesPerDay {
            obstacles.append(
                makeObstacle(
                    .favoritesSpent, .note, affecting: [.favorites],
                    cause: "\(favoritesToday) of \(Setting.favoritesPerDay.name) are given"))
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
                makeObstacle(
                    .dictionaryMissing, .stops, affecting: [.favorites, .learning], cause: problem,
                    brief: "the dictionary cannot be opened",
                    remedy: .set(
                        Setting.dictionary.name, text: "\(Setting.dictionary.name) names it")
                ))
        case .counts(let problem):
            obstacles.append(
                makeObstacle(
                    .countsUnavailable, .stops, affecting: [.favorites, .learning], cause: problem,
                    brief: "the classifier's counts cannot be read", mender: .unavailable))
        case nil: break
        }
        if !learned.isEnough {
            obstacles.append(learningObstacle)
        } else if learned.seen >= Self.enoughSeen, !learned.hasDecided {
            let threshold = deliberateLimits.threshold.formatted(.number.grouping(.never))
            obstacles.append(
                makeObstacle(
                    .thresholdUnreached, .hinders, affecting: [.favorites],
                    cause:
                        "none of \(learned.seen) posts reached \(Setting.favoriteRateThreshold.name), which is \(threshold)",
                    remedy: .set(
                        Setting.favoriteRateThreshold.name,
                        text: "mirror-bot explain --text TEXT shows the rate of a post")))
        }
        return obstacles
    }

    /// The obstacle that too little was learned, with the steps that help; or that there is nothing
    /// to learn from.
    private var learningObstacle: Obstacle {
        var learnedCounts: [String] = []
        if learned.favorites < learned.needed {
            learnedCounts.append("\(learned.favorites) of \(learned.needed) favorites")
        }
        if learned.normals < learned.needed {
            learnedCounts.append("\(learned.normals) of \(learned.needed) normals")
        }
        let progress = learnedCounts.joined(separator: ", ") + " learned"
        let problemOfHuman = accounts[.human]?.homeProblem
        let problemOfBot = accounts[.bot]?.homeProblem
        if let problemOfHuman, let problemOfBot, hasBot {
            let causes =
                problemOfHuman == problemOfBot
                ? problemOfHuman : "\(problemOfHuman), and \(problemOfBot)"
            return makeObstacle(
                .nothingToLearnFrom, accounts[.bot]?.isHomeLeftOut == true ? .wanted : .stops,
                affecting: [.favorites],
                cause: "\(progress), and no home timeline is read to learn from, for \(causes)")
        }
        let steps = stepsToLearn
        return makeObstacle(
            .tooLittleLearned, .hinders, affecting: [.favorites], cause: progress,
            remedy: steps.isEmpty
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
                makeObstacle(
                    .review, .note, affecting: [], cause: "\(subject) for a person",
                    brief: "\(subject) for your decision: mirror-bot suggestions",
                    remedy: .run("mirror-bot suggestions", text: "see mirror-bot suggestions")))
        }
        if proposedUndos > 0 {
            let subject =
                proposedUndos == 1 ? "1 of the bot's posts" : "\(proposedUndos) of the bot's posts"
            obstacles.append(
                makeObstacle(
                    .undoProposed, .note, affecting: [],
                    cause:
                        "\(subject) outlived \(proposedUndos == 1 ? "its original" : "their originals")",
                    brief:
                        "\(proposedUndos) of the bot's posts outlived their originals: mirror-bot undo proposed",
                    remedy: .run("mirror-bot undo proposed", text: "see mirror-bot undo proposed")))
        }
        return obstacles
    }

    private var humanObstacles: [Obstacle] {
        if let account = accounts[.human], let problem = account.problem {
            return [
                account.isUnusable
                    ? makeObstacle(
                        .humanLoginUnusable, .stops, affecting: [.learning], cause: problem)
                    : makeObstacle(.noHumanAccount, .wanted, affecting: [.learning], cause: problem)
            ]
        }
        return refusals[.human].map { [refused(.human, by: $0, affecting: [.learning])] } ?? []
    }
}
