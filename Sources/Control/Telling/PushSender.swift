import Foundation
import Localization
import Mirroring
import Posts
package import Transport

/// Pushes notices to devices (RFC 8030), to each through the push service of its browser.
package struct PushSender: Sendable {
    /// The message that the page's service worker shows.
    private struct Message: Encodable {
        struct Button: Encodable {
            let label: String
            /// The path that a press sends a POST to.
            let path: String
        }

        let title: String
        let text: String
        /// The tag of the message, which replaces an earlier shown message with the same tag.
        let tag: String
        /// The path that a press of the message itself opens.
        let open: String
        let buttons: [Button]
        /// The text to show if the page refuses the press of a button; nil without buttons.
        let refused: String?
        /// The text to show if the page does not answer the press of a button; nil without buttons.
        let unreached: String?
    }

    private let client: HTTPClient

    package init(_ client: HTTPClient) { self.client = client }

    /// Sends a notice to one device.
    ///
    /// - Parameters:
    ///   - notice: The notice.
    ///   - controls: Its buttons.
    ///   - subscription: The device.
    ///   - identity: The sender, which signs the request.
    ///   - limit: The time limit.
    /// - Returns: The answer of the push service.
    package func send(
        _ notice: Notice, with controls: NoticeControls?, to subscription: PushSubscription,
        by identity: PushIdentity, limit: Duration = NoticeSender.usualLimit
    ) async -> PushAnswer {
        do {
            let message = try PushRequest(
                body: PushEncryption.body(Self.message(notice, controls), for: subscription),
                topic: Self.topic(of: notice), urgency: notice.urgency)
            var request = message.request(to: subscription, by: identity, now: notice.at)
            request.timeout = limit
            return PushAnswer(status: try await client.send(request).status)
        } catch let error as TransportError {
            // The status of a response that is too long counts, too.
            return error.beginning.map { PushAnswer(status: $0.status) } ?? .refused(error.message)
        } catch let failure as PushEncryption.Failure {
            return .refused(failure.description)
        } catch {
            return .refused(localized("the time was up"))
        }
    }

    private static func message(_ notice: Notice, _ controls: NoticeControls?) throws -> [UInt8] {
        let buttons = controls?.buttons ?? []
        let canPress = buttons.contains { $0.press == .acts }
        let message = Message(
            title: notice.title, text: notice.text(with: controls), tag: topic(of: notice),
            open: buttons.first { $0.press == .opens }?.path ?? "/",
            buttons: buttons.filter { $0.press == .acts }.map {
                Message.Button(label: $0.label, path: $0.path)
            },
            refused: canPress
                ? localized("Nothing was done: it has changed, or the button was used.") : nil,
            unreached: canPress ? localized("The page could not be reached.") : nil)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(message))
    }

    /// Returns the topic of a notice.
    ///
    /// It is the same for all messages about one cause of one mirror. It is a digest, so the push
    /// service learns neither the cause nor the mirror.
    private static func topic(of notice: Notice) -> String {
        let digest = StableHash.digest(
            of: "mirror-bot push topic", notice.mirror, notice.cause?.rawValue ?? "test")
        return Base64URL.text(of: digest.prefix(24))
    }
}

extension Notice {
    /// The urgency with which a device that saves its battery is woken.
    fileprivate var urgency: PushRequest.Urgency {
        switch state {
        case .began, .continues: cause?.stopsWork == true ? .high : .normal
        case .resolved: .low
        case .test: .normal
        }
    }
}
