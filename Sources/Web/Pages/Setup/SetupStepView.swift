import Control
import Foundation
import Localization
import Mirroring
import Networks
import Posts
import Settings

/// The present step of a set-up: its question, and the forms for the answer.
struct SetupStepView {
    /// The tab for an archive, beside the tabs for the networks of an account.
    private static let archiveTab = "archive"
    /// The most posts of tomorrow that are shown.
    private static let maximumPreviewed = 12

    private let step: SetupStep
    private let position: SetupPosition
    private let request: MirrorRequest

    /// - Parameters:
    ///   - step: The step.
    ///   - position: The state of the set-up.
    ///   - request: The request, with the answers that were typed.
    init(_ step: SetupStep, _ position: SetupPosition, _ request: MirrorRequest) {
        self.step = step
        self.position = position
        self.request = request
    }

    /// The context of the step in the template.
    ///
    /// - Throws: The store's error.
    func context() async throws -> PageContext {
        var context: PageContext = [
            "heading": .text(Words.capitalized(step.text)), "lead": .none,
            "tabs": [], "hasTabs": false,
            "login": .none, "code": .none, "question": .none, "forms": [],
            "learning": .none,
            "archive": .none, "zone": .none, "profile": .none, "preview": .none, "start": .none,
            "later": .text(later),
            "base": .text(request.base), "kind": .text(step.kind.rawValue),
            "token": .markup(request.hidden()),
        ]
        let stepContext: PageContext =
            switch step.kind {
            case .human: try await account(.human)
            case .bot: try await account(.bot)
            case .consent: consent
            case .policy: policy
            case .posts: learning(.posts)
            case .trust: trust
            case .timeZone: try await zone()
            case .favorites: learning(.favorites)
            case .profile: try await profile()
            case .start: try await start()
            }
        context.merge(stepContext) { _, new in new }
        return context
    }

    /// The address of the next open step, if this one can be postponed.
    private var later: String? {
        guard [.consent, .favorites, .profile].contains(step.kind), !step.isDone else { return nil }
        let openKinds = position.openSteps.map(\.kind)
        let fromThisStep = openKinds.drop { $0 != step.kind }
        return SetupPage.address(of: fromThisStep.dropFirst().first ?? .start, request)
    }

    // MARK: Accounts

    private func account(_ role: AccountRole) async throws -> PageContext {
        if let waiting = request.setup.login(
            of: role, in: request.mirror.name, now: request.now)
        {
            switch waiting.login {
            case .code(let pending): return code(pending, role, waiting.network)
            case .replacement(let opened): return replacement(opened, role)
            }
        }
        let requestedTab = request.form.typed("network") ?? request.query.typed("on")
        let isArchive =
            role == .human && (requestedTab == Self.archiveTab || request.form["archive"] != nil)
        let network =
            requestedTab.flatMap(NetworkName.init(rawValue:)) ?? position.networks[role] ?? .usual
        var tabs = NetworkName.known.map { known in
            tab(known.displayName, known.rawValue, isCurrent: !isArchive && known == network)
        }
        if role == .human {
            tabs.append(
                tab(localized("A downloaded archive"), Self.archiveTab, isCurrent: isArchive))
        }
        var context: PageContext = [
            "lead": .text(
                localized(
                    role == .human
                        ? "Where does the human post? Only what they let you read is read, and nothing is written there."
                        : "The bot is an account of its own, which you have made at its network.")),
            "tabs": .list(tabs), "hasTabs": true,
        ]
        if isArchive {
            context["archive"] = .fields(archive(.posts))
        } else {
            context["login"] = .fields(try await login(role, network))
        }
        return context
    }

    private func tab(_ name: String, _ value: String, isCurrent: Bool) -> PageContext {
        [
            "name": .text(name), "isCurrent": .flag(isCurrent),
            "href": .text(
                request.base + SetupPage.path
                    + WebFields.query([("step", step.kind.rawValue), ("on", value)])),
        ]
    }

