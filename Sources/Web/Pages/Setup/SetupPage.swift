import Control
import Foundation
import Localization
import Mirroring
import Networks
import Posts
import Settings

extension PageTemplate {
    fileprivate static let setup = PageTemplate("setup")
}

/// The page that sets up a mirror, one step at a time, with the same steps as `mirror-bot setup`.
enum SetupPage: MirrorPage {
    static let section = PageSection.today
    static let templates: [PageTemplate] = [.setup]
    static let liveParts = ["setup-learning"]
    /// The path after `/m/NAME`.
    static let path = "/setup"
    /// The path after `/m/NAME` to which the page of a network redirects the browser.
    static let returnPath = path + "/return"

    static let routes: [MirrorRoute] = [
        .get(path, page), .post("/setup/login", logIn), .post("/setup/code", giveCode),
        .comingBack(returnPath, comeBack), .post("/setup/account", decideOnAccount),
        .post("/setup/set", set),
        .post("/setup/learn", learn), .post("/setup/profile", decideOnProfile),
        .post("/setup/begin", begin),
    ]

    // MARK: The page

    @Sendable private static func page(_ request: MirrorRequest) async throws -> WebReply {
        let position = try await request.mirror.setupPosition()
        let requestedStep = step(request)
        let firstOpen = position.openSteps.first?.kind ?? (position.steps.isEmpty ? nil : .start)
        let current = requestedStep ?? firstOpen
        var context: PageContext = [
            "base": .text(request.base), "isOver": .flag(position.steps.isEmpty),
            "title": .text(localized(position.steps.isEmpty ? "It is set up" : "Set up")),
            "progress": .text(position.steps.isEmpty ? nil : progress(position.steps)),
            "steps": .list(position.steps.map { line($0, current: current, request) }),
            "step": .none,
        ]
        if let current, !request.access.isReadOnly,
            let step = position.steps.first(where: { $0.kind == current })
        {
            context["step"] = .fields(try await SetupStepView(step, position, request).context())
        }
        return .page(
            PageContent(
                .setup, title: localized("Set up"), in: section, at: path, showsVerdict: true,
                context))
    }

    /// The step that the address or the form names.
    private static func step(_ request: MirrorRequest) -> SetupStep.Kind? {
        (request.form.typed("step") ?? request.query.typed("step")).flatMap(
            SetupStep.Kind.init(rawValue:))
    }

    /// Returns the number of done steps, as `3 of 9 steps are done`.
    static func progress(_ steps: [SetupStep]) -> String {
        let doneCount = steps.count(where: \.isDone)
        return localized(
            doneCount == 1
                ? "\(doneCount) of \(steps.count) steps is done"
                : "\(doneCount) of \(steps.count) steps are done")
    }

    private static func line(
        _ step: SetupStep, current: SetupStep.Kind?, _ request: MirrorRequest
    ) -> PageContext {
        let isCurrent = step.kind == current
        return [
            "text": .text(Words.capitalized(step.text)), "isDone": .flag(step.isDone),
            "isCurrent": .flag(isCurrent),
            "symbol": .text(step.isDone ? "s-healthy" : "s-unset"),
            // No link leads to the current step, or to a done step that cannot be done again.
            "href": isCurrent || step.isDone && !isRepeatable(step.kind)
                ? .none : .text(address(of: step.kind, request)),
        ]
    }

    /// Whether a completed step can be done again with another answer.
    private static func isRepeatable(_ kind: SetupStep.Kind) -> Bool {
        switch kind {
        case .human, .bot, .consent, .timeZone, .posts, .favorites: true
        case .policy, .trust, .profile, .start: false
        }
    }

    static func address(of kind: SetupStep.Kind?, _ request: MirrorRequest) -> String {
        request.base + path + WebFields.query([("step", kind?.rawValue)])
    }

    // MARK: Accounts

