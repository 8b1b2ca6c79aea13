/// A sentence of the program in English, which is shown in the language of the present task.
///
/// It is written as a literal. Its English text with `{0}`, `{1}` and so on in place of the values
/// is the key of its translation:
/// ```swift
/// localized("\(name) has \(count) posts")  // msgid "{0} has {1} posts"
/// ```
package struct LocalizedText: Hashable, Sendable {
    /// The English text, with a numbered placeholder for each value.
    package let key: String
    private let values: [String]

    package init(key: String, values: [String] = []) {
        self.key = key
        self.values = values
    }

    /// Returns the sentence in a language; in English if there is no translation.
    package func text(in language: Language) -> String {
        let pattern = Translations.table(of: language)[key] ?? key
        return values.isEmpty ? pattern : filled(pattern)
    }

    /// Replaces each placeholder by its value.
    private func filled(_ pattern: String) -> String {
        var text = ""
        var rest = Substring(pattern)
        while let start = rest.firstIndex(of: "{") {
            text += rest[..<start]
            rest = rest[start...]
            guard let end = rest.firstIndex(of: "}"),
                let index = Int(rest[rest.index(after: start)..<end]),
                values.indices.contains(index)
            else {
                text.append(rest.removeFirst())
                continue
            }
            text += values[index]
            rest = rest[rest.index(after: end)...]
        }
        return text + rest
    }
}

extension LocalizedText: CustomStringConvertible {
    /// The sentence in the language of the present task.
    package var description: String { text(in: .current) }
}

extension LocalizedText: ExpressibleByStringInterpolation {
    package init(stringLiteral key: String) { self.init(key: key) }

    package init(stringInterpolation parts: StringInterpolation) {
        self.init(key: parts.key, values: parts.values)
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var key = ""
        fileprivate var values: [String] = []

        package init(literalCapacity: Int, interpolationCount: Int) {
            // Nearly every placeholder has three characters, as `{0}`.
            key.reserveCapacity(literalCapacity + 3 * interpolationCount)
            values.reserveCapacity(interpolationCount)
        }

        package mutating func appendLiteral(_ literal: String) { key += literal }

        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            key += "{\(values.count)}"
            values.append(value.description)
        }
    }
}

/// Returns a sentence in the language of the present task.
///
/// - Parameter text: A literal: a test finds its translation by its text in the source.
package func localized(_ text: LocalizedText) -> String { text.description }
