import Foundation
import Localization
import Posts
import Storage

/// The variables of a `.env` file, in the syntaxes that editors and shells write.
///
/// A line is `NAME=value`, with or without `export`, with optional spaces or tabs around its parts
/// and any line break. A quoted value is parsed as in a shell, but without expansion of variables.
/// `#` begins a comment at the start of a line, after a quoted value, and after a space. An
/// ambiguous line is a problem, so that no part of a value is lost unnoticed. No message of this
/// type contains a value.
struct DotEnv {
    /// The largest file that is read.
    static let maximumBytes = 65_536

    /// The values by name, including unknown names; the last one of a name counts.
    private(set) var variables: [String: String] = [:]
    /// An error for each line that cannot be parsed.
    private(set) var problems: [ConfigurationError] = []
    /// Warnings about names that are no setting, and about duplicate names.
    private(set) var warnings: [String] = []

    private let name: String
    /// The last line of each name, counted from 1.
    private var lines: [String: Int] = [:]

    /// - Parameters:
    ///   - data: The contents of the file.
    ///   - name: The file's name in problems and warnings.
    init(_ data: Data, name: String) {
        self.name = name
        var bytes = [UInt8](data)
        guard !bytes.starts(with: [0xFF, 0xFE]), !bytes.starts(with: [0xFE, 0xFF]),
            !bytes.contains(0)
        else {
            problems = [
                ConfigurationError(name, localized("is written as UTF-16; save it as UTF-8"))
            ]
            return
        }
        if bytes.starts(with: Self.byteOrderMark) { bytes.removeFirst(Self.byteOrderMark.count) }
        for (index, line) in Self.lines(of: bytes).enumerated() { read(line, number: index + 1) }
    }

    /// Reads a file that no other user can write; nil if there is none.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - name: The file's name in problems and warnings.
    /// - Throws: ``ConfigurationError`` for a file that cannot be read or is not trusted.
    static func read(at path: String, name: String) throws(ConfigurationError) -> DotEnv? {
        do throws(FileTrust.Problem) {
            return try FileTrust.contents(
                of: path, atMost: maximumBytes, refusing: .writtenByOthers
            ).map {
                DotEnv($0, name: name)
            }
        } catch {
            throw ConfigurationError(name, error.text(following: path))
        }
    }

    /// Removes a variable, and records a problem if it had an unexpected value.
    mutating func remove(
        _ variable: String, because problem: String, unless isExpected: (String) -> Bool
    ) {
        guard let value = variables.removeValue(forKey: variable), !value.isEmpty,
            !isExpected(value)
        else { return }
        problems.append(ConfigurationError(place(lines[variable] ?? 1), problem))
    }

    private func place(_ line: Int) -> String { localized("line \(line) of \(name)") }

    private mutating func read(_ line: [UInt8], number: Int) {
        do throws(Refusal) {
            guard let text = String(validating: line, as: UTF8.self) else {
                throw Refusal(localized("is not UTF-8; save the file as UTF-8"))
            }
            guard let (variable, value) = try Self.variable(in: text) else { return }
            if let warning = Self.warning(about: variable, at: place(number)) {
                warnings.append(warning)
            }
            if let earlier = variables[variable], earlier != value, let line = lines[variable],
                Self.isKnown(variable)
            {
                warnings.append(
                    localized("\(place(number)) sets \(variable) again; line \(line) has no effect")
                )
            }
            variables[variable] = value
            lines[variable] = number
        } catch {
            problems.append(ConfigurationError(place(number), error.text))
        }
    }

    /// The error for a line that cannot be parsed.
    private struct Refusal: Error {
        let text: String

        init(_ text: String) { self.text = text }
    }
}

// MARK: - The form of a line

extension DotEnv {
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    /// White space, and the zero-width marks that editors leave at the start of a line.
    private static let blanks = CharacterSet.whitespaces.union(
        CharacterSet(charactersIn: "\u{FEFF}\u{200B}"))
    private static let typographicQuotes = "“”„‟‘’‚«»‹›「『＂＇"

    /// The lines of a text with the line breaks of Unix, Windows or old Macs.
    private static func lines(of bytes: [UInt8]) -> [[UInt8]] {
        var lines: [[UInt8]] = [[]]
        var previous: UInt8 = 0
        for byte in bytes {
            switch byte {
            // The line feed of a Windows line break.
            case 0x0A where previous == 0x0D: break
            case 0x0A, 0x0D: lines.append([])
            default: lines[lines.count - 1].append(byte)
            }
            previous = byte
        }
        return lines
    }

