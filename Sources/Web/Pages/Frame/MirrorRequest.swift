package import Control
package import Foundation
import Localization
package import Mirroring
package import Posts

/// A request about one mirror, with the data to make a page from.
package struct MirrorRequest: Sendable {
    package let mirror: HumanMirror
    /// The mirror's record at the time of the request.
    package let record: MirrorRecord
    /// The human's time zone; nil while unknown.
    package let zone: TimeZone?
    package let now: Date
    /// The path after `/m/NAME`, such as `/slots/4e17b0c2a913`.
    package let path: String
    /// The parts of the path that the route's pattern names, decoded.
    package let parameters: [String: String]
    package let query: WebFields
    /// The fields of a POST; empty for a GET.
    ///
    /// After a refusal, the page takes the typed values from here and shows them again.
    package let form: WebFields
    package let access: Access
    /// The origin of the page with the form: its scheme, host and port; `nil` for a GET, and if the
    /// browser did not send it.
    ///
    /// It was checked to be an origin of this server.
    package let origin: String?
    /// The report values that this process caches.
    package let keptReports: KeptReports
    /// The logins and trainings of set-ups in this process.
    package let setup: SetupWork
    /// The reason why the preceding POST did nothing; nil for a GET.
    ///
    /// The frame shows it, and the status of the response follows from it.
    package private(set) var refusal: Refusal?

    init(
        mirror: HumanMirror, record: MirrorRecord, zone: TimeZone?, now: Date, path: String,
        parameters: [String: String], query: WebFields, form: WebFields, access: Access,
        origin: String? = nil, kept: KeptReports = KeptReports(), setup: SetupWork = SetupWork()
    ) {
        self.mirror = mirror
        self.record = record
        self.zone = zone
        self.now = now
        self.path = path
        self.parameters = parameters
        self.query = query
        self.form = form
        self.access = access
        self.origin = origin
        keptReports = kept
        self.setup = setup
    }

    /// The path of the mirror's pages, `/m/NAME`.
    package var base: String { Self.base(of: mirror.name) }

    static func base(of mirror: String) -> String { "/m/" + WebFields.encoded(mirror) }

    /// Clock times, relative times and day headings, on the human's clock.
    package var words: Words { Words(zone: zone ?? .gmt, now: now) }

    /// The desk that carries out operations.
    package var desk: Desk { Desk(mirror, zone: zone) }

    /// Returns the digest of the shown item that the form contains; nil if it contains none.
    ///
    /// - Throws: `ChangeRefusal` if it is invalid.
    package func seen() throws -> Seen? {
        guard let text = form["seen"] else { return nil }
        guard let seen = Seen(text) else {
            throw ChangeRefusal(.unusable, localized("the form's seen is no digest; look again"))
        }
        return seen
    }

    /// Returns the hidden fields that each form contains: the token, and the digest of the shown
    /// item.
    ///
    /// Templates insert them with `{{{token}}}`.
    package func hidden(seen: Seen? = nil) -> Markup {
        let digest: Markup =
            seen.map { "<input type=\"hidden\" name=\"seen\" value=\"\($0.description)\">" } ?? ""
        return "<input type=\"hidden\" name=\"csrf\" value=\"\(access.csrf)\">\(digest)"
    }

    /// Carries out an operation, and redirects with 303 to a page with the result.
    ///
    /// - Parameters:
    ///   - operation: The operation; it is carried out with the digest of the form.
    ///   - backTo: The path and query below `/m/NAME` to redirect to, such as `/waiting`.
    ///   - page: The page after a refusal, with the refusal on top and the typed values.
    ///   - saying: Returns the sentence with the result, and an undo button. It runs also if
    ///     nothing had to be changed, as after a second press of the button.
    /// - Throws: The store's error.
    package func perform<Operation: PersonOperation>(
        _ operation: Operation, backTo: String, refusedBy page: MirrorRoute.Handler,
        saying: (Operation.Outcome) -> Said
    ) async throws -> WebReply {
        try await attempt(refusedBy: page) {
            let outcome = try await desk.perform(PersonRequest(operation, seen: try seen()))
            return .seeOther(base + backTo, saying: saying(outcome))
        }
    }

    /// Runs `body`, which carries out operations; if it throws a `ChangeRefusal`, returns the page
    /// with the refusal, and with status 400 or 409.
    package func attempt(
        refusedBy page: MirrorRoute.Handler, _ body: () async throws -> WebReply
    ) async throws -> WebReply {
        do {
            return try await body()
        } catch let refusal as ChangeRefusal {
            let refusal = Refusal(refusal)
            let reply = try await page(refused(refusal))
            guard case .page(var content) = reply else {
                if case .confirm(let confirmation) = reply {
                    return .page(confirmation.page(of: refused(refusal)))
                }
                return reply
            }
            content.refusal = refusal
            return .page(content)
        }
    }

    /// Returns the request with the refusal of a change.
    package func refused(_ refusal: Refusal) -> MirrorRequest {
        var request = self
        request.refusal = refusal
        return request
    }

    /// Returns the text typed into a field if the page is shown again after a refusal; else
    /// `usual`.
    package func typed(_ field: String, or usual: String? = nil) -> String? {
        refusal == nil ? usual : form[field] ?? usual
    }
}

/// The reason why nothing was done, for the top of a page.
package struct Refusal: Sendable {
    /// Whether the input was invalid (status 400); otherwise the item differs from the shown one
    /// (409).
    package let isMisuse: Bool
    /// The reason as a sentence, as "20:13 is being sent".
    package let text: String

    package init(isMisuse: Bool, _ text: String) {
        self.isMisuse = isMisuse
        self.text = text
    }

    package init(_ refusal: ChangeRefusal) {
        self.init(isMisuse: refusal.isMisuse, refusal.text.page)
    }
}

/// The permissions of a request, and the values for its forms.
package struct Access: Sendable {
    /// The light or dark theme that a person chose; nil for the system's.
    package enum Theme: String, CaseIterable, Sendable { case light, dark }

    /// The token that each form contains against cross-site request forgery.
    package let csrf: String
    /// Whether nothing may be changed: no form is shown, and each POST is answered with 403.
    package let isReadOnly: Bool
    package let theme: Theme?
    /// Whether a logout is possible.
    package let hasLogin: Bool
    /// Whether the server has more than one mirror.
    package let hasIndex: Bool
    /// Whether typed text is sent over an unencrypted connection.
    package let isUnencrypted: Bool
    /// Whether the person is at the machine of the server, and may name a file of its disk.
    package let canNameFiles: Bool
}
