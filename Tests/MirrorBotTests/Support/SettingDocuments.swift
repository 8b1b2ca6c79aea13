import Foundation
import Mastodon
import NetworkNames
import Networks
import Posts
import Settings
import Testing

/// The parts of committed documents that are made from tables of the program: its settings, and the
/// servers' programs.
enum SettingDocuments {
    /// A file of the repository, and what becomes of its text.
    struct Document: Sendable, CustomTestStringConvertible {
        let path: String
        let render: @Sendable (_ text: String) throws -> String

        var testDescription: String { path }
    }

    static let all = [
        Document(path: "docs/settings.md") { tables(in: $0) },
        Document(path: ".env.example") { _ in environmentFile },
        Document(path: "app.json") { try manifest($0) },
        Document(path: "docs/promises.md") { programs(in: $0) },
    ]

    // MARK: docs/promises.md

    /// The text with the table after the line `<!-- programs -->` made anew.
    private static func programs(in text: String) -> String {
        let mark = "<!-- programs -->"
        let lines = text.components(separatedBy: "\n")
        guard let first = lines.firstIndex(of: mark) else { return text }
        let rest = lines[(first + 1)...].drop { $0.hasPrefix("|") }
        return (lines[...first] + programTable + rest).joined(separator: "\n")
    }

    private static var programTable: [String] {
        let programs = MastodonNetwork.knownPrograms
        func row(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }
        let names = programs.map(\.name)
        let habits = (programs.first?.habits ?? []).indices.map { index in
            row([programs[0].habits[index].name] + programs.map { $0.habits[index].value })
        }
        return [row([""] + names), row(["---"] + names.map { _ in "---" })] + habits
    }

    // MARK: docs/settings.md

    /// The text with each table that follows a line such as `<!-- settings: schedule -->` made
    /// anew.
    private static func tables(in text: String) -> String {
        var lines = [String]()
        var isTable = false
        for line in text.components(separatedBy: "\n") {
            isTable = isTable && line.hasPrefix("|")
            if !isTable { lines.append(line) }
            guard let name = line.wholeMatch(of: /<!-- settings: ([a-z]+) -->/)?.output.1,
                let group = AnySetting.Group(rawValue: String(name))
            else { continue }
            lines += table(of: group)
            isTable = true
        }
        return lines.joined(separator: "\n")
    }

