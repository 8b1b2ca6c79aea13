import Foundation
import Localization
import Mirroring
import Outbox
import Posts
import Settings

/// A button of a notice.
package struct NoticeButton: Equatable, Sendable {
    /// The effect of a press.
    package enum Press: Equatable, Sendable {
        /// Sends a POST to the path, which acts at most once.
        case acts
        /// Opens the path in a browser.
        case opens
    }

    package let label: String
    package let press: Press
    /// The path on the web page; the path of a button that acts is a secret.
    package let path: String
}

/// The buttons of one notice.
package struct NoticeControls: Equatable, Sendable {
    /// The address of the web page for browsers, without a slash at the end.
    package let page: String
    /// At most three buttons, because ntfy shows no more.
    package let buttons: [NoticeButton]
    /// A sentence that explains the buttons, if the notice itself does not.
    package let note: String?

    /// One button that opens a page.
    ///
    /// - Parameters:
    ///   - path: The path of the page.
    ///   - page: The address of the web page for browsers.
    package init(opening path: String, at page: String) {
        self.init(page: page, buttons: [.open(path)])
    }

    init(page: String, buttons: [NoticeButton], note: String? = nil) {
        self.page = page
        self.buttons = buttons
        self.note = note
    }
}

extension NoticeButton {
    fileprivate static func open(_ path: String) -> NoticeButton {
        NoticeButton(label: localized("Open"), press: .opens, path: path)
    }
}

extension NoticeCause {
    /// Whether a pause has an effect while this condition holds, because the mirror still works or
    /// tries again.
    fileprivate var isPausable: Bool {
        switch self {
        case .humanRefused, .failing, .unreachable, .clock: true
        case .stopped, .refused, .database, .budget, .review, .idle: false
        }
    }

    /// The path of the page with details, below the page of the mirror.
    fileprivate var page: String { self == .review ? "/waiting" : "/health" }
}

/// Decides which buttons a notice has.
struct NoticeButtons: Sendable {
    private let installation: Installation
    private let page: String

    /// - Returns: Nil if the address of the web page for browsers is unknown.
    init?(_ installation: Installation) {
        guard let page = installation.process.web.address else { return nil }
        self.installation = installation
        self.page = page
    }

    /// Returns the buttons of a notice that a condition holds; nil for other notices.
    func controls(of notice: Notice) async -> NoticeControls? {
        guard let cause = notice.cause, [.began, .continues].contains(notice.state) else {
            return nil
        }
        let open = NoticeButton.open("/m/\(notice.mirror)\(cause.page)")
        do {
            let (buttons, note) = try await actingButtons(
                on: cause, of: notice.mirror, now: notice.at)
            return NoticeControls(page: page, buttons: buttons + [open], note: note)
        } catch {
            // Without the database or a valid key file nothing can be signed.
            return NoticeControls(page: page, buttons: [open])
        }
    }

    private func actingButtons(
        on cause: NoticeCause, of name: String, now: Date
    ) async throws -> (buttons: [NoticeButton], note: String?) {
        guard cause == .review || cause.isPausable else { return ([], nil) }
        guard let addresses = try await OnceAddresses(of: name, in: installation, mayMake: true)
        else {
            return ([], nil)
        }
        let mirror = try await installation.mirror(named: name)
        guard cause == .review else {
            let record = try await mirror.table.record()
            guard record.pause(at: now) == nil else { return ([], nil) }
            let path = addresses.path(pausing: record, now: now)
            return ([NoticeButton(label: localized("Pause"), press: .acts, path: path)], nil)
        }
        let waiting = try await mirror.outbox(lease: nil).suggestions(
            .urgent, kinds: [.post], limit: 1)
        guard let post = waiting.first else { return ([], nil) }
        let buttons = [
            (localized("Approve"), OnceAddress.Deed.approve), (localized("Skip"), .skip),
        ].map { label, deed in
            NoticeButton(
                label: label, press: .acts, path: addresses.path(deed, post, now: now))
        }
        let zone = try await mirror.knownTimeZone() ?? .gmt
        let due = LocalTime(post.due, in: zone)
        let isToday = due.day == LocalTime(now, in: zone).day
        let time = isToday ? due.minute.description : due.description
        return (buttons, localized("Approve and Skip are for the post of \(time)."))
    }
}