    @Sendable private static func logIn(_ request: MirrorRequest) async throws -> WebReply {
        try await attempt(request) {
            let role = try role(request)
            let network = try network(request)
            let steps = LoginSteps(for: role, on: network, of: request.mirror)
            let answers = try await answers(of: steps, request)
            let name = request.mirror.name
            let returnAddress = returnAddress(request)
            // The return address counts as an answer, because a login that redirects to another
            // address of this page is a different one.
            var allAnswers = answers
            allAnswers[returnPath] = returnAddress
            guard
                !request.setup.isPending(role, of: name, on: network, allAnswers, now: request.now)
            else { return .seeOther(stepAddress(of: role, request)) }
            switch try await steps.begin(typed: answers, returningTo: returnAddress) {
            case .asksForCode(let pending):
                request.setup.keep(
                    .code(pending), of: role, in: name, on: network, allAnswers, now: request.now)
                return .seeOther(stepAddress(of: role, request))
            case .granted(let login):
                return try await keep(login, request)
            }
        }
    }

    /// Returns the answers that were typed into the fields of a login.
    ///
    /// - Throws: `ChangeRefusal` for a missing answer.
    private static func answers(of steps: LoginSteps, _ request: MirrorRequest) async throws
        -> [String: String]
    {
        var answers: [String: String] = [:]
        for question in try await steps.questions() {
            let typed = request.form.typed(question.name)
            if typed == nil, !question.isOptional {
                throw ChangeRefusal(.unusable, localized("\(question.label): nothing was typed"))
            }
            answers[question.name] = typed
        }
        return answers
    }

    @Sendable private static func giveCode(_ request: MirrorRequest) async throws -> WebReply {
        try await attempt(request) {
            let role = try role(request)
            let name = request.mirror.name
            guard let waiting = request.setup.login(of: role, in: name, now: request.now),
                case .code(let pending) = waiting.login
            else { throw noLoginWaits }
            guard let code = request.form.typed("code") else {
                throw ChangeRefusal(
                    .unusable, localized("copy the \(pending.codeName) from the other page"))
            }
            let steps = LoginSteps(for: role, on: waiting.network, of: request.mirror)
            let login: GrantedLogin
            do {
                login = try await steps.finish(pending, code: code)
            } catch let error as NetworkError where RefusedAnswer(error) != nil {
                // The network refused the code. The same login waits for another code, or a new
                // login replaces it.
                request.setup.update(.code(try await steps.renewed(pending)), of: role, in: name)
                throw error
            }
            request.setup.forgetLogin(of: role, in: name)
            return try await keep(login, request)
        }
    }

    private static var noLoginWaits: ChangeRefusal {
        ChangeRefusal(.changed, localized("that login waits for nothing any more; begin it again"))
    }

    /// The address to which the page of a network redirects the browser; `nil` if the browser did
    /// not send the address by which it opened this page.
    private static func returnAddress(_ request: MirrorRequest) -> String? {
        request.origin.map { $0 + request.base + returnPath }
    }

    /// Finishes the login whose `state` is in the request with which the page of a network
    /// redirected the browser here.
    ///
    /// Every answer redirects to a step, so that the code stays neither in the address bar nor in
    /// the history.
    @Sendable private static func comeBack(_ request: MirrorRequest) async throws -> WebReply {
        let name = request.mirror.name
        guard let state = request.query["state"],
            let claimed = request.setup.claimLogin(state: state, in: name, now: request.now)
        else { return redirectToOpenStep(request, saying: sentence(noLoginWaits)) }
        let stepAddress = stepAddress(of: claimed.role, request)
        guard request.query["error"] == nil, let code = request.query.typed("code") else {
            request.setup.putBack(claimed, in: name)
            let isDenied = request.query["error"] == "access_denied"
            let sentence = localized(
                isDenied
                    ? "Access was not allowed at the server. Open its page again, or begin this login again."
                    : "The server gave no access. Open its page again, or begin this login again.")
            return .seeOther(stepAddress, saying: Said(sentence))
        }
        do {
            return try await keep(try await finished(claimed, code: code, request), request)
        } catch {
            guard let refusal = refusal(of: error) else { throw error }
            return .seeOther(stepAddress, saying: Said(sentence(refusal)))
        }
    }

