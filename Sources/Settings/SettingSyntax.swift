import Favorites
import Localization
import Networks
import Posts

/// The spelling of a setting's values: their form in words, a parser and a printer.
///
/// A printed value is parsed as the same value.
struct SettingSyntax<Value: Sendable>: Sendable {
    let form: AnySetting.Form
    /// Writes a value; nil for one that is not written, because it means that none is set.
    let print: @Sendable (Value) -> String?
    private let read: @Sendable (_ text: String, _ name: String) throws -> Value

    /// - Parameters:
    ///   - form: The form in words.
    ///   - parse: Reads a text without control characters; throws a ``ConfigurationError`` about
    ///     the setting of the given name.
    ///   - print: Writes a value.
    init(
        _ form: AnySetting.Form,
        parse: @escaping @Sendable (_ text: String, _ name: String) throws -> Value,
        print: @escaping @Sendable (Value) -> String?
    ) {
        self.form = form
        self.print = print
        read = parse
    }

    /// Reads a text.
    ///
    /// - Throws: ``ConfigurationError`` about the setting of that name.
    func parse(_ text: String, of name: String) throws -> Value {
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            throw ConfigurationError(name, localized("holds a control character"))
        }
        return try read(text, name)
    }

    /// Any text without control characters that a parser of its own accepts.
    static func text(
        _ words: String,
        parse: @escaping @Sendable (_ text: String, _ name: String) throws -> Value,
        print: @escaping @Sendable (Value) -> String?
    ) -> SettingSyntax {
        SettingSyntax(.text(words), parse: parse, print: print)
    }

    private static func problem(_ name: String, _ text: String, expected: String)
        -> ConfigurationError
    {
        ConfigurationError(name, localized("is \"\(text.prefix(40))\"; expected \(expected)"))
    }
}

// MARK: Choices

extension SettingSyntax where Value: Equatable {
    /// One of several words, each of which means a value.
    static func choice(_ choices: [(word: String, value: Value)]) -> SettingSyntax {
        let words = choices.map(\.word)
        return SettingSyntax(.choice(words)) { text, name in
            guard let choice = choices.first(where: { $0.word == text }) else {
                throw problem(name, text, expected: words.joined(by: .comma))
            }
            return choice.value
        } print: { value in
            choices.first { $0.value == value }?.word
        }
    }
}

extension SettingSyntax
where Value: CaseIterable & Equatable & RawRepresentable, Value.RawValue == String {
    /// One of the cases of an enumeration.
    static var cases: SettingSyntax { .choice(Value.allCases.map { ($0.rawValue, $0) }) }
}

extension SettingSyntax where Value == Bool {
    static var yesOrNo: SettingSyntax { .choice([("no", false), ("yes", true)]) }
    static var onOrOff: SettingSyntax { .choice([("on", true), ("off", false)]) }
}

// MARK: Texts

extension SettingSyntax where Value == String {
    static func text(_ words: String) -> SettingSyntax {
        .text(words, parse: { text, _ in text }, print: { $0 })
    }
}

extension SettingSyntax where Value == String? {
    static func text(_ words: String) -> SettingSyntax {
        .text(words, parse: { text, _ in text }, print: { $0 })
    }
}

extension SettingSyntax where Value == Secret? {
    /// A text that is never shown.
    ///
    /// - Parameters:
    ///   - words: The form in words.
    ///   - check: Throws for a text that cannot be used, without showing it.
    static func secret(
        _ words: String,
        check: @escaping @Sendable (_ text: String, _ name: String) throws -> Void = { _, _ in }
    ) -> SettingSyntax {
        .text(words) { text, name in
            try check(text, name)
            return Secret(text)
        } print: { secret in
            secret?.reveal()
        }
    }
}

// MARK: Numbers

extension SettingSyntax where Value == Int {
    static func integer(_ range: ClosedRange<Int>) -> SettingSyntax {
        SettingSyntax(.integer(range)) { text, name in
            guard let number = Int(text), range.contains(number) else {
                throw problem(
                    name, text,
                    expected: localized(
                        "a whole number from \(range.lowerBound) to \(range.upperBound)"))
            }
            return number
        } print: { number in
            "\(number)"
        }
    }
}

extension SettingSyntax where Value == Int? {
    /// A number of the range, or `none`.
    static func integerOrNone(_ range: ClosedRange<Int>) -> SettingSyntax {
        SettingSyntax(.integerOrNone(range)) { text, name in
            guard text != "none" else { return nil }
            guard let number = Int(text), range.contains(number) else {
                throw problem(
                    name, text,
                    expected: localized(
                        "a whole number from \(range.lowerBound) to \(range.upperBound), or none"))
            }
            return number
        } print: { number in
            number.map { "\($0)" } ?? "none"
        }
    }
}

extension SettingSyntax where Value == Double {
    /// A favorite rate that can be a threshold: a number above 0.
    static var threshold: SettingSyntax {
        SettingSyntax(.positive) { text, name in
            guard let number = Double(text), FavoriteConfiguration.isThreshold(number) else {
                throw problem(name, text, expected: localized("a number above 0"))
            }
            return number
        } print: { number in
            Int(exactly: number).map { "\($0)" } ?? "\(number)"
        }
    }
}

extension SettingSyntax where Value == Money {
    /// US dollars, as `5` or `0.25`.
    static var dollars: SettingSyntax {
        SettingSyntax(.dollars) { text, name in
            guard let money = Money(dollars: text) else {
                throw problem(
                    name, text, expected: localized("dollars from 0 to 1000000, such as 5 or 0.25"))
            }
            return money
        } print: { money in
            money.decimals
        }
    }
}

// MARK: Durations

extension SettingSyntax where Value == Duration {
    /// Whole seconds.
    static func seconds(_ range: ClosedRange<Int>) -> SettingSyntax {
        let wholeNumber = SettingSyntax<Int>.integer(range)
        return SettingSyntax(wholeNumber.form) { text, name in
            .seconds(try wholeNumber.parse(text, of: name))
        } print: { duration in
            "\(duration.components.seconds)"
        }
    }
}

extension SettingSyntax where Value == Duration? {
    /// Up to 24 hours, as `2h` or `90m`, or `none`.
    static var upToADay: SettingSyntax {
        .text(localized("up to 24 hours, as `2h` or `90m`, `none`")) { text, name in
            guard text != "none" else { return nil }
            let minutesByUnit: [Substring: Int] = ["m": 1, "h": 60]
            // A whole day is the longest, because a longer time would leave nothing of the day.
            guard let unitMinutes = minutesByUnit[text.suffix(1)],
                let number = Int(text.dropLast()), (1...24 * 60 / unitMinutes).contains(number)
            else {
                throw problem(
                    name, text, expected: localized("up to 24 hours such as 2h or 90m, or none"))
            }
            return .seconds(number * unitMinutes * 60)
        } print: { duration in
            guard let duration else { return "none" }
            let minutes = duration.components.seconds / 60
            return minutes.isMultiple(of: 60) ? "\(minutes / 60)h" : "\(minutes)m"
        }
    }
}