    /// The name and the value of a line; nil for an empty line or a comment.
    private static func variable(in line: String) throws(Refusal) -> (name: String, value: String)?
    {
        var text = line.trimmingCharacters(in: blanks)
        guard !text.isEmpty, !text.hasPrefix("#") else { return nil }
        if text.hasPrefix("export"), text.dropFirst(6).first?.isWhitespace == true {
            text = text.dropFirst(6).trimmingCharacters(in: blanks)
        }
        guard let equals = text.firstIndex(of: "=") else {
            throw Refusal(localized("has no =; write NAME=value"))
        }
        let name = text[..<equals].trimmingCharacters(in: blanks)
        let isName =
            name.first?.isNumber == false
            // Digits, `_` and letters; the mask makes a lower-case letter upper-case.
            && name.utf8.allSatisfy { byte in
                byte.isASCIIDigit || byte == 0x5F || (0x41...0x5A).contains(byte & 0xDF)
            }
        guard isName else {
            throw Refusal(localized("does not begin with the name of a setting; write NAME=value"))
        }
        let value = try value(text[text.index(after: equals)...], of: name)
        return (name, value)
    }

    /// The value after the `=`.
    private static func value(_ text: Substring, of name: String) throws(Refusal) -> String {
        let trimmed = text.trimmingCharacters(in: blanks)
        guard let firstSign = trimmed.first else { return "" }
        guard !typographicQuotes.contains(firstSign) else {
            throw Refusal(
                localized(
                    "has a typographic quote before the value; write \" or ' there and behind it"))
        }
        let isLiteral = firstSign == "'"
        let value =
            isLiteral || firstSign == "\""
            ? try quoted(trimmed, by: firstSign) : try bare(text, of: name)
        if !isLiteral, AnySetting.named(name)?.isPath == true || name.hasSuffix("_FILE"),
            value.contains("$")
        {
            throw Refusal(
                localized(
                    "has a $ in a path, and variables are not expanded; write the whole path, ~ for the home folder, or single quotes around a $ that belongs to it"
                ))
        }
        return value
    }

    /// The value between quotes, after which only a comment may follow.
    private static func quoted(_ text: String, by quote: Character) throws(Refusal) -> String {
        var value = ""
        var remainder = text.dropFirst()
        while let character = remainder.popFirst() {
            if character == quote {
                let isEnd = remainder.isEmpty || remainder.first?.isWhitespace == true
                let nextSign = remainder.first { !$0.isWhitespace }
                guard isEnd, nextSign == nil || nextSign == "#" else {
                    throw Refusal(
                        quote == "'"
                            ? localized(
                                "goes on behind the closing '; put \" around a value that has ' in it"
                            )
                            : localized(
                                "goes on behind the closing \"; write \\\" for a \" in a value"))
                }
                return value
            }
            if quote == "\"", character == "\\", let next = remainder.first, "\"\\$`".contains(next)
            {
                value.append(remainder.removeFirst())
            } else {
                value.append(character)
            }
        }
        throw Refusal(localized("has no closing \(quote); a value ends on its line"))
    }

    /// The value without quotes, up to a comment.
    private static func bare(_ text: Substring, of name: String) throws(Refusal) -> String {
        let isSecret = AnySetting.named(name)?.isSecret == true
        var value = text.trimmingCharacters(in: blanks)
        if let numberSign = text.indices.first(where: {
            text[$0] == "#" && isBlank(text, before: $0)
        }) {
            let beforeSign = text[..<numberSign].trimmingCharacters(in: blanks)
            let isSpaceAfterSign = text[numberSign...].dropFirst().first?.isWhitespace ?? true
            let isOneWord = !beforeSign.contains(where: \.isWhitespace)
            // In a secret, a # begins a comment only after a single word and before a space.
            let isComment =
                isSecret ? isOneWord && isSpaceAfterSign : isOneWord || isSpaceAfterSign
            guard isComment else {
                throw Refusal(
                    localized(
                        "has a # that may begin a comment or belong to the value; put the value between quotes, without the comment"
                    ))
            }
            value = beforeSign
        }
        let words = value.split { $0.isWhitespace || $0 == ";" }
        guard !words.contains(where: isAssignment) else {
            throw Refusal(localized("holds more than one setting; write each on a line of its own"))
        }
        guard let lastCharacter = value.last, ";\\".contains(lastCharacter) else { return value }
        throw Refusal(
            localized(
                "ends with \(lastCharacter); leave it out, or put the value between single quotes if it belongs to it"
            )
        )
    }

