import Archive
import Conduct
import Favorites
package import Foundation
import Localization
import MeCab
package import Mirroring
import Networks
package import Outbox
package import Posts
import Redis
import Schedule
import Settings

/// The explanation of one action, or of a post that could appear: its content, its person, and the
/// reasons.
package struct ExplainReport: Codable, Sendable {
    /// A post of the human or of another person.
    package struct KnownPost: Codable, Equatable, Sendable {
        package var network: NetworkName
        /// The worldwide identity of the post.
        package var post: String
        /// The web page of the post; nil if unknown.
        package var link: String?
        /// The time when the post was first published; nil if the post is not stored.
        package var written: Date?
        /// The time of publication on the human's clock, as `2026-11-20 08:15`; nil for others'
        /// posts.
        package var writtenTime: String?
        package var text: String?
    }

    /// A picture that is sent with a text.
    package struct AttachedPicture: Codable, Equatable, Sendable {
        /// The human's description of the picture; `nil` for none.
        package var alt: String?
        /// Whether the picture is uploaded to the network.
        package var isUploaded: Bool

        static func all(of action: Action) -> [AttachedPicture]? {
            guard let wording = action.wording, !wording.pictures.isEmpty else { return nil }
            return wording.pictures.enumerated().map { index, picture in
                AttachedPicture(
                    alt: picture.alt.isEmpty ? nil : picture.alt,
                    isUploaded: action.uploads.contains {
                        $0.source == wording.source && $0.place == index
                    })
            }
        }
    }

    /// The composition of a favorite rate.
    package struct Judgement: Codable, Equatable, Sendable {
        package enum Basis: String, Codable, Sendable {
            /// The judgement recorded with the decision, with its strongest features.
            case stored
            /// The judgement by present counts, with every meaningful feature.
            case recomputed
        }

        package var basis: Basis
        /// The odds that the post is a favorite: P(favorite)/P(normal).
        package var rate: Double
        /// The rate above which a post is a favorite.
        package var threshold: Double
        /// The weights of words and the author; nil if all counted alike.
        package var weights: ReportedWeights?
        /// The natural logarithm of the rate of a post without known features; nil if not recorded.
        package var baseLogOdds: Double?
        /// Learned posts of each category; nil if not recorded.
        package var favorites: Int64?
        package var normals: Int64?
        /// The features, the strongest first, and finally the sum of all others.
        ///
        /// Together with `baseLogOdds` they add up to the natural logarithm of the rate.
        package var features: [Explanation.Feature]
        /// The reason why nothing is a favorite yet; nil if enough was learned.
        package var waiting: String?

        /// Whether the rate is above the threshold.
        package var isAboveThreshold: Bool {
            FavoriteConfiguration.isAbove(rate: rate, threshold: threshold)
        }
    }

    /// The choice of an old reply for a mention.
    package struct Choice: Codable, Equatable, Sendable {
        package enum Basis: String, Codable, Sendable {
            /// The reply was chosen by its own words.
            case reply
            /// The reply was chosen by the words of the post that it once answered.
            case answered
        }

        /// The number of old replies to the person that could be sent.
        package var replies: Int
        /// The number of these replies that are short, ask nothing and name nobody else; if it is
        /// 0, all were compared.
        package var plain: Int
        /// The number of replies with the same score as the chosen one, including it.
        package var nearest: Int
        /// The likeness to the mention: from 0 for no common word to 1.
        package var likeness: Double
        /// The text that was compared with the mention.
        package var basis: Basis
        /// The shared words, the most significant first; nil without a dictionary.
        package var words: [String]?

        init(_ reply: Explanation.OldReply) {
            replies = reply.replies
            plain = reply.plain
            nearest = reply.nearest
            likeness = reply.likeness
            words = reply.words
            basis = reply.isByAnswered ? .answered : .reply
        }
    }

    /// The progress of undoing an action.
    package struct TakingBack: Codable, Equatable, Sendable {
        /// The sentence for a text of which ``isStillShown`` is true.
        package static var stillShown: String {
            localized("the server still shows the text to anybody who has the link")
        }

        package var reason: ReportedReason
        package var asked: Date
        /// The number of requests.
        package var attempts: Int
        /// The time at which the next request is due; nil for none.
        package var next: Date?
        /// The time when the action was undone; nil until then.
        package var done: Date?
        /// Whether there was nothing left to delete.
        package var wasGone: Bool
        /// Whether the server still shows the deleted text to anybody with the link; nil for no.
        package var isStillShown: Bool?
        /// The last answer of the network, if it did not undo the action.
        package var cause: String?

        init?(_ action: Action) {
            guard let undo = action.undo, action.state != .skipped else { return nil }
            let text =
                undo.reason == .outbox(.byPerson)
                ? localized("a person asked to take it back") : nil
            reason = ReportedReason(undo.reason, text: text)
            asked = undo.asked
            attempts = undo.attempts
            next = undo.next
            let isDone = action.state == .undone
            done = isDone ? action.updated : nil
            wasGone = isDone && undo.outcome == Undo.gone
            isStillShown = isDone && undo.outcome == Undo.shown ? true : nil
            cause = isDone ? nil : undo.outcome
        }
    }

    /// The forecast decision about a post.
    package enum Verdict: String, Codable, Sendable {
        case favorite
        /// The post would become a suggestion.
        case suggestion
        case nothing
    }

    package var schema = "mirror-bot/explain/1"
    package var mirror: String
    package var timeZone: String?
    /// The id of the action; this and the following properties are nil for a post that could
    /// appear.
    package var id: String?
    package var subject: String?
    /// The state of the action; `preview` for a slot of a day that is not stored yet.
    package var state: String?
    package var due: Date?
    package var expires: Date?
    package var decided: Date?
    package var changed: Date?
    /// The time at which the first request was sent.
    package var sent: Date?
    package var attempts: Int?
    /// The maximum cost of sending the action, in dollars; `nil` once it is sent, and on free
    /// networks.
    package var cost: Double?
    package var kind: ActionKind
    package var person: ReportedPerson?
    /// The answered or favorited post.
    package var target: KnownPost?
    /// The text that is or would be sent; for a post that could appear, its text.
    package var text: String?
    /// The note published below the human's text; nil for none.
    package var note: String?
    /// The further parts of a thread after the text; `nil` if there are none.
    package var rest: [String]?
    /// The pictures sent with the text; `nil` if there are none.
    package var pictures: [AttachedPicture]?
    /// The human's post with the text.
    package var original: KnownPost?
    /// The web page of the bot's post.
    package var published: String?
    /// How the action was chosen, in one sentence.
    package var why: String?
    /// The choice of an old reply; `nil` for other actions, or if not recorded.
    package var choice: Choice?
    /// The human's past day that served as the model for the action's day; nil if minutes were
    /// drawn one by one.
    package var pattern: Explanation.Pattern?
    /// The progress of the undo; nil without a request to undo.
    package var undo: TakingBack?
    /// The rules that were applied, the decisive one first.
    package var rules: [ReportedReason] = []
    /// The present obstacles to sending a waiting action; `nil` for one that is not waiting.
    package var obstacles: [Obstacle]?
    package var verdict: Verdict?
    /// The judgement of a favorite at the time of the decision.
    package var judgement: Judgement?
    /// The judgement of the post by present counts.
    package var judgementNow: Judgement?
    /// The reason why there is no judgement by present counts; nil if there is one, or nothing to
    /// judge.
    package var judgementProblem: String?

    init(mirror: String, timeZone: String?, kind: ActionKind) {
        self.mirror = mirror
        self.timeZone = timeZone
        self.kind = kind
    }
}

