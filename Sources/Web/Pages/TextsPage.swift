import Control
import Favorites
import Foundation
import Localization
import Mirroring
import Posts
import Settings

/// The page with the human's archived texts: when the bot may post each, and which are left out.
enum TextsPage: MirrorPage {
    static let section = PageSection.texts
    static let templates = [PageTemplate("texts")]
    static let liveParts = ["texts", "list", "muted"]
    static let routes: [MirrorRoute] = [
        .get("/texts", page), .post("/texts/post", publish), .post("/texts/slot", pin),
        .post("/texts/never", never),
        .post("/texts/allow", allow), .post("/texts/keep", keep), .post("/texts/unkeep", unkeep),
        .post("/texts/forget", forget), .get("/muted", askToMute), .post("/muted", mute),
        .post("/muted/remove", unmute),
    ]
    static let confirmations: [String: @Sendable (MirrorRequest) async throws -> Confirmation] = [
        PublishPost.name: askToPublish, NeverSend.name: askForNever, ForgetText.name: askToForget,
    ]

    /// The most texts on a page.
    private static let maximumRows = 10
    /// The most rules that are listed with their numbers of texts.
    private static let reasonsShown = 6
    /// The most muted words and days that are listed.
    private static let mutedShown = 4
    /// The most bytes of the markup of a muted word.
    private static let mutedSize = 99
    /// The longest text of a search field, in Unicode scalars.
    private static let longestWords = 100
    /// The most slots that are offered for a text.
    private static let slotsShown = 8
    /// The most bytes of markup of one excerpt.
    private static let excerptSize = 1_100
    /// The most bytes of markup of all excerpts of a page.
    private static let totalExcerptSize = 3_500

    // MARK: Looking

    private static func page(_ request: MirrorRequest) async throws -> WebReply {
        // After a refused form the list has no filter, because the form does not contain the query
        // of the list.
        let query = request.refusal == nil ? request.query : .none
        var search = TextList.Search(limit: maximumRows)
        search.reason = query.typed("reason")
        search.words = query.typed("q")
        search.cursor = query["after"]
        search.reason = search.reason.map { String($0.unicodeScalars.prefix(longestWords)) }
        search.words = search.words.map { String($0.unicodeScalars.prefix(longestWords)) }
        // Without a search, the texts that may be posted are shown first.
        let defaultKind: TextList.Search.Kind =
            search.reason == nil && search.words == nil ? .fit : .all
        search.kind = query["fitness"].flatMap(TextList.Search.Kind.init(rawValue:)) ?? defaultKind
        // The post whose text is shown alone, with the slots that could use it.
        let postForSlot: String? =
            if request.refusal == nil {
                request.query.typed("use")
            } else if request.path == "/texts/slot" {
                request.form.typed("post")
            } else {
                nil
            }
        var isForSlot = postForSlot != nil
        let isReview = isReview(request)
        let list: TextList
        do {
            list =
                if isReview {
                    TextList(
                        texts: try await TextReview(of: request.mirror, atMost: maximumRows).texts,
                        next: nil)
                } else if let postForSlot {
                    TextList(
                        texts: [
                            try await TextList.Text(
                                of: request.mirror, named: postForSlot, zone: request.zone ?? .gmt)
                        ], next: nil)
                } else { try await TextList(of: request.mirror, search) }
        } catch is ChangeRefusal {
            // An old link names a position or a text that is gone: the list is shown from its
            // start.
            search.cursor = nil
            isForSlot = false
            list = try await TextList(of: request.mirror, search)
        }
        let archive = try await StatusReporter(mirror: request.mirror).archive(
            zone: request.zone, now: request.now)
        let zone = request.zone ?? .gmt
        var slots: [PlanReport.Slot] = []
        if request.zone != nil, !request.access.isReadOnly {
            slots = try await PlanReporter(mirror: request.mirror, zone: zone)
                .openSlots(of: request.words.today, now: request.now)
        }
        let muted = try await Forgetting(mirror: request.mirror, zone: zone).list()
        let shown = Shown(
            list: list, search: search, archive: archive, slots: slots, muted: muted,
            fitness: request.mirror.configuration.fitness.rawValue, isForSlot: isForSlot,
            isReview: isReview)
        return .page(PageContent(templates[0], in: section, context(shown, of: request)))
    }

