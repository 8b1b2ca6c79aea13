import ArgumentParser
import Foundation
import Localization
import Mirroring
import Posts
import Settings

/// Asks a person at the terminal, or reads the answers from a pipe.
///
/// Questions go to standard error, to keep the output clean.
enum Question {
    private static let maximumBytes = 4_096

    /// An answer on one line, without surrounding white space.
    ///
    /// - Parameter prompt: The question; ends with a space.
    /// - Returns: The answer; never empty.
    /// - Throws: ``InputEnded``; ``CommandError`` with the code for usage for an empty answer.
    static func line(_ prompt: String) throws -> String {
        let answer = try optionalLine(prompt)
        guard !answer.isEmpty else { throw CommandError(.usage, InputEnded.nothing.description) }
        return answer
    }

    /// An answer on one line, which may be empty.
    ///
    /// - Throws: ``InputEnded``; ``CommandError`` with the code for usage.
    static func optionalLine(_ prompt: String) throws -> String {
        StandardError.write(prompt)
        let input = Console.current.input
        let answer = input.readLine()
        // The cursor is still in the line of the prompt.
        if answer == nil, input.isInteractive { StandardError.write("\n") }
        return try checked(answer)
    }

    /// Returns a parsed answer of the person.
    ///
    /// At a terminal the question is repeated until the answer is valid.
    ///
    /// - Parameters:
    ///   - prompt: The question; ends with a space.
    ///   - proposed: The value of an empty answer; nil if an answer is required.
    ///   - parse: Parses the answer, or throws the problem.
    /// - Returns: The parsed answer.
    /// - Throws: ``InputEnded``; without a terminal ``CommandError`` with the code for usage.
    static func answer<Value>(
        _ prompt: String, default proposed: String? = nil, _ parse: (String) throws -> Value
    ) throws -> Value {
        try untilValid {
            let typed = try optionalLine(prompt)
            guard let answer = typed.isEmpty ? proposed : typed else { throw nothingEntered }
            return try checked(answer, parse)
        }
    }

    /// The given answer, parsed; asks the person if there is none.
    ///
    /// - Parameters:
    ///   - given: The answer; nil to ask.
    ///   - prompt: The question; ends with a space.
    ///   - parse: Parses the answer, or throws the problem.
    /// - Returns: The parsed answer.
    /// - Throws: As ``answer(_:default:_:)``; for a given answer as ``checked(_:_:)``.
    static func answer<Value>(
        given: String?, _ prompt: String, _ parse: (String) throws -> Value
    ) throws -> Value {
        guard let given else { return try answer(prompt, parse) }
        return try checked(given, parse)
    }

    /// Asks for yes or no until the answer is one of them.
    ///
    /// - Parameters:
    ///   - prompt: The question; ends with a space.
    ///   - proposed: The meaning of an empty answer.
    /// - Throws: ``InputEnded``; without a terminal ``CommandError`` with the code for usage.
    static func confirm(_ prompt: String, default proposed: Bool) throws -> Bool {
        try answer(prompt, default: proposed ? "y" : "n") { text in
            switch text.lowercased() {
            case "y", "yes", "はい": return true
            case "n", "no", "いいえ": return false
            default:
                throw CommandError(
                    .usage,
                    localized("\"\(Printable.line(text, columns: 20))\" is neither y nor n"))
            }
        }
    }

    /// Asks for one of `keys`: a key without Enter at a terminal, or else a line.
    ///
    /// The end of the input counts as `q`.
    ///
    /// - Parameters:
    ///   - prompt: The question; ends with a space.
    ///   - keys: Single letters in lower case, and the empty text for Enter. `q` must be among
    ///     them.
    /// - Throws: ``CommandError`` with the code for usage for any other line without a terminal.
    static func key(_ prompt: String, among keys: Set<String>) throws -> String {
        let input = Console.current.input
        let readsKeys = input.isInteractive && Console.current.ownsProcess
        return try untilValid {
            let typed: String
            if readsKeys {
                typed = try HiddenInput().key(prompt) ?? "q"
                StandardError.write(typed + "\n")
            } else {
                StandardError.write(prompt)
                typed = try input.readLine().map { try checked($0) } ?? "q"
            }
            let key = typed.lowercased()
            guard keys.contains(key) else {
                throw CommandError(
                    .usage,
                    localized("\"\(Printable.line(typed, columns: 20))\" is none of the keys"))
            }
            return key
        }
    }

    /// An answer on one line, without echo; empty if nothing was entered.
    ///
    /// - Throws: ``InputEnded``; ``CommandError`` with the code for usage.
    static func optionalSecret(_ prompt: String) throws -> Secret {
        let input = Console.current.input
        guard input.isInteractive else {
            StandardError.write(prompt)
            return Secret(try checked(input.readLine()))
        }
        if let readSecret = input.readSecret { return Secret(try checked(try readSecret(prompt))) }
        defer { StandardError.write("\n") }
        return Secret(try checked(try HiddenInput().line(prompt, maximumBytes: maximumBytes)))
    }

