import Archive
import Conduct
package import Foundation
import Localization
package import Mirroring
import Outbox
package import Posts
import Settings

/// Plans the end of the mirror.
///
/// At the given time the bot sends one last post, gets a line in its profile, and then does nothing
/// more. A worker carries this out; see ``RetirementSteps``. Before that time ``CancelRetirement``
/// cancels the end.
package struct RetireMirror: PersonOperation {
    package static let name = "retire"
    /// The time, as ``PersonTime`` reads it; nil for now.
    package var date: String?
    /// The last post: a text, or the address or id of an archived post; nil for none.
    package var last: String?
    /// Whether everything that the bot did before the last post is undone.
    package var takesBack: Bool

    package init(date: String? = nil, last: String? = nil, takesBack: Bool = false) {
        self.date = date
        self.last = last
        self.takesBack = takesBack
    }

    package func perform(at desk: Desk, seen: Seen?) async throws -> RetirementChange {
        let wish = try await self.wish(at: desk)
        let mirror = desk.mirror
        try await mirror.table.retire(wish.retirement, seen: seen, now: desk.now)
        let underWay =
            wish.retirement.isDue(at: desk.now) ? try await InFlightWait(mirror: mirror).wait() : []
        return RetirementChange(
            mirror.name, retirement: wish.retirement, saying: wish.words, in: desk.displayZone,
            isNew: true,
            left: underWay.map(LeftAction.init))
    }

    package func outcomeIfDone(at desk: Desk) async throws -> RetirementChange? {
        guard let planned = try await desk.mirror.table.record().retirement else { return nil }
        let wish = try await self.wish(at: desk)
        // The dates are not compared, because a date such as 3d is a later instant when the button
        // is pressed again.
        guard planned.last == wish.retirement.last, planned.takesBack == takesBack else {
            return nil
        }
        return RetirementChange(
            desk.mirror.name, retirement: planned, saying: wish.words, in: desk.displayZone,
            isNew: false,
            left: []
        )
    }

    /// Returns the requested retirement, and the text of the last post as it would be sent now.
    private func wish(at desk: Desk) async throws -> (retirement: Retirement, words: String?) {
        let now = desk.now
        let date = try date.map { text in
            guard let date = PersonTime(zone: desk.displayZone).instant(text, now: now) else {
                throw ChangeRefusal(
                    .unusable,
                    saying:
                        localized(
                            "\(control: .retirementDate) is \"\(text)\"; expected a time such as 2026-12-31, \"2026-12-31 18:00\" or 30d"
                        )
                )
            }
            guard date > now else {
                throw ChangeRefusal(
                    .outOfTime,
                    saying: localized(
                        "\(control: .retirementDate) is \"\(text)\", which has passed"))
            }
            return date
        }
        var words: String?
        var last: Retirement.Last?
        if let typed = self.last {
            let (lastPost, text) = try await LastPost(desk.mirror).read(typed)
            words = text
            last = lastPost
        }
        return (Retirement(date: date ?? now, asked: now, last: last, takesBack: takesBack), words)
    }
}

/// Cancels the planned end of the mirror, which is possible until its time has come.
package struct CancelRetirement: PersonOperation {
    package static let name = "retire-cancel"

    package init() {}

    package func perform(at desk: Desk, seen: Seen?) async throws -> RetirementChange {
        let before = try await desk.mirror.table.cancelRetirement(seen: seen)
        return RetirementChange(
            desk.mirror.name, retirement: nil, saying: nil, in: desk.displayZone,
            isNew: before != nil, left: []
        )
    }

    package func outcomeIfDone(at desk: Desk) async throws -> RetirementChange? {
        guard try await desk.mirror.table.record().retirement == nil else { return nil }
        return RetirementChange(
            desk.mirror.name, retirement: nil, saying: nil, in: desk.displayZone, isNew: false,
            left: [])
    }
}

