import Foundation
import Localization
import Logging
import Mirroring
import Posts
package import Settings
import Transport

/// The result of sending one notice over one channel.
package struct NoticeReceipt: Codable, Equatable, Sendable {
    /// The channel: the name of its setting, with its host or program.
    package var way: String
    /// Why the notice did not arrive; nil if it did.
    package var problem: String?
    /// The id of a device that has ended its subscription; else nil.
    var endedDevice: String?

    private enum CodingKeys: CodingKey { case way, problem }
}

/// The devices of a mirror, and the identity that signs the messages to them.
struct PushTargets: Sendable {
    let devices: [PushDevice]
    let identity: PushIdentity
}

/// Sends notices and heartbeats to the operator's addresses.
///
/// Redirects are not followed, and nothing is retried. Only the status of a response counts; at
/// most 64 kB of its body are read.
package final class NoticeSender: Sendable {
    /// The time limit of one notice on each channel.
    package static let usualLimit: Duration = .seconds(10)
    /// The time limit of the last notice of a process.
    private static let lastWordLimit: Duration = .seconds(4)
    private static let bodyLimit = 65_536

    private let configuration: NoticeConfiguration
    private let pushSender: PushSender
    /// A separate client, so that an unresponsive server does not delay requests to networks.
    private let client = HTTPClient(
        configuration: HTTPClientConfiguration(userAgent: "mirror-bot/\(Version.current)"))

    package init(_ configuration: NoticeConfiguration) {
        self.configuration = configuration
        pushSender = PushSender(client)
    }

    /// Ends the thread of the HTTP client.
    package func shutdown() { client.shutdown() }

    /// Sends a notice on every configured channel.
    ///
    /// - Parameters:
    ///   - notice: The notice.
    ///   - controls: Its buttons, for channels that have any.
    ///   - limit: The time limit of each channel.
    /// - Returns: The result on each channel; empty if none is configured.
    package func send(
        _ notice: Notice, with controls: NoticeControls? = nil, limit: Duration = usualLimit
    ) async -> [NoticeReceipt] {
        var receipts: [NoticeReceipt] = []
        if let address = configuration.address {
            var request = post(notice, with: controls, to: address)
            request.timeout = limit
            receipts.append(
                NoticeReceipt(
                    way: "\(Setting.notifyURL.name) (\(address.host))",
                    problem: await problem(of: request)))
        }
        if let program = configuration.command.first {
            let problem: String?
            do {
                problem = await NoticeCommand(
                    configuration.command, input: try notice.json(), limit: limit
                ).run()
            } catch {
                problem = localized("the notice cannot be written as JSON")
            }
            receipts.append(
                NoticeReceipt(way: "\(Setting.notifyCommand.name) (\(program))", problem: problem))
        }
        return receipts
    }

    /// Pushes a notice to all devices at once.
    private func push(
        _ notice: Notice, with controls: NoticeControls?, to targets: PushTargets, limit: Duration
    ) async -> [NoticeReceipt] {
        await withTaskGroup(of: NoticeReceipt.self) { group in
            for device in targets.devices {
                guard let subscription = device.subscription else { continue }
                group.addTask { [pushSender] in
                    let way = localized("push (\(subscription.host))")
                    let answer = await pushSender.send(
                        notice, with: controls, to: subscription, by: targets.identity,
                        limit: limit)
                    switch answer {
                    case .taken: return NoticeReceipt(way: way)
                    case .gone:
                        return NoticeReceipt(
                            way: way, problem: localized("the device has ended it"),
                            endedDevice: device.id)
                    case .refused(let problem): return NoticeReceipt(way: way, problem: problem)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Sends a notice on every channel and to devices, and logs the results.
    ///
    /// - Parameters:
    ///   - controls: Its buttons.
    ///   - targets: The devices; nil for none.
    ///   - isLast: Whether the process is to end.
    /// - Returns: The results.
    func send(
        _ notice: Notice, with controls: NoticeControls?, to targets: PushTargets?, isLast: Bool,
        logger: Logger
    ) async -> [NoticeReceipt] {
        let limit = isLast ? Self.lastWordLimit : Self.usualLimit
        var receipts = await send(notice, with: controls, limit: limit)
        if let targets {
            receipts += await push(notice, with: controls, to: targets, limit: limit)
        }
        let cause = Logger.MetadataValue.string(notice.cause?.rawValue ?? "-")
        // A cancelled process has not received the responses, which is not worth logging.
        for receipt in receipts where !Task.isCancelled {
            guard let problem = receipt.problem else { continue }
            logger.warning(
                "Notice not delivered",
                metadata: [LogKeys.reason: cause, LogKeys.error: "\(receipt.way): \(problem)"])
        }
        if receipts.contains(where: { $0.problem == nil }) {
            logger.info(
                "Notice sent",
                metadata: [LogKeys.reason: cause, LogKeys.state: "\(notice.state.rawValue)"])
        }
        return receipts
    }

    /// Sends a heartbeat to a dead man's switch.
    ///
    /// - Parameter limit: The time limit.
    /// - Returns: Why that failed; nil on success, or if none is configured.
    package func beat(limit: Duration = usualLimit) async -> String? {
        guard let address = configuration.heartbeat else { return nil }
        var request = request(to: address)
        request.timeout = limit
        return await problem(of: request)
    }

    private func request(to address: NoticeConfiguration.Address) -> HTTPRequest {
        var request = NoticeConfiguration.request(to: address.url.reveal())
        request.maximumBodyBytes = Self.bodyLimit
        if let authorization = address.authorization {
            request.headers["Authorization"] = authorization.reveal()
        }
        return request
    }

    private func post(
        _ notice: Notice, with controls: NoticeControls?, to address: NoticeConfiguration.Address
    ) -> HTTPRequest {
        var request = request(to: address)
        request.method = .post
        switch configuration.format {
        case .json:
            request.headers["Content-Type"] = "application/json"
            // A notice contains no value that JSON cannot represent.
            request.body = (try? notice.json()) ?? []
        case .ntfy:
            request.headers["Content-Type"] = "text/plain; charset=utf-8"
            request.headers["Title"] = notice.title
            request.headers["Priority"] = notice.priority
            request.headers["Tags"] = notice.tag
            request.headers["Actions"] = controls?.actionsOfNtfy
            request.body = Array(notice.text(with: controls).utf8)
        }
        return request
    }

    /// Why a request was not accepted; nil if it was.
    private func problem(of request: HTTPRequest) async -> String? {
        let status: Int
        do {
            status = try await client.send(request).status
        } catch let error as TransportError {
            // The status of a response that is too long counts, too.
            guard let beginning = error.beginning else { return error.message }
            status = beginning.status
        } catch {
            return localized("the time was up")
        }
        switch status {
        case 200...299: return nil
        case 300...399:
            return localized(
                "the server sends it elsewhere (status \(status)), which is not followed")
        default: return localized("the server answers with status \(status)")
        }
    }
}

extension NoticeControls {
    /// The value of ntfy's header `Actions`: the buttons as a JSON array.
    ///
    /// https://docs.ntfy.sh/publish/#action-buttons
    fileprivate var actionsOfNtfy: String? {
        struct Action: Encodable {
            let action: String
            let label: String
            let url: String
            let method: String?
            /// Whether the notification disappears once the button has done its work.
            let clear: Bool
        }
        let actions = buttons.map { button in
            let acts = button.press == .acts
            return Action(
                action: acts ? "http" : "view", label: button.label, url: page + button.path,
                method: acts ? "POST" : nil, clear: acts)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Buttons contain no value that JSON cannot represent.
        return (try? encoder.encode(actions)).map { String(decoding: $0, as: UTF8.self) }
    }
}

extension Notice {
    /// The text, followed by the explanation of its buttons.
    func text(with controls: NoticeControls?) -> String {
        [text, controls?.note].compactMap(\.self).joined(separator: " ")
    }

    /// The priority in ntfy: from 1 to 5, with 3 as the default.
    fileprivate var priority: String {
        switch state {
        case .began, .continues: cause?.stopsWork == true ? "4" : "3"
        case .resolved, .test: "2"
        }
    }

    /// The name of an emoji that ntfy shows.
    fileprivate var tag: String {
        switch state {
        case .began, .continues: "warning"
        case .resolved: "white_check_mark"
        case .test: "wave"
        }
    }
}
