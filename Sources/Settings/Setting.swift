/// A variable that mirror-bot reads, with the type of its value, its parser and its printer.
///
/// Each setting is declared once, as a static property in `Setting+All.swift`. A declaration gives
/// the setting's name to messages, and its value to code:
///
/// ```swift
/// let days: Int = values[.noRepeatDays]
/// let advice = "set \(Setting.noRepeatDays.name) to less than \(days)"
/// ```
package struct Setting<Value: Sendable>: Sendable {
    /// Derives a value from other settings, with the origin that says whether it is only a default
    /// or implied by them.
    typealias Derivation = @Sendable (SettingValues) -> (value: Value, origin: SettingOrigin)?

    /// The variable, as `TIME_ZONE`.
    package let name: String
    /// The value if none is set, and none is derived from other settings.
    package let fallback: Value
    private let syntax: @Sendable () -> SettingSyntax<Value>
    private let makeErased: @Sendable () -> AnySetting

    /// The setting without its type, as ``AnySetting/all`` lists it.
    package var erased: AnySetting { makeErased() }

    /// Declares a setting.
    ///
    /// A declaration is evaluated again at each use, because a generic type stores no static
    /// properties. Therefore the parts that only ``AnySetting`` needs are created when ``erased``
    /// is read.
    ///
    /// - Parameters:
    ///   - name: The variable.
    ///   - title: The name for people who read no variables. This text and the others for people
    ///     are evaluated each time that somebody reads them, in the language of that task.
    ///   - group: The group in which it is listed.
    ///   - meaning: The meaning, in Markdown.
    ///   - scope: The scope, which determines the type that contains the value.
    ///   - form: The parser and the printer.
    ///   - fallback: The value if none is set, and none is derived from other settings.
    ///   - defaultInWords: The default in words, in Markdown, if it is not simply `fallback`.
    ///   - derived: Returns a default that depends on other settings; nil to use `fallback`.
    init(
        _ name: String, title: @escaping @autoclosure @Sendable () -> String,
        _ group: AnySetting.Group, _ meaning: @escaping @autoclosure @Sendable () -> String,
        scope: AnySetting.Scope = .mirror,
        form syntax: @escaping @autoclosure @Sendable () -> SettingSyntax<Value>,
        fallback: Value, defaultInWords: @escaping @autoclosure @Sendable () -> String? = nil,
        isSecret: Bool = false, isPath: Bool = false,
        uptake: AnySetting.Uptake? = nil,
        effect: @escaping @autoclosure @Sendable () -> String? = nil, details: String? = nil,
        prompt: AnySetting.Prompt? = nil, example: String? = nil,
        derived: Derivation? = nil
    ) {
        self.name = name
        self.fallback = fallback
        self.syntax = syntax
        makeErased = {
            let makeSyntax = syntax
            let syntax = syntax()
            return AnySetting(
                name,
                texts: AnySetting.Texts(
                    title: title, meaning: meaning, form: { makeSyntax().form },
                    defaultInWords: defaultInWords, effect: effect),
                group, scope: scope, fallback: syntax.print(fallback), isSecret: isSecret,
                isPath: isPath, uptake: uptake,
                details: details, prompt: prompt,
                example: example, isDerived: derived != nil,
                parse: { text in
                    let value = try syntax.parse(text, of: name)
                    return ParsedSetting(value: AnySettingValue(value), text: syntax.print(value))
                },
                makeDefault: { values in
                    let derivedDefault = derived?(values)
                    let value = derivedDefault?.value ?? fallback
                    return syntax.print(value).map { text in
                        FoundSetting(
                            text: text, origin: derivedDefault?.origin ?? .fallback,
                            value: AnySettingValue(value))
                    }
                })
        }
    }

    /// Parses a text.
    ///
    /// - Throws: ``ConfigurationError`` that names the setting, for a text that is no value of it.
    package func parse(_ text: String) throws -> Value { try syntax().parse(text, of: name) }

    /// Writes a value as ``parse(_:)`` reads it; nil for one that is not written.
    package func print(_ value: Value) -> String? { syntax().print(value) }
}
