import Archive
import Conduct
package import Foundation
package import Mirroring
import Outbox
package import Posts

/// The human's archived texts, the newest first: a page of all, or of those that a person looks for.
package struct TextList: Codable, Equatable, Sendable {
    /// An archived post.
    package struct Text: Codable, Equatable, Sendable {
        /// Its id, by which operations name it.
        package let post: String
        /// Where a browser shows the original.
        package let address: String?
        package let created: Date
        package let text: String
        /// A BCP 47 language tag, if it is known.
        package let language: String?
        /// Whom it answers, as a person types them; nil where it answers nobody, or nobody that is known.
        package let answers: String?
        /// Whether the bot may post it by itself; nil for an answer, and for what the rules have not judged yet.
        package let isFit: Bool?
        /// The stable code of why it may not; nil where it may.
        package let unfit: String?
        /// The same in plain words.
        package let unfitText: String?
        /// Whether a person said that it is never to be sent.
        package let isNever: Bool
        /// How often it was posted, or is planned to be.
        package let uses: Int
        /// When it was, or will be, posted last.
        package let lastUse: Date?
        /// The digest of what is shown here, for who changes it.
        package let seen: Seen
    }

    package private(set) var schema = "mirror-bot/texts/1"
    package let texts: [Text]
    /// Where the next page begins; nil where nothing follows.
    package let next: String?
}

extension TextList {
    /// What a person looks for; every part that is given must hold.
    package struct Search: Codable, Equatable, Sendable {
        /// Which texts.
        package enum Kind: String, Codable, CaseIterable, Sendable {
            case all
            /// Those that the bot may post by themselves.
            case fit
            /// Those that it may not, answers left out.
            case unfit
            /// Those that a person never wants to be sent.
            case never
            /// Those that answer somebody.
            case answers
        }

        package var kind = Kind.all
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
    /// - Throws: `ChangeRefusal` for a cursor that is none; the store's error.
    package init(of mirror: HumanMirror, _ search: Search) async throws {
        var place: Archive.Place?
        if let cursor = search.cursor {
            place = Archive.Place(cursor)
            guard place != nil else {
                throw ChangeRefusal(.unusable, "\"\(cursor.prefix(60))\" is no place in the list of texts")
            }
        }
        let wanted = search.words.map(SearchWords.init)
        let kind = search.kind
        let found = try await mirror.archive.kept(after: place, limit: search.limit + 1) { kept in
            kind.includes(kept) && wanted?.occur(in: [kept.post.text, kept.post.warning].compactMap(\.self)) ?? true
        }
        let shown = Array(found.prefix(search.limit))
        texts = shown.map(Text.init)
        next = found.count > shown.count ? shown.last.map { Archive.Place($0.post).text } : nil
    }
}

extension TextList.Search.Kind {
    fileprivate func includes(_ kept: Archive.Kept) -> Bool {
        switch self {
        case .all: true
        case .fit: !kept.post.isReply && kept.isJudged && kept.unfit == nil
        case .unfit: !kept.post.isReply && kept.unfit != nil
        case .never: kept.isNever
        case .answers: kept.post.isReply
        }
    }
}

extension TextList.Text {
    fileprivate init(_ kept: Archive.Kept) {
        let post = kept.post
        (self.post, address, created) = (post.id.value, post.id.webAddress ?? post.address, post.createdAt)
        (text, language, answers) = (post.text, post.language, post.replyTo?.author?.reference)
        isFit = post.isReply || !kept.isJudged ? nil : kept.unfit == nil
        (unfit, unfitText) = (kept.unfit, kept.unfit.map { ReportedReason($0).text })
        (isNever, uses, lastUse, seen) = (kept.isNever, kept.uses, kept.lastUse, kept.seen)
    }
}
