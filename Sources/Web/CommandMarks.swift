import Posts
import Settings

/// A sentence of the program, divided into plain text and code.
///
/// The code is the commands and settings that the sentence names.
///
/// It is only for sentences of the program. A text in quotation marks was typed or written by
/// somebody, so it is not searched for code.
package struct CommandMarks: Equatable, Sendable {
    /// A part of the sentence.
    package struct Part: Equatable, Sendable {
        package let text: Substring
        /// Whether the part is a command, a setting, or a setting with its value.
        package let isCode: Bool
    }

    /// All parts in their order; none is empty.
    package let parts: [Part]

    package init(_ sentence: String) {
        var sentence = sentence
        let codes = sentence.withUTF8 { Reader(bytes: $0).codes() }
        guard !codes.isEmpty else {
            parts = sentence.isEmpty ? [] : [Part(text: sentence[...], isCode: false)]
            return
        }
        var foundParts: [Part] = []
        var endOfPrevious = 0
        func add(_ range: Range<Int>, isCode: Bool) {
            guard !range.isEmpty else { return }
            let start = sentence.utf8.index(sentence.startIndex, offsetBy: range.lowerBound)
            let end = sentence.utf8.index(start, offsetBy: range.count)
            foundParts.append(Part(text: sentence[start..<end], isCode: isCode))
        }
        for code in codes {
            add(endOfPrevious..<code.rangeWithBackticks.lowerBound, isCode: false)
            add(code.ownRange, isCode: true)
            endOfPrevious = code.rangeWithBackticks.upperBound
        }
        add(endOfPrevious..<sentence.utf8.count, isCode: false)
        parts = foundParts
    }

    /// The sentence with its code in `<code>`.
    package var markup: Markup {
        parts.reduce("" as Markup) { whole, part in
            let text = String(part.text)
            return part.isCode ? "\(whole)<code>\(text)</code>" : "\(whole)\(text)"
        }
    }

    // MARK: Known names

    /// The words of each command after the name of the program.
    package static let commands = [
        "backup", "config", "demo", "doctor", "evaluate", "evaluate classifier",
        "evaluate scheduler", "evaluate texts", "explain", "forget", "forget list", "forget text",
        "history", "login", "logout", "mcp", "migrate", "mirrors", "mirrors add", "mirrors export",
        "mirrors import", "mirrors list", "mirrors pause", "mirrors remove", "mirrors resume",
        "move", "never", "notify", "pause", "people", "people allow", "people deny",
        "people forget", "people link", "people list", "people report", "people unlink", "plan",
        "plan move", "plan pin", "plan reroll", "plan restore", "plan show", "plan skip", "post",
        "profile", "rebind", "rehearse", "report", "restore", "resume", "retire", "run", "score",
        "set", "setup", "stats", "status", "suggestions", "suggestions approve",
        "suggestions dismiss", "suggestions done", "suggestions list", "suggestions reopen",
        "texts", "texts keep", "texts list", "texts review", "train", "train classifier",
        "train clear", "train scheduler", "undo", "unset", "web", "zones", "zones add",
        "zones list", "zones remove",
    ]

    private static let knownCommands = Set(commands)

    /// The names of the settings and, for each secret setting, of the variable `NAME_FILE` for a
    /// file with its value.
    private static let settings = Set(
        AnySetting.all.flatMap { $0.isSecret ? [$0.name, $0.name + "_FILE"] : [$0.name] })
    private static let shortestSetting = settings.map(\.utf8.count).min() ?? 0

    /// The plain words that are arguments if they follow a command, rather than words of the
    /// sentence.
    private static let plainArguments = Set(
        ["everything", "last", "next", "proposed"] + NetworkName.known.map(\.rawValue))
    /// The options whose value may be a plain word.
    private static let optionsWithValue: Set = [
        "--as", "--home", "--mirror", "--mirrors", "--role", "--server",
    ]
}

extension CommandMarks {
    /// Finds the code in the bytes of a sentence.
    private struct Reader {
        /// A piece of code: its own range, and the range that includes the backticks around it, if
        /// it has any.
        struct Code {
            let ownRange: Range<Int>
            let rangeWithBackticks: Range<Int>
        }

        let bytes: UnsafeBufferPointer<UInt8>

        private static let program = Array("mirror-bot ".utf8)
        /// The characters that an argument may contain, and a word of a sentence does not.
        private static let argumentSigns = Array("@#/:=*".utf8)
        /// The characters that always end a word.
        private static let wordEnds = Array(" \n\t;)`\"".utf8)
        /// The Japanese punctuation before a word.
        private static let openings = ["（", "：", "、", "。"].map { Array($0.utf8) }
        /// The characters that continue a name.
        private static let nameSigns = Array("_-@/".utf8)
        /// The characters after a word that belong to the sentence rather than the word.
        private static let punctuation = Array(",.:?!".utf8)

