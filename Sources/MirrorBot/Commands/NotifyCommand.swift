import ArgumentParser
import Control
import Foundation
import Mirroring
import Posts
import Settings

/// `mirror-bot notify`.
struct NotifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify",
        abstract: "Show the notifications that were sent, or send a test.",
        discussion: """
            \(Setting.notifyURL.name) and \(Setting.notifyCommand.name) set where notifications go. There is one a day for each cause, and one \
            when the cause is over. --test ends with 69 if the message did not arrive.
            """)

    /// The maximum number of delivered messages to show.
    private static let mostShown = 20

    @OptionGroup var options: MirrorOptions

    @Flag(help: "Send a test message.")
    var test = false

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        if test { return try await sendTest() }
        try await options.withMirror(allowsMoved: true) { mirror in
            let sent = try await mirror.notices.told(limit: Self.mostShown)
            let report = NoticeReport(mirror.name, try await mirror.notices.rows(), sent)
            if json { return try JSONOutput.print(report) }
            let zone = try await mirror.knownTimeZone() ?? .gmt
            for line in report.lines(in: zone) { print(line) }
        }
    }

    /// Sends a test notice, without opening the database, which may be missing.
    private func sendTest() async throws {
        let configuration = try await options.configuration(readsAccounts: false)
        Console.current.log.follow(configuration)
        guard configuration.process.notices.sendsNotices else {
            throw ConfigurationError(
                Setting.notifyURL.name,
                "is not set, nor is \(Setting.notifyCommand.name), so notifications go nowhere")
        }
        let sender = NoticeSender(configuration.process.notices)
        let receipts = await sender.send(
            .test(of: configuration.mirror.mirror, now: Date()),
            with: configuration.process.web.address.map { NoticeControls(opening: "/", at: $0) })
        sender.shutdown()
        if json {
            try JSONOutput.print(NoticeTestReport(receipts: receipts))
        } else {
            for receipt in receipts where receipt.problem == nil {
                print("sent: \(Printable.line(receipt.way))")
            }
        }
        let problems = receipts.compactMap { receipt in
            receipt.problem.map { "\(receipt.way): \($0)" }
        }
        guard problems.isEmpty else {
            throw CommandError(
                .unavailable, "could not send to \(problems.joined(separator: "; "))")
        }
    }
}

private struct NoticeTestReport: Encodable {
    let schema = "mirror-bot/notify-test/1"
    let receipts: [NoticeReceipt]
}

/// The notices in their printed form.
private struct NoticeReport: Encodable {
    struct Entry: Encodable {
        let cause: NoticeCause
        /// The time since which the cause exists; `nil` while it does not exist.
        let since: Date?
        let lastTold: Date?
        /// The number of failed attempts to send the next message.
        let attempts: Int
    }

    let schema = "mirror-bot/notices/1"
    let mirror: String
    let notices: [Entry]
    /// The last delivered messages, the newest first.
    let told: [ToldNotice]

    init(_ mirror: String, _ rows: [NoticeRow], _ told: [ToldNotice]) {
        self.mirror = mirror
        self.told = told
        notices = rows.map {
            Entry(cause: $0.cause, since: $0.since, lastTold: $0.lastTold, attempts: $0.attempts)
        }
    }

    func lines(in zone: TimeZone) -> [String] {
        guard !notices.isEmpty else { return ["no notifications were sent"] }
        return notices.map { entry in
            var parts = [entry.since.map { "since \(LocalTime($0, in: zone))" } ?? "over"]
            parts.append(entry.lastTold.map { "sent \(LocalTime($0, in: zone))" } ?? "not sent yet")
            if entry.attempts > 0 { parts.append("\(entry.attempts) failed attempts") }
            return Printable.padded(entry.cause.rawValue, to: 16) + parts.joined(separator: ", ")
        } + (told.isEmpty ? [] : ["", "the last messages"])
            + told.map { notice in
                let state = notice.state == .resolved ? "over: " : ""
                return Printable.line(
                    "  \(LocalTime(notice.at, in: zone))  \(state)\(notice.title)")
            }
    }
}