    /// The data that the page shows.
    struct Shown {
        var list: TextList
        var search: TextList.Search
        var archive: StatusReport.ArchiveState
        /// Today's slots that can still get another text.
        var slots: [PlanReport.Slot]
        var muted: [Forgotten]
        /// The value of `FITNESS`.
        var fitness: String
        /// Whether a single text is shown, to be put into a slot.
        var isForSlot = false
        /// Whether the page asks a person about each text whether the bot may post it.
        var isReview = false
    }

    /// Whether the page, or the form that was sent from it, belongs to the review.
    private static func isReview(_ request: MirrorRequest) -> Bool {
        request.query["review"] == "1" || request.form["review"] == "1"
    }

    /// The path to which a form of the page returns.
    private static func back(_ request: MirrorRequest) -> String {
        isReview(request) ? "/texts?review=1#find" : "/texts"
    }

    static func context(_ shown: Shown, of request: MirrorRequest) -> PageContext {
        let words = request.words
        let canChange = !request.access.isReadOnly && request.zone != nil
        let texts = shown.archive.texts
        let rules = texts?.reasons ?? []
        let highestCount = rules.map(\.count).max() ?? 0
        let furtherReasons = max(0, rules.count - reasonsShown)
        let search = shown.search
        let muted = shown.muted.filter { ["word", "day", "span"].contains($0.kind) }
        let sizesOfExcerpts = shown.list.texts.map { Markup.escaped(excerpt($0.text)).utf8.count }
        let totalSize = sizesOfExcerpts.reduce(0, +)
        // If all excerpts together are too large, each of them gets an equal share.
        let mostBytes = totalSize > totalExcerptSize ? totalExcerptSize / maximumRows : excerptSize
        return [
            "base": .text(request.base), "head": .text(head(shown.archive, words)),
            "shares": .fields(texts.flatMap { shares($0) }),
            "forecast": .text(texts?.forecast.map { forecast($0, words) }),
            "hasReasons": .flag(!rules.isEmpty),
            "fitness": .text(shown.fitness),
            "reasons": .list(
                rules.prefix(reasonsShown).map { reason in
                    [
                        "text": .sentence(reason.text ?? reason.reason),
                        "code": .text(reason.reason),
                        "bar": .markup(
                            Drawing.meter(
                                Double(reason.count) / Double(max(1, highestCount)), side: "base")),
                        "number": .number(reason.count),
                    ]
                }),
            "furtherReasons": .text(
                furtherReasons == 0
                    ? nil
                    : localized(
                        "\(Words.count(furtherReasons, "further reason")): choose one below.")),
            "allReasons": .list(
                rules.map { reason in
                    [
                        "code": .text(reason.reason),
                        "isChosen": .flag(reason.reason == search.reason),
                        "text": .text(
                            localized(
                                "\(reason.text ?? reason.reason) (\(Words.number(reason.count)))")),
                    ]
                }),
            "words": .text(search.words ?? ""),
            "kinds": .list(
                kinds.map { kind, name in
                    [
                        "kind": .text(kind.rawValue), "name": .text(name),
                        "isChosen": .flag(kind == search.kind),
                    ]
                }),
            "found": .text(listDescription(shown)),
            "isFiltered": .flag(
                search.kind != .all || search.reason != nil || search.words != nil
                    || shown.isForSlot || shown.isReview),
            "isReview": .flag(shown.isReview && canChange),
            "review": .text(
                shown.isReview || !canChange ? nil : request.base + "/texts?review=1#find"),
            "hasTexts": .flag(!shown.list.texts.isEmpty), "canChange": .flag(canChange),
            "texts": .list(
                shown.list.texts.map {
                    row($0, shown, mostBytes: mostBytes, canChange: canChange, of: request)
                }),
            "token": .markup(request.hidden()),
            "more": .text(
                shown.list.next.map { next in
                    request.base + "/texts"
                        + WebFields.query([
                            ("q", search.words), ("fitness", search.kind.rawValue),
                            ("reason", search.reason), ("after", next),
                        ])
                }),
            "hasMuted": .flag(!muted.isEmpty),
            "muted": .list(muted.prefix(mutedShown).map { row($0, canChange: canChange, words) }),
            "restOfMuted": .text(restOfMuted(shown.muted, mutedCount: muted.count)),
            "typedWord": .text(typed("word", request)), "typedDay": .text(typed("day", request)),
            "typedFrom": .text(typed("from", request)), "typedTo": .text(typed("to", request)),
            "isWordWrong": .flag(isWrong("word", request)),
            "isDayWrong": .flag(isWrong("day", request)),
            "isFromWrong": .flag(isWrong("from", request)),
        ]
    }