/// Explains actions, and predicts what the bot would do with a post.
package struct ExplainReporter: Sendable {
    let mirror: HumanMirror

    /// - Parameter mirror: The mirror's data.
    package init(mirror: HumanMirror) { self.mirror = mirror }

    private var configuration: MirrorSettings { mirror.configuration }

    // MARK: An action

    /// Explains one action.
    ///
    /// - Parameters:
    ///   - name: A name as for `HumanMirror.action(named:in:now:)`.
    ///   - now: The present.
    /// - Returns: The explanation; an unreachable classifier is reported in it.
    /// - Throws: ``ActionNameError``; the store's error.
    package func report(on name: String, now: Date) async throws -> ExplainReport {
        let (action, isStored) = try await mirror.action(named: name, now: now)
        let record = try await mirror.table.record()
        var report = ExplainReport(
            mirror: mirror.name, timeZone: mirror.timeZoneName(record), kind: action.kind)
        report.id = action.id
        report.subject = action.subject
        report.state = isStored ? action.state.rawValue : PlanReport.preview
        report.due = action.due
        report.expires = action.expires
        report.sent = action.sending
        if isStored {
            report.decided = action.created
            report.changed = action.updated
        }
        report.attempts = action.attempts
        report.person = try await mirror.persons(of: [action])[action.id]
        report.text = action.text
        report.why = (action.explanation?.summary).map(StoredText.inWords)
        report.note = action.wording?.note
        report.choice = action.explanation?.oldReply.map(ExplainReport.Choice.init)
        report.pattern = action.explanation?.pattern
        report.target = action.targetPost.map { KnownPost($0) }
        report.target?.text = action.target?.text
        report.original = try await original(of: action)
        if let bot = record.bot, action.kind != .favorite, let id = action.remoteID {
            report.published = PostID(network: bot.network, value: id).webAddress
        }
        report.undo = ExplainReport.TakingBack(action)
        report.pictures = ExplainReport.AttachedPicture.all(of: action)
        report.rest = action.wording.flatMap { $0.rest.isEmpty ? nil : $0.rest.map(\.text) }
        report.rules = try await rules(about: action)
        if [.planned, .claimed, .suggested].contains(action.state) {
            report.obstacles = try await mirror.health(now: now).sendingObstacles(to: action.kind)
            report.cost = try await mirror.prices(of: [action])[action.id]
        }
        if action.kind == .favorite { try await judge(action, in: &report) }
        return report
    }

    private typealias KnownPost = ExplainReport.KnownPost

    private func original(of action: Action) async throws -> KnownPost? {
        guard let source = action.wording?.source else { return nil }
        let post = try await mirror.archive.post(source)
        var original = KnownPost(source)
        original.written = post?.createdAt
        original.text = post?.text
        if let post, let home = try await mirror.knownTimeZone() {
            original.writtenTime = try await mirror.archive.zones(home: home).time(of: post)
                .description
        }
        return original
    }

    // MARK: Rules

    /// Returns the rules that apply to an action.
    ///
    /// These are the action's own reason, the rules about a post's text, the stance on the person,
    /// and the rules that exclude old replies to that person.
    private func rules(about action: Action) async throws -> [ReportedReason] {
        var rules = [action.reportedReason].compactMap(\.self)
        if action.kind == .post { rules += try await rulesOfTexts(action) }
        guard let author = action.target?.author else { return rules }
        switch try await mirror.people.stance(of: author) {
        case .deny where action.reason != .rule(.denied):
            rules.append(ReportedReason(.rule(.denied)))
        case .allow:
            rules.append(
                ReportedReason("allowed", text: localized("the author or the operator agreed")))
        case .deny, .none: break
        }
        return action.kind == .reply ? rules + (try await rulesOfReplies(to: author)) : rules
    }

    /// Returns the rules about the text of a slot: when the text is fit, if not always; why it is
    /// chosen only after others; and how many texts are not posted.
    private func rulesOfTexts(_ action: Action) async throws -> [ReportedReason] {
        var rules: [ReportedReason] = []
        if let source = action.wording?.source,
            let fitness = try await mirror.archive.fitness(of: source),
            let reason = fitness.reason, configuration.fitness != .off
        {
            let comesLater = fitness.grade == Fitness.Grade.fit.rawValue && fitness.window.isEmpty
            let sentence = ReportedReason(reason).text
            var text = sentence
            if !fitness.window.isEmpty {
                text = localized("\(sentence), and is used then: \(fitness.window)")
            }
            if comesLater { text = localized("\(sentence), and comes after the plain ones") }
            // Only with the setting `plain` do plain texts come before others.
            if !comesLater || configuration.fitness == .plain {
                rules.append(ReportedReason(reason, text: text))
            }
        }
        if let source = action.wording?.source, let post = try await mirror.archive.post(source),
            let opinion = try await mirror.opinions(on: [(post.id, post.text)])[post.id],
            opinion.isDemoted
        {
            rules.append(ReportedReason(.rule(.likeLeftOut), text: opinion.sentence))
        }
        let texts = StatusReport.TextState(try await mirror.unsentTexts(), configuration.fitness)
        guard texts.unfit > 0 else { return rules }
        let textCount = texts.fit + texts.sometimes + texts.unfit
        return rules + [
            ReportedReason(
                "texts",
                text: localized(
                    "\(texts.unfit) of \(textCount) texts are not posted: \(texts.commonest)"))
        ]
    }

    /// The rules that exclude old replies to a person, as of now.
    private func rulesOfReplies(to person: AccountID) async throws -> [ReportedReason] {
        let past = try await mirror.archive.replies(to: person)
        let handle = try await mirror.handles(of: [person])[person]
        guard !past.isEmpty, let handle else { return [] }
        // Without an account a reply is assumed to name the person.
        let bot = try await mirror.usableNetwork(of: .bot)
        let rules = TextRules(
            configuration, limits: .usual(of: configuration.botNetwork),
            repliesNameThePerson: bot?.capabilities.replyNeedsMention ?? true)
        var counts: [Refusal.Reason: Int] = [:]
        let results = past.map { rules.replyText(for: $0, to: handle) }
        for case .failure(let refusal) in results {
            counts[refusal.reason, default: 0] += 1
        }
        let mostFrequentFirst = counts.sorted { first, second in
            first.value == second.value
                ? first.key.rawValue < second.key.rawValue : first.value > second.value
        }
        return mostFrequentFirst.map { reason, count in
            ReportedReason(
                .rule(reason),
                text: localized(
                    "\(count) of \(past.count) old replies to this person may not be sent: \(reason.sentence)"
                ))
        }
    }

    // MARK: A favorite

    /// Adds the judgement of a favorite at the time of its decision, and the present one if its
    /// post is still stored.
    private func judge(_ action: Action, in report: inout ExplainReport) async throws {
        if let explanation = action.explanation, let rate = explanation.favoriteRate {
            report.judgement = ExplainReport.Judgement(
                basis: .stored, rate: rate,
                threshold: explanation.threshold ?? configuration.favorites.threshold,
                weights: explanation.weights.map(ReportedWeights.init),
                baseLogOdds: explanation.baseLogOdds,
                features: explanation.features ?? [])
        }
        guard let target = action.target else { return }
        do {
            let favorites = try mirror.favorites()
            let id = PostID(network: target.author.network, value: target.post)
            guard let example = try await favorites.example(id) else {
                report.judgementProblem =
                    localized("the post's text is not kept, so it cannot be judged again")
                return
            }
            report.target?.text = example.text
            report.judgementNow = try await favorites.classify([example]).first.map(judgement)
        } catch let error as FavoritesError {
            report.judgementProblem = error.description
        } catch let error as MeCabError {
            report.judgementProblem = error.description
        } catch let error as RedisError {
            report.judgementProblem = "\(error)"
        }
    }

    private func judgement(_ result: Classification) -> ExplainReport.Judgement {
        ExplainReport.Judgement(
            basis: .recomputed, rate: result.assessment.rate,
            threshold: configuration.favorites.threshold,
            weights: result.weights.map(ReportedWeights.init),
            baseLogOdds: result.assessment.baseLogOdds,
            favorites: result.learned.favorites,
            normals: result.learned.normals,
            features: Explanation.Feature.all(of: result.assessment),
            waiting: result.waiting?.description)
    }

    // MARK: A post that could appear

    /// Predicts the bot's decision about a post, as if it appeared now on the home timeline.
    ///
    /// - Parameters:
    ///   - text: The post's text.
    ///   - author: The post's author, with the name on the network; nil for an unknown person.
    ///   - now: The present.
    /// - Returns: The explanation.
    /// - Throws: `FavoritesError` or `MeCabError` if it cannot be judged; the store's error.
    package func report(
        onText text: String, by author: (id: AccountID, handle: String)?, now: Date
    ) async throws -> ExplainReport {
        let record = try await mirror.table.record()
        var report = ExplainReport(
            mirror: mirror.name, timeZone: mirror.timeZoneName(record), kind: .favorite)
        report.text = text
        if let author {
            report.person = ReportedPerson(account: author.id.reference, name: "@\(author.handle)")
        }
        let item = Self.item(saying: text, by: author, on: configuration.botNetwork, at: now)
        let classifier = try mirror.favorites().session()
        let accounts = try await FoundAccounts(in: mirror)
        if let problem = accounts.problem(.bot) {
            report.judgementNow = try await classifier.classify([item.example]).first.map(judgement)
            report.rules = [
                ReportedReason("no-account", text: localized("nothing is favorited: \(problem)"))
            ]
            report.verdict = .nothing
            return report
        }
        let decider = FavoriteDecider(
            store: mirror.outbox(lease: nil), network: try await mirror.requiredNetwork(of: .bot),
            configuration: configuration, zone: try await mirror.knownTimeZone() ?? .gmt,
            own: Set([record.human, record.bot].compactMap(\.self)), activated: .distantPast)
        guard let prospect = try await decider.prospect(of: item, with: classifier, now: now) else {
            return report
        }
        report.judgementNow = judgement(prospect.result)
        decide(prospect, in: &report)
        return report
    }

    /// Returns the post as a network would report it.
    private static func item(
        saying text: String, by author: (id: AccountID, handle: String)?, on network: NetworkName,
        at now: Date
    ) -> ObservedPost {
        // No account and no post has this identity, because identities contain no space.
        let nobody = AccountID(network: network, value: "not known")
        let id = author?.id ?? nobody
        let post = Post(
            id: PostID(network: network, value: "not published"), author: id, text: text,
            createdAt: now)
        let account = Account(
            id: id, handle: author?.handle ?? "", displayName: "", isBot: false, bio: "")
        return ObservedPost(post: post, author: account, address: "")
    }

    private func decide(_ prospect: FavoriteProspect, in report: inout ExplainReport) {
        let threshold = configuration.favorites.threshold
        if configuration.favoriteMode == .off {
            report.rules.append(
                ReportedReason(
                    "mode-off",
                    text: localized("nothing is favorited: \(Setting.favoriteMode.name) is off")))
        }
        if let refusal = prospect.refusal {
            report.rules.append(ReportedReason(.rule(refusal.reason), text: refusal.message))
        }
        if let waiting = prospect.result.waiting {
            report.rules.append(
                ReportedReason(
                    "too-little-learned", text: localized("too little was learned: \(waiting)")))
        } else if !prospect.result.isFavorite {
            let text = localized(
                "the rate is not above the threshold of \(threshold.formatted(.number.grouping(.never)))"
            )
            report.rules.append(ReportedReason("below-threshold", text: text))
        }
        guard report.rules.isEmpty else {
            report.verdict = .nothing
            return
        }
        report.verdict = prospect.isAutomatic ? .favorite : .suggestion
        report.why = localized("the human favorites posts like this one\(prospect.condition)")
    }
}