    private func login(_ role: AccountRole, _ network: NetworkName) async throws -> PageContext {
        let questions = try await LoginSteps(for: role, on: network, of: request.mirror)
            .questions()
        let isWrong = request.refusal?.isMisuse == true
        return [
            "role": .text(role.rawValue), "network": .text(network.rawValue),
            "page": .text(questions.compactMap(\.page).first),
            "isUnencrypted": .flag(request.access.isUnencrypted),
            "fields": .list(
                questions.enumerated().map { index, question in
                    [
                        "name": .text(question.name), "label": .text(question.label),
                        "hint": .sentence(question.hint),
                        "type": .text(question.isSecret ? "password" : "text"),
                        // A secret is never sent back to the browser.
                        "value": .text(
                            question.isSecret ? "" : request.typed(question.name, or: "")),
                        "isRequired": .flag(!question.isOptional),
                        "isWrong": .flag(isWrong && index == 0),
                    ]
                }),
            "verb": .text(localized(role == .human ? "Log in the human" : "Log in the bot")),
        ]
    }

    private func code(_ pending: PendingLogin, _ role: AccountRole, _ network: NetworkName)
        -> PageContext
    {
        let name = pending.codeName
        let lead: LocalizedText =
            switch (role, pending.leadsBack) {
            case (.human, true):
                LocalizedText(
                    "Open the page, log in there as the human and allow the access. The server leads you back here."
                )
            case (.bot, true):
                LocalizedText(
                    "Open the page, log in there as the bot and allow the access. The server leads you back here."
                )
            case (.human, false):
                LocalizedText(
                    "Open the page in a browser that is logged in there as the human, allow the access, and copy the \(name) that it shows."
                )
            case (.bot, false):
                LocalizedText(
                    "Open the page in a browser that is logged in there as the bot, allow the access, and copy the \(name) that it shows."
                )
            }
        return [
            "lead": .text(lead.description),
            "code": .fields([
                "leadsBack": .flag(pending.leadsBack),
                "page": .text(pending.page), "network": .text(network.displayName),
                "role": .text(role.rawValue), "label": .text(localized("The \(name)")),
                "isWrong": .flag(request.refusal?.isMisuse == true),
            ]),
        ]
    }

    private func replacement(_ opened: OpenedLogin, _ role: AccountRole) -> PageContext {
        let oldAccount = opened.replacement?.before ?? ""
        let newAccount = opened.replacement?.after ?? ""
        return [
            "lead": .text(
                localized("Nothing was learned of \(oldAccount) yet, and nothing was sent.")),
            "question": .fields([
                "text": .text(
                    localized(
                        role == .human
                            ? "Take \(newAccount) as the human in the place of \(oldAccount)?"
                            : "Take \(newAccount) as the bot in the place of \(oldAccount)?")),
                "role": .text(role.rawValue),
            ]),
        ]
    }

    // MARK: Settings

    private var consent: PageContext {
        [
            "lead": .text(
                localized(
                    "Who agreed that the human is mirrored? Until somebody did, it learns and plans, and sends nothing. A login of the human's account counts as well."
                )),
            "forms": .list(
                HumanConsent.Ground.statements.map { ground in
                    form(
                        Words.capitalized(ground.words ?? ground.rawValue),
                        [(Setting.humanConsent.name, ground.rawValue)],
                        also: ground == .heirs ? memorial : nil)
                }),
        ]
    }

    /// The checkbox below the statement of heirs.
    private var memorial: PageContext {
        [
            "name": .text(Setting.memorial.name), "value": "yes",
            "text": .text(
                localized(
                    "It is a memorial: it only posts, answers nobody and favorites nothing, and the bot’s profile says so"
                )),
        ]
    }

    private var policy: PageContext {
        guard let policy = position.policy else { return [:] }
        return [
            "lead": .sentence(policy.summary),
            "forms": .list([
                form(localized("I know these rules, and agree"), [(policy.setting, "yes")])
            ]),
        ]
    }