    /// Sends the code of a login to its network; if the network refuses it, the login waits again.
    private static func finished(
        _ login: SetupWork.ClaimedLogin, code: String, _ request: MirrorRequest
    ) async throws -> GrantedLogin {
        let steps = LoginSteps(for: login.role, on: login.network, of: request.mirror)
        do {
            return try await steps.finish(login.pending, code: code)
        } catch {
            request.setup.putBack(login, in: request.mirror.name)
            throw error
        }
    }

    private static func sentence(_ refusal: ChangeRefusal) -> String {
        Words.sentence(refusal.text.page)
    }

    /// Stores a login; asks first if it replaces the login of another account.
    private static func keep(_ login: GrantedLogin, _ request: MirrorRequest) async throws
        -> WebReply
    {
        let role = login.account.role
        do {
            let opened = try await request.mirror.opened(login)
            if let replacement = opened.replacement {
                if let refusal = replacement.refusal { throw refusal }
                request.setup.keep(
                    .replacement(opened), of: role, in: request.mirror.name, on: opened.network,
                    now: request.now)
                return .seeOther(stepAddress(of: role, request))
            }
            return try await keep(opened, request)
        } catch {
            // The token that the network issued is revoked, because nothing will use it.
            _ = await login.withdraw()
            throw error
        }
    }

    private static func keep(_ opened: OpenedLogin, _ request: MirrorRequest) async throws
        -> WebReply
    {
        let outcome = try await request.mirror.keep(opened)
        let account = localized(
            outcome.role == .human
                ? "The human is @\(outcome.handle)" : "The bot is @\(outcome.handle)")
        let sentences = ([account] + outcome.warnings).map(Words.sentence)
        return redirectToOpenStep(request, saying: sentences.joined(by: .sentence))
    }

    /// Replaces or keeps the login of an account, as the person answered; drops a login that waits
    /// for its code.
    @Sendable private static func decideOnAccount(_ request: MirrorRequest) async throws -> WebReply
    {
        try await attempt(request) {
            let role = try role(request)
            let name = request.mirror.name
            let waiting = request.setup.login(of: role, in: name, now: request.now)
            request.setup.forgetLogin(of: role, in: name)
            guard case .replacement(let opened)? = waiting?.login else {
                return .seeOther(stepAddress(of: role, request))
            }
            guard request.form["do"] == "replace" else {
                _ = await opened.granted.withdraw()
                return .seeOther(
                    stepAddress(of: role, request),
                    saying: Said(localized("The account stays as it was.")))
            }
            do {
                return try await keep(opened, request)
            } catch {
                _ = await opened.granted.withdraw()
                throw error
            }
        }
    }

    /// The address of the step of an account.
    private static func stepAddress(of role: AccountRole, _ request: MirrorRequest) -> String {
        let kind: SetupStep.Kind = role == .human ? .human : .bot
        return address(of: kind, request)
    }

    private static func role(_ request: MirrorRequest) throws -> AccountRole {
        guard let role = request.form["role"].flatMap(AccountRole.init(rawValue:)) else {
            throw ChangeRefusal(.unusable, localized("the form names no account"))
        }
        return role
    }

    private static func network(_ request: MirrorRequest) throws -> NetworkName {
        guard let network = request.form["network"].flatMap(NetworkName.init(rawValue:)) else {
            throw ChangeRefusal(.unusable, localized("the form names no network"))
        }
        return network
    }

    // MARK: Answers that are settings

    /// The settings that the forms of the steps may change.
    private static let settings =
        [
            Setting.humanConsent.name, Setting.memorial.name, Setting.trustArchive.name,
            Setting.timeZone.name, Setting.favoriteMode.name,
        ]
        + NetworkName.known.compactMap { $0.descriptor.policy?.setting }