extension ExplainReport.KnownPost {
    fileprivate init(_ id: PostID) {
        network = id.network
        post = id.value
        link = id.webAddress
    }
}

// MARK: Finding an action by its name

extension HumanMirror {
    /// The most actions that an error names.
    private static let mostNamed = 5
    /// The number of days ahead for which the identifiers of slots are known before the days are
    /// planned.
    private static let foreseenDays = 400

    /// Finds the action that a name means.
    ///
    /// - Parameters:
    ///   - name: An identifier, a unique beginning of one, or a slot as `TypedSlot` reads it.
    ///   - zone: The result of `knownTimeZone()`, for a caller that has it; nil to read it.
    ///   - now: The present, by which days are past or still to come.
    /// - Returns: The action, and whether it is stored; a slot of a day without a plan is not.
    /// - Throws: ``ActionNameError``; the store's error.
    package func action(
        named name: String, in zone: TimeZone? = nil, now: Date
    ) async throws -> (action: Action, isStored: Bool) {
        let zone = zone == nil ? try await knownTimeZone() : zone
        switch TypedSlot(name, today: LocalTime(now, in: zone ?? .gmt).day) {
        case .next: return try await nextPost(in: zone, now: now)
        case .named(let slot): return try await post(in: slot, zone, now: now)
        case .at(let day, let minute):
            return try await post(at: minute, of: day, in: zone, now: now)
        case nil: break
        }
        let outbox = outbox(lease: nil)
        let digits = name.plainlyTyped.lowercased()
        let matchingActions = try await outbox.actions(
            identifiedBy: digits, limit: Self.mostNamed + 1)
        if let exact = matchingActions.first(where: { $0.id == digits }) { return (exact, true) }
        if matchingActions.count == 1 { return (matchingActions[0], true) }
        guard matchingActions.isEmpty else {
            throw ActionNameError.ambiguous(name, try await described(matchingActions))
        }
        let slots = foreseenSlots(identifiedBy: digits, in: zone, now: now)
        var previewed: [Action] = []
        for slot in slots {
            if let action = try await preview(of: slot, in: zone, now: now) {
                previewed.append(action)
            }
            if previewed.count > Self.mostNamed { break }
        }
        guard previewed.count < 2 else {
            throw ActionNameError.ambiguous(name, try await described(previewed))
        }
        guard let action = previewed.first else { throw ActionNameError.unknown(name) }
        return (action, false)
    }