        func codes() -> [Code] {
            var codes: [Code] = []
            var isQuoted = false
            var index = 0
            while index < bytes.count {
                // A command begins with "m", for `mirror-bot`, and a setting with a capital letter.
                // 0xE2 and 0xE3 are the first bytes of the quotation marks that are not ASCII.
                switch bytes[index] {
                case UInt8(ascii: "\""): isQuoted.toggle()
                case 0xE2, 0xE3:
                    guard let mark = quotationMark(at: index) else { break }
                    isQuoted = mark == .opening
                case UInt8(ascii: "m"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
                    guard !isQuoted, beginsWord(index), let end = endOfCode(index) else { break }
                    codes.append(code(index..<end))
                    index = codes[codes.count - 1].rangeWithBackticks.upperBound
                    continue
                default: break
                }
                index += 1
            }
            return codes
        }

        private enum QuotationMark { case opening, closing }

        /// Returns the kind of the character at an index: `“`, `「` and `『` open a quotation, `”`,
        /// `」` and `』` close it; nil for any other character.
        private func quotationMark(at index: Int) -> QuotationMark? {
            guard index + 2 < bytes.count, bytes[index + 1] == 0x80 else { return nil }
            // The first and the third byte of each mark in UTF-8; the second is 0x80 in all of
            // them.
            return switch (bytes[index], bytes[index + 2]) {
            case (0xE2, 0x9C), (0xE3, 0x8C), (0xE3, 0x8E): .opening
            case (0xE2, 0x9D), (0xE3, 0x8D), (0xE3, 0x8F): .closing
            default: nil
            }
        }

        private func beginsWord(_ index: Int) -> Bool {
            guard index > 0 else { return true }
            switch bytes[index - 1] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "("), UInt8(ascii: "`"):
                return true
            default: return Self.openings.contains { bytes[..<index].suffix(3).elementsEqual($0) }
            }
        }

        private func code(_ range: Range<Int>) -> Code {
            let backtick = UInt8(ascii: "`")
            let hasBackticks =
                range.lowerBound > 0 && bytes[range.lowerBound - 1] == backtick
                && range.upperBound < bytes.count && bytes[range.upperBound] == backtick
            return Code(
                ownRange: range,
                rangeWithBackticks: hasBackticks
                    ? range.lowerBound - 1..<range.upperBound + 1 : range)
        }

        private func endOfCode(_ index: Int) -> Int? {
            bytes[index] == UInt8(ascii: "m") ? endOfCommand(index) : endOfSetting(index)
        }

        private func text(_ range: Range<Int>) -> String {
            String(decoding: bytes[range], as: UTF8.self)
        }

        // MARK: Settings

        private func endOfSetting(_ index: Int) -> Int? {
            let end = self.end(of: index) { isUpper($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
            guard end - index >= CommandMarks.shortestSetting, endsWord(end),
                CommandMarks.settings.contains(text(index..<end))
            else { return nil }
            guard end < bytes.count, bytes[end] == UInt8(ascii: "=") else { return end }
            let value = endOfWord(end + 1)
            return value > end + 1 ? value : end
        }

        // MARK: Commands

        private func endOfCommand(_ index: Int) -> Int? {
            let start = index + Self.program.count
            guard start < bytes.count, bytes[index..<start].elementsEqual(Self.program) else {
                return nil
            }
            var end = self.end(of: start, while: isLower)
            guard endsWord(end), CommandMarks.knownCommands.contains(text(start..<end)) else {
                return nil
            }
            if let next = nextWord(after: end) {
                let endOfSecondWord = self.end(of: next, while: isLower)
                if endsWord(endOfSecondWord),
                    CommandMarks.knownCommands.contains(text(start..<endOfSecondWord))
                {
                    end = endOfSecondWord
                }
            }
            while let next = nextWord(after: end), let argument = endOfArgument(next) {
                end = argument
            }
            return end
        }

        /// Returns the start of the next word, if exactly one space precedes it.
        private func nextWord(after end: Int) -> Int? {
            end + 1 < bytes.count && bytes[end] == UInt8(ascii: " ") ? end + 1 : nil
        }

        /// Returns the end of an argument of a command; nil for a word of the sentence.
        private func endOfArgument(_ index: Int) -> Int? {
            if bytes[index] == UInt8(ascii: "'") { return endOfQuotation(index) }
            let end = endOfWord(index)
            guard end > index else { return nil }
            let word = text(index..<end)
            if word.hasPrefix("--") {
                guard CommandMarks.optionsWithValue.contains(word), let value = nextWord(after: end)
                else {
                    return end
                }
                return bytes[value] == UInt8(ascii: "'")
                    ? endOfQuotation(value) ?? end : endOfWord(value)
            }
            return isArgument(bytes[index..<end]) || CommandMarks.plainArguments.contains(word)
                ? end : nil
        }

        /// Whether a word cannot be part of a sentence, because it is a placeholder, a time, or a
        /// name with a sign.
        private func isArgument(_ word: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
            if word.contains(where: { isDigit($0) || Self.argumentSigns.contains($0) }) {
                return true
            }
            return word.count > 1 && word.allSatisfy { isUpper($0) || $0 == UInt8(ascii: "_") }
        }

        /// Returns the end of a text in single quotation marks; nil without the second mark.
        private func endOfQuotation(_ index: Int) -> Int? {
            let afterFirstMark = bytes[(index + 1)...]
            guard let secondMark = afterFirstMark.firstIndex(of: UInt8(ascii: "'")) else {
                return nil
            }
            return secondMark + 1
        }

        // MARK: Words

        private func end(of index: Int, while isPart: (UInt8) -> Bool) -> Int {
            var end = index
            while end < bytes.count, isPart(bytes[end]) { end += 1 }
            return end
        }

        /// Returns the end of a word, without the punctuation after it.
        private func endOfWord(_ index: Int) -> Int {
            var end = self.end(of: index) { !Self.wordEnds.contains($0) && $0 < 0x80 }
            while end > index, Self.punctuation.contains(bytes[end - 1]) { end -= 1 }
            return end
        }

        /// Whether a word that ends before this index is complete: no letter, digit or sign of a
        /// name follows.
        private func endsWord(_ end: Int) -> Bool {
            guard end < bytes.count else { return true }
            let byte = bytes[end]
            return !isUpper(byte) && !isLower(byte) && !isDigit(byte)
                && !Self.nameSigns.contains(byte)
        }

        private func isUpper(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
        }

        private func isLower(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        }

        private func isDigit(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
    }
}