    @Sendable private static func set(_ request: MirrorRequest) async throws -> WebReply {
        try await attempt(request) {
            var values: [String: String] = [:]
            for name in settings { values[name] = request.form.typed(name) }
            guard !values.isEmpty else {
                throw ChangeRefusal(.unusable, localized("nothing was chosen"))
            }
            _ = try await request.desk.perform(PersonRequest(SetValues(values)))
            return redirectToOpenStep(request)
        }
    }

    // MARK: Learning

    @Sendable private static func learn(_ request: MirrorRequest) async throws -> WebReply {
        try await attempt(request) {
            guard let subject = request.form["what"].flatMap(SetupWork.Subject.init(rawValue:))
            else {
                throw ChangeRefusal(.unusable, localized("the form does not say what is learned"))
            }
            var source = TrainingSource.account
            if request.form["archive"] != nil {
                guard request.access.canNameFiles else {
                    throw ChangeRefusal(
                        .notAllowed,
                        localized(
                            "only who is at the machine of this page can name a file of it; send the file instead"
                        )
                    )
                }
                guard let path = request.form.typed("archive"), path.hasPrefix("/") else {
                    throw ChangeRefusal(
                        .unusable,
                        localized("write the whole path of the archive on this machine, from / on"))
                }
                source = .archive(path: path)
            }
            guard request.setup.train(subject, from: source, for: request.mirror) else {
                throw ChangeRefusal(
                    .busy, localized("something is being read already; wait for its end"))
            }
            return .seeOther(address(of: subject.step, request))
        }
    }

    // MARK: The profile

    @Sendable private static func decideOnProfile(_ request: MirrorRequest) async throws -> WebReply
    {
        try await attempt(request) {
            guard request.form["do"] == "write" else {
                try await request.mirror.settleProfile()
                return redirectToOpenStep(request, saying: localized("The profile stays as it is."))
            }
            let proposal = try await request.mirror.profileProposal()
            let isAsSeen = try request.seen() == proposal.seen
            if isAsSeen { try await request.mirror.dropProfileChanges() }
            guard isAsSeen, try await request.mirror.writeProfile(proposal) else {
                throw ChangeRefusal(
                    .changed, localized("somebody changed the profile meanwhile; look again"))
            }
            return redirectToOpenStep(
                request, saying: localized("The profile says whose mirror it is."))
        }
    }

    // MARK: The start

    @Sendable private static func begin(_ request: MirrorRequest) async throws -> WebReply {
        try await attempt(request) {
            let position = try await request.mirror.setupPosition()
            guard position.isReady else {
                throw ChangeRefusal(
                    .notAllowed, localized("a step without which it cannot work is not done"))
            }
            guard let begin = request.setup.begin, begin(request.mirror.name) else {
                throw ChangeRefusal(
                    .notAllowed, localized("no worker of this process works for this mirror"))
            }
            return .seeOther(
                request.base,
                saying: Said(localized("It begins. The plan of today stands here within a minute."))
            )
        }
    }

    // MARK: Shared by the steps

    /// Redirects to the first open step.
    private static func redirectToOpenStep(_ request: MirrorRequest, saying text: String? = nil)
        -> WebReply
    {
        .seeOther(request.base + path, saying: text.map { Said($0) })
    }

    /// Runs a step; an error that the person can correct is shown above the same step.
    private static func attempt(
        _ request: MirrorRequest, _ body: () async throws -> WebReply
    ) async throws -> WebReply {
        try await request.attempt(refusedBy: page) {
            do {
                return try await body()
            } catch {
                if let refusal = refusal(of: error) { throw refusal }
                throw error
            }
        }
    }

    /// Returns an error that the person can correct as a refusal; `nil` for another error.
    private static func refusal(of error: any Error) -> ChangeRefusal? {
        if let refusal = error as? LoginRefusal {
            return ChangeRefusal(.unusable, saying: refusal.text)
        }
        guard SetupPosition.isMendable(error) else { return nil }
        return (error as? ChangeRefusal) ?? ChangeRefusal(.unusable, "\(error)".withoutCommands)
    }
}
