import ArgumentParser
import Control
import Foundation
import Import
import Localization
import Mirroring
import Networks
import Posts
import Settings

/// A guided walk through the open steps of a setup.
///
/// The open steps are read from the database before each step, and each is done by the command that
/// a person would type for it. An interrupted walk therefore continues at the same step.
struct SetupWalk {
    private enum Outcome {
        case done
        /// There was no answer, or the person postpones the step.
        case postponed
    }

    /// The steps that ask nothing themselves.
    ///
    /// After a failure of such a step, the person is asked whether to try again. The other steps
    /// simply ask their question again.
    private static let withoutQuestion: Set<SetupStep.Kind> = [.posts, .favorites, .profile]

    private let setup: SetupCommand
    /// The options that every command of the walk gets.
    ///
    /// They lack the time zone, which the walk stores as the answer of a step.
    private let options: MirrorOptions
    private let canAsk = Console.current.input.isInteractive
    /// The steps that remained open in this walk, and are not begun again.
    private var postponedSteps: Set<SetupStep.Kind> = []
    /// The steps for which the options of `setup` were tried.
    ///
    /// In a further attempt the person is asked instead.
    private var triedSteps: Set<SetupStep.Kind> = []
    /// The archive that was read in this walk; it may contain favorites too.
    private var archive: String?

    init(_ setup: SetupCommand) {
        self.setup = setup
        var options = setup.options
        options.timeZone = nil
        self.options = options
    }

    /// Goes through the steps to the end, or as far as the answers permit.
    ///
    /// - Throws: ``CommandError`` with the code for the configuration if the setup is not finished.
    mutating func run() async throws {
        do {
            try await walk()
        } catch let inputEnd as InputEnded {
            // If the position cannot be read, no next step is named.
            let next = try? await position().steps.first { !$0.isDone }
            let cause = inputEnd.cause
            let setup = command("setup")
            throw CommandError(
                .configuration,
                next.map {
                    localized(
                        "\(cause); the setup is not finished; \($0.next); \(setup) goes on there")
                } ?? localized("\(cause); the setup is not finished; \(setup) goes on there"))
        }
    }

    private mutating func walk() async throws {
        var position = try await position()
        guard !position.steps.isEmpty else {
            return print(
                localized(
                    "this mirror is set up; \(command("status")) shows how it is, \(command("run")) starts it"
                ))
        }
        if canAsk {
            tell(
                localized(
                    "These steps lead to the first post. Ctrl-C stops; the same command goes on where it was."
                ))
            for line in NextStep.overview(position.steps, terminal: .error) {
                StandardError.write(line + "\n")
            }
        }
        while let step = position.steps.first(where: {
            !$0.isDone && $0.kind != .start && !postponedSteps.contains($0.kind)
        }) {
            if canAsk { tellHeading(of: step, among: position.steps) }
            let isDone = try await attempt(step, position)
            position = try await self.position()
            if isDone, position.isOpen(step.kind) {
                postponedSteps.insert(step.kind)
                tell(localized("This step stays open for now; \(step.command) tries it again."))
            }
        }
        try await end(position)
    }

    /// Performs a step; prints errors that the person can fix, and leaves the step open.
    ///
    /// - Returns: Whether it succeeded and was not postponed.
    private mutating func attempt(_ step: SetupStep, _ position: SetupPosition) async throws
        -> Bool
    {
        do {
            switch try await perform(step.kind, position) {
            case .postponed:
                postponedSteps.insert(step.kind)
                return false
            case .done:
                return true
            }
        } catch let error where Self.isMendable(error) {
            StandardError.write(Failure.line(error))
            guard canAsk else {
                postponedSteps.insert(step.kind)
                return false
            }
            guard Self.withoutQuestion.contains(step.kind) else { return false }
            if Self.isLasting(error) { return try await skip(step) }
            if try !Question.confirm(localized("Try again? [Y/n] "), default: true) {
                postponedSteps.insert(step.kind)
            }
            return false
        }
    }

    /// Whether every retry would fail with the same error until something else is changed.
    private static func isLasting(_ error: any Error) -> Bool {
        guard let error = error as? NetworkError else { return false }
        return error.isPermanent && !error.stopsActor
    }

