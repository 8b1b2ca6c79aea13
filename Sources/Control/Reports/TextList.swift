import Archive
import Conduct
package import Favorites
package import Foundation
package import Mirroring
import Outbox
package import Posts

/// The human's archived texts, the newest first: a page of all, or of those that a person looks
/// for.
package struct TextList: Codable, Equatable, Sendable {
    /// An archived post.
    package struct Text: Codable, Equatable, Sendable {
        /// The bot's judgement of a text.
        package enum Fitness: String, Codable, CaseIterable, Sendable {
            /// Posted at any time.
            case fit
            /// Posted on some days or at some hours only.
            case sometimes
            /// The bot does not post the text by itself.
            case unfit
            /// The text is not judged yet; the worker does it soon.
            case unjudged
            /// An answer to somebody, which may be sent to them again.
            case answer
        }

        /// A slot that is planned with the text.
        package struct Planned: Codable, Equatable, Sendable {
            /// The slot's name, as `2026-11-24#2`.
            package let slot: String
            package let due: Date
        }

        /// Its id, by which operations name it.
        package let post: String
        /// Where a browser shows the original.
        package let address: String?
        package let created: Date
        package let text: String
        /// A BCP 47 language tag, if it is known.
        package let language: String?
        /// The account that it answers, as a person types it; `nil` where it answers nobody, or
        /// nobody that is known.
        package let answers: String?
        package let fitness: Fitness
        /// Whether the bot may post it by itself, at some times at least; nil for an answer, and
        /// for what the rules have not judged yet.
        package let isFit: Bool?
        /// The stable code of why it may not; nil where it may.
        package let unfit: String?
        /// ``unfit`` in plain words.
        package let unfitText: String?
        /// When it is posted and why only then, in plain words; nil for what is posted at any time
        /// or never.
        package let sometimes: String?
        /// Why it comes after others that are as fit, in plain words; nil for one that does not.
        package let demoted: String?
        /// The label from a person's decision; `nil` for none.
        package let label: PersonLabel?
        /// Whether a person said that it is never to be sent.
        package let isNever: Bool
        /// How often it was posted, or is planned to be.
        package let uses: Int
        /// When it was, or will be, posted last.
        package let lastUse: Date?
        /// The first slot that is planned with it; nil if none is.
        package let planned: Planned?
        /// The digest of what is shown here, for who changes it.
        package let seen: Seen
    }

    package private(set) var schema = "mirror-bot/texts/1"
    package let texts: [Text]
    /// Where the next page begins; nil where nothing follows.
    package let next: String?

    package init(texts: [Text], next: String?) {
        self.texts = texts
        self.next = next
    }
}

extension TextList {
    /// Search criteria; a result meets every one that is given.
    package struct Search: Codable, Equatable, Sendable {
        /// Which texts.
        package enum Kind: String, Codable, CaseIterable, Sendable {
            case all
            /// Texts that the bot may post by itself at any time.
            case fit
            /// Texts that it may post only on some days or at some hours.
            case sometimes
            /// Texts that it may not post by itself, except answers.
            case unfit
            /// Texts that a person has excluded.
            case never
            /// Answers to other people.
            case answers
        }

        package var kind = Kind.all
        /// The stable code of the rule that leaves them out, or lets them be posted at some times
        /// only.
        package var reason: String?
        /// Words in the text; case, width and accents make no difference.
        package var words: String?
        /// Where the page begins; nil for the newest.
        package var cursor: String?
        /// The most to list.
        package var limit = 20

        package init(limit: Int = 20) { self.limit = limit }
    }

    /// Looks for texts.
    ///
    /// - Throws: `ChangeRefusal` for an invalid cursor; the store's error.
    package init(of mirror: HumanMirror, _ search: Search) async throws {
        var place: Archive.Place?
        if let cursor = search.cursor {
            place = Archive.Place(cursor)
            guard place != nil else {
                throw ChangeRefusal(
                    .unusable, "\"\(cursor.prefix(60))\" is no place in the list of texts")
            }
        }
        let searchWords = search.words.map(SearchWords.init)
        let found = try await mirror.archive.kept(
            after: place, limit: search.limit + 1, by: mirror.textFilter(), search.filter
        ) { searchWords?.occur(in: [$0.post.text, $0.post.warning].compactMap(\.self)) ?? true }
        let shown = Array(found.prefix(search.limit))
        texts = try await Text.all(shown, of: mirror)
        next = found.count > shown.count ? shown.last.map { Archive.Place($0.post).text } : nil
    }
}