    private func post(
        in slot: Slot.Name, _ zone: TimeZone?, now: Date
    ) async throws -> (action: Action, isStored: Bool) {
        if let action = try await outbox(lease: nil).action(.post, subject: slot.description) {
            return (action, true)
        }
        let (actions, _) = try await posts(of: slot.day, in: zone, now: now)
        guard let action = actions.first(where: { $0.subject == slot.description }) else {
            throw ActionNameError.noSlot(slot, of: actions.count { $0.parent == nil })
        }
        return (action, false)
    }

    private func post(
        at minute: MinuteOfDay, of day: LocalDay, in zone: TimeZone?, now: Date
    ) async throws -> (action: Action, isStored: Bool) {
        let (actions, isStored) = try await posts(of: day, in: zone, now: now)
        // The further parts of a thread have no time of their own.
        let slots = actions.filter { $0.parent == nil }
            .map { (action: $0, minute: LocalTime($0.due, in: zone ?? .gmt).minute) }
        let actionsAtMinute = slots.filter { $0.minute == minute }.map(\.action)
        guard actionsAtMinute.count < 2 else {
            throw ActionNameError.several(at: minute, actionsAtMinute.map(\.subject))
        }
        guard let action = actionsAtMinute.first else {
            throw ActionNameError.nothing(at: minute, of: day, but: slots.map(\.minute))
        }
        return (action, isStored)
    }