    private var trust: PageContext {
        let setting = Setting.trustArchive.name
        return [
            "lead": .text(
                localized(
                    "Without the human’s account nobody can tell which posts of the archive were deleted since it was downloaded."
                )),
            "forms": .list([
                form(localized("Publish none of them"), [(setting, "no")]),
                form(localized("Publish them all the same"), [(setting, "yes")]),
            ]),
        ]
    }

    /// A form with one button, and perhaps a checkbox before it.
    private func form(
        _ verb: String, _ fields: [(String, String)], to action: String = "/setup/set",
        also box: PageContext? = nil
    ) -> PageContext {
        [
            "verb": .text(verb), "box": .fields(box), "action": .text(request.base + action),
            "fields": .list(
                fields.map { name, value in
                    ["name": .text(name), "value": .text(value)] as PageContext
                }),
        ]
    }

    private func zone() async throws -> PageContext {
        let proposed = try await request.mirror.proposedTimeZone()
        let zoneName = request.mirror.configuration.timeZone?.identifier ?? proposed?.name
        return [
            "lead": .text(
                [
                    localized("The bot lives by the human's clock."),
                    proposed.map { localized("A guess: \($0.reason).") },
                ].compactMap(\.self).joined(by: .sentence)),
            "zone": .fields([
                "name": .text(Setting.timeZone.name),
                "value": .text(request.typed(Setting.timeZone.name, or: zoneName)),
                "isWrong": .flag(request.refusal?.isMisuse == true),
            ]),
        ]
    }

    // MARK: Learning

    private func learning(_ subject: SetupWork.Subject) -> PageContext {
        let training = request.setup.training(of: request.mirror.name)
        var context: PageContext = [
            "lead": .sentence(lead(subject)), "archive": .fields(archive(subject)),
        ]
        guard case .running(let progress)? = training?.state else {
            if let training, training.subject == subject {
                context["learning"] = .fields(ended(training.state))
            }
            context["forms"] = .list(forms(subject))
            return context
        }
        context["archive"] = PageValue.none
        context["learning"] = .fields([
            "isRunning": true, "sentences": .sentences([Self.words(progress)]),
            "isWrong": false, "isRead": false,
            "done": .text(progress.map { "\($0.done)" }),
            "total": .text(progress?.total.map { "\($0)" }),
        ])
        return context
    }

    private func forms(_ subject: SetupWork.Subject) -> [PageContext] {
        var forms: [PageContext] = []
        if position.hasHuman {
            let verb = localized(subject == .posts ? "Read the posts" : "Read the favorites")
            forms.append(form(verb, [("what", subject.rawValue)], to: "/setup/learn"))
        }
        if subject == .favorites {
            forms.append(
                form(localized("The bot favorites nothing"), [(Setting.favoriteMode.name, "off")]))
        }
        return forms
    }

    private func lead(_ subject: SetupWork.Subject) -> String {
        let purpose = localized(
            subject == .posts
                ? "The bot says what the human once said, when the human says such things."
                : "The bot favorites what the human would favorite.")
        guard let budget = position.budget else { return purpose }
        let price = localized(
            "Reading the human's account costs money, at most half of the month's \(budget) in all."
        )
        return [purpose, price].joined(by: .sentence)
    }

    private func ended(_ training: SetupWork.Training) -> PageContext {
        let sentences: [String]
        var isWrong = false
        switch training {
        case .running: sentences = []
        case .done(let outcome): sentences = outcome
        case .failed(let sentence):
            sentences = [sentence]
            isWrong = true
        }
        return [
            "isRunning": false, "sentences": .sentences(sentences), "isWrong": .flag(isWrong),
            "isRead": .flag(!isWrong), "done": .none, "total": .none,
        ]
    }