    private static func isBlank(_ text: Substring, before index: Substring.Index) -> Bool {
        index > text.startIndex && text[text.index(before: index)].isWhitespace
    }

    private static func isAssignment(_ word: Substring) -> Bool {
        guard let equals = word.firstIndex(of: "=") else { return false }
        return knownNames.contains(String(word[..<equals]))
    }

    // MARK: Names

    private static func isKnown(_ name: String) -> Bool { knownNames.contains(name) }

    private static let knownNames = AnySetting.all.flatMap {
        $0.isSecret ? [$0.name, $0.name + "_FILE"] : [$0.name]
    }

    /// Returns the warning about an unknown name; nil for a setting's name.
    ///
    /// An unknown name may be a misplaced secret. It is shown only if it is short and in upper
    /// case, or similar to the name of a setting.
    private static func warning(about name: String, at place: String) -> String? {
        guard !knownNames.contains(name) else { return nil }
        if let retired = RetiredSetting.named(name) {
            return localized("\(place): \(name) \(retired.problem); remove the line")
        }
        let nearestName = Spelling.nearest(to: name.uppercased(), among: knownNames)
        let looksLikeSetting = name.utf8.count <= 40 && name == name.uppercased()
        guard looksLikeSetting || nearestName != nil else {
            return localized("\(place) names no setting")
        }
        return nearestName.map { localized("\(place): \(name) is no setting; did you mean \($0)?") }
            ?? localized("\(place): \(name) is no setting")
    }
}

/// A folder in which `.env` is looked for.
struct DotEnvPlace {
    /// The contents of a file.
    struct File {
        let place: DotEnvPlace
        let variables: [String: String]
        let warnings: [String]
    }

    let path: String
    /// The name of the file in problems and warnings.
    private let name: String
    /// The origin of its values, for display.
    let origin: SettingOrigin

    init(folder: String, name: String, origin: SettingOrigin = .dotEnv) {
        path = folder + "/.env"
        self.name = name
        self.origin = origin
    }

    /// Whether two places are the same file, by any path.
    func isSameFile(as other: DotEnvPlace) -> Bool {
        Self.realPath(path) == Self.realPath(other.path)
    }

    /// Reads the file; nil if there is none.
    ///
    /// - Parameter problems: Receives its problems.
    func read(_ problems: inout [ConfigurationError]) -> File? { read(&problems) { _ in } }

    /// Reads the file of the home folder, which cannot name another home folder; nil if there is
    /// none.
    ///
    /// - Parameters:
    ///   - environment: The variables of the process, for the home folder of the user.
    ///   - problems: Receives its problems.
    func read(ofHome environment: [String: String], _ problems: inout [ConfigurationError]) -> File?
    {
        // A folder that cannot be entered is reported by the database instead.
        guard access(path, F_OK) == 0 else { return nil }
        let home = Self.realPath((path as NSString).deletingLastPathComponent)
        return read(&problems) { file in
            file.remove(
                Setting.home.name,
                because: localized(
                    "sets \(Setting.home.name) to another folder, but this file was found by it; set it in the environment or in .env of the working folder"
                )
            ) { value in
                let isTilde = value == "~" || value.hasPrefix("~/")
                return Self.realPath(
                    isTilde ? (environment["HOME"] ?? "") + value.dropFirst() : value)
                    == home
            }
        }
    }

    private func read(_ problems: inout [ConfigurationError], _ change: (inout DotEnv) -> Void)
        -> File?
    {
        do throws(ConfigurationError) {
            guard var file = try DotEnv.read(at: path, name: name) else { return nil }
            change(&file)
            problems += file.problems
            return File(place: self, variables: file.variables, warnings: file.warnings)
        } catch {
            problems.append(error)
            return nil
        }
    }

    private static func realPath(_ path: String) -> String {
        URL(fileURLWithPath: path).resolvingSymlinksInPath().standardizedFileURL.path
    }
}
