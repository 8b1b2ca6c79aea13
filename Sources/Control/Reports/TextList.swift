import Archive
import Conduct
package import Favorites
package import Foundation
import Localization
package import Mirroring
import Outbox
package import Posts

/// A page of the human's archived texts, the newest first.
///
/// The pages list all texts, or those that match a search.
package struct TextList: Codable, Equatable, Sendable {
    /// An archived post.
    package struct Text: Codable, Equatable, Sendable {
        /// The bot's judgement of a text.
        package enum Fitness: String, Codable, CaseIterable, Sendable {
            /// The text may be posted at any time.
            case fit
            /// The text may be posted only on some days or at some hours.
            case sometimes
            /// The bot does not choose the text for a post.
            case unfit
            /// The text is not judged yet; the worker judges it soon.
            case unjudged
            /// The text is an answer to a person, which may be sent to them again.
            case answer
        }

        /// A slot that is planned with the text.
        package struct Planned: Codable, Equatable, Sendable {
            /// The slot's name, as `2026-11-24#2`.
            package let slot: String
            package let due: Date
        }

        /// The id of the archived post, by which operations find it.
        package let post: String
        /// The web page of the original; nil if unknown.
        package let address: String?
        package let created: Date
        package let text: String
        /// A BCP 47 language tag, if it is known.
        package let language: String?
        /// The account that the post answers, in the form that people type; `nil` if it answers
        /// nobody, or an unknown person.
        package let answers: String?
        package let fitness: Fitness
        /// Whether the bot may choose the text for a post, at least at some times; nil for an
        /// answer, and for a text that is not judged yet.
        package let isFit: Bool?
        /// The stable code of the reason why the bot may not post the text; nil if it may.
        package let unfit: String?
        /// ``unfit`` in plain words.
        package let unfitText: String?
        /// The times at which the text is posted, and the reason, in plain words; nil for a text
        /// that is posted at any time or never.
        package let sometimes: String?
        /// The reason why the text is chosen only after others that are equally fit, in plain
        /// words; nil if it is not.
        package let demoted: String?
        /// The label from a person's decision; `nil` for none.
        package let label: PersonLabel?
        /// Whether a person decided that the text is never to be sent.
        package let isNever: Bool
        /// The number of times that the text was posted or is planned.
        package let uses: Int
        /// The last time at which the text was posted, or will be.
        package let lastUse: Date?
        /// The first slot with the text; nil if none is planned.
        package let planned: Planned?
        /// The digest of the shown facts, to be sent with a change.
        package let seen: Seen
    }

    package private(set) var schema = "mirror-bot/texts/1"
    package let texts: [Text]
    /// The cursor of the next page; nil for the last page.
    package let next: String?

    package init(texts: [Text], next: String?) {
        self.texts = texts
        self.next = next
    }
}

extension TextList {
    /// Search criteria; a result matches all criteria that are given.
    package struct Search: Codable, Equatable, Sendable {
        /// The kinds of texts to search for.
        package enum Kind: String, Codable, CaseIterable, Sendable {
            case all
            /// Texts that the bot may choose for a post at any time.
            case fit
            /// Texts that the bot may choose for a post only on some days or at some hours.
            case sometimes
            /// Texts that the bot may not choose for a post, except answers.
            case unfit
            /// Texts that a person has excluded.
            case never
            /// Answers to other people.
            case answers
        }

        package var kind = Kind.all
        /// The stable code of the rule that excludes the texts, or restricts them to some times.
        package var reason: String?
        /// Words in the text; case, width and accents make no difference.
        package var words: String?
        /// The cursor of the page; nil for the newest texts.
        package var cursor: String?
        /// The most texts to list.
        package var limit = 20

        package init(limit: Int = 20) { self.limit = limit }
    }

    /// Searches the texts.
    ///
    /// - Throws: `ChangeRefusal` for an invalid cursor; the store's error.
    package init(of mirror: HumanMirror, _ search: Search) async throws {
        var place: Archive.Place?
        if let cursor = search.cursor {
            place = Archive.Place(cursor)
            guard place != nil else {
                throw ChangeRefusal(
                    .unusable,
                    localized("\"\(cursor.prefix(60))\" is no place in the list of texts"))
            }
        }
        let searchWords = SearchWords(search.words)
        let matches = try await mirror.archive.kept(
            after: place, limit: search.limit + 1, by: mirror.textFilter(), search.filter
        ) { searchWords.occur(in: [$0.post.text, $0.post.warning].compactMap(\.self)) }
        let shown = Array(matches.prefix(search.limit))
        texts = try await Text.all(shown, of: mirror)
        let hasMore = matches.count > shown.count
        next = hasMore ? shown.last.map { Archive.Place($0.post).text } : nil
    }
}

extension TextList.Text {
    /// Finds the archived text with a typed name.
    ///
    /// - Parameter word: The address or id of an archived post, or the name of a slot with its
    ///   text.
    /// - Throws: `ChangeRefusal` if the word names no text, or several; the store's error.
    package init(of mirror: HumanMirror, named word: String, zone: TimeZone) async throws {
        let post = try await NameResolver(mirror: mirror, zone: zone).text(
            named: word, now: mirror.clock.now)
        guard let archived = try await mirror.archive.kept(post.id, by: mirror.textFilter()) else {
            throw ChangeRefusal(.unknown, localized("that post has left the archive"))
        }
        self = try await Self.all([archived], of: mirror)[0]
    }

    /// Returns archived texts with their planned slots, the learned judgement and the label from a
    /// person.
    static func all(_ archivedTexts: [Archive.Kept], of mirror: HumanMirror) async throws -> [Self]
    {
        let planned = try await mirror.plannedTexts()
        let labels = try await mirror.labels.labels()
        let usable = archivedTexts.filter { [.fit, .sometimes].contains($0.use) }
        let opinions = try await mirror.opinions(on: usable.map { ($0.post.id, $0.post.text) })
        return archivedTexts.map { archivedText in
            let id = archivedText.post.id
            let demoted = opinions[id].flatMap { $0.isDemoted ? $0.sentence : nil }
            return Self(archivedText, planned: planned[id], demoted: demoted, label: labels[id])
        }
    }

    private init(_ kept: Archive.Kept, planned: Planned?, demoted: String?, label: PersonLabel?) {
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
        unfit = fitness == .unfit ? kept.reason : nil
        unfitText = fitness == .unfit ? sentence : nil
        let times = kept.window.isEmpty ? nil : localized("used then: \(kept.window)")
        sometimes =
            fitness == .sometimes
            ? [sentence, times].compactMap(\.self).joined(by: .semicolon) : nil
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
    /// Whether a person may order the text to be posted: the rules for texts that cannot be
    /// understood by themselves do not count then.
    package var mayBePostedByPerson: Bool {
        guard !isNever else { return false }
        return switch fitness {
        case .answer: false
        case .unfit: unfit.flatMap(Refusal.Reason.init(rawValue:))?.isOfFitness ?? false
        case .fit, .sometimes, .unjudged: true
        }
    }
}

extension HumanMirror {
    /// The first planned slot with each text, by the post that the text is from.
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