    /// Skips a step that is impossible now.
    ///
    /// The profile may be written by hand instead.
    ///
    /// - Returns: Whether the step is done.
    private mutating func skip(_ step: SetupStep) async throws -> Bool {
        postponedSteps.insert(step.kind)
        tell(
            localized(
                "Another try would end in the same way. Do what the error says; then \(step.command) does this step."
            ))
        guard step.kind == .profile,
            try Question.confirm(localized("Is it done by hand? [y/N] "), default: false)
        else {
            return false
        }
        try await options.withMirror { try await $0.settleProfile() }
        return true
    }

    /// Whether another answer or a second attempt may succeed.
    private static func isMendable(_ error: any Error) -> Bool {
        error is CommandError || error is ValidationError || SetupPosition.isMendable(error)
    }

    private mutating func perform(_ kind: SetupStep.Kind, _ position: SetupPosition) async throws
        -> Outcome
    {
        let isFirstTry = triedSteps.insert(kind).inserted
        return switch kind {
        case .human: try await connectHuman(position, isFirstTry: isFirstTry)
        case .consent: try await stateConsent(isFirstTry: isFirstTry)
        case .bot: try await connectBot(position, isFirstTry: isFirstTry)
        case .policy: try await acknowledge(position, isFirstTry: isFirstTry)
        case .posts: try await learnPosts(position, isFirstTry: isFirstTry)
        case .trust: try await decideOnArchive(isFirstTry: isFirstTry)
        case .timeZone: try await setTimeZone(isFirstTry: isFirstTry)
        case .favorites: try await learnFavorites(position, isFirstTry: isFirstTry)
        case .profile: try await writeProfile(position)
        case .start: .postponed
        }
    }

    // MARK: Accounts

    private mutating func connectHuman(_ position: SetupPosition, isFirstTry: Bool) async throws
        -> Outcome
    {
        if isFirstTry, setup.human == nil, let path = setup.archive { return try await read(path) }
        if isFirstTry, let network = setup.network(of: .human) {
            return try await logIn(.human, on: network, isFirstTry: isFirstTry)
        }
        guard canAsk else { return .postponed }
        tell(
            localized(
                "Where does the human post? Type \(NetworkArgument.names), or the path of a downloaded archive of theirs."
            ))
        switch try Question.answer(
            localized("Network or path [\(proposal(.human, position))]: "),
            default: proposal(.human, position), PostSource.init)
        {
        case .network(let network):
            return try await logIn(.human, on: network, isFirstTry: isFirstTry)
        case .archive(let path): return try await read(path)
        }
    }

    /// Asks who agreed to the mirror if the human's account is not logged in; without an answer no
    /// consent is stored.
    private func stateConsent(isFirstTry: Bool) async throws -> Outcome {
        if isFirstTry, let ground = setup.consent { return try await state(ground) }
        guard canAsk else { return .postponed }
        let answer = try Question.answer(
            localized("Who agreed? \(HumanConsent.Ground.choices) [later]: "), default: "later",
            ConsentArgument.answer)
        guard let answer else {
            tell(localized("Until somebody did, it learns and plans, and sends nothing."))
            return .postponed
        }
        return try await state(answer)
    }

    /// Stores who agreed, and asks heirs whether the mirror is a memorial.
    private func state(_ ground: HumanConsent.Ground) async throws -> Outcome {
        if ground == .heirs, canAsk {
            tell(
                localized(
                    "A memorial only posts: it answers nobody and favorites nothing, and the bot's profile says so."
                ))
            if try Question.confirm(localized("Is the mirror a memorial? [Y/n] "), default: true) {
                _ = try await set(Setting.memorial.name, "yes")
                tell(localized("\(command("retire --on DATE")) gives it an end."))
            }
        }
        return try await set(Setting.humanConsent.name, ground.rawValue)
    }

    private func connectBot(_ position: SetupPosition, isFirstTry: Bool) async throws -> Outcome {
        if isFirstTry, let network = setup.network(of: .bot) {
            return try await logIn(.bot, on: network, isFirstTry: isFirstTry)
        }
        guard canAsk else { return .postponed }
        let human = position.replaceableHuman.map { Printable.line($0) }
        let names = NetworkArgument.names
        tell(
            human.map {
                localized(
                    "The bot is an account of its own, which you have made at its network. Type the network: \(names). The human is @\($0); if that is wrong, type human to log in again."
                )
            }
                ?? localized(
                    "The bot is an account of its own, which you have made at its network. Type the network: \(names)."
                ))
        let network = try Question.answer(
            localized("Network [\(proposal(.bot, position))]: "), default: proposal(.bot, position)
        ) { answer in
            human != nil && answer.lowercased() == "human"
                ? nil : try NetworkArgument.network(answer)
        }
        if let network { return try await logIn(.bot, on: network, isFirstTry: isFirstTry) }
        let humanNetwork = try Question.answer(
            localized("Network of the human [\(proposal(.human, position))]: "),
            default: proposal(.human, position),
            NetworkArgument.network)
        _ = try await logIn(.human, on: humanNetwork, isFirstTry: false)
        return try await connectBot(try await self.position(), isFirstTry: false)
    }