    /// Returns the text typed into a field of a refused form; empty if nothing was refused.
    private static func typed(_ field: String, _ request: MirrorRequest) -> String {
        request.refusal == nil ? "" : request.form[field] ?? request.query[field] ?? ""
    }

    /// Whether a form with the field was refused because of invalid input.
    private static func isWrong(_ field: String, _ request: MirrorRequest) -> Bool {
        request.refusal?.isMisuse == true && (request.form[field] ?? request.query[field]) != nil
    }

    private static var kinds: [(kind: TextList.Search.Kind, name: String)] {
        [
            (.all, localized("all")), (.fit, localized("fit at any time")),
            (.sometimes, localized("at some times only")), (.unfit, localized("left out")),
            (.never, localized("never sent")), (.answers, localized("answers")),
        ]
    }

    /// Returns the number of archived posts and their years:
    /// `8,412 old posts of the human, 2013 to 2026`.
    private static func head(_ archive: StatusReport.ArchiveState, _ words: Words) -> String {
        let posts = Words.count(
            archive.posts, "old post of the human", "old posts of the human")
        guard let oldest = archive.oldest, let newest = archive.newest else { return posts }
        let firstYear = words.day(of: oldest).components.year
        let lastYear = words.day(of: newest).components.year
        return firstYear == lastYear
            ? localized("\(posts), of \(firstYear)")
            : localized("\(posts), \(firstYear) to \(lastYear)")
    }

    /// The forecast as a sentence.
    private static func forecast(_ forecast: TextForecast, _ words: Words) -> String {
        let sentence = forecast.sentence(today: words.today)
        return localized("\(sentence.prefix(1).uppercased() + sentence.dropFirst()).")
    }

    private static func shares(_ texts: StatusReport.TextState) -> PageContext? {
        guard texts.fit + texts.sometimes + texts.unfit + texts.unjudged > 0 else { return nil }
        let shares = TextShares(texts: texts)
        return [
            "bar": .markup(shares.drawing.element),
            "parts": .list(
                zip(shares.parts, ["fit", "sometimes", "unfit"]).map { part, kind in
                    [
                        "side": .text(part.side), "number": .number(part.number),
                        "words": .text(part.words),
                        "kind": .text(kind),
                    ]
                }),
            "unjudged": texts.unjudged > 0 ? .number(texts.unjudged) : .none,
        ]
    }

