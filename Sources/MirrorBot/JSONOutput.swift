import Foundation

/// Prints values for programs.
enum JSONOutput {
    /// Prints `value` as JSON with sorted keys in `snake_case` and RFC 3339 dates, safe to show.
    ///
    /// - Parameters:
    ///   - value: What to print.
    ///   - isOneLine: Without line breaks.
    /// - Throws: What encoding the value throws.
    static func print(_ value: some Encodable, isOneLine: Bool = false) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if !isOneLine { encoder.outputFormatting.insert(.prettyPrinted) }
        encoder.dateEncodingStrategy = .iso8601
        encoder.keyEncodingStrategy = .convertToSnakeCase
        Console.current.output.writeLine(
            escaped(String(decoding: try encoder.encode(value), as: UTF8.self)))
    }

    /// The same JSON, with `\u` in place of what a terminal might obey instead of showing it:
    /// control characters, and signs that change the direction of a line or cannot be seen.
    static func escaped(_ json: String) -> String {
        guard json.unicodeScalars.contains(where: isInvisible) else { return json }
        var text = ""
        for scalar in json.unicodeScalars {
            guard isInvisible(scalar) else {
                text.unicodeScalars.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 { text += String(format: "\\u%04x", unit) }
        }
        return text
    }

    /// Line breaks stand only between the parts of JSON, whose texts have them escaped already.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x7F else { return scalar.value < 0x20 && scalar != "\n" }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }
}