    /// The days for which plans are previewed to find the next post of a mirror that posts rarely.
    private static let daysToNext = 31

    /// The next post: a planned one, or a previewed one of a later day.
    private func nextPost(in zone: TimeZone?, now: Date) async throws -> (
        action: Action, isStored: Bool
    ) {
        guard let zone else { throw ActionNameError.nothingNext }
        let stored = try await outbox(lease: nil).waitingPosts().first { $0.comes(after: now) }
        let foreseen = try await NextPost(of: self, in: zone, now: now).foreseen(
            before: stored?.due, within: Self.daysToNext)
        if let foreseen { return (foreseen, false) }
        guard let stored else { throw ActionNameError.nothingNext }
        return (stored, true)
    }

    /// Returns the future slots whose identifier begins with `digits`.
    ///
    /// An identifier depends on the slot's day and number alone, so it is known before the day is
    /// planned.
    private func foreseenSlots(identifiedBy digits: String, in zone: TimeZone?, now: Date) -> [Slot
        .Name]
    {
        // Fewer digits would match many unseen slots.
        guard digits.count >= ActionNameError.shortIDLength, let zone else { return [] }
        let today = LocalTime(now, in: zone).day
        return (0...Self.foreseenDays).flatMap { ahead in
            (1...max(1, configuration.schedule.maximumPerDay)).map {
                Slot.Name(day: today.advanced(by: ahead), number: $0)
            }
        }.filter { Action.id(of: .post, subject: $0.description).hasPrefix(digits) }
    }