    /// Returns a description of the listed texts, with their number if it is counted.
    private static func listDescription(_ shown: Shown) -> String {
        let search = shown.search
        guard !shown.list.texts.isEmpty else {
            if shown.isReview { return localized("No text is left to ask for.") }
            return localized(
                search.cursor == nil ? "No text of the kind is archived." : "No further text.")
        }
        if shown.isForSlot { return localized("One text.") }
        if shown.isReview {
            return localized(
                "Texts that the bot may post, of which you have said nothing. Each answer counts at once; from \(TextTaste.fewestLabels) on, texts like those you left out come after others."
            )
        }
        var parts: [String] = []
        if let words = search.words {
            parts.append(localized("with “\(Words.cut(words, to: 60))”"))
        }
        if let reason = search.reason {
            let shownReason = shown.archive.texts?.reasons.first { $0.reason == reason }
            if search.words == nil, search.kind == .unfit, let shownReason {
                return localized(
                    "\(Words.count(shownReason.count, "text")): \(shownReason.text ?? reason). The newest first."
                )
            }
            let rule = Words.cut(shownReason?.text ?? reason, to: 60)
            parts.append(localized("of the rule “\(rule)”"))
        }
        let name = kinds.first { $0.kind == search.kind }?.name
        if search.kind != .all, let name { parts.append(name) }
        return parts.isEmpty
            ? localized("Texts, the newest first.")
            : localized("Texts \(parts.joined(by: .comma)), the newest first.")
    }

    private static func row(
        _ text: TextList.Text, _ shown: Shown, mostBytes: Int, canChange: Bool,
        of request: MirrorRequest
    ) -> PageContext {
        let words = request.words
        let time = LocalTime(text.created, in: words.zone)
        let isSendable = text.mayBePostedByPerson && !shown.slots.isEmpty
        let isForSlot = isSendable && shown.isForSlot
        let options = shown.slots.prefix(slotsShown).map { slot in
            "<option value=\"\(slot.id) \(slot.seen?.description ?? "")\">\(slot.time)</option>"
                as Markup
        }
        return [
            "year": .text("\(time.day.components.year)"),
            "day": .text(words.dayOfYear(text.created)),
            "time": .text("\(time.minute)"), "state": .sentence(state(of: text, words)),
            "code": .text(text.isNever ? nil : text.unfit), "link": .text(link(text.address)),
            "language": .text(text.language), "text": .text(excerpt(text.text, mostBytes)),
            "post": .text(text.post),
            "canChange": .flag(canChange), "isNever": .flag(text.isNever),
            "canPost": .flag(text.mayBePostedByPerson),
            "use": isSendable && !isForSlot
                ? .text(request.base + "/texts" + WebFields.query([("use", text.post)]) + "#find")
                : .none,
            "slotOptions": isForSlot ? .markup("\(options)") : .none,
            "tokenOfText": .markup(request.hidden(seen: text.seen)),
        ]
    }

    /// A link to a web page; nil for any other address.
    private static func link(_ address: String?) -> String? {
        address.flatMap { $0.hasPrefix("https://") || $0.hasPrefix("http://") ? $0 : nil }
    }

    private static func state(of text: TextList.Text, _ words: Words) -> String {
        let fitness =
            switch text.fitness {
            case _ where text.isNever: localized("Never sent, as a person said")
            case .fit: text.demoted.map { localized("Fit; \($0)") } ?? localized("Fit")
            case .sometimes:
                [localized("At some times only: \(text.sometimes ?? "")"), text.demoted]
                    .compactMap(\.self).joined(by: .semicolon)
            case .unfit: localized("Left out: \(text.unfitText ?? "")")
            case .unjudged: localized("Not looked at yet")
            case .answer:
                text.answers.map { localized("An answer to \($0)") } ?? localized("An answer")
            }
        guard let planned = text.planned else {
            guard text.uses > 0, let last = text.lastUse else { return fitness }
            let day = words.day(of: last)
            return text.uses == 1
                ? localized("\(fitness). Used once, on \(day)")
                : localized("\(fitness). Used \(Words.number(text.uses)) times, last on \(day)")
        }
        return localized("\(fitness). Planned for \(words.moment(planned.due))")
    }

