import Foundation
import Mirroring
import Posts
import Settings

/// Asks a person at the terminal, or reads the answers from a pipe.
///
/// Questions go to standard error, so that what a command prints stays clean.
enum Question {
    private static let maximumBytes = 4_096

    /// The answer on one line, without white space around it.
    ///
    /// - Parameter prompt: What is asked; ends with a space.
    /// - Returns: What was typed; never empty.
    /// - Throws: ``CommandError`` with the code for usage if nothing was entered.
    static func line(_ prompt: String) throws -> String {
        let answer = try optionalLine(prompt)
        guard !answer.isEmpty else { throw CommandError(.usage, "nothing was entered; nothing was changed") }
        return answer
    }

    /// The answer on one line, which may be empty.
    static func optionalLine(_ prompt: String) throws -> String {
        StandardError.write(prompt)
        return try checked(Console.current.input.readLine())
    }

    /// The answer on one line, which is not shown while it is typed; empty if nothing was entered.
    static func secret(_ prompt: String) throws -> Secret {
        guard Console.current.input.isInteractive else {
            StandardError.write(prompt)
            return Secret(try checked(Console.current.input.readLine()))
        }
        defer { StandardError.write("\n") }
        return Secret(try checked(try HiddenInput().line(prompt, maximumBytes: maximumBytes)))
    }

    /// The answer in its proper form.
    ///
    /// - Parameters:
    ///   - answer: What was typed, as an answer or behind a flag.
    ///   - form: Gives the proper form, or says what is wrong.
    /// - Returns: What `form` gave.
    /// - Throws: ``CommandError`` with the code for usage if it is not of its form.
    static func checked(_ answer: String, _ form: (String) throws -> String) throws -> String {
        do {
            return try form(answer)
        } catch let error as ConfigurationError {
            throw CommandError(.usage, error.description)
        }
    }

    private static func checked(_ answer: String?) throws -> String {
        guard let answer else { throw CommandError(.usage, "nothing was entered; nothing was changed") }
        let trimmed = answer.trimmingCharacters(in: .whitespacesAndNewlines)
        guard trimmed.utf8.count <= maximumBytes else { throw CommandError(.usage, "the answer is too long") }
        guard !trimmed.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw CommandError(.usage, "the answer holds a control character")
        }
        return trimmed
    }
}

/// The terminal with its echo off.
///
/// Keys are read one by one, the interrupt key too, so that the echo is on again whatever the person does.
private struct HiddenInput {
    private let original: termios

    init() throws {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else {
            throw CommandError(.unavailable, "could not hide what is typed at this terminal; pipe the answer instead")
        }
        original = settings
    }

    /// Asks once nothing is shown any more: who types at once would see what they type.
    func line(_ prompt: String, maximumBytes: Int) throws -> String? {
        var quiet = original
        quiet.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        var restored = original
        guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet) == 0 else {
            throw CommandError(.unavailable, "could not hide what is typed at this terminal; pipe the answer instead")
        }
        defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &restored) }
        StandardError.write(prompt)
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while read(STDIN_FILENO, &byte, 1) == 1 {
            switch byte {
            case 0x0A, 0x0D: return String(decoding: bytes, as: UTF8.self)
            case 0x03: throw CommandError(.usage, "interrupted; nothing was changed")
            case 0x04: return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
            case 0x08, 0x7F: removeLastCharacter(of: &bytes)
            default: if bytes.count <= maximumBytes { bytes.append(byte) }
            }
        }
        return nil
    }

    private func removeLastCharacter(of bytes: inout [UInt8]) {
        while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
    }
}
