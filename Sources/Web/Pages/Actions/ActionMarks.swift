import Control
import Foundation
import Localization
import Mirroring
import Outbox
import Posts

/// The words and symbols of an action in lists.
struct ActionMarks: Sendable {
    /// The id of a symbol of the frame.
    let symbol: String
    /// A class of `style.css`.
    let mark: String
    /// The words for the action before the person's name, such as `Reply to `.
    let what: String
    /// The person's name; empty for none.
    let whom: String
    /// The state of the action, in a word or two.
    let state: String

    /// - Parameter reason: The reason why the action ended or waits.
    init(_ kind: ActionKind, _ state: ActionState, reason: ReasonCode? = nil, whom: String?) {
        self.whom = whom ?? ""
        what =
            switch kind {
            case .post: localized("Post")
            case .reply: localized(whom == nil ? "Reply" : "Reply to ")
            case .favorite: localized(whom == nil ? "Favorite" : "Favorite for ")
            }
        switch state {
        case .done:
            symbol =
                switch kind {
                case .post: "a-done"
                case .reply: "a-reply"
                case .favorite: "a-favorite"
                }
            mark = "done"
            self.state = localized("done")
        case .planned, .claimed:
            symbol = "a-planned"
            mark = "planned"
            self.state = localized("planned")
        case .sending:
            symbol = "a-planned"
            mark = "planned"
            self.state = localized("being sent")
        case .suggested:
            symbol = "a-suggested"
            mark = "suggested"
            self.state = localized("waits for you")
        case .skipped:
            symbol = "a-skipped"
            mark = "skipped"
            self.state = localized(kind == .post ? "left out" : "left alone")
        case .expired:
            symbol = "a-expired"
            mark = "expired"
            self.state = localized("too late")
        case .failed:
            symbol = "a-failed"
            mark = "failed"
            self.state = localized(
                reason == .outbox(.unconfirmed) ? "unconfirmed" : "failed")
        case .undone:
            symbol = "a-undone"
            mark = "undone"
            self.state = localized("taken back")
        }
    }

    init(_ action: ReportedAction) {
        self.init(
            action.kind, action.state, reason: action.reason,
            whom: action.person.map { ListWords.name($0.name) })
    }

    /// Returns the action as a part of a sentence: `a post`, `a reply to @ann`.
    static func named(_ kind: ActionKind, _ person: String?) -> String {
        let name = person.map { ListWords.name($0) }
        return switch kind {
        case .post: localized("a post")
        case .reply: name.map { localized("a reply to \($0)") } ?? localized("a reply")
        case .favorite: name.map { localized("a favorite for \($0)") } ?? localized("a favorite")
        }
    }
}

/// Helpers of long lists: short times, shortened texts, and the size limit of their markup.
enum ListWords {
    /// The most bytes of a name in a row; the person's own page shows all of it.
    private static let nameSize = 120

    /// The most bytes of markup in the rows of a list, so that the page with style and script stays
    /// below 60 kB.
    static let budget = 18_000

    static func name(_ name: String) -> String { cut(name, bytes: nameSize) }

    /// Returns a text, cut so that its markup has at most a number of bytes.
    ///
    /// The limit of a page is a number of bytes, too.
    static func cut(_ text: String, bytes: Int) -> String {
        // Most texts are short: they fit even if every byte is escaped, so they are not escaped
        // here.
        guard text.utf8.count > bytes / longestEscape, Markup.escaped(text).utf8.count > bytes
        else { return text }
        var beginning = ""
        // The ellipsis has three bytes.
        var size = 3
        for character in text {
            size += Markup.escaped(String(character)).utf8.count
            if size > bytes { break }
            beginning.append(character)
        }
        return beginning + "…"
    }

    /// The length of the longest escape, `&quot;`, in bytes.
    private static let longestEscape = 6

    /// Formats a time as `18:52` if it is today, otherwise only its day, as `2 Dec` or
    /// `2 Dec 2027`.
    static func short(_ date: Date, _ words: Words) -> String {
        let day = words.day(of: date)
        return day == words.today ? words.clock(date) : words.shortDay(day)
    }

    /// Formats a time with its day, as `2 Dec, 09:12`, or without the day if it is today.
    static func shortMoment(_ date: Date, _ words: Words) -> String {
        words.day(of: date) == words.today
            ? words.clock(date) : localized("\(short(date, words)), \(words.clock(date))")
    }

    /// Loads a list with a number of rows, or with fewer if their markup exceeds the limit.
    ///
    /// - Parameters:
    ///   - limit: The most rows.
    ///   - load: Loads a list with at most this many rows; called a second time if the first list
    ///     is too large.
    ///   - texts: Returns, for each row, the texts in it that people wrote.
    static func fitting<List>(
        _ limit: Int, budget: Int = budget, load: (Int) async throws -> List,
        texts: (List) -> [[String?]]
    ) async throws -> List {
        let list = try await load(limit)
        let rows = texts(list)
        var size = 0
        var fittingRows = 0
        for row in rows {
            let sizesOfTexts = row.compactMap(\.self).map { Markup.escaped($0).utf8.count }
            size += rowMarkup + sizesOfTexts.reduce(0, +)
            if size > budget, fittingRows > 0 { break }
            fittingRows += 1
        }
        return fittingRows < rows.count ? try await load(fittingRows) : list
    }

    /// The markup of a row without its texts, in bytes.
    private static let rowMarkup = 560
}

extension MirrorRequest {
    /// Returns the digest of what the page showed of one of several items; the form contains it.
    ///
    /// - Throws: `ChangeRefusal` if it is missing or invalid.
    func seen(of id: String) throws -> Seen {
        guard let text = form["seen-\(id)"], let seen = Seen(text) else {
            throw ChangeRefusal(
                .unusable, localized("the form does not say what the page showed; reload the page"))
        }
        return seen
    }

    /// Returns the path of a page of the mirror, `/m/NAME` included, with the fields of a query.
    func link(_ page: String, _ fields: [(String, String?)] = []) -> String {
        base + page + WebFields.query(fields)
    }
}