extension TextList.Text {
    /// The archived text that a person names.
    ///
    /// - Parameter word: The address or id of an archived post, or what names a slot that has its
    ///   text.
    /// - Throws: `ChangeRefusal` if it names none, or several; the store's error.
    package init(of mirror: HumanMirror, named word: String, zone: TimeZone) async throws {
        let post = try await NameResolver(mirror: mirror, zone: zone).text(
            named: word, now: mirror.clock.now)
        guard let archived = try await mirror.archive.kept(post.id, by: mirror.textFilter()) else {
            throw ChangeRefusal(.unknown, "that post has left the archive")
        }
        self = try await Self.all([archived], of: mirror)[0]
    }

    /// Archived texts with what is planned, learned and was said of them.
    static func all(_ kept: [Archive.Kept], of mirror: HumanMirror) async throws -> [Self] {
        let planned = try await mirror.plannedTexts()
        let labels = try await mirror.labels.labels()
        let posted = kept.filter { [.fit, .sometimes].contains($0.use) }
        let opinions = try await mirror.opinions(on: posted.map { ($0.post.id, $0.post.text) })
        return kept.map { kept in
            let id = kept.post.id
            let demoted = opinions[id].flatMap { $0.isDemoted ? $0.sentence : nil }
            return Self(kept, planned[id], demoted: demoted, labels[id])
        }
    }

    private init(_ kept: Archive.Kept, _ planned: Planned?, demoted: String?, _ label: PersonLabel?)
    {
        let post = kept.post
        self.post = post.id.value
        address = post.id.webAddress ?? post.address
        created = post.createdAt
        text = post.text
        language = post.language
        answers = post.replyTo?.author?.reference
        let sentence = kept.reason.map { ReportedReason($0).text }
        fitness =
            switch kept.use {
            case .fit: .fit
            case .sometimes: .sometimes
            case .unfit, .tooLong: .unfit
            case .unjudged: .unjudged
            case .answer: .answer
            }
        isFit = [.answer, .unjudged].contains(fitness) ? nil : fitness != .unfit
        (unfit, unfitText) = fitness == .unfit ? (kept.reason, sentence) : (nil, nil)
        let times = kept.window.isEmpty ? nil : "used then: \(kept.window)"
        sometimes =
            fitness == .sometimes
            ? [sentence, times].compactMap(\.self).joined(separator: "; ") : nil
        isNever = kept.isNever
        uses = kept.uses
        lastUse = kept.lastUse
        seen = kept.seen
        self.planned = planned
        self.demoted = demoted
        self.label = label
    }
}

extension TextList.Text {
    /// Whether a person may have it posted: whatever the rules for texts that do not stand for
    /// themselves say.
    package var isForPersonToPost: Bool {
        guard !isNever else { return false }
        return switch fitness {
        case .answer: false
        case .unfit: unfit.flatMap(Refusal.Reason.init(rawValue:))?.isOfFitness ?? false
        case .fit, .sometimes, .unjudged: true
        }
    }
}

extension HumanMirror {
    /// The first slot that is planned with each text, by the post that the text is from.
    fileprivate func plannedTexts() async throws -> [PostID: TextList.Text.Planned] {
        let waiting = try await outbox(lease: nil).waitingPosts().sorted { $0.due < $1.due }
        let texts = waiting.compactMap { action in
            action.wording.map {
                ($0.source, TextList.Text.Planned(slot: action.subject, due: action.due))
            }
        }
        return Dictionary(texts) { first, _ in first }
    }
}

extension TextList.Search {
    fileprivate var filter: Archive.KeptFilter {
        let uses: [Archive.TextUse] =
            switch kind {
            case .all, .never: []
            case .fit: [.fit]
            case .sometimes: [.sometimes]
            case .unfit: [.unfit, .tooLong]
            case .answers: [.answer]
            }
        return Archive.KeptFilter(uses: uses, reason: reason, isNever: kind == .never)
    }
}