    private func proposal(_ role: AccountRole, _ position: SetupPosition) -> String {
        (setup.network(of: role) ?? position.networks[role] ?? .usual).rawValue
    }

    private func logIn(_ role: AccountRole, on network: NetworkName, isFirstTry: Bool)
        async throws
        -> Outcome
    {
        guard canAsk || setup.isLoginComplete(of: role, on: network) else { return .postponed }
        var words =
            [network.rawValue, "--as=\(role.rawValue)"]
            + setup.loginWords(of: role, isFirstTry: isFirstTry)
        if setup.yes || !canAsk, setup.needsNoSecret(of: role, on: network) {
            words.append("--no-password")
        }
        if setup.yes { words.append("--yes") }
        try await perform(LoginCommand.self, words)
        return .done
    }

    private func acknowledge(_ position: SetupPosition, isFirstTry: Bool) async throws -> Outcome {
        guard let policy = position.policy else { return .postponed }
        if !(isFirstTry && setup.acknowledgePolicy) {
            guard canAsk else { return .postponed }
            tell(policy.summary)
            guard
                try Question.confirm(
                    localized("Do you know these rules, and agree? [y/N] "), default: false)
            else {
                tell(localized("Until you do, the bot publishes nothing there."))
                return .postponed
            }
        }
        return try await set(policy.setting, "yes")
    }

    // MARK: Learning

    private mutating func learnPosts(_ position: SetupPosition, isFirstTry: Bool) async throws
        -> Outcome
    {
        if isFirstTry, let path = setup.archive { return try await read(path) }
        guard position.hasHuman else {
            guard canAsk else { return .postponed }
            return try await read(
                try Question.answer(localized("Path of the human's archive: ")) { $0 })
        }
        guard try agreesToPay(position) else { return .postponed }
        try await perform(TrainSchedulerCommand.self, [])
        return .done
    }

    /// Asks whether to publish texts of posts whose existence cannot be checked; without a terminal
    /// they are not published.
    private func decideOnArchive(isFirstTry: Bool) async throws -> Outcome {
        let setting = Setting.trustArchive.name
        if isFirstTry, setup.trustArchive { return try await set(setting, "yes") }
        guard canAsk else {
            tell(
                localized(
                    "\(setting) is set to no: nobody can be asked whether posts of the archive are still there; with --trust-archive they are published."
                ))
            return try await set(setting, "no")
        }
        tell(
            localized(
                "Without the human's account mirror-bot cannot find out which posts of the archive were deleted since it was downloaded."
            ))
        let agrees = try Question.confirm(
            localized(
                "May the bot publish these posts although nobody can be asked whether they are still there? [y/N] "
            ), default: false)
        if !agrees {
            tell(
                localized(
                    "The bot publishes none of them until you log the human in or set \(setting)=yes."
                ))
        }
        return try await set(setting, agrees ? "yes" : "no")
    }

    private mutating func read(_ path: String) async throws -> Outcome {
        try await perform(TrainSchedulerCommand.self, ["--from=\(path)"])
        archive = path
        return .done
    }

    private mutating func learnFavorites(_ position: SetupPosition, isFirstTry: Bool) async throws
        -> Outcome
    {
        if isFirstTry, setup.favorites == false {
            return try await set(Setting.favoriteMode.name, "off")
        }
        if isFirstTry, let path = archive ?? setup.archive {
            do {
                try await perform(TrainClassifierCommand.self, ["--from=\(path)"])
                return .done
            } catch let error as ImportError where error.code == .nothingToRead {
                tell(localized("The archive does not hold what the human favorited."))
            }
        }
        guard !position.hasHuman else {
            guard try agreesToPay(position) else { return .postponed }
            try await perform(TrainClassifierCommand.self, [])
            return .done
        }
        guard canAsk else { return .postponed }
        tell(
            localized(
                "Without the human's account, favorites are learned from an archive of X or mastodon-archive."
            ))
        let path = try Question.optionalLine(
            localized("Path of one (Enter: the bot favorites nothing): "))
        guard !path.isEmpty else { return try await set(Setting.favoriteMode.name, "off") }
        try await perform(TrainClassifierCommand.self, ["--from=\(path)"])
        return .done
    }

