import Localization
import Networks
import Posts

/// A ``Setting`` without its type: its name, form, default and meaning, and the effect of a change.
///
/// ``all`` is the only list of settings. Reading and checking values, `config`, `set --help`, the
/// form of the web page, docs/settings.md, `.env.example` and `app.json` are derived from it.
///
/// Texts are one line each, in Markdown, with names and values between backticks.
package struct AnySetting: Sendable {
    /// The form of a value.
    package enum Form: Sendable {
        /// Any text without control characters; the words describe its content.
        case text(String = localized("text"))
        case choice([String])
        case integer(ClosedRange<Int>)
        /// A number of the range, or `none`.
        case integerOrNone(ClosedRange<Int>)
        /// A finite number above zero.
        case positive
        /// US dollars, as `5` or `0.25`.
        case dollars
    }

    /// The scope of a setting, which determines the type that contains its value.
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

        /// The heading of the group, for people.
        package var title: String {
            switch self {
            case .mirror: localized("The mirror")
            case .accounts: localized("Accounts")
            case .storage: localized("Where things are kept")
            case .schedule: localized("Schedule")
            case .texts: localized("Texts")
            case .replies: localized("Replies")
            case .favorites: localized("Favorites")
            case .paid: "X"
            case .notifications: localized("Notifications")
            case .logs: localized("Logs")
            case .web: localized("Web page")
            }
        }
    }

    /// The time at which a change of a setting takes effect.
    package enum Uptake: String, CaseIterable, Codable, Sendable {
        /// A change takes effect in a running worker, within a minute of `mirror-bot set`.
        case live
        /// A change takes effect within a minute, for later plans and decisions.
        case nextDecision = "next-decision"
        /// A change takes effect at the next start of a process.
        case nextStart = "next-start"

        /// The time in the words after "taken up".
        package var words: String {
            switch self {
            case .live: localized("within a minute")
            case .nextDecision:
                localized("within a minute, for what is planned or decided from then on")
            case .nextStart: localized("at the next start")
            }
        }
    }

    /// How `app.json` and `.env.example` prompt for the setting when a mirror is set up.
    package enum Prompt: Sendable {
        /// The setting may be left empty.
        case optional
        /// The default is filled in before the person is asked.
        case prefilled
        /// A platform generates a random value.
        case generated
    }

    /// The texts for people, each made anew in the language of the task that reads it.
    struct Texts: Sendable {
        let title: @Sendable () -> String
        let meaning: @Sendable () -> String
        let form: @Sendable () -> Form
        let defaultInWords: @Sendable () -> String?
        let effect: @Sendable () -> String?
    }

    /// The name of the environment variable, as `TIME_ZONE`.
    package let name: String
    private let texts: Texts
    /// The name for people who read no variables, as `Time zone`.
    package var title: String { texts.title() }
    package let group: Group
    package let scope: Scope
    package var form: Form { texts.form() }
    /// The text of the default value; nil if there is none.
    package let fallback: String?
    /// Whether the default depends on other settings.
    let isDerived: Bool
    /// Returns the default value, which may depend on other settings; nil if there is none.
    let makeDefault: @Sendable (SettingValues) -> FoundSetting?
    /// Parses a text.
    ///
    /// - Throws: ``ConfigurationError`` that names the setting.
    let parse: @Sendable (String) throws -> ParsedSetting
    /// Whether the value is never printed, and can also be read from the file that `NAME_FILE`
    /// names.
    package let isSecret: Bool
    /// Whether the value is the name of a file or folder, in which `~` at the start is the home
    /// folder.
    package let isPath: Bool
    /// The meaning, in Markdown.
    package var meaning: String { texts.meaning() }
    /// Further details for the documentation only, in Markdown.
    package let details: String?
    /// The default in words, in Markdown, if it is not simply a value.
    package var defaultInWords: String? { texts.defaultInWords() }
    /// The effect of a change of the value on work that is already planned, if ``meaning`` does not
    /// say it; sentences in Markdown.
    package var effectText: String? { texts.effect() }
    package let uptake: Uptake
    /// The prompt when a mirror is set up; `nil` if the setting can be ignored then.
    package let prompt: Prompt?
    /// A value to begin with in `.env.example`.
    package let example: String?

    init(
        _ name: String, texts: Texts, _ group: Group, scope: Scope, fallback: String?,
        isSecret: Bool, isPath: Bool, uptake: Uptake?, details: String?, prompt: Prompt?,
        example: String?,
        isDerived: Bool,
        parse: @escaping @Sendable (String) throws -> ParsedSetting,
        makeDefault: @escaping @Sendable (SettingValues) -> FoundSetting?
    ) {
        self.name = name
        self.texts = texts
        self.group = group
        self.scope = scope
        self.details = details
        self.fallback = fallback
        self.isSecret = isSecret
        self.isPath = isPath
        self.isDerived = isDerived
        self.parse = parse
        self.makeDefault = makeDefault
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

    /// Returns a value in the setting's own spelling; nil for a value that has no text, because it
    /// means “not set”.
    ///
    /// - Throws: ``ConfigurationError`` for a text that is no value of the setting.
    package func rewritten(_ text: String) throws -> String? { try parse(text).text }

    /// The setting of a name; nil if there is none.
    package static func named(_ name: String) -> AnySetting? { byName[name] }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}

