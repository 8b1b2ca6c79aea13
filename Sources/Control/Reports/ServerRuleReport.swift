import Conduct
package import Foundation
import Localization
package import Mirroring
package import Networks
package import Posts
import Schedule
import Settings

/// The rules of the bot's server that concern a bot, and settings that would comply with them.
///
/// Nothing is changed: a list of words selected the sentences, and a person interprets them.
package struct ServerRuleReport: Codable, Equatable, Sendable {
    /// A proposal to comply with a limit in a sentence.
    package struct Proposal: Codable, Equatable, Sendable {
        /// The proposal in words, without a full stop.
        package let text: String
        /// The command that complies; nil if no setting is needed.
        package let command: String?
    }

    /// One sentence.
    package struct Rule: Codable, Equatable, Sendable {
        package enum State: String, Codable, Sendable {
            /// The operator has seen the sentence before.
            case known
            case new
            /// The server no longer has the sentence.
            case gone
        }

        package let text: String
        package let state: State
        /// The topics of the sentence: bot, automation, frequency, label, consent; `terms` for an
        /// address to read.
        package let kinds: [String]
        package let proposals: [Proposal]
        /// The time when the sentence was first read.
        package let since: Date
    }

    /// The host whose rules were read.
    package let host: String
    package let rules: [Rule]
    /// The network-wide policy on bots; `nil` if each server has rules of its own.
    package let policy: String?

    /// The report for people, a line each; empty if nothing was found.
    package var lines: [String] {
        var lines: [String] = []
        if !rules.isEmpty {
            lines.append(
                localized("\(host) says of bots, found by a list of words; read the rest there:"))
        }
        for rule in rules {
            let text = rule.state == .gone ? localized("no longer: \(rule.text)") : rule.text
            lines.append("  \(text)")
            lines += rule.proposals.map { proposal in
                let advice = proposal.command.map { localized("\(proposal.text): \($0)") }
                return "    → \(advice ?? proposal.text)"
            }
        }
        return lines + [policy].compactMap(\.self)
    }

    /// The report as findings of an examination, with changes as warnings.
    package var findings: [Finding] {
        rules.map { rule in
            let fix = rule.proposals.map { $0.command ?? $0.text }.joined(by: .semicolon)
            let advice = fix.isEmpty ? nil : fix
            let day = rule.since.rfc3339.prefix(10)
            return switch rule.state {
            case .known:
                Finding(
                    subject: "rules", verdict: .ok, text: localized("\(host): “\(rule.text)”"),
                    fix: advice)
            case .new:
                .warn(
                    "rules", localized("\(host) says, first seen \(day): “\(rule.text)”"),
                    fix: advice)
            case .gone:
                .warn("rules", localized("\(host) does not say any more: “\(rule.text)”"))
            }
        }
    }
}

extension ServerRuleReport.Rule {
    /// - Parameter maxPerDay: The present limit of posts a day.
    init(_ sentence: ServerRuleTable.Sentence, maxPerDay: Int) {
        text = sentence.text
        since = sentence.since
        if sentence.gone != nil {
            state = .gone
        } else {
            state = sentence.wasShown ? .known : .new
        }
        let ruleSentences = ServerRules.standard.sentences(in: sentence.text)
        kinds = PlainText.isWebAddress(sentence.text) ? ["terms"] : Self.kinds(ruleSentences)
        proposals =
            state == .gone
            ? []
            : ruleSentences.flatMap(\.limits).map {
                ServerRuleReport.Proposal($0, maxPerDay: maxPerDay)
            }
    }

    private static func kinds(_ ruleSentences: [RuleSentence]) -> [String] {
        let foundKinds = Set(ruleSentences.flatMap(\.kinds))
        return RuleSentence.Kind.allCases.filter(foundKinds.contains).map(\.rawValue)
    }
}

extension ServerRuleReport.Proposal {
    fileprivate init(_ limit: RuleSentence.Limit, maxPerDay: Int) {
        switch limit {
        case .postsPerDay(let count) where count < maxPerDay:
            text = localized(
                "\(count) posts a day at most, where \(Setting.maxPerDay.name) is \(maxPerDay) now")
            command = "mirror-bot set \(Setting.maxPerDay.name)=\(count)"
        case .postsPerDay(let count):
            text = localized(
                "\(Setting.maxPerDay.name) is \(maxPerDay), which \(count) posts a day allow")
            command = nil
        case .unlisted:
            text = localized("the bot posts unlisted, whatever the settings are")
            command = nil
        case .hashtag(let tag):
            text = localized(
                "texts are the human's own, and get no hashtag; write \(tag) into the bot's profile"
            )
            command = nil
        }
    }
}

extension HumanMirror {
    /// Reads the rules of the bot's server about bots, and stores them as seen by a person.
    ///
    /// - Parameters:
    ///   - network: The bot's network.
    ///   - account: The bot's account.
    /// - Throws: `NetworkError`; the store's error.
    package func showServerRules(
        of network: any SocialNetwork, account: AccountID, now: Date
    ) async throws -> ServerRuleReport {
        let texts = try await ServerRuleReader.read(network)
        let notedRules = try await serverRules.note(texts, of: account, isShown: true, now: now)
        let maxPerDay = configuration.schedule.maximumPerDay
        return ServerRuleReport(
            host: network.host,
            rules: notedRules.sentences.map { ServerRuleReport.Rule($0, maxPerDay: maxPerDay) },
            policy: network.name.descriptor.policy?.summary)
    }
}