    private static func table(of group: AnySetting.Group) -> [String] {
        let head = [
            "| variable | type | default | secret | meaning | a change is taken up |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        return head
            + AnySetting.all.filter { $0.group == group }.map { setting in
                let meaning = setting.meaning + (setting.details.map { "; \($0)" } ?? "")
                let change =
                    setting.uptake.words
                    + (setting.effectText.map { ". \($0.trimming(suffix: "."))" } ?? "")
                let cells = [
                    "`\(setting.name)`", setting.form.words, setting.defaultWords ?? "–",
                    setting.isSecret ? "yes" : "no",
                    meaning, change,
                ]
                return "| " + cells.joined(separator: " | ") + " |"
            }
    }

    // MARK: .env.example

    private static var environmentFile: String {
        let start = """
            # Copy to .env beside mirror-bot and fill in; `mirror-bot login` can take the place of the accounts below.
            # These are the settings to begin with; `mirror-bot config` lists every setting. Made by `make settings`.

            """
        let filled =
            [Setting.timeZone.name, Setting.network.name]
            + AccountRole.allCases.flatMap {
                NetworkName.usual.descriptor.requiredNames(of: $0)
            }
        let groups = AnySetting.Group.allCases.map { group in
            let settings = prompted.filter { $0.group == group }
            return settings.isEmpty
                ? []
                : ["", "# \(group.title)"]
                    + settings.flatMap { setting in
                        let value = setting.example ?? setting.fallback ?? ""
                        return [
                            "# \(sentence(of: setting))",
                            "\(filled.contains(setting.name) ? "" : "#")\(setting.name)=\(value)",
                        ]
                    }
        }
        return start + groups.joined().joined(separator: "\n") + "\n"
    }

    // MARK: app.json

    /// The text with its variables made anew, but for those of the build.
    private static func manifest(_ text: String) throws -> String {
        let start = "  \"env\": {\n"
        let end = "    \"SWIFT_BUILD_FLAGS\""
        guard let first = text.range(of: start), let last = text.range(of: end) else {
            throw Unmarked()
        }
        let fields = form.map { field(of: $0.setting, $0.advice) + ",\n" }.joined()
        return text[..<first.upperBound] + fields + text[last.lowerBound...]
    }

    /// The file lacks the places between which the variables stand.
    private struct Unmarked: Error {}

    /// The variables as the platform's form asks for them: network by network, then what all
    /// networks share.
    ///
    /// The form has no headings, so that the first variable of each network says which ones to fill
    /// in.
    private static let form: [(setting: AnySetting, advice: String?)] = {
        let asked = AnySetting.all.filter { $0.prompt != nil }
        // X first: what it shares with another network stands there, for only X needs all of it.
        let networks: [(name: NetworkName, advice: String)] = [
            (
                .x,
                "For X, fill in the eight keys from here on and X_ACKNOWLEDGE_POLICY, and leave the rest as it is"
            ),
            (
                .mastodon,
                "For Mastodon, fill in this, HUMAN_ACCESS_TOKEN, BOT_SERVER and BOT_ACCESS_TOKEN, and leave the rest "
                    + "as it is"
            ),
            (
                .bluesky,
                "For Bluesky, fill in this, BOT_HANDLE and BOT_APP_PASSWORD, and leave the rest as it is"
            ),
        ]
        var form: [(setting: AnySetting, advice: String?)] = []
        for network in networks {
            let names = AccountRole.allCases.flatMap { role in
                network.name.descriptor.fields.filter { $0.field.setting != nil }.map {
                    $0.field.name(of: role)
                }
            }
            let own =
                names.compactMap(AnySetting.named)
                + asked.filter { network.name == .x && $0.group == .paid }
            let new = own.filter { setting in !form.contains { $0.setting.name == setting.name } }
            form += new.enumerated().map { ($1, $0 == 0 ? network.advice : nil) }
        }
        return form
            + asked.filter { setting in !form.contains { $0.setting.name == setting.name } }.map {
                ($0, nil)
            }
    }()

    private static func field(of setting: AnySetting, _ advice: String?) -> String {
        let description = ([sentence(of: setting)] + [advice].compactMap(\.self)).joined(
            separator: ". ")
        var parts = ["\"description\": \"\(description)\""]
        switch setting.prompt {
        case .optional: parts.append("\"required\": false")
        case .prefilled:
            parts += ["\"value\": \"\(setting.fallback ?? "")\"", "\"required\": false"]
        case .generated: parts.append("\"generator\": \"secret\"")
        case nil: break
        }
        let line = "    \"\(setting.name)\": { " + parts.joined(separator: ", ") + " }"
        guard line.count > 120 else { return line }
        return "    \"\(setting.name)\": {\n" + parts.map { "      \($0)" }.joined(separator: ",\n")
            + "\n    }"
    }

    // MARK: Both

    /// What is asked for when a mirror is set up.
    private static let prompted = AnySetting.all.filter { $0.prompt != nil }

    /// What a setting means, its choices, and what counts without a value.
    private static func sentence(of setting: AnySetting) -> String {
        var text = setting.summary.prefix(1).uppercased() + setting.summary.dropFirst()
        if case .choice(let choices) = setting.form {
            text += " (\(choices.joined(separator: ", ")))"
        }
        if AccountRole.allCases.contains(where: {
            NetworkName.usual.descriptor.identity.name(of: $0) == setting.name
        }) {
            text += "; leave all tokens empty to log in later"
        }
        if case .optional = setting.prompt, let usual = setting.defaultWords {
            text += "; \(usual.replacing("`", with: "")) if left empty"
        }
        return text
    }
}

extension String {
    fileprivate func trimming(suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