    private func preview(of slot: Slot.Name, in zone: TimeZone?, now: Date) async throws -> Action?
    {
        try await posts(of: slot.day, in: zone, now: now).actions.first {
            $0.subject == slot.description
        }
    }

    /// The posts of a day, and whether they are stored; none without a basis for a plan.
    private func posts(
        of day: LocalDay, in zone: TimeZone?, now: Date
    ) async throws -> (actions: [Action], isStored: Bool) {
        guard let zone,
            let planned = try await PlanReporter(mirror: self, zone: zone).actions(
                of: day, now: now)
        else {
            return ([], false)
        }
        return (planned.actions, planned.plan != nil)
    }

    /// Describes actions so that a person can distinguish them.
    private func described(_ actions: [Action]) async throws -> [String] {
        var names: [String] = []
        let persons = try await persons(of: Array(actions.prefix(Self.mostNamed)))
        for action in actions.prefix(Self.mostNamed) {
            let kind = action.kind.word
            let state = action.state.word
            if let person = persons[action.id] {
                names.append(localized("\(action.id) (\(kind) about \(person.name), \(state))"))
            } else {
                names.append(localized("\(action.id) (\(kind), \(state))"))
            }
        }
        return names + (actions.count > Self.mostNamed ? [localized("and others")] : [])
    }
}

extension ActionKind {
    /// The kind as a word of a sentence.
    var word: String {
        switch self {
        case .post: localized("post")
        case .reply: localized("reply")
        case .favorite: localized("favorite")
        }
    }
}

extension ActionState {
    /// The state as a word of a sentence.
    fileprivate var word: String {
        switch self {
        case .planned: localized("planned")
        case .claimed: localized("claimed")
        case .sending: localized("sending")
        case .suggested: localized("suggested")
        case .done: localized("done")
        case .skipped: localized("skipped")
        case .expired: localized("expired")
        case .failed: localized("failed")
        case .undone: localized("undone")
        }
    }
}

extension Action {
    /// The day of the action's slot; `nil` unless the action is a post.
    fileprivate var slotDay: LocalDay? {
        if case .post(let name, _) = payload { name.day } else { nil }
    }
}