extension AnySetting.Form {
    /// The values to choose from; nil if others are accepted.
    package var choices: [String]? { if case .choice(let choices) = self { choices } else { nil } }

    /// The range of accepted numbers; nil if other values are accepted too.
    package var numbers: ClosedRange<Int>? {
        if case .integer(let range) = self { range } else { nil }
    }

    /// The form of a value, in Markdown.
    package var words: String {
        switch self {
        case .text(let words): words
        case .choice(let choices): choices.map { "`\($0)`" }.joined(by: .comma)
        case .integer(let range): "\(range.lowerBound)–\(range.upperBound)"
        case .integerOrNone(let range):
            localized("\(range.lowerBound)–\(range.upperBound), `none`")
        case .positive: localized("number above 0")
        case .dollars: localized("dollars, 0 to 1000000, as `0.25`")
        }
    }
}

extension AnySetting {
    /// The default in words, in Markdown; nil if there is none.
    package var defaultWords: String? {
        if let defaultInWords { return defaultInWords }
        guard let fallback else { return nil }
        let networksWithDefault = NetworkDescriptor.known.filter {
            $0.defaults.text(of: name) != nil
        }
        let networksByDefault = Dictionary(grouping: networksWithDefault) {
            $0.defaults.text(of: name) ?? ""
        }
        let exceptions = networksByDefault.sorted { $0.key < $1.key }.map { value, networks in
            localized(
                "; `\(value)` where the bot is on \(networks.map(\.name.displayName).joined(by: .or))"
            )
        }
        return "`\(fallback)`" + exceptions.joined()
    }

    /// The names of the settings that `mirror-bot set` can store, one line for each group.
    package static var storableNames: String {
        Group.allCases.compactMap { group in
            let names = all.filter { $0.group == group && $0.canBeStored }.map(\.name)
            return names.isEmpty
                ? nil : localized("\(group.title): \(names.joined(by: .comma))")
        }.joined(separator: "\n")
    }
}

/// A value of any setting, without its type, which the ``Setting`` has.
struct AnySettingValue: Sendable {
    private let value: any Sendable

    init<Value: Sendable>(_ value: Value) { self.value = Box(value: value) }

    /// The value, if it is of that type.
    func value<Value: Sendable>(of type: Value.Type) -> Value? {
        (value as? Box<Value>)?.value
    }

    /// Wraps a value, so that an optional value that is nil differs from a missing one.
    private struct Box<Value: Sendable>: Sendable {
        let value: Value
    }
}

/// A text that was parsed as the value of a setting.
struct ParsedSetting: Sendable {
    let value: AnySettingValue
    /// The value in the setting's own spelling; nil for a value that means “not set”.
    let text: String?
}

/// A setting's value with its text and its origin.
struct FoundSetting: Sendable {
    /// The given text, or the text of a default.
    let text: String
    let origin: SettingOrigin
    /// The parsed value; nil for a text that is no value.
    let value: AnySettingValue?
}
