import Embedded

/// The translations of the program's sentences, read once from the files of `Resources`.
package enum Translations {
    /// The translations into a language by their English text; empty for English.
    package static func table(of language: Language) -> [String: String] {
        switch language {
        case .english: [:]
        case .japanese: japanese
        }
    }

    private static let japanese = table(in: .japanese)

    /// Reads the files of a language.
    ///
    /// The files are a part of the program, so one that cannot be read stops the process; a test
    /// reads each.
    private static func table(in language: Language) -> [String: String] {
        let folder = "Localization/\(language.rawValue)"
        return EmbeddedFiles.files(in: folder).reduce(into: [:]) { table, file in
            do {
                let entries = try MessageCatalog(String(decoding: file.bytes, as: UTF8.self))
                table.merge(entries.translations) { first, _ in first }
            } catch {
                preconditionFailure("\(folder)/\(file.name), \(error)")
            }
        }
    }
}

/// The entries of a file in gettext's format PO: `msgid "…"`, then `msgstr "…"`, and comments that
/// begin with `#`.
///
/// Source: the manual of GNU gettext, "The Format of PO Files". Plurals and contexts are not used.
package struct MessageCatalog {
    /// A line that does not fit the format.
    package struct Fault: Error, CustomStringConvertible {
        /// The line's number, from 1.
        let line: Int
        let reason: String

        package var description: String { "line \(line): \(reason)" }
    }

    /// The entries in the order of the file: the English text and its translation.
    package private(set) var entries: [(key: String, translation: String)] = []

    package var translations: [String: String] {
        Dictionary(entries.map { ($0.key, $0.translation) }) { first, _ in first }
    }

    /// - Throws: A ``Fault`` for the first line that does not fit the format.
    package init(_ text: String) throws {
        var key: String?
        var translation: String?
        func finish(before line: Int) throws {
            guard let key else { return }
            guard let translation else { throw Fault(line: line, reason: "msgstr is missing") }
            entries.append((key, translation))
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let number = index + 1
            if line.isEmpty || line.hasPrefix("#") { continue }
            if line.hasPrefix("msgid ") {
                try finish(before: number)
                key = try Self.quoted(line.dropFirst(6), line: number)
                translation = nil
            } else if line.hasPrefix("msgstr "), key != nil, translation == nil {
                translation = try Self.quoted(line.dropFirst(7), line: number)
            } else if line.hasPrefix("\""), key != nil {
                let continued = try Self.quoted(line, line: number)
                if translation == nil {
                    key?.append(continued)
                } else {
                    translation?.append(continued)
                }
            } else {
                throw Fault(line: number, reason: "expected msgid, msgstr or a quoted text")
            }
        }
        try finish(before: lines.count)
    }

    /// Returns the text within quotation marks.
    private static func quoted(_ line: Substring, line number: Int) throws -> String {
        guard line.count >= 2, line.hasPrefix("\""), line.hasSuffix("\"") else {
            throw Fault(line: number, reason: "a text must be quoted")
        }
        var text = ""
        var rest = line.dropFirst().dropLast()
        while let character = rest.popFirst() {
            guard character == "\\" else {
                if character == "\"" { throw Fault(line: number, reason: "write \\\" for \"") }
                text.append(character)
                continue
            }
            switch rest.popFirst() {
            case "n": text.append("\n")
            case "t": text.append("\t")
            case "\"": text.append("\"")
            case "\\": text.append("\\")
            default: throw Fault(line: number, reason: "an unknown escape")
            }
        }
        return text
    }
}
