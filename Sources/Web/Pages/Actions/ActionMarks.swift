import Control
import Foundation
import Mirroring
import Outbox
import Posts

/// How lists name and draw an action.
struct ActionMarks: Sendable {
    /// The id of a symbol of the frame.
    let symbol: String
    /// A class of `style.css`.
    let mark: String
    /// As `Reply to `, with the name behind it.
    let what: String
    /// The name; empty for nobody.
    let whom: String
    /// Where it stands, in a word or two.
    let state: String

    /// - Parameter reason: The stored code of why it ended or waits.
    init(_ kind: ActionKind, _ state: ActionState, reason: String? = nil, whom: String?) {
        self.whom = whom ?? ""
        what =
            switch kind {
            case .post: "Post"
            case .reply: whom == nil ? "Reply" : "Reply to "
            case .favorite: whom == nil ? "Favorite" : "Favorite for "
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
            self.state = "done"
        case .planned, .claimed:
            symbol = "a-planned"
            mark = "planned"
            self.state = "planned"
        case .sending:
            symbol = "a-planned"
            mark = "planned"
            self.state = "being sent"
        case .suggested:
            symbol = "a-suggested"
            mark = "suggested"
            self.state = "waits for you"
        case .skipped:
            symbol = "a-skipped"
            mark = "skipped"
            self.state = kind == .post ? "left out" : "left alone"
        case .expired:
            symbol = "a-expired"
            mark = "expired"
            self.state = "too late"
        case .failed:
            symbol = "a-failed"
            mark = "failed"
            self.state = reason == Action.Reason.unconfirmed ? "unconfirmed" : "failed"
        case .undone:
            symbol = "a-undone"
            mark = "undone"
            self.state = "taken back"
        }
    }

    init(_ action: ReportedAction) {
        self.init(
            action.kind, action.state, reason: action.reason,
            whom: action.person.map { ListWords.name($0.name) })
    }

    /// `a post`, `a reply to @ann`, as a part of a sentence.
    static func named(_ kind: ActionKind, _ person: String?) -> String {
        let name = person.map { ListWords.name($0) }
        return switch kind {
        case .post: "a post"
        case .reply: name.map { "a reply to \($0)" } ?? "a reply"
        case .favorite: name.map { "a favorite for \($0)" } ?? "a favorite"
        }
    }
}

/// Helpers that long lists share: short times, cut texts, and the size limit of their markup.
enum ListWords {
    /// Bytes of a name that a row shows; the person's own page shows all.
    private static let nameSize = 120

    /// Bytes of markup that the rows of a list may have, so that the page with style and script
    /// stays below 60 kB.
    static let budget = 18_000

    static func name(_ name: String) -> String { cut(name, nameSize) }

    /// A text, cut where its markup would have more bytes; a page has room for so many, whatever
    /// the letters are.
    static func cut(_ text: String, _ bytes: Int) -> String {
        // Most texts are short enough at the first look.
        guard text.utf8.count > bytes / longestEscape, Markup.escaped(text).utf8.count > bytes
        else { return text }
        var kept = ""
        var size = 3
        for character in text {
            size += Markup.escaped(String(character)).utf8.count
            if size > bytes { break }
            kept.append(character)
        }
        return kept + "…"
    }

    /// Bytes of `&quot;`.
    private static let longestEscape = 6

    /// `18:52` today, else `2 Dec`, or `2 Dec 2027`.
    static func short(_ date: Date, _ words: Words) -> String {
        let day = words.day(of: date)
        guard day != words.today else { return words.clock(date) }
        let (year, month, number) = day.components
        let text = "\(number) \(Words.months[month - 1].prefix(3))"
        return year == words.today.components.year ? text : "\(text) \(year)"
    }

    /// The same with the clock time of another day, as `2 Dec, 09:12`.
    static func shortMoment(_ date: Date, _ words: Words) -> String {
        words.day(of: date) == words.today
            ? words.clock(date) : "\(short(date, words)), \(words.clock(date))"
    }

    /// Loads a list of so many rows, or of fewer if these would be too heavy for a page.
    ///
    /// - Parameters:
    ///   - limit: The most rows.
    ///   - load: Loads a list of at most so many rows; asked a second time if the first list is too
    ///     heavy.
    ///   - texts: The texts of each row that come from outside.
    static func fitting<List>(
        _ limit: Int, budget: Int = budget, load: (Int) async throws -> List,
        texts: (List) -> [[String?]]
    ) async throws -> List {
        let list = try await load(limit)
        let rows = texts(list)
        var weight = 0
        var fitting = 0
        for row in rows {
            weight +=
                rowMarkup + row.reduce(0) { $0 + ($1.map { Markup.escaped($0).utf8.count } ?? 0) }
            if weight > budget, fitting > 0 { break }
            fitting += 1
        }
        return fitting < rows.count ? try await load(fitting) : list
    }

    /// The markup of a row without its texts, in bytes.
    private static let rowMarkup = 500
}

extension MirrorRequest {
    /// The digest that the form held for one of several things.
    ///
    /// - Throws: `ChangeRefusal` if it held none, or one that cannot be one.
    func seen(of id: String) throws -> Seen {
        guard let text = form["seen-\(id)"], let seen = Seen(text) else {
            throw ChangeRefusal(.unusable, "the form does not say what was seen; look again")
        }
        return seen
    }

    /// The path of a page below `/m/NAME` with the fields of a query.
    func link(_ page: String, _ fields: [(String, String?)] = []) -> String {
        base + page + WebFields.query(fields)
    }
}
