import Foundation

/// Prints values for programs.
enum JSONOutput {
    /// Prints `value` as JSON; see ``text(_:isOneLine:)``.
    static func print(_ value: some Encodable, isOneLine: Bool = false) throws {
        Console.current.output.writeLine(try text(value, isOneLine: isOneLine))
    }

    /// Returns `value` as JSON with sorted keys in `snake_case` and RFC 3339 dates, safe to show.
    ///
    /// - Parameters:
    ///   - value: The value to print.
    ///   - isOneLine: Whether to omit line breaks.
    /// - Throws: The error of encoding the value.
    static func text(_ value: some Encodable, isOneLine: Bool = false) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if !isOneLine { encoder.outputFormatting.insert(.prettyPrinted) }
        encoder.dateEncodingStrategy = .iso8601
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return escaped(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    /// The same JSON, with `\u` escapes for characters that a terminal might interpret: control
    /// characters, and invisible or direction-changing ones.
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

    /// Whether a terminal might interpret a character, so that it must be escaped.
    ///
    /// A line break need not be escaped: here it stands only between the parts of the JSON, because
    /// in texts it is escaped already.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x7F else { return scalar.value < 0x20 && scalar != "\n" }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }
}
