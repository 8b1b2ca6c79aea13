import Control
import Foundation
import HTTPTypes
import Hummingbird
import Localization
import Mirroring
import Outbox

/// The one-time addresses of notices, which need no log-in and no session.
///
/// A GET only shows the effect of the address, because programs that check links request it too; a
/// POST carries it out. The requests are not logged, so no address is in the log.
extension WebSite {
    /// Whether a path is a one-time address.
    static func isOnce(_ path: String) -> Bool { path.hasPrefix(OnceAddresses.root) }

    func addOnceRoutes(to router: Router<WebContext>) {
        let path = RouterPath(OnceAddresses.root + ":mirror/:address")
        router.get(path) { request, context in try await self.showOneTimeAddress(request, context) }
        router.post(path) { request, context in try await self.useOneTimeAddress(request, context) }
    }

    /// A request for an address that may still be used.
    private struct Visit {
        let address: OnceAddress
        let text: String
        let addresses: OnceAddresses
        let mirror: HumanMirror
        let record: MirrorRecord
        let zone: TimeZone?
        let now: Date

        /// Returns the subject of an address in words, as "the post of 20:13".
        func subject(_ action: Action?) -> String {
            guard let action else { return mirror.name }
            let time = Words(zone: zone ?? .gmt, now: now).moment(action.due)
            return switch action.kind {
            case .post: localized("the post of \(time)")
            case .reply: localized("the reply of \(time)")
            case .favorite: localized("the favorite of \(time)")
            }
        }
    }

    /// Finds the address that a request names, and its mirror.
    ///
    /// - Throws: ``WebProblem`` for an address without an effect. Nothing about the mirror is
    ///   revealed before the address is known to be valid.
    private func visit(_ context: WebContext) async throws -> Visit {
        let name = try context.parameter("mirror")
        let text = try context.parameter("address")
        guard let addresses = try await OnceAddresses(of: name, in: installation) else {
            throw WebProblem.notFound
        }
        let now = now
        let address = try await throwingProblems { try await addresses.address(in: text, now: now) }
        let mirror = try await installation.mirror(named: name)
        let record = try await mirror.table.record()
        return Visit(
            address: address, text: text, addresses: addresses, mirror: mirror, record: record,
            zone: mirror.knownTimeZone(record), now: now)
    }

    private func showOneTimeAddress(_ request: Request, _ context: WebContext) async throws
        -> Response
    {
        let visit = try await visit(context)
        let deed = visit.address.deed
        let action = try await visit.address.action(in: visit.mirror)
        let currentDigest = deed == .pause ? visit.record.pauseSeen(at: visit.now) : action?.seen
        guard currentDigest == visit.address.seen else { throw WebProblem.onceChanged }
        return page(
            [
                "title": .text(deed.question(visit.subject(action))),
                "lead": .text(
                    deed == .pause ? localized("Nothing is sent until you resume it.") : nil),
                // A person who may approve a text may read it; texts of other people are not shown.
                "text": .text(deed == .approve ? action?.text : nil),
                "verb": .text(isReadOnly ? nil : deed.verb),
            ], of: visit.mirror, request)
    }

    private func useOneTimeAddress(_ request: Request, _ context: WebContext) async throws
        -> Response
    {
        let visit = try await visit(context)
        let desk = Desk(visit.mirror, zone: visit.zone)
        let (address, isNew) = try await throwingProblems {
            try await visit.addresses.use(visit.text, at: desk)
        }
        let action = try await address.action(in: visit.mirror)
        return page(
            [
                "title": .text(address.deed.answer(visit.subject(action), isNew: isNew)),
                "lead": .none,
                "text": .none,
                "verb": .none,
            ], of: visit.mirror, request)
    }

    /// Runs `body`, and replaces the refusal of an address by the problem whose page is shown.
    private func throwingProblems<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let refusal as OnceAddress.Refusal {
            switch refusal {
            case .unknown: throw WebProblem.notFound
            case .expired: throw WebProblem.onceExpired
            case .used: throw WebProblem.onceUsed
            }
        }
    }

    private func page(_ content: PageContext, of mirror: HumanMirror, _ request: Request)
        -> Response
    {
        let context = content.merging([
            "open": .text(MirrorRequest.base(of: mirror.name)), "mirror": .text(mirror.name),
        ]) { _, new in new }
        return standalonePage(
            TemplateLibrary.standard.render(.once, context), title: localized("Notification"),
            status: .ok,
            theme: Self.theme(of: request))
    }
}

extension OnceAddress.Deed {
    fileprivate var verb: String {
        switch self {
        case .approve: localized("Approve")
        case .skip: localized("Skip")
        case .pause: localized("Pause")
        }
    }

    /// The question whether to carry out the deed.
    fileprivate func question(_ subject: String) -> String {
        switch self {
        case .approve: localized("Approve \(subject)?")
        case .skip: localized("Skip \(subject)?")
        case .pause: localized("Pause \(subject)?")
        }
    }

    /// The sentence after the deed.
    ///
    /// - Parameter isNew: Whether it was carried out now, rather than before.
    fileprivate func answer(_ subject: String, isNew: Bool) -> String {
        switch self {
        case .approve:
            localized(isNew ? "Approved: \(subject)" : "Approved already: \(subject)")
        case .skip: localized(isNew ? "Skipped: \(subject)" : "Skipped already: \(subject)")
        case .pause: localized(isNew ? "Paused: \(subject)" : "Paused already: \(subject)")
        }
    }
}

extension WebProblem {
    static var onceUsed: WebProblem {
        WebProblem(
            status: .gone, title: localized("This address was used"),
            text: localized("Nothing was done now. An address of a notification works once."))
    }

    static var onceExpired: WebProblem {
        WebProblem(
            status: .gone, title: localized("This address is too old"),
            text: localized("Nothing was done. An address of a notification works for a day."))
    }

    static var onceChanged: WebProblem {
        WebProblem(
            status: .conflict, title: localized("It has changed"),
            text: localized(
                "Nothing was done. It is no longer as it was when you were told; look again."))
    }
}

extension PageTemplate {
    static let once = PageTemplate("once")
}