    /// The beginning of a long text, limited by the bytes of its escaped form.
    static func excerpt(_ text: String, _ mostBytes: Int = excerptSize) -> String {
        ListWords.cut(Words.cut(text, to: 400), bytes: mostBytes)
    }

    // MARK: What stays out

    private static func row(_ muted: Forgotten, canChange: Bool, _ words: Words) -> PageContext {
        // A span is `FIRST/LAST`; without an end its last day is the latest possible one.
        let days = muted.value.split(separator: "/").map(String.init)
        let isOpen = days.last == LocalDay.latest.description
        let (what, kind) =
            switch muted.kind {
            case "word": (muted.value, localized("word"))
            case "day": (muted.value, localized("every year"))
            case _ where days.count == 2 && days[0] == days[1]: (days[0], localized("day"))
            case _ where isOpen: (localized("from \(days[0]) on"), localized("time"))
            case _ where days.count == 2:
                (localized("\(days[0]) to \(days[1])"), localized("time"))
            default: (muted.value, localized("time"))
            }
        let effect = localized(
            muted.kind == "word"
                ? "posts with it left the archive and do not come in" : "posts of it are not sent")
        return [
            "what": .text(ListWords.cut(Words.cut(what, to: 40), bytes: mutedSize)),
            "kind": .text(kind),
            "does": .text(effect),
            "since": .text("\(words.day(of: muted.noted))"), "canRemove": .flag(canChange),
            "entry": .text(muted.seen?.description),
        ]
    }

    private static func restOfMuted(_ all: [Forgotten], mutedCount: Int) -> String? {
        let posts = all.count { $0.kind == "post" }
        let parts = [
            mutedCount > mutedShown
                ? localized("\(Words.number(mutedCount - mutedShown)) more are muted.") : nil,
            forgottenPosts(posts),
        ].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(by: .sentence)
    }

    private static func forgottenPosts(_ posts: Int) -> String? {
        let number = Words.number(posts)
        return switch posts {
        case ...0: nil
        case 1: localized("\(number) post was forgotten and will not come in again.")
        default: localized("\(number) posts were forgotten and will not come in again.")
        }
    }

    private static func wish(_ fields: WebFields) throws -> ForgettingWish {
        if let post = fields.typed("post") { return .post(post) }
        if let word = fields.typed("word") { return .word(word) }
        if let day = fields.typed("day") { return .day(day) }
        if let from = fields.typed("from") { return .days(from: from, to: fields.typed("to")) }
        throw ChangeRefusal(.unusable, localized("write a word, a day or the first day of a time"))
    }

    private static func name(of wish: ForgettingWish) -> String {
        switch wish {
        case .post: localized("this post")
        case .word(let word): localized("“\(Words.cut(word, to: 60))”")
        case .day(let day): Words.cut(day, to: 20)
        case .days(let from, let to?):
            localized("\(Words.cut(from, to: 20)) to \(Words.cut(to, to: 20))")
        case .days(let from, nil): localized("\(Words.cut(from, to: 20)) and all after it")
        }
    }

    // MARK: Asking first

    private static func askToMute(_ request: MirrorRequest) async throws -> WebReply {
        try await request.attempt(refusedBy: page) {
            let wish = try wish(request.query)
            let forgetting = try await request.desk.forgetting()
            let subject = try await forgetting.subject(of: wish)
            let reach = try await forgetting.reach(of: subject)
            let isWord = if case .word = wish { true } else { false }
            var question = Confirmation(
                in: section, localized("Mute \(name(of: wish))?"), action: "/muted",
                verb: isWord && reach > 0
                    ? localized("Mute it and remove \(Words.count(reach, "post"))")
                    : localized("Mute it"),
                otherWay: localized("Do not"), back: "/texts#muted")
            question.lead = effect(ofMutingWord: isWord, on: reach)
            question.notes = [
                localized("Planned slots with such a text get another one, or are left out.")
            ]
            if isWord {
                question.notes.append(
                    localized(
                        "If you allow it again, the posts come back only where they are read again."
                    ))
            }
            question.fields = wish.fields
            question.seen = try await forgetting.seen(subject)
            question.isGrave = isWord
            return .confirm(question)
        }
    }

