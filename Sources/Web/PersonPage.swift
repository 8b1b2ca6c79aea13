package import Control
import Foundation
import Mirroring
import Posts

/// A page with all stored data about one person, at their request: one file without scripts or
/// external resources.
package struct PersonPage: Sendable {
    let report: PersonReport
    private let zone: TimeZone

    package init(_ report: PersonReport) {
        self.report = report
        zone = TimeZone(identifier: report.timeZone) ?? .gmt
    }

    /// The whole file.
    package var html: String {
        Page.html(
            title: title, subtitle: "As of \(time(report.made)), clock of \(report.timeZone).",
            sections: sections)
    }

    private var title: String {
        "What the mirror \(report.mirror) knows of "
            + report.accounts.map(\.account).joined(separator: ", ")
    }

    private var sections: [Markup] {
        [
            Page.section("accounts", "Who they are here", accounts),
            Page.section("deeds", "What was said to them or favorited", deeds),
            Page.section("mentions", "Posts of the human that answer or name them", mentions),
            Page.section("learned", "Posts of theirs that are learned from", learned),
        ]
    }

    private var accounts: [Markup] {
        let rows = report.accounts.map { account in
            [
                "<bdi>\(account.account)</bdi>",
                "<bdi>\(account.handle.map { "@\($0)" } ?? "–")</bdi>",
                stance(account), account.lastContact.map(time) ?? "–",
            ] as [Markup]
        }
        return [
            Page.table(
                "Accounts", ["account", "name", "what was said of them", "last answered"], rows,
                isText: true)
        ]
    }

    private func stance(_ account: PersonReport.KnownAccount) -> Markup {
        if account.isForgotten { return "forgotten: only a digest is kept" }
        let reason = account.reason.map { ", by \($0)" } ?? ""
        let server = account.onDenied.map { "; on the denied server \($0)" } ?? ""
        return "\((account.stance ?? "nothing") + reason + server)"
    }

    private var deeds: [Markup] {
        guard !report.deeds.isEmpty else { return ["<p>Nothing.</p>"] }
        let rows = report.deeds.map { deed in
            [
                "\(deed.kind), \(deed.state)<p class=\"why\">\(time(deed.at)) <code>\(String(deed.id.prefix(7)))</code></p>",
                "\(said(deed.text))<p class=\"why\">to \(deed.about)\(deed.why.map { "; \($0)" } ?? "")</p>",
            ] as [Markup]
        }
        return [
            Page.table(
                "The oldest first", ["what", "text, to which post, and why"], rows, isText: true)
        ]
    }

    private var mentions: [Markup] {
        guard !report.mentions.isEmpty else { return ["<p>None.</p>"] }
        let rows = report.mentions.map { mention in
            [
                "\(mention.isReply ? "answer" : "post")<p class=\"why\">\(time(mention.written))</p>",
                "\(said(mention.text))<p class=\"why\">\(mention.post)</p>",
            ] as [Markup]
        }
        return [Page.table("The oldest first", ["what", "text"], rows, isText: true)]
    }

    private var learned: [Markup] {
        guard !report.learned.isEmpty else { return ["<p>None.</p>"] }
        let rows = report.learned.map { post in
            [
                "\(post.state)<p class=\"why\">\(time(post.noted))</p>",
                "\(said(post.text))<p class=\"why\">\(post.post)</p>",
            ] as [Markup]
        }
        return [Page.table("The oldest first", ["how", "text"], rows, isText: true)]
    }

    private func said(_ text: String?) -> Markup {
        text.map { "<p class=\"said\"><bdi>\($0)</bdi></p>" } ?? ""
    }

    private func time(_ date: Date) -> Markup { Page.time(date, in: zone) }
}
