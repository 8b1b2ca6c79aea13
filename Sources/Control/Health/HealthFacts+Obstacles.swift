import Foundation
import Localization
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
            .settingUnusable, .stops, cause: problem,
            brief: localized("a stored setting cannot be used"))
    }

    private static let allWork = Obstacle.Work.allCases

    /// Returns an obstacle, and adds the mirror's flags to the commands that it proposes.
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

    /// A time in the mirror's zone, such as `2026-11-20 12:03`.
    private func words(_ date: Date) -> String { LocalTime(date, in: zone ?? .gmt).description }

    /// Converts the times in a stored error to the mirror's clock.
    private func local(_ error: String) -> String {
        StoredText.inWords(error).replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/) { match in
            Date(rfc3339: String(match.output)).map(words) ?? String(match.output)
        }
    }

    // MARK: The mirror as a whole

    /// Whether this copy of the mirror is not to be used, because of a move.
    private var isElsewhere: Bool { move?.problem != nil }

    /// Whether the bot has an account, according to the settings and the stored logins.
    private var hasBot: Bool { accounts[.bot].map { $0.problem == nil } ?? true }

    private var moveAndPauseObstacles: [Obstacle] {
        var obstacles: [Obstacle] = []
        if let move, let problem = move.problem {
            let code: Obstacle.Code = move.state == .arriving ? .arriving : .moved
            obstacles.append(
                makeObstacle(
                    code, .stops, since: move.since,
                    cause: localized("the mirror \(local(problem))")))
        }
        if let pause {
            let beginning = pause.beginning(in: zone)
            let ending = pause.ending(in: zone)
            let cause =
                pause.reason.map {
                    localized("the mirror pauses since \(beginning) \(ending): \($0)")
                } ?? localized("the mirror pauses since \(beginning) \(ending)")
            if pause.code == .firstPostHidden {
                obstacles.append(
                    makeObstacle(
                        .firstPostHidden, .stops, since: pause.since, cause: cause,
                        brief: localized("the bot's first post cannot be seen without a login"),
                        remedy: .run(
                            "mirror-bot resume",
                            text: localized("run mirror-bot resume if that is intended")))
                )
            } else {
                obstacles.append(
                    makeObstacle(
                        .paused, .wanted, since: pause.since, cause: cause,
                        brief: localized("the mirror pauses"),
                        remedy: Obstacle.Remedy(command: "mirror-bot resume"), mender: .later))
            }
        }
        return obstacles
    }

    // MARK: The end

    private func retired(_ retirement: Retirement) -> Obstacle {
        let cause = localized(
            "the mirror has retired at \(words(retirement.ended ?? retirement.date))")
        var obstacle = makeObstacle(
            .retired, .wanted, since: retirement.ended, cause: cause, mender: .later)
        let rolesWithLogin = AccountRole.allCases.filter {
            accounts[$0].map { $0.problem == nil } ?? false
        }
        if !rolesWithLogin.isEmpty {
            let remedy =
                switch (rolesWithLogin.contains(.human), rolesWithLogin.contains(.bot)) {
                case (true, true):
                    localized(
                        "the login of the human and bot is still there: remove it from the settings, or log out"
                    )
                case (true, false):
                    localized(
                        "the login of the human is still there: remove it from the settings, or log out"
                    )
                case (false, _):
                    localized(
                        "the login of the bot is still there: remove it from the settings, or log out"
                    )
                }
            obstacle.remedy = .doing(remedy)
        } else if let note = retirement.profileNote {
            obstacle.remedy = .doing(localized("the bot's profile does not say so: \(note)"))
        }
        return obstacle
    }

    /// The obstacles from a planned or begun retirement.
    private var retirementObstacles: [Obstacle] {
        guard let retirement, !isElsewhere else { return [] }
        guard retirement.isDue(at: now) else {
            let date = words(retirement.date)
            return [
                makeObstacle(
                    .retiring, .note, affecting: [],
                    cause: retirement.takesBack
                        ? localized("the mirror retires at \(date), and everything is taken back")
                        : localized("the mirror retires at \(date)"),
                    remedy: .run(
                        "mirror-bot retire --cancel",
                        text: localized("mirror-bot retire --cancel takes that back")),
                    mender: .later)
            ]
        }
        let step =
            switch (retirement.begun, retirement.profileSettled) {
            case (nil, _): localized("a worker begins it")
            case (_, nil): localized("its last post and the bot's profile come first")
            default: localized("what is to be taken back is, and then the logins are removed")
            }
        return [
            makeObstacle(
                .retiring, .wanted, affecting: [.hearing, .favorites, .learning],
                since: retirement.date,
                cause: localized("the mirror retires since \(words(retirement.date)): \(step)"),
                mender: .later
            )
        ]
    }

    /// The obstacles from a missing consent of the human; none without a bot that could send.
    private var consentObstacles: [Obstacle] {
        guard !isElsewhere, hasBot else { return [] }
        let network = accounts[.human]?.network.rawValue ?? "NETWORK"
        let setting = Setting.humanConsent.name
        let choices = HumanConsent.Ground.choices
        switch consent {
        case .given: return []
        case .unstated:
            return [
                makeObstacle(
                    .consentUnstated, .note, affecting: [],
                    cause: localized("it is not recorded that the human agreed to this mirror"),
                    remedy: .set(
                        setting,
                        text: localized(
                            "say it once: mirror-bot set \(setting)=WHO, where WHO is \(choices)")))
            ]
        case .missing:
            return [
                makeObstacle(
                    .noConsent, .stops, affecting: [.sending, .favorites],
                    cause: localized("nobody said that the human agreed to this mirror"),
                    remedy: .set(
                        setting,
                        text: localized(
                            "mirror-bot login \(network) --as human, or mirror-bot set \(setting)=WHO, where WHO is \(choices)"
                        )))
            ]
        case .stopped(let since):
            let cause = localized("the human stopped this mirror for good at \(words(since))")
            return [
                makeObstacle(
                    .stoppedByHuman, .stops, affecting: [.sending, .favorites], since: since,
                    cause: cause,
                    remedy: .set(
                        setting,
                        text: localized(
                            "if they agree anew: a new mirror-bot login \(network) --as human, or mirror-bot set \(setting)=WHO, where WHO is \(choices)"
                        )))
            ]
        }
    }

    /// The obstacles from the state of the human's account; none once a person has decided that the
    /// mirror goes on.
    private var standingObstacles: [Obstacle] {
        guard let standing, standing.goesOn == nil, !isElsewhere, hasBot else { return [] }
        let cause = localized("\(standing.words), seen at \(words(standing.since))")
        if standing.isHold {
            let remedy =
                standing.state == .memorial
                ? localized(
                    "mirror-bot resume --knowing goes on all the same, best after mirror-bot set \(Setting.memorial.name)=yes, and mirror-bot retire ends the mirror"
                )
                : localized(
                    "mirror-bot resume --knowing goes on all the same, and mirror-bot retire ends the mirror"
                )
            return [
                makeObstacle(
                    .humanAway, .stops, affecting: [.sending, .favorites], since: standing.since,
                    cause: cause,
                    brief: standing.words,
                    remedy: .run("mirror-bot resume --knowing", text: remedy))
            ]
        }
        let network = accounts[.human]?.network.rawValue ?? "NETWORK"
        // A successor on another server has the form `name@host`.
        let host = standing.successor?.split(separator: "@").dropFirst().first
        let server = host.map { " --server https://\($0)" } ?? ""
        let login = "mirror-bot login \(network) --as human\(server) --rebind"
        return [
            makeObstacle(
                .humanMoved, .note, affecting: [], since: standing.since, cause: cause,
                brief: localized("the human has moved"),
                remedy: .run(
                    login,
                    text:
                        localized(
                            "\(login) lets the mirror follow, and mirror-bot resume --knowing leaves it as it is"
                        )
                ))
        ]
    }

    /// Changes of the server's rules that the operator has not been shown.
    private var ruleObstacles: [Obstacle] {
        guard changedRules > 0, !isElsewhere, hasBot else { return [] }
        return [
            makeObstacle(
                .rulesChanged, .note, affecting: [],
                cause: changedRules == 1
                    ? localized(
                        "1 sentence about bots in the rules of the bot's server is new or gone")
                    : localized(
                        "\(changedRules) sentences about bots in the rules of the bot's server are new or gone"
                    ),
                remedy: .run("mirror-bot doctor", text: localized("mirror-bot doctor shows them")))
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
                    brief: localized("the bot has no account that can be used"),
                    remedy: Obstacle.Remedy(
                        command: "mirror-bot login \(account.network.rawValue) --as bot")))
        } else if areAccountsSame {
            obstacles.append(
                makeObstacle(
                    .sameAccount, .stops,
                    cause:
                        localized(
                            "bot and human are logged in with the same account; the bot needs its own"
                        )))
        }
        if zone == nil {
            let setting = Setting.timeZone.name
            obstacles.append(
                makeObstacle(
                    .noTimeZone, .stops,
                    cause: proposedZone.map {
                        localized("\(setting) is not set; the archive says \($0)")
                    } ?? localized("\(setting) is not set"),
                    brief: localized("\(setting) is not set"), remedy: .set(setting)))
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
    /// Seconds from which on a wait is reported in which nothing is sent.
    ///
    /// Shorter waits hardly matter, because slots are planned to the minute.
    private static let reportedWait: TimeInterval = 60
    /// Seconds after which a failure that was not repeated is ignored.
    private static let waitLifetime: TimeInterval = 86_400

    /// Returns the longest of an account's waits that apply to an operation; ignores outdated
    /// waits.
    private func wait(of role: AccountRole, for operation: NetworkError.Operation) -> AccountWait? {
        (waits[role] ?? [])
            .filter {
                $0.scope.covers(operation) && now < max($0.until, $0.noted) + Self.waitLifetime
            }
            .max { $0.length < $1.length }
    }

    /// Returns the weight of a wait in which nothing is sent, by its length; `nil` if the wait is
    /// too short, or over.
    ///
    /// After some failures calls are not put off. Such a failure is reported only if it lasts,
    /// because a retry may succeed at any time.
    private func weight(of wait: AccountWait) -> Obstacle.Weight? {
        if wait.length >= Self.longWait { return .stops }
        if wait.holdsCalls {
            return wait.until > now && wait.length >= Self.reportedWait ? .hinders : nil
        }
        return wait.length >= WorkFault.recoveryTime ? .hinders : nil
    }

    private func sendingWaits(_ wait: AccountWait, _ weight: Obstacle.Weight) -> Obstacle {
        let stopsEverything = wait.scope == .everything
        let since = words(wait.since)
        let until = wait.holdsCalls && wait.until > now ? words(wait.until) : nil
        let brief =
            switch (stopsEverything, until) {
            case (true, let until?):
                localized(
                    "the network takes no requests of the bot since \(since), and not before \(until)"
                )
            case (true, nil): localized("the network takes no requests of the bot since \(since)")
            case (false, let until?):
                localized(
                    "the network takes no posts of the bot since \(since), and not before \(until)")
            case (false, nil): localized("the network takes no posts of the bot since \(since)")
            }
        return makeObstacle(
            .sendingWaits, weight,
            affecting: stopsEverything ? [.sending, .hearing, .favorites] : [.sending],
            since: wait.since,
            cause: localized("\(brief): \(local(wait.error))"), brief: brief, mender: .later)
    }

    /// Returns the weight of a feed's error, by its duration.
    ///
    /// The duration ends now, or at the later time until which the network accepts no calls.
    ///
    /// - Parameter endsByItself: Whether such an error usually ends by itself within minutes.
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
        let isDisabled = fault.code == NetworkError.Code.accountDisabled.rawValue
        let since = words(fault.since)
        let cause =
            switch (role, isDisabled) {
            case (.bot, true): localized("the network refuses the bot's account since \(since)")
            case (.bot, false):
                localized("the network refuses the bot's credentials since \(since)")
            case (.human, true): localized("the network refuses the human's account since \(since)")
            case (.human, false):
                localized("the network refuses the human's credentials since \(since)")
            }
        let network = accounts[role]?.network.rawValue ?? "NETWORK"
        let login = "mirror-bot login \(network) --as \(role.rawValue)"
        var obstacle = makeObstacle(
            code, .stops, affecting: affectedWork, since: fault.since,
            cause: localized("\(cause): \(local(fault.error))"),
            brief: cause,
            remedy: Obstacle.Remedy(
                command: login, text: localized("\(login) logs in again")),
            mender: .refused)
        if isDisabled {
            obstacle.remedy = .doing(
                localized("log in with a browser to see what the server wants"))
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
                brief: localized("the database cannot be used"),
                mender: .unavailable)
        ]
    }

    // MARK: The worker

    private var endFault: WorkFault? { faults.first { $0.part == WorkFault.end } }

    private var workerObstacles: [Obstacle] {
        // Without a bot no worker can start; a mirror that lives elsewhere needs no worker here.
        guard !isElsewhere, hasBot else { return [] }
        let start = Obstacle.Remedy.run(
            "mirror-bot run", text: localized("start one with mirror-bot run"))
        switch worker {
        // A worker of several mirrors keeps the lease of a mirror whose work has ended, so that the
        // mirror still counts as running.
        case .running: if let endFault { return [ended(endFault)] }
        case .passes: break
        case .absent:
            if let endFault { return [ended(endFault)] }
            return [
                makeObstacle(
                    .noWorker, .stops, cause: localized("no worker is running"),
                    remedy: setup.isEmpty ? start : lastStep,
                    mender: .later)
            ]
        case .late(let silence, let limit):
            return [
                makeObstacle(
                    .workerLate, .stops, since: now - silence,
                    cause:
                        localized(
                            "the worker's last beat was \(Int(silence)) s ago; after \(Int(limit)) s it counts as gone"
                        ),
                    mender: .later)
            ]
        case .passLate(let last, let every):
            let minutes = max(1, Int((every / 60).rounded()))
            return [
                makeObstacle(
                    .passLate, .stops, since: last,
                    cause:
                        localized(
                            "mirror-bot run --once was called every \(minutes) min, and last ended at \(words(last))"
                        ),
                    remedy: .doing(localized("check the schedule that calls it")), mender: .later)
            ]
        }
        return lastingFaults.compactMap { fault -> Obstacle? in
            switch fault.part {
            case WorkFault.start:
                failing(
                    .startFails, .stops, affecting: HealthFacts.allWork, fault)
            case WorkFault.publisher:
                failing(
                    .publisherFails, .stops, affecting: [.sending], fault)
            case FeedName.botMentions where !unreadFeeds.contains(fault.part):
                failing(
                    .mentionsFail, .stops, affecting: [.hearing], fault)
            default: nil
            }
        }
    }

    /// The last step of the setup, which starts the worker; nil while other steps are left.
    private var lastStep: Obstacle.Remedy? {
        guard setup.count(where: { !$0.isDone }) == 1, let last = setup.last else { return nil }
        return .run(last.command, text: localized("start one with \(last.command)"))
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
            cause: localized("the worker ended at \(words(fault.since)): \(local(fault.error))"),
            brief: localized("the worker has ended"),
            remedy: .run(
                "mirror-bot run", text: localized("fix that and start it again with mirror-bot run")
            ),
            mender: mender)
    }

    /// The obstacle of a part of the work that fails each time, with the fault as its cause.
    private func failing(
        _ code: Obstacle.Code, _ weight: Obstacle.Weight, affecting affectedWork: [Obstacle.Work],
        _ fault: WorkFault
    ) -> Obstacle {
        let since = words(fault.since)
        let error = local(fault.error)
        let isStart = code == .startFails
        return makeObstacle(
            code, weight, affecting: affectedWork, since: fault.since,
            cause: isStart
                ? localized("the worker cannot begin since \(since): \(error)")
                : localized("\(fault.part) fails each time since \(since): \(error)"),
            brief: isStart
                ? localized("the worker cannot begin") : localized("\(fault.part) fails each time"),
            mender: .unavailable)
    }

    /// The lasting faults of a worker at work, except those about its end, the clock and an
    /// unusable database, which have obstacles of their own.
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
                cause: localized("\(Setting.acknowledgeXPolicy.name) is no"),
                remedy: .set(
                    Setting.acknowledgeXPolicy.name,
                    text: localized("the README says what X asks of a mirror")
                ))
        ]
    }

    private var archiveObstacles: [Obstacle] {
        guard !isElsewhere else { return [] }
        let train = Obstacle.Remedy.run(
            "mirror-bot train scheduler", text: localized("run mirror-bot train scheduler"))
        if !knowsPast {
            return [
                makeObstacle(
                    .pastUnknown, .stops, affecting: [.sending],
                    cause: localized("the human's past has not been read"),
                    remedy: train)
            ]
        }
        if !hasPosts {
            return [
                makeObstacle(
                    .archiveEmpty, .stops, affecting: [.sending],
                    cause: localized("the archive is empty"),
                    remedy: train)
            ]
        }
        if let obstacle = unverifiedPosts { return [obstacle] }
        guard isWithoutText, !deliberateLimits.onlyAnswers else { return [] }
        return [
            makeObstacle(
                .noFitText, .hinders, affecting: [.sending],
                cause: localized("none of the texts may be posted by itself"),
                remedy: .set(
                    Setting.fitness.name,
                    text:
                        localized(
                            "mirror-bot status says by which rules; \(Setting.fitness.name), \(Setting.links.name) and \(Setting.media.name) decide on some"
                        )
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
            ? localized("nobody can be asked whether the posts of the archive are still there")
            : localized(
                "nobody can be asked whether posts of a network that the human is not on are still there"
            )
        let affectedWork: [Obstacle.Work] = unverified.isAll ? [.sending] : []
        let remedy = Obstacle.Remedy.set(
            Setting.trustArchive.name,
            text: localized(
                "log the human in there, or \(Setting.trustArchive.name)=yes publishes them"))
        return makeObstacle(
            .postsUnverified, weight, affecting: affectedWork, cause: cause, remedy: remedy)
    }

    private var budgetObstacles: [Obstacle] {
        var obstacles: [Obstacle] = []
        let paid = accounts.mapValues(\.network).filter { $0.value.descriptor.prices != nil }
        if let money, let network = paid.values.first,
            let setting = network.descriptor.prices?.budgetSetting
        {
            let changeOfBudget = Obstacle.Remedy.set(
                setting, text: localized("\(setting) changes that"))
            let name = network.displayName
            let until = money.renews.rfc3339.prefix(10)
            let brief = localized("until \(until), \(money.left) of \(money.budget) being left")
            func unpaid(
                _ code: Obstacle.Code, affecting affectedWork: [Obstacle.Work], _ cause: String
            ) -> Obstacle {
                makeObstacle(
                    code, .stops, affecting: affectedWork, cause: cause, brief: brief,
                    remedy: changeOfBudget,
                    mender: .unavailable)
            }
            if money.isSpent {
                var paidWork: [Obstacle.Work] =
                    paid[.bot] != nil ? [.sending, .hearing, .favorites] : []
                if paid[.human] != nil { paidWork.append(.learning) }
                obstacles.append(
                    unpaid(
                        .budgetSpent, affecting: paidWork,
                        localized(
                            "\(name) is left alone until \(until): \(money.left) is left of the month's \(money.budget)"
                        )))
            } else {
                if money.lacksOwnPosts {
                    obstacles.append(
                        unpaid(
                            .ownPostsUnpaid, affecting: [.learning],
                            localized(
                                "the human's posts on \(name) are not read until \(until): \(money.left) is left of the month's \(money.budget)"
                            ))
                    )
                }
                if money.lacksMentions {
                    obstacles.append(
                        unpaid(
                            .mentionsUnpaid, affecting: [.hearing],
                            localized(
                                "the bot's mentions on \(name) are not read until \(until): \(money.left) is left of the month's \(money.budget)"
                            ))
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

    /// Returns the kinds of work that a feed serves; empty for a part of the work that is no feed.
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
            let cause = localized(
                "\(feed.feed) cannot be read since \(words(since)): \(local(error))")
            let affectedWork = Self.work(of: feed.feed)
            switch code {
            case .overBudget?:
                // An exhausted month's budget has an obstacle of its own. Otherwise only the day's
                // share is used up, which is renewed on the next day.
                guard money?.isSpent != true,
                    !(money?.lacksMentions == true && feed.feed == FeedName.botMentions),
                    !(money?.lacksOwnPosts == true && feed.feed == FeedName.humanPosts)
                else { return nil }
                // Learning is spread over the month, so that its feeds wait on most days. That is
                // only a note.
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
                    brief: localized("X requires payment first"),
                    remedy: .doing(localized("add credits in the developer console")),
                    mender: .unavailable)
            case .notFound?, .forbidden?:
                guard feed.feed == FeedName.humanPosts, isOld(since) else { break }
                return makeObstacle(
                    .humanGone, .stops, affecting: affectedWork, since: since, cause: cause,
                    brief: feed.feed,
                    remedy: .doing(
                        localized("see whether the human's account is private, or has moved")),
                    mender: .unavailable)
            default: break
            }
            // A refusal of the account has an obstacle of its own.
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
                    localized(
                        "what came in \(feed) between \(words(gap.from)) and \(words(gap.to)) cannot be read any more"
                    )
            )
        }
        return makeObstacle(
            .itemsUnreached, .note, affecting: [],
            cause:
                localized(
                    "the network lists only the newest of \(feed): nothing before \(words(gap.to)) could be read"
                ),
            remedy: .run(
                "mirror-bot train scheduler --from ARCHIVE",
                text: localized(
                    "a downloaded archive has the rest: mirror-bot train scheduler --from ARCHIVE")
            ))
    }

    private var partObstacles: [Obstacle] {
        var obstacles: [Obstacle] = []
        // `workerObstacles` reports the faults of these parts.
        let special = [WorkFault.start, WorkFault.publisher, FeedName.botMentions]
        for fault in lastingFaults
        where !special.contains(fault.part) && !unreadFeeds.contains(fault.part) {
            let affectedWork = Self.work(of: fault.part)
            let weight: Obstacle.Weight = affectedWork.isEmpty ? .hinders : .stops
            obstacles.append(
                failing(
                    .partFails, weight, affecting: affectedWork, fault))
        }
        for feed in feeds {
            if feed.unreadable > 0 {
                obstacles.append(
                    makeObstacle(
                        .itemsUnreadable, .note, affecting: [],
                        cause:
                            localized(
                                "\(feed.unreadable) of \(feed.feed) could not be read and are skipped until an update of mirror-bot"
                            )))
            }
            obstacles += feed.unreached.prefix(Self.mostNamed).map { unreached($0, in: feed.feed) }
        }
        if !unconfirmed.isEmpty {
            obstacles.append(makeObstacle(.unconfirmed, .note, affecting: [], cause: causeOfDoubt))
        }
        obstacles += setAside.map { makeObstacle(.rowsSetAside, .note, affecting: [], cause: $0) }
        obstacles += effects.prefix(Self.mostNamed).map(unfinished)
        obstacles += clock
        return obstacles
    }

    /// The sentence about ``unconfirmed`` actions.
    private var causeOfDoubt: String {
        let number = unconfirmed.count
        let names = unconfirmed.prefix(Self.mostNamed).joined(by: .comma)
        if number > Self.mostNamed {
            return localized(
                "\(number) actions of the last day may or may not have arrived, because the answers were lost: \(names) and others"
            )
        }
        if number == 1 {
            return localized(
                "1 action of the last day may or may not have arrived, because the answers were lost: \(names)"
            )
        }
        return localized(
            "\(number) actions of the last day may or may not have arrived, because the answers were lost: \(names)"
        )
    }

    /// The obstacle of a probe, or of a change of the profile, that is not over.
    private func unfinished(_ effect: Effect) -> Obstacle {
        let begun = words(effect.begun)
        let what =
            switch effect.kind {
            case .probe:
                localized(
                    "posts of mirror-bot doctor --probe, begun \(begun), may still be at the bot's server"
                )
            case .profile:
                localized("a change of the bot's profile, begun \(begun), may not be written")
            }
        let remedy =
            if effect.next != nil {
                localized("a worker ends that, or mirror-bot undo --resume")
            } else if effect.kind == .probe {
                localized("delete them by hand, or run mirror-bot undo --resume")
            } else {
                localized("run mirror-bot undo --resume")
            }
        return makeObstacle(
            .effectOpen, .note, affecting: [], since: effect.begun,
            cause: effect.error.map { localized("\(what): \(local($0))") } ?? what, brief: what,
            remedy: .run("mirror-bot undo --resume", text: remedy))
    }

    /// Seconds by which a clock may be wrong: a larger error disturbs OAuth and the age limit of
    /// mentions.
    private static let clockTolerance: TimeInterval = 60

    private var clock: [Obstacle] {
        let fault = faults.first { $0.part == WorkFault.clock }
        guard let lead = clockLead, abs(lead) > Self.clockTolerance else {
            // Without a measurement, a noted fault of the clock is reported.
            guard clockLead == nil, let fault, worker.isAtWork else { return [] }
            return [
                wrongClock(since: fault.since, difference: fault.error, brief: localized("far"))
            ]
        }
        let seconds = Int(abs(lead))
        return [
            wrongClock(
                since: fault?.since ?? now,
                difference: lead > 0
                    ? localized("\(seconds) s ahead") : localized("\(seconds) s behind"),
                brief: localized("\(seconds) s"))
        ]
    }

    private func wrongClock(since: Date, difference: String, brief: String) -> Obstacle {
        makeObstacle(
            .clockWrong, .hinders, affecting: [.sending, .hearing], since: since,
            cause: localized("this machine's clock is wrong by more than a minute: \(difference)"),
            brief: brief,
            remedy: .doing(localized("synchronize it with a time server")), mender: .unavailable)
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
                        text: localized(
                            "set \(Setting.timeZone.name) if the human lives in another"))))
        }
        if let hold = deliberateLimits.uselessHold {
            obstacles.append(
                makeObstacle(.holdUseless, .note, affecting: [], cause: hold, brief: hold))
        }
        if let setting = deliberateLimits.noAnswers {
            obstacles.append(
                makeObstacle(
                    .noAnswers, .wanted, affecting: [], cause: localized("\(setting) is 0"),
                    remedy: .set(setting)))
        }
        guard knowsPast, hasPosts else { return obstacles }
        if deliberateLimits.onlyAnswers {
            obstacles.append(
                makeObstacle(
                    .onlyAnswers, .wanted, affecting: [],
                    cause: localized(
                        "\(Setting.maxPerDay.name) is 0, so the bot only answers and favorites")))
        } else if deliberateLimits.isAlwaysQuiet {
            obstacles.append(
                makeObstacle(
                    .alwaysQuiet, .wanted, affecting: [],
                    cause: localized("\(Setting.quietHours.name) leave no minute of a day")))
        } else if isSilentDay {
            obstacles.append(
                makeObstacle(
                    .silentDay, .note, affecting: [],
                    cause: localized("the plan drew a day of silence, as the human has them")))
        } else if let end = deliberateLimits.quietUntil {
            obstacles.append(
                makeObstacle(
                    .quietHours, .note, affecting: [],
                    cause: localized("\(Setting.quietHours.name) last until \(end)")))
        }
        return obstacles
    }

    // MARK: Favorites

    private var favoriteObstacles: [Obstacle] {
        guard deliberateLimits.wantsFavorites else {
            return [
                makeObstacle(
                    .favoritesOff, .wanted, affecting: [.favorites],
                    cause: localized("\(Setting.favoriteMode.name) is off"))
            ]
        }
        guard deliberateLimits.favoritesPerDay > 0 else {
            return [
                makeObstacle(
                    .noFavoritesADay, .wanted, affecting: [.favorites],
                    cause: localized("\(Setting.favoritesPerDay.name) is 0"))
            ]
        }
        var obstacles: [Obstacle] = []
        if hasBot, let account = accounts[.bot], let problem = account.homeProblem {
            obstacles.append(
                makeObstacle(
                    .homeUnread, account.isHomeLeftOut ? .wanted : .stops, affecting: [.favorites],
                    cause: localized("the bot's home timeline is not read, for \(problem)")))
        }
        if favoritesToday >= deliberateLimits.favoritesPerDay {
            obstacles.append(
                makeObstacle(
                    .favoritesSpent, .note, affecting: [.favorites],
                    cause: localized(
                        "\(favoritesToday) of \(Setting.favoritesPerDay.name) are given")))
        }
        return obstacles + classifierObstacles
    }

    /// The number of seen posts from which on a threshold counts as too high if none of them
    /// reached it.
    private static let enoughSeen = 1_000

    private var classifierObstacles: [Obstacle] {
        var obstacles: [Obstacle] = []
        switch classifierLack {
        case .dictionary(let problem):
            obstacles.append(
                makeObstacle(
                    .dictionaryMissing, .stops, affecting: [.favorites, .learning], cause: problem,
                    brief: localized("the dictionary cannot be opened"),
                    remedy: .set(
                        Setting.dictionary.name,
                        text: localized("\(Setting.dictionary.name) names it"))
                ))
        case .counts(let problem):
            obstacles.append(
                makeObstacle(
                    .countsUnavailable, .stops, affecting: [.favorites, .learning], cause: problem,
                    brief: localized("the classifier's counts cannot be read"), mender: .unavailable
                ))
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
                        localized(
                            "none of \(learned.seen) posts reached \(Setting.favoriteRateThreshold.name), which is \(threshold)"
                        ),
                    remedy: .set(
                        Setting.favoriteRateThreshold.name,
                        text: localized("mirror-bot explain --text TEXT shows the rate of a post")))
            )
        }
        return obstacles
    }

    /// The obstacle that too little was learned, with the steps that help; or that there is nothing
    /// to learn from.
    private var learningObstacle: Obstacle {
        let favorites = learned.favorites
        let normals = learned.normals
        let needed = learned.needed
        let progress =
            if favorites >= needed {
                localized("\(normals) of \(needed) normals learned")
            } else if normals >= needed {
                localized("\(favorites) of \(needed) favorites learned")
            } else {
                localized(
                    "\(favorites) of \(needed) favorites, \(normals) of \(needed) normals learned")
            }
        let problemOfHuman = accounts[.human]?.homeProblem
        let problemOfBot = accounts[.bot]?.homeProblem
        if let problemOfHuman, let problemOfBot, hasBot {
            let cause =
                problemOfHuman == problemOfBot
                ? localized(
                    "\(progress), and no home timeline is read to learn from, for \(problemOfHuman)"
                )
                : localized(
                    "\(progress), and no home timeline is read to learn from, for \(problemOfHuman), and \(problemOfBot)"
                )
            return makeObstacle(
                .nothingToLearnFrom, accounts[.bot]?.isHomeLeftOut == true ? .wanted : .stops,
                affecting: [.favorites],
                cause: cause)
        }
        let steps = stepsToLearn
        return makeObstacle(
            .tooLittleLearned, .hinders, affecting: [.favorites], cause: progress,
            remedy: steps.isEmpty
                ? nil
                : Obstacle.Remedy(
                    command: "mirror-bot train classifier",
                    text: steps.joined(by: .semicolon)))
    }

    /// The steps by which the classifier learns the favorites and normals that it still needs.
    private var stepsToLearn: [String] {
        let lacksFavorites = learned.favorites < learned.needed
        let lacksNormals = learned.normals < learned.needed
        let readsHome = accounts[.human].map { $0.homeProblem == nil } ?? true
        var steps: [String] = []
        if accounts[.human]?.problem != nil {
            if lacksFavorites {
                steps.append(localized("run mirror-bot train classifier --from ARCHIVE"))
            }
        } else if lacksFavorites || lacksNormals && readsHome {
            steps.append(localized("run mirror-bot train classifier"))
        }
        if lacksNormals, !readsHome {
            steps.append(
                localized(
                    "normals are learned from the bot's home timeline while mirror-bot run works"))
        }
        return steps
    }

    // MARK: People

    private var reviewObstacles: [Obstacle] {
        var obstacles: [Obstacle] = []
        if suggestions > 0 {
            let cause =
                suggestions == 1
                ? localized("1 action waits for a person")
                : localized("\(suggestions) actions wait for a person")
            let brief =
                suggestions == 1
                ? localized("1 action waits for your decision: mirror-bot suggestions")
                : localized("\(suggestions) actions wait for your decision: mirror-bot suggestions")
            obstacles.append(
                makeObstacle(
                    .review, .note, affecting: [], cause: cause, brief: brief,
                    remedy: .run(
                        "mirror-bot suggestions", text: localized("see mirror-bot suggestions"))))
        }
        if proposedUndos > 0 {
            let cause =
                proposedUndos == 1
                ? localized("1 of the bot's posts outlived its original")
                : localized("\(proposedUndos) of the bot's posts outlived their originals")
            obstacles.append(
                makeObstacle(
                    .undoProposed, .note, affecting: [],
                    cause: cause,
                    brief: localized(
                        "\(proposedUndos) of the bot's posts outlived their originals: mirror-bot undo proposed"
                    ),
                    remedy: .run(
                        "mirror-bot undo proposed", text: localized("see mirror-bot undo proposed"))
                ))
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