/// The planned end of a mirror after a change.
package struct RetirementChange: PersonOutcome {
    package private(set) var schema = "mirror-bot/retirement/1"
    package let mirror: String
    package let isRetiring: Bool
    /// The time of the end; nil if no end is planned.
    package let date: Date?
    /// The end by the human's clock, such as `2026-12-31 18:00`.
    package let dateLocal: String?
    /// The last post as it would be sent now; nil if there is none.
    package let last: String?
    package let takesBack: Bool
    /// False if the end was already planned like this.
    package let isNew: Bool
    /// The actions whose requests were under way when the end came.
    package let left: [LeftAction]
    /// The digest of the present retirement.
    package let seen: Seen
    package let wayBack: WayBack?

    init(
        _ mirror: String, retirement: Retirement?, saying last: String?, in zone: TimeZone,
        isNew: Bool,
        left: [LeftAction]
    ) {
        self.mirror = mirror
        self.last = last
        self.isNew = isNew
        self.left = left
        isRetiring = retirement != nil
        date = retirement?.date
        dateLocal = retirement.map { LocalTime($0.date, in: zone).description }
        takesBack = retirement?.takesBack ?? false
        seen = Retirement.seen(retirement)
        // Only an end that lies after the request can be cancelled.
        let mayEnd = isNew && retirement.map { $0.date > $0.asked } == true
        wayBack = mayEnd ? WayBack(CancelRetirement(), "retire", "--cancel") : nil
    }
}

/// A mirror and the outcome of its retirement, as shown to a person before it is planned.
package struct RetirementSubject: Sendable {
    package let record: MirrorRecord
    /// The forecast for undoing everything.
    package let outlook: UndoOutlook
    /// The last post as it would be sent now; nil if there is none.
    package let says: String?

    package var seen: Seen { Retirement.seen(record.retirement) }

    /// - Parameter last: As in ``RetireMirror/last``.
    /// - Throws: `ChangeRefusal` for words that cannot be sent; the store's error.
    package init(_ mirror: HumanMirror, last: String? = nil) async throws {
        record = try await mirror.table.record()
        outlook = try await Undoing(mirror: mirror).outlookOnEverything()
        if let last { says = try await LastPost(mirror).read(last).words } else { says = nil }
    }
}

/// The last post of a mirror, as a person names it.
struct LastPost {
    private let mirror: HumanMirror

    init(_ mirror: HumanMirror) { self.mirror = mirror }

    /// Reads a typed last post: the address or id of an archived post, or else the text itself.
    ///
    /// - Returns: The value to store, and the text as it would be sent now.
    /// - Throws: `ChangeRefusal` for a post that may not be sent, a text that is not fit to be
    ///   sent, and an address that names no post.
    func read(_ typed: String) async throws -> (last: Retirement.Last, words: String) {
        if try await !mirror.archive.posts(named: typed).isEmpty {
            let wording = try await names.wording(ofPost: typed)
            return (.post(wording.source), wording.text)
        }
        // A word like an address or a number is probably a mistyped name of a post.
        guard
            typed.contains(where: \.isWhitespace)
                || !typed.contains(where: { "/:".contains($0) || $0.isNumber })
        else {
            throw ChangeRefusal(
                .unknown,
                localized(
                    "\"\(typed.prefix(60))\" names no archived post, and as a text it has only one word"
                )
            )
        }
        let text = try wording(saying: typed).text
        return (.text(text), text)
    }

    /// The last post as it is sent now.
    ///
    /// - Throws: `ChangeRefusal` if it may not be sent any more.
    func wording(of last: Retirement.Last) async throws -> Action.Wording {
        switch last {
        case .text(let text): return try wording(saying: text)
        case .post(let id):
            var wording = try await names.wording(ofPost: id.value)
            // The last post is sent without the rest of its thread.
            wording.rest = []
            return wording
        }
    }

    /// Resolves names of posts; the time zone does not affect their texts.
    private var names: NameResolver { NameResolver(mirror: mirror, zone: .gmt) }

    /// A typed text, in which names lose their `@` so that nobody is notified.
    private func wording(saying text: String) throws -> Action.Wording {
        let network = mirror.configuration.botNetwork
        let post = Post(
            id: Action.Wording.typedSource(on: network),
            author: AccountID(network: network, value: ""), text: text,
            createdAt: mirror.clock.now)
        let rules = TextRules(mirror.configuration, limits: .usual(of: network))
        switch rules.text(for: post) {
        case .success(let text):
            return Action.Wording(
                source: post.id, text: text, visibility: post.visibility.ofRepetition)
        case .failure(let refusal):
            throw ChangeRefusal(
                .unfit, localized("the last post is not fit to be sent: \(refusal)"))
        }
    }
}
