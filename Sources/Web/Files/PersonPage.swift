package import Control
import Foundation
import Localization
import Posts

/// All stored data about one person as one file, at their request.
package struct PersonPage: Sendable {
    private let report: PersonReport
    private let words: Words

    package init(_ report: PersonReport) {
        self.report = report
        let zone = TimeZone(identifier: report.timeZone) ?? .gmt
        words = Words(zone: zone, now: report.made)
    }

    /// The HTML of the whole file.
    package var html: String {
        FilePage(
            .personFile, title: title,
            subtitle: Markup(
                rendered: localized(
                    "As of \(words.dated(report.made).text), clock of \(Markup.escaped(report.timeZone))."
                )), context
        ).html
    }

    private var title: String {
        let accounts = report.accounts.map(\.account).joined(by: .comma)
        return localized("What the mirror \(report.mirror) knows of \(accounts)")
    }

    /// The values of its template.
    var context: PageContext {
        [
            "accounts": .list(report.accounts.map { account($0) }),
            "hasDeeds": .flag(!report.deeds.isEmpty),
            "deeds": .list(report.deeds.map { deed($0) }),
            "hasMentions": .flag(!report.mentions.isEmpty),
            "mentions": .list(
                report.mentions.map {
                    post(localized($0.isReply ? "answer" : "post"), $0.written, $0.text, $0.post)
                }),
            "hasLearned": .flag(!report.learned.isEmpty),
            "learned": .list(
                report.learned.map { post(FileWords.learned($0.state), $0.noted, $0.text, $0.post) }
            ),
        ]
    }

    private func account(_ account: PersonReport.KnownAccount) -> PageContext {
        [
            "account": .text(account.account),
            "handle": .text(account.handle.map { "@\($0)" } ?? "–"),
            "said": .text(stanceWords(of: account)),
            "last": .markup(account.lastContact.map { words.dated($0) } ?? "–"),
        ]
    }

    private func stanceWords(of account: PersonReport.KnownAccount) -> String {
        if account.isForgotten {
            return localized("forgotten: only a digest is kept")
        }
        let stance = FileWords.stance(account.stance)
        let words =
            account.reason.map { localized("\(stance), by \(FileWords.stanceReason($0))") }
            ?? stance
        return account.onDenied.map { localized("\(words); on the denied server \($0)") } ?? words
    }

    private func deed(_ deed: PersonReport.Deed) -> PageContext {
        [
            "kind": .text(FileWords.kind(deed.kind)), "state": .text(FileWords.state(deed.state)),
            "at": .markup(words.dated(deed.at)), "id": .text(String(deed.id.prefix(7))),
            "text": .text(deed.text), "about": .text(deed.about), "why": .text(deed.why),
        ]
    }

    private func post(_ state: String, _ at: Date, _ text: String, _ post: String) -> PageContext {
        [
            "state": .text(state), "at": .markup(words.dated(at)), "text": .text(text),
            "post": .text(post),
        ]
    }
}