    private static func effect(ofMutingWord isWord: Bool, on posts: Int) -> String {
        let number = Words.number(posts)
        return switch (isWord, posts) {
        case (true, 1):
            localized(
                "\(number) archived post with it leaves the archive, and nothing with it comes in while it is muted."
            )
        case (true, _):
            localized(
                "\(number) archived posts with it leave the archive, and nothing with it comes in while it is muted."
            )
        case (false, 1):
            localized(
                "\(number) archived post of that time is not sent; they still tell when the human posts."
            )
        case (false, _):
            localized(
                "\(number) archived posts of that time are not sent; they still tell when the human posts."
            )
        }
    }

    private static func askToPublish(_ request: MirrorRequest) async throws -> Confirmation {
        let post = try post(request.query)
        let forecast = try await PublishForecast(at: request.desk, post: post)
        var question = Confirmation(
            in: section, localized("Post this now?"), action: "/texts/post",
            verb: localized("Post it now"),
            otherWay: localized("Do not"),
            back: "/texts")
        question.lead =
            localized(
                "It is sent as soon as the worker comes to it, besides what is planned for today.")
        question.things = forecast.says.enumerated().map { index, text in
            Confirmation.Thing(
                at: index == 0 ? forecast.post.created : nil, symbol: "a-planned",
                localized(index == 0 ? "What it would say" : "And after it"), text: excerpt(text),
                language: forecast.post.language
            )
        }
        if forecast.pictures > 0 {
            question.notes.append(
                localized("With \(Words.count(forecast.pictures, "picture"))."))
        }
        question.notes.append(
            forecast.cost.map { localized("Costs \(Words.dollars($0)) at most.") }
                ?? localized("Costs nothing."))
        if forecast.post.fitness == .unfit {
            question.notes.append(
                localized(
                    "By itself the bot leaves it out: \(forecast.post.unfitText ?? forecast.post.unfit ?? "")."
                ))
        }
        question.fields = [("post", forecast.post.post)]
        question.seen = forecast.post.seen
        question.isGrave = false
        return question
    }

    private static func askForNever(_ request: MirrorRequest) async throws -> Confirmation {
        let text = try await text(request, request.query)
        var question = Confirmation(
            in: section, localized("Never send this text?"), action: "/texts/never",
            verb: localized("Never send it"),
            otherWay: localized("Do not"),
            back: "/texts")
        question.lead =
            localized(
                "Nor any other post that reads the same. It stays in the archive, and still tells when the human posts."
            )
        question.things = [thing(text)]
        question.notes = [
            localized("A planned slot with this text gets another one, or is left out."),
            localized("You can allow it again."),
        ]
        question.fields = [("post", text.post)]
        question.seen = text.seen
        question.isGrave = false
        return question
    }

    private static func askToForget(_ request: MirrorRequest) async throws -> Confirmation {
        let text = try await text(request, request.query)
        var question = Confirmation(
            in: section, localized("Forget this post?"), action: "/texts/forget",
            verb: localized("Forget it"),
            otherWay: localized("Keep it"),
            back: "/texts")
        question.lead =
            localized(
                "It leaves the archive and does not come in again. A digest stays, by which it is kept out."
            )
        question.things = [thing(text)]
        question.notes = [
            localized("A planned slot with this text gets another one, or is left out."),
            localized("If you take that back, it returns only where it is read again."),
            localized("What the bot posted of it stays at the network."),
        ]
        question.fields = [("post", text.post)]
        question.seen = text.seen
        return question
    }

