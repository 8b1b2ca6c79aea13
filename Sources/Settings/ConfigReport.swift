import Foundation
package import Posts

/// All settings: their values, the origins of these, and the effect and the time of a change.
///
/// Contains no secret.
package struct ConfigReport: Codable, Equatable, Sendable {
    /// A group of settings.
    package struct Group: Codable, Equatable, Sendable {
        package let name: AnySetting.Group
        /// The heading of the group.
        package let title: String
        package let settings: [Line]
    }

    /// One setting.
    package struct Line: Codable, Equatable, Sendable {
        /// The name of the environment variable.
        package let name: String
        /// The value as text; nil if it is not set, and `<redacted>` for a secret.
        package let value: String?
        package let origin: SettingOrigin
        /// The meaning of the setting in one line.
        package let summary: String
        /// The form of the setting's values, in words.
        package let form: String
        /// The values to choose from; nil if others are accepted.
        package let choices: [String]?
        /// The range of numbers that it accepts; nil if it accepts other values too.
        package let least: Int?
        package let most: Int?
        /// The default value in words; nil without one.
        package let fallback: String?
        package let isSecret: Bool
        /// Whether `mirror-bot set` can store a value for the mirror.
        package let canBeStored: Bool
        /// Whether people change the setting often.
        package let isOften: Bool
        /// The effect of a change, if the summary does not contain it.
        package let effect: String?
        /// The time at which a change takes effect.
        package let uptake: AnySetting.Uptake
        /// The reason why the value is not usable; nil if it is.
        package let problem: String?
        /// The digest of the value stored for the mirror, to be sent with a change; nil if the
        /// setting cannot be stored, and if a flag overrides it.
        package let seen: Seen?

        /// Whether the name, the meaning or the effect contains a text, ignoring case.
        fileprivate func contains(_ text: String) -> Bool {
            [name, summary, effect ?? ""].contains { $0.lowercased().contains(text.lowercased()) }
        }
    }

    /// A value that is stored for the mirror and has no effect, because its setting is retired.
    package struct Retired: Codable, Equatable, Sendable {
        /// The name of the variable.
        package let name: String
        /// The end of a sentence that begins with the name: that it has no effect, and what has.
        package let problem: String
        /// The digest of the stored value, to be sent when it is removed.
        package let seen: Seen
    }

    /// The schema of this document.
    package private(set) var schema = "mirror-bot/config/2"
    package let groups: [Group]
    package let retired: [Retired]
    /// All problems, including those that concern no single setting.
    package let problems: [String]

    /// - Parameters:
    ///   - values: The settings, unparsed.
    ///   - problems: Their problems.
    ///   - environment: Other variables of the process, which determine the folder of the embedded
    ///     database.
    ///   - word: Shows only settings that contain this word; nil shows all.
    package init(
        _ values: SettingValues, problems: [ConfigurationError], environment: [String: String],
        word: String? = nil
    ) {
        self.problems = problems.map(\.description)
        retired = values.storedRetired.sorted { $0.key < $1.key }.compactMap { name, text in
            RetiredSetting.named(name).map { retired in
                Retired(
                    name: name, problem: retired.problem,
                    seen: SettingTable.seen([name], in: [name: text]))
            }
        }
        groups = AnySetting.Group.allCases.compactMap { group in
            let lines = AnySetting.all.filter { $0.group == group }
                .map { Self.line($0, values, problems, environment) }
                .filter { line in
                    guard let word else { return true }
                    return line.contains(word)
                }
            return lines.isEmpty ? nil : Group(name: group, title: group.title, settings: lines)
        }
    }

    private static func line(
        _ setting: AnySetting, _ values: SettingValues, _ problems: [ConfigurationError],
        _ environment: [String: String]
    ) -> Line {
        let problem = problems.first {
            [setting.name, setting.name + "_FILE"].contains($0.setting)
        }
        var value = shown(setting, values, isWrong: problem != nil)
        var origin = values.origin(setting)
        // The folder has no default if there is no home folder.
        if setting.name == Setting.home.name, origin == .unset,
            let home = try? ProcessSettings.home(values, environment)
        {
            value = home
            origin = .fallback
        }
        return Line(
            name: setting.name, value: value, origin: origin, summary: setting.summary,
            form: setting.form.words.replacing("`", with: ""), choices: setting.form.choices,
            least: setting.form.numbers?.lowerBound, most: setting.form.numbers?.upperBound,
            fallback: setting.defaultWords?.replacing("`", with: ""), isSecret: setting.isSecret,
            canBeStored: setting.canBeStored,
            isOften: AnySetting.oftenChanged.contains(setting.name),
            effect: setting.effect,
            uptake: setting.uptake, problem: problem?.description, seen: seen(setting, values))
    }

    private static func seen(_ setting: AnySetting, _ values: SettingValues) -> Seen? {
        let origin = values.origin(setting)
        guard setting.canBeStored, origin != .flag else { return nil }
        let stored = origin == .stored ? values.text(setting).map { [setting.name: $0] } : nil
        return SettingTable.seen([setting.name], in: stored ?? [:])
    }

    /// The value for display: an invalid one is hidden, because it may be a misplaced secret.
    private static func shown(
        _ setting: AnySetting, _ values: SettingValues, isWrong: Bool
    ) -> String? {
        guard let text = values.text(setting) else { return nil }
        if setting.isSecret { return "<redacted>" }
        guard isWrong, case .text = setting.form, !setting.isPath else { return text }
        return "<unusable>"
    }
}