    private static func words(_ progress: TrainingProgress?) -> String {
        guard let progress else { return localized("It begins.") }
        if let announcement = progress.announcement { return announcement }
        let step = Words.capitalized(progress.step.words)
        let done = Words.number(progress.done)
        return progress.total.map {
            localized("\(step): \(done) of at most \(Words.number($0)).")
        } ?? localized("\(step): \(done).")
    }

    private func archive(_ subject: SetupWork.Subject) -> PageContext {
        [
            "what": .text(subject.rawValue), "script": .text(WebAsset.upload.address),
            "next": .text(subject.step.rawValue),
            "canNameFile": .flag(request.access.canNameFiles),
            "value": .text(request.typed("archive", or: "")),
            "isWrong": .flag(request.refusal?.isMisuse == true && request.form["archive"] != nil),
            "verb": .text(
                localized(subject == .posts ? "Read the archive" : "Read favorites of an archive")),
        ]
    }

    // MARK: The profile

    private func profile() async throws -> PageContext {
        let proposal: ProfileProposal
        do {
            proposal = try await request.mirror.profileProposal()
        } catch let error where SetupPosition.isMendable(error) {
            return [
                "lead": .sentence(localized("The profile could not be read: \("\(error)").")),
                "profile": .fields(choices(seen: nil, canWrite: false)),
            ]
        }
        let name = localized("@\(proposal.bot) on \(proposal.network.displayName)")
        guard let proposed = proposal.proposed else {
            return [
                "lead": .text(
                    localized(
                        proposal.present == nil
                            ? "\(name): paste this line into its profile: \(proposal.line)"
                            : "\(name) says whose mirror it is.")),
                "profile": .fields(choices(seen: nil, canWrite: false, notes: proposal.notes)),
            ]
        }
        var fields = choices(seen: proposal.seen, canWrite: true, notes: proposal.notes)
        fields["present"] = .texts(proposal.present.map(Self.lines) ?? [])
        fields["proposed"] = .texts(Self.lines(proposed))
        return [
            "lead": .text(localized("\(name) would say whose mirror it is, and how to stop it.")),
            "profile": .fields(fields),
        ]
    }

    private func choices(seen: Seen?, canWrite: Bool, notes: [String] = []) -> PageContext {
        [
            "token": .markup(request.hidden(seen: seen)), "canWrite": .flag(canWrite),
            "present": [], "proposed": [],
            "notes": .sentences(notes.map(Words.sentence)),
        ]
    }

    private static func lines(_ text: ProfileProposal.Text) -> [String] {
        text.bio.split(separator: "\n").map(String.init)
            + text.fields.map { "\($0.name): \($0.value)" }
    }

    // MARK: The start

    private func start() async throws -> PageContext {
        let openSteps = position.openSteps.map { Words.sentence($0.text) }
        var context: PageContext = [
            "start": .fields([
                "canBegin": .flag(position.isReady && request.setup.begin != nil),
                "isReady": .flag(position.isReady), "left": .texts(openSteps),
                "hasLeft": .flag(!openSteps.isEmpty),
            ])
        ]
        guard let zone = request.zone, let tomorrow = position.tomorrow else { return context }
        let plan = try await DayReporter(mirror: request.mirror, zone: zone).report(
            on: tomorrow, now: request.now
        ).plan
        let words = request.words
        let slots = plan?.slots ?? []
        context["preview"] = .fields([
            "heading": .text(localized("Tomorrow, as it would be")),
            "count": .text(Words.count(slots.count, "post")),
            "slots": .list(
                slots.prefix(Self.maximumPreviewed).map { slot in
                    [
                        "at": .markup(words.time(slot.due, showing: words.clock(slot.due))),
                        "text": .text(
                            slot.text.map { Words.cut($0, to: 300) }
                                ?? localized("Its text is chosen when it leaves.")),
                        "language": .text(slot.language.flatMap(LanguageTag.naming)),
                    ]
                }),
            "isEmpty": .flag(slots.isEmpty),
        ])
        return context
    }
}