    private func agreesToPay(_ position: SetupPosition) throws -> Bool {
        guard let budget = position.budget, !setup.yes else { return true }
        guard canAsk else {
            tell(
                localized(
                    "Reading the human's account costs money, at most half of the month's \(budget) in all. With --yes it is read."
                ))
            return false
        }
        tell(
            localized(
                "Reading the human's account costs money, at most half of the month's \(budget) in all. The price is printed before anything is read."
            ))
        return try Question.confirm(localized("Read it now? [Y/n] "), default: true)
    }

    // MARK: Time zone and profile

    private func setTimeZone(isFirstTry: Bool) async throws -> Outcome {
        let setting = Setting.timeZone.name
        if isFirstTry, let zone = setup.options.timeZone { return try await set(setting, zone) }
        let proposed = try await options.withMirrorOrEmpty { try await $0.proposedTimeZone() }
        if isFirstTry, setup.yes, let zone = proposed {
            tell(localized("\(setting) is taken to be \(zone.name): \(zone.reason)."))
            return try await set(setting, zone.name)
        }
        guard canAsk else { return .postponed }
        tell(
            localized(
                "The bot lives by the human's clock. Type their time zone as Europe/Berlin or Asia/Tokyo."
            ))
        guard let zone = proposed else {
            return try await set(setting, try Question.answer(localized("Time zone: ")) { $0 })
        }
        tell(localized("A guess: \(zone.reason)."))
        let answer = try Question.answer(
            localized("Time zone [\(zone.name)]: "), default: zone.name
        ) { $0 }
        return try await set(setting, answer)
    }

    private func writeProfile(_ position: SetupPosition) async throws -> Outcome {
        guard !position.isOpen(.bot) else { return .postponed }
        if setup.profile == false {
            try await options.withMirror { try await $0.settleProfile() }
            return .done
        }
        let isAgreed = setup.yes || setup.profile == true
        guard canAsk || isAgreed else { return .postponed }
        try await options.withMirror { mirror in
            let isSettled = try await ProfileOffer(of: mirror).make {
                try isAgreed || Question.confirm("\($0) [Y/n] ", default: true)
            }
            guard !isSettled else { return }
            try await mirror.settleProfile()
            tell(localized("The profile stays as it is; \(command("profile")) writes it later."))
        }
        return .done
    }

    private func set(_ name: String, _ value: String) async throws -> Outcome {
        try await perform(SetCommand.self, ["\(name)=\(value)"])
        return .done
    }

    // MARK: The end

    private func end(_ position: SetupPosition) async throws {
        let open = position.openSteps
        guard position.isReady, canAsk || open.isEmpty else {
            for line in NextStep.lines(position.steps, terminal: .output) { print(line) }
            let setup = command("setup")
            throw CommandError(
                .configuration,
                open.first.map {
                    localized(
                        "the setup is not finished; \($0.next); \(setup) leads through all steps")
                } ?? localized("the setup is not finished; \(setup) leads through all steps"))
        }
        guard canAsk else {
            return try await setup.start == true ? startWorking() : tellHowToStart()
        }
        try await review()
        try await preview(position)
        let starts =
            try setup.start
            ?? Question.confirm(
                localized("Start now? It works until Ctrl-C. [Y/n] "), default: true)
        guard starts else { return tellHowToStart() }
        try await offerFirstPost()
        try await startWorking()
    }

    /// The number of texts that are offered for the first post.
    private static let maximumProposals = 20

