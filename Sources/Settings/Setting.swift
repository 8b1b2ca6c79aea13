import Networks
import Posts

/// A variable that mirror-bot reads: its name, form, default and meaning, and the effect of a
/// change.
///
/// ``all`` is the only list of settings. The parsers ``ProcessSettings`` and ``MirrorSettings``,
/// `config`, `set --help`, docs/settings.md, `.env.example` and `app.json` are derived from it.
///
/// Texts are one line each, in Markdown, with names and values between backticks.
package struct Setting: Sendable {
    /// The form of a value.
    package enum Form: Sendable {
        /// Any text without control characters; the words describe what it holds.
        case text(String = "text")
        case choice([String])
        case integer(ClosedRange<Int>)
        /// A number of the range, or `none`.
        case integerOrNone(ClosedRange<Int>)
        /// A finite number above zero.
        case positive
        /// US dollars, as `5` or `0.25`.
        case dollars
    }

    /// Derives a value from others, and says whether it is only a default or implied by them.
    typealias Derivation =
        @Sendable (SettingValues, Setting) -> (text: String, origin: SettingOrigin)?

    /// The scope of a setting, which determines the value that it becomes part of.
    package enum Scope: String, Codable, Sendable {
        /// A process: ``ProcessSettings``.
        case process
        /// A mirror's name, networks and accounts: ``MirrorSettings``. It cannot be stored for a
        /// mirror.
        case identity
        /// A mirror: ``MirrorSettings``. `mirror-bot set` can store it.
        case mirror
    }

    /// A group of settings that a person looks for together, in the order in which they are listed.
    package enum Group: String, CaseIterable, Codable, Sendable {
        case mirror, accounts, storage, schedule, texts, replies, favorites, paid = "x",
            notifications, logs, web

        /// The heading.
        package var title: String {
            switch self {
            case .mirror: "The mirror"
            case .accounts: "Accounts"
            case .storage: "Where things are kept"
            case .schedule: "Schedule"
            case .texts: "Texts"
            case .replies: "Replies"
            case .favorites: "Favorites"
            case .paid: "X"
            case .notifications: "Notifications"
            case .logs: "Logs"
            case .web: "Web page"
            }
        }
    }

    /// When a change takes effect.
    package enum Uptake: String, CaseIterable, Codable, Sendable {
        /// Within a minute of `mirror-bot set`, in a running worker.
        case live
        /// Within a minute, for later plans and decisions.
        case nextDecision = "next-decision"
        /// At the next start of a process.
        case nextStart = "next-start"

        /// The time in words that follow "taken up".
        package var words: String {
            switch self {
            case .live: "within a minute"
            case .nextDecision: "within a minute, for what is planned or decided from then on"
            case .nextStart: "at the next start"
            }
        }
    }

    /// How `app.json` and `.env.example` prompt for the setting when a mirror is set up.
    package enum Prompt: Sendable {
        /// It may be left empty.
        case optional
        /// The default is filled in.
        case prefilled
        /// A platform generates a random value.
        case generated
    }

    /// The variable, as `TIME_ZONE`.
    package let name: String
    /// The name for people who read no variables, as `Time zone`.
    package let title: String
    package let group: Group
    package let scope: Scope
    package let form: Form
    /// The default value; nil if there is none.
    package let fallback: String?
    /// The default value that depends on other settings; nil to use ``fallback``.
    let derived: Derivation
    /// Never printed; can also be read from the file that `NAME_FILE` names.
    package let isSecret: Bool
    /// The name of a file or folder, in which `~` at the start is the home folder.
    package let isPath: Bool
    /// The meaning, in Markdown.
    package let meaning: String
    /// Further details for the documentation only, in Markdown.
    package let details: String?
    /// The default in words, in Markdown, if it is not simply a value.
    package let usually: String?
    /// The effect of a change beyond the meaning, as sentences in Markdown.
    package let effectText: String?
    package let uptake: Uptake
    /// The prompt when a mirror is set up; `nil` if it need not be considered then.
    package let prompt: Prompt?
    /// A value to begin with in `.env.example`.
    package let example: String?

    init(
        _ name: String, title: String, _ group: Group, _ meaning: String, scope: Scope = .mirror,
        form: Form = .text(),
        fallback: String? = nil, usually: String? = nil, isSecret: Bool = false,
        isPath: Bool = false,
        uptake: Uptake? = nil, effect: String? = nil, details: String? = nil, prompt: Prompt? = nil,
        example: String? = nil,
        derived: @escaping Derivation = { _, _ in nil }
    ) {
        self.name = name
        self.title = title
        self.group = group
        self.scope = scope
        self.form = form
        self.meaning = meaning
        self.details = details
        self.fallback = fallback
        self.usually = usually
        self.isSecret = isSecret
        self.isPath = isPath
        self.derived = derived
        self.effectText = effect
        self.uptake = uptake ?? (scope == .mirror ? .live : .nextStart)
        self.prompt = prompt
        self.example = example
    }

    /// The meaning in one line of plain text.
    package var summary: String { meaning.replacing("`", with: "") }

    /// The effect of a change, in plain text; `nil` if the summary is enough.
    package var effect: String? { effectText?.replacing("`", with: "") }

    /// Whether `mirror-bot set` can store it for a mirror.
    package var canBeStored: Bool { scope == .mirror && !isSecret }

    /// The setting of a name; nil if there is none.
    package static func named(_ name: String) -> Setting? { byName[name] }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}

extension Setting.Form {
    /// The values to choose from; nil if others are accepted.
    package var choices: [String]? { if case .choice(let choices) = self { choices } else { nil } }

    /// The range of numbers that it accepts; nil if it accepts other values too.
    package var numbers: ClosedRange<Int>? {
        if case .integer(let range) = self { range } else { nil }
    }

    /// The form of a value, in Markdown.
    package var words: String {
        switch self {
        case .text(let words): words
        case .choice(let choices): choices.map { "`\($0)`" }.joined(separator: ", ")
        case .integer(let range): "\(range.lowerBound)–\(range.upperBound)"
        case .integerOrNone(let range): "\(range.lowerBound)–\(range.upperBound), `none`"
        case .positive: "number above 0"
        case .dollars: "dollars, 0 to 1000000, as `0.25`"
        }
    }
}

extension Setting {
    /// The default in words, in Markdown; nil if there is none.
    package var defaultWords: String? {
        if let usually { return usually }
        guard let fallback else { return nil }
        let elsewhere = Dictionary(
            grouping: NetworkDescriptor.known.filter { $0.defaults[name] != nil }
        ) {
            $0.defaults[name] ?? ""
        }
        let others = elsewhere.sorted { $0.key < $1.key }.map { value, networks in
            "; `\(value)` where the bot is on \(networks.map(\.name.displayName).joined(separator: " or "))"
        }
        return "`\(fallback)`" + others.joined()
    }

    /// The names of the settings that `mirror-bot set` can store, one line for each group.
    package static var storableNames: String {
        Group.allCases.compactMap { group in
            let names = all.filter { $0.group == group && $0.canBeStored }.map(\.name)
            return names.isEmpty ? nil : "\(group.title): \(names.joined(separator: ", "))"
        }.joined(separator: "\n")
    }
}