    /// An answer on one line, without echo.
    ///
    /// At a terminal the question is repeated until the answer is valid.
    ///
    /// - Throws: ``InputEnded``; without a terminal ``CommandError`` with the code for usage.
    static func secret(_ prompt: String) throws -> Secret {
        try untilValid {
            let secret = try optionalSecret(prompt)
            guard !secret.isEmpty else { throw nothingEntered }
            return secret
        }
    }

    /// Repeats a question as long as the answer is invalid and a person can give another one.
    private static func untilValid<Value>(_ ask: () throws -> Value) throws -> Value {
        while true {
            do {
                return try ask()
            } catch let error as CommandError
                where error.status == .usage && Console.current.input.isInteractive
            {
                StandardError.write("\(Printable.lines(error.description))\n")
            }
        }
    }

    private static var nothingEntered: CommandError {
        let isInteractive = Console.current.input.isInteractive
        return CommandError(
            .usage,
            isInteractive
                ? localized("an answer is needed; Ctrl-C ends") : InputEnded.nothing.description)
    }

    /// Returns the parsed answer.
    ///
    /// - Parameters:
    ///   - answer: The answer, or the value of a flag.
    ///   - parse: Parses the answer, or throws the problem.
    /// - Returns: The parsed answer.
    /// - Throws: ``CommandError`` with the code for usage if it is invalid.
    static func checked<Value>(_ answer: String, _ parse: (String) throws -> Value) throws -> Value
    {
        do {
            return try parse(answer)
        } catch let error as ValidationError {
            throw CommandError(.usage, error.message)
        } catch let error as ConfigurationError {
            throw CommandError(.usage, error.description)
        }
    }

    private static func checked(_ answer: String?) throws -> String {
        guard let answer else { throw InputEnded.nothing }
        let trimmed = answer.trimmingCharacters(in: .whitespacesAndNewlines)
        guard trimmed.utf8.count <= maximumBytes else {
            throw CommandError(.usage, localized("the answer is too long"))
        }
        guard !trimmed.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            throw CommandError(.usage, localized("the answer holds a control character"))
        }
        return trimmed
    }
}

/// The terminal without echo.
///
/// Keys are read one by one, including those for an interrupt and for quitting, and
/// ``EchoRestoration`` handles signals, so that the echo is always restored.
private struct HiddenInput {
    private let original: termios

    init() throws {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else {
            throw CommandError(
                .unavailable,
                localized("could not hide what is typed at this terminal; pipe the answer instead"))
        }
        original = settings
    }

    /// Returns the next key, empty for Enter; nil at the end of the input.
    func key(_ prompt: String) throws -> String? {
        try withoutEcho(prompt) {
            var byte: UInt8 = 0
            guard read(STDIN_FILENO, &byte, 1) == 1 else { return nil }
            switch byte {
            // Enter; Ctrl-C and Ctrl-\; Ctrl-D.
            case 0x0A, 0x0D: return ""
            case 0x03, 0x1C: throw InputEnded(cause: localized("interrupted"))
            case 0x04: return nil
            default: return String(decoding: [byte], as: UTF8.self)
            }
        }
    }

    /// Returns the next line; the prompt is shown after the echo is off, because fast input would
    /// be shown otherwise.
    func line(_ prompt: String, maximumBytes: Int) throws -> String? {
        try withoutEcho(prompt) {
            var bytes: [UInt8] = []
            var byte: UInt8 = 0
            while read(STDIN_FILENO, &byte, 1) == 1 {
                switch byte {
                // Enter; Ctrl-C and Ctrl-\; Ctrl-D; Backspace and Delete.
                case 0x0A, 0x0D: return String(decoding: bytes, as: UTF8.self)
                case 0x03, 0x1C: throw InputEnded(cause: localized("interrupted"))
                case 0x04: return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
                case 0x08, 0x7F: removeLastCharacter(of: &bytes)
                default: if bytes.count <= maximumBytes { bytes.append(byte) }
                }
            }
            return nil
        }
    }

    /// Shows the prompt and reads with the echo off.
    private func withoutEcho(_ prompt: String, _ read: () throws -> String?) throws -> String? {
        var hiding = original
        // Without echo, line editing and the keys for signals.
        hiding.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        var restored = original
        let signals = EchoRestoration.begin(original)
        defer { EchoRestoration.end(signals) }
        guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &hiding) == 0 else {
            throw CommandError(
                .unavailable,
                localized("could not hide what is typed at this terminal; pipe the answer instead"))
        }
        defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &restored) }
        StandardError.write(prompt)
        return try read()
    }

    private func removeLastCharacter(of bytes: inout [UInt8]) {
        // In UTF-8, all bytes of a character but its first have the form 10xxxxxx.
        while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
    }
}