    /// Offers to send a post at once, as a test of the mirror.
    private func offerFirstPost() async throws {
        guard !setup.yes else { return }
        try await options.withZone { mirror, zone in
            let desk = Desk(mirror, zone: zone)
            for number in 0..<Self.maximumProposals {
                guard let proposal = try await PublishForecast.proposal(at: desk, number: number)
                else { return }
                if number == 0 {
                    tell(
                        "\n"
                            + localized(
                                "A first post can leave as soon as it works. This is one that it would choose:"
                            ))
                }
                let time = LocalTime(proposal.post.created, in: zone)
                tell(
                    "\n  " + Printable.lines(proposal.says.joined(separator: "\n  "))
                        + "\n  " + localized("(from \(time))"))
                if let cost = proposal.cost {
                    let dollars = String(format: "$%.2f", cost)
                    tell("  " + localized("It costs \(dollars) at most."))
                }
                switch try Question.key(
                    localized("s send it, a another one, Enter none: "),
                    among: ["s", "a", "", "q"])
                {
                case "s":
                    let request = PersonRequest(
                        PublishPost(post: proposal.post.post), seen: proposal.post.seen)
                    _ = try await desk.perform(request)
                    return tell(localized("It leaves first."))
                case "a": continue
                default: return tell(localized("None; the first one comes as planned."))
                }
            }
        }
    }

    /// Offers the first review of texts if it is incomplete; each answer is stored at once.
    private func review() async throws {
        guard !setup.yes else { return }
        try await options.withZone { mirror, zone in
            let review = try await TextReview(of: mirror, atMost: TextReview.firstReviewSize)
            let texts = Array(review.texts.prefix(review.leftOfFirst))
            // A review that ends with fewer labels than the bot needs would have no effect.
            guard !texts.isEmpty, review.labels + texts.count >= review.needed else { return }
            tell(
                "\n"
                    + localized(
                        "The bot says what the human once said, and learns from you what they would not say again."
                    ))
            let question = localized(
                "Look at \(texts.count) of the texts, with one key each? It takes half a minute. [Y/n] "
            )
            guard try Question.confirm(question, default: true) else {
                return tell(localized("\(command("texts review")) asks whenever you like."))
            }
            tell(
                try await TextConversation(Desk(mirror, zone: zone), zone: zone).ask(texts).summary)
        }
    }

    /// Shows the plan for tomorrow.
    private func preview(_ position: SetupPosition) async throws {
        guard let tomorrow = position.tomorrow else { return }
        tell("\n" + localized("This is what the bot would post tomorrow:"))
        do {
            try await perform(PlanShowCommand.self, ["--date=\(tomorrow)"])
        } catch let error where Self.isMendable(error) {
            StandardError.write(Failure.line(error))
        }
    }

    private func startWorking() async throws { try await perform(RunCommand.self, []) }

    private func tellHowToStart() {
        print(
            localized(
                "set up; \(command("run")) starts the work, \(command("status")) shows how it is"))
    }

    // MARK: Shared functions

    /// Runs a command as if it was typed.
    private func perform<Command: AsyncParsableCommand>(_ type: Command.Type, _ words: [String])
        async throws
    {
        var command = try await type.asyncParse(words + options.words)
        try await command.run()
    }

    /// A command in the form that a person types for this mirror.
    private func command(_ words: String) -> String {
        (["mirror-bot", words] + options.mirrorWords).joined(separator: " ")
    }

    private func position() async throws -> SetupPosition {
        let networks = Dictionary(
            uniqueKeysWithValues: AccountRole.allCases.compactMap { role in
                setup.network(of: role).map { (role, $0) }
            }
        )
        return try await options.withMirrorOrEmpty { try await $0.setupPosition(on: networks) }
    }

    private func tellHeading(of step: SetupStep, among steps: [SetupStep]) {
        let number = (steps.firstIndex { $0.kind == step.kind } ?? 0) + 1
        tell("\n" + localized("\(number) of \(steps.count): \(step.text)"))
    }

    private func tell(_ text: String) { StandardError.tell(text) }
}

/// The source of the human's posts: a network, or a file.
private enum PostSource {
    case network(NetworkName)
    case archive(String)

    /// - Throws: ``CommandError`` with the code for usage if `text` is neither a network nor a
    ///   file.
    init(_ text: String) throws {
        // A text that is no network may be a file.
        if let network = try? NetworkArgument.network(text) {
            self = .network(network)
        } else if FileManager.default.fileExists(atPath: Console.current.path(text)) {
            self = .archive(text)
        } else {
            throw CommandError(
                .usage,
                localized(
                    "\"\(Printable.line(text, columns: 60))\" is neither a network nor a file; expected \(NetworkArgument.names) or a path"
                ))
        }
    }
}
