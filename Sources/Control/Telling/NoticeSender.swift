import Foundation
import Logging
import Mirroring
import Posts
package import Settings
import Transport

/// The result of sending one notice over one channel.
package struct NoticeReceipt: Codable, Equatable, Sendable {
    /// The setting that names the channel, and the host or the program.
    package var way: String
    /// Why it did not arrive; nil if it did.
    package var problem: String?
}

/// Sends notices and heartbeats where the operator wants them.
///
/// Nothing is followed, retried or believed: of an answer only the status counts, and of its body
/// 64 kB are read at most.
package final class NoticeSender: Sendable {
    /// How long one notice may take on each way.
    package static let usualLimit: Duration = .seconds(10)
    /// How long the last word of a process may take.
    private static let lastWordLimit: Duration = .seconds(4)
    private static let bodyLimit = 65_536

    private let configuration: NoticeConfiguration
    /// Of its own: a server that hangs holds up nobody who talks to a network.
    private let client = HTTPClient(
        configuration: HTTPClientConfiguration(userAgent: "mirror-bot/\(Version.current)"))

    package init(_ configuration: NoticeConfiguration) { self.configuration = configuration }

    /// Ends its thread.
    package func shutdown() { client.shutdown() }

    /// Sends a notice on every way that is set.
    ///
    /// - Parameters:
    ///   - notice: What to tell.
    ///   - limit: How long each way may take.
    /// - Returns: What became of it on each way; empty where none is set.
    package func send(_ notice: Notice, limit: Duration = usualLimit) async -> [NoticeReceipt] {
        var receipts: [NoticeReceipt] = []
        if let address = configuration.address {
            var request = post(notice, to: address)
            request.timeout = limit
            receipts.append(
                NoticeReceipt(
                    way: "NOTIFY_URL (\(address.host))", problem: await problem(of: request)))
        }
        if let program = configuration.command.first {
            let problem: String?
            do {
                problem = await NoticeCommand(
                    configuration.command, input: try notice.json(), limit: limit
                ).run()
            } catch {
                problem = "the notice cannot be written as JSON"
            }
            receipts.append(NoticeReceipt(way: "NOTIFY_COMMAND (\(program))", problem: problem))
        }
        return receipts
    }

    /// Sends a notice and logs what became of it.
    ///
    /// - Parameter isLast: Whether the process is to end.
    /// - Returns: Whether anybody heard it.
    func send(_ notice: Notice, isLast: Bool, logger: Logger) async -> Bool {
        let receipts = await send(notice, limit: isLast ? Self.lastWordLimit : Self.usualLimit)
        let cause = Logger.MetadataValue.string(notice.cause?.rawValue ?? "-")
        // Who is told to end has not heard an answer, and there is nothing to be said of that.
        for receipt in receipts where !Task.isCancelled {
            guard let problem = receipt.problem else { continue }
            logger.warning(
                "Notice not delivered",
                metadata: [LogKeys.reason: cause, LogKeys.error: "\(receipt.way): \(problem)"])
        }
        guard receipts.contains(where: { $0.problem == nil }) else { return false }
        logger.info(
            "Notice sent",
            metadata: [LogKeys.reason: cause, LogKeys.state: "\(notice.state.rawValue)"])
        return true
    }

    /// Tells a dead man's switch that the mirror does its work.
    ///
    /// - Parameter limit: How long that may take.
    /// - Returns: Why that failed; nil if it did not, or nobody wants to know.
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

    private func post(_ notice: Notice, to address: NoticeConfiguration.Address) -> HTTPRequest {
        var request = request(to: address)
        request.method = .post
        switch configuration.format {
        case .json:
            request.headers["Content-Type"] = "application/json"
            // A notice holds no value that JSON cannot express.
            request.body = (try? notice.json()) ?? []
        case .ntfy:
            request.headers["Content-Type"] = "text/plain; charset=utf-8"
            request.headers["Title"] = notice.title
            request.headers["Priority"] = notice.priority
            request.headers["Tags"] = notice.tag
            request.body = Array(notice.text.utf8)
        }
        return request
    }

    /// Why a request was not taken; nil if it was.
    private func problem(of request: HTTPRequest) async -> String? {
        let status: Int
        do {
            status = try await client.send(request).status
        } catch let error as TransportError {
            // A server that talks on and on has taken it all the same, if it said so first.
            guard let beginning = error.beginning else { return error.message }
            status = beginning.status
        } catch {
            return "the time was up"
        }
        switch status {
        case 200...299: return nil
        case 300...399:
            return "the server sends it elsewhere (status \(status)), which is not followed"
        default: return "the server answers with status \(status)"
        }
    }
}

extension Notice {
    /// As ntfy counts: 1 to 5, of which 3 is usual.
    fileprivate var priority: String {
        switch state {
        case .began, .continues: cause?.stopsWork == true ? "4" : "3"
        case .resolved, .test: "2"
        }
    }

    /// A picture of ntfy's.
    fileprivate var tag: String {
        switch state {
        case .began, .continues: "warning"
        case .resolved: "white_check_mark"
        case .test: "wave"
        }
    }
}