    private static func thing(_ text: TextList.Text) -> Confirmation.Thing {
        Confirmation.Thing(
            at: text.created, localized(text.fitness == .answer ? "Answer" : "Post"),
            text: excerpt(text.text), language: text.language)
    }

    private static func post(_ fields: WebFields) throws -> String {
        guard let post = fields.typed("post") else {
            throw ChangeRefusal(.unusable, localized("no post is named"))
        }
        return post
    }

    private static func text(_ request: MirrorRequest, _ fields: WebFields) async throws
        -> TextList.Text
    {
        try await TextList.Text(of: request.mirror, named: post(fields), zone: request.zone ?? .gmt)
    }

    // MARK: Doing

    private static func publish(_ request: MirrorRequest) async throws -> WebReply {
        try await request.attempt(refusedBy: page) {
            let post = try post(request.form)
            return try await request.perform(
                PublishPost(post: post), backTo: "/texts", refusedBy: page
            ) { change in
                let slot = change.slots.first
                guard change.isNew else {
                    return Said(
                        slot.map { localized("It is sent already, as the post of \($0.time).") }
                            ?? localized("It is sent already."))
                }
                // The undo button has no digest. So if the slot was sent meanwhile, the refusal
                // says that it was sent, and not that it has changed.
                var wayBack = change.wayBack
                wayBack?.seen = nil
                return Said(
                    localized("It is sent as soon as the worker comes to it."),
                    wayBack: request.button(localized("Do not send it"), wayBack))
            }
        }
    }

    /// Puts a text into a slot.
    ///
    /// The field `slot` contains the slot's id and its digest: the person chooses the slot in the
    /// form, so no hidden field can have the digest.
    private static func pin(_ request: MirrorRequest) async throws -> WebReply {
        try await request.attempt(refusedBy: page) {
            let parts = (request.form["slot"] ?? "").split(separator: " ").map(String.init)
            guard let id = parts.first else {
                throw ChangeRefusal(.unusable, localized("no slot is named"))
            }
            let operation = PinSlot(slot: id, post: try post(request.form))
            let seen = parts.count > 1 ? Seen(parts[1]) : nil
            let change = try await request.desk.perform(PersonRequest(operation, seen: seen))
            let time = change.slots.first?.time ?? ""
            return .seeOther(
                request.base + "/texts",
                saying: Said(localized("The slot at \(time) says this text, and keeps it.")))
        }
    }

    private static func never(_ request: MirrorRequest) async throws -> WebReply {
        try await request.attempt(refusedBy: page) {
            let post = try post(request.form)
            let back = back(request)
            return try await request.perform(NeverSend(post: post), backTo: back, refusedBy: page) {
                change in
                let slots = change.slots.count
                let number = Words.number(slots)
                var sentences = [
                    localized(
                        change.isNew
                            ? "That text is never sent."
                            : "That text was never sent before, either.")
                ]
                if slots > 0 {
                    sentences.append(
                        slots == 1
                            ? localized("\(number) slot got another text, or was left out.")
                            : localized("\(number) slots got another text, or were left out."))
                }
                return Said(
                    sentences.joined(by: .sentence),
                    wayBack: request.button(localized("Let it be sent again"), change.wayBack))
            }
        }
    }

    private static func allow(_ request: MirrorRequest) async throws -> WebReply {
        try await request.attempt(refusedBy: page) {
            let post = try post(request.form)
            return try await request.perform(
                SendAgain(post: post), backTo: "/texts", refusedBy: page
            ) { change in
                Said(
                    localized(
                        change.isNew
                            ? "That text may be sent again."
                            : "Nothing to do: that text was not left out."),
                    wayBack: request.button(localized("Never send it"), change.wayBack))
            }
        }
    }

    private static func keep(_ request: MirrorRequest) async throws -> WebReply {
        try await request.attempt(refusedBy: page) {
            let post = try post(request.form)
            let back = back(request)
            return try await request.perform(KeepText(post: post), backTo: back, refusedBy: page) {
                change in
                // If the text was on the list of never sent ones, an undo would put it there again.
                // One press must not do that, so there is no undo button.
                let isUnkept = change.wayBack?.operation is UnkeepText
                return Said(
                    localized(
                        change.isNew ? "That text is kept." : "That text was kept already."),
                    wayBack: request.button(
                        localized("Take that back"), isUnkept ? change.wayBack : nil))
            }
        }
    }

    private static func unkeep(_ request: MirrorRequest) async throws -> WebReply {
        try await request.attempt(refusedBy: page) {
            let post = try post(request.form)
            let back = back(request)
            return try await request.perform(UnkeepText(post: post), backTo: back, refusedBy: page)
            { change in
                Said(
                    localized(
                        change.isNew
                            ? "Nothing is learned from that text any more."
                            : "Nothing to do: that text was not kept."),
                    wayBack: request.button(localized("Keep it"), change.wayBack))
            }
        }
    }

    private static func forget(_ request: MirrorRequest) async throws -> WebReply {
        try await request.attempt(refusedBy: page) {
            try await forget(
                .post(try post(request.form)), request, saying: localized("The post is forgotten."))
        }
    }

    private static func mute(_ request: MirrorRequest) async throws -> WebReply {
        try await request.attempt(refusedBy: page) {
            let wish = try wish(request.form)
            if case .post = wish {
                throw ChangeRefusal(
                    .unusable, localized("write a word, a day or the first day of a time"))
            }
            let doneSentence = localized("\(Words.capitalized(name(of: wish))) is muted.")
            return try await forget(wish, request, saying: doneSentence)
        }
    }

    private static func forget(
        _ wish: ForgettingWish, _ request: MirrorRequest, saying doneSentence: String
    ) async throws -> WebReply {
        try await request.perform(ForgetText(wish), backTo: "/texts", refusedBy: page) { report in
            let isPost = if case .post = wish { true } else { false }
            var sentences = [report.isNew ? doneSentence : localized("That was so already.")]
            if !isPost, report.removed > 0 {
                sentences.append(
                    localized("\(Words.count(report.removed, "post")) left the archive."))
            }
            if !report.slots.isEmpty {
                sentences.append(localized("\(Words.count(report.slots.count, "slot")) changed."))
            }
            return Said(
                sentences.joined(by: .sentence),
                wayBack: request.button(localized("Allow it again"), report.wayBack))
        }
    }

    /// Unmutes the typed item, or an entry of the list by its digest.
    private static func unmute(_ request: MirrorRequest) async throws -> WebReply {
        try await request.attempt(refusedBy: page) {
            var wish: ForgettingWish?
            if let digest = request.form["entry"] {
                let forgetting = try await request.desk.forgetting()
                let entry = try await forgetting.list().first { $0.seen?.description == digest }
                guard let entry else {
                    return .seeOther(
                        request.base + "/texts#muted",
                        saying: Said(localized("Nothing to do: that is not muted any more.")))
                }
                wish = ForgettingWish(entry)
            }
            let wishToUnmute = try wish ?? Self.wish(request.form)
            return try await request.perform(
                RememberText(wishToUnmute), backTo: "/texts#muted", refusedBy: page
            ) { report in
                Said(
                    report.isUndone
                        ? localized(
                            "Allowed again; posts that left return where they are read again.")
                        : localized("Nothing to do: that is not muted any more."),
                    wayBack: request.button(localized("Mute it again"), report.wayBack))
            }
        }
    }
}

extension Words {
    /// Formats the day of a time without its year, as `27 Nov`.
    func dayOfYear(_ date: Date) -> String {
        // `shortDay` leaves out the present year, and here the present is the date itself.
        let words = Words(zone: zone, now: date)
        return words.shortDay(words.today)
    }
}
