import Foundation
import TestSupport

@testable import MirrorBot

/// A console without a process: input from a text, no terminal, and everything that is written kept
/// in memory.
final class RecordedConsole: Sendable {
    let console: Console
    private let output: Transcript
    private let error: Transcript

    /// - Parameters:
    ///   - environment: All of its variables.
    ///   - folder: The folder that commands work in.
    ///   - input: What standard input says.
    /// - Throws: ``TestSupportError``.
    init(environment: [String: String], folder: String, input: String) throws {
        let output = Transcript()
        let error = Transcript()
        let input = try FilledPipe(input)
        self.output = output
        self.error = error
        let terminal = Terminal(descriptor: -1, environment: environment)
        console = Console(
            environment: environment, folder: folder,
            input: .init(isInteractive: false, path: input.path, readLine: { input.readLine() }),
            output: .init(terminal: terminal, write: { output.append($0) }),
            error: .init(terminal: terminal, write: { error.append($0) }))
    }

    /// An answer, and words that the question's last line must contain.
    typealias Answer = (question: String, text: String)

    /// A console at a terminal whose input ends after the last answer, or at a question that the
    /// test did not expect.
    ///
    /// - Parameters:
    ///   - environment: All of its variables; `COLUMNS` is the width of the terminal, 80 unless
    ///     given.
    ///   - folder: The folder that commands work in.
    ///   - answers: What the person types, in this order.
    init(environment: [String: String], folder: String, answers: [Answer]) {
        let output = Transcript()
        let error = Transcript()
        self.output = output
        self.error = error
        let script = Script(answers)
        let measured = Terminal(descriptor: -1, environment: environment)
        let columns = environment["COLUMNS"] == nil ? 80 : measured.columns
        let terminal = Terminal(
            isInteractive: true, columns: columns, isUnicode: measured.isUnicode)
        var input = Console.Input(
            isInteractive: true, path: "/dev/null",
            readLine: { script.answer(to: error.text, typedInto: error) })
        input.readSecret = { prompt in
            error.append(prompt)
            defer { error.append("\n") }
            return script.answer(to: error.text, typedInto: nil)
        }
        console = Console(
            environment: environment, folder: folder, input: input,
            output: .init(terminal: terminal, write: { output.append($0) }),
            error: .init(terminal: terminal, write: { error.append($0) }))
    }

    /// Runs a command as the program does.
    func ending(of arguments: [String]) async -> Ending {
        let status = await MirrorBot.status(of: arguments, in: console)
        return Ending(status: status, output: output.text, error: error.text)
    }
}

/// The answers of a person who waits for each question.
private final class Script: @unchecked Sendable {
    // Sendable because `rest` is only touched under `lock`.
    private let lock = NSLock()
    private var rest: ArraySlice<RecordedConsole.Answer>

    init(_ answers: [RecordedConsole.Answer]) { rest = answers[...] }

    /// The next answer, if it is one to the question on the last line; nil is the end of the input.
    func answer(to shown: String, typedInto transcript: Transcript?) -> String? {
        let question = shown.split(separator: "\n", omittingEmptySubsequences: false).last ?? ""
        return lock.withLock {
            guard let next = rest.first, question.contains(next.question) else { return nil }
            rest.removeFirst()
            // The terminal shows what is typed.
            transcript?.append(next.text + "\n")
            return next.text
        }
    }
}

/// A text that grows, also from several threads.
private final class Transcript: @unchecked Sendable {
    // Sendable because `written` is only touched under `lock`.
    private let lock = NSLock()
    private var written = ""

    var text: String { lock.withLock { written } }

    func append(_ text: String) { lock.withLock { written += text } }
}

/// A pipe that holds a text and whose writing end is closed, as what `printf TEXT |` leaves.
private final class FilledPipe: Sendable {
    private static let mostBytes: Int32 = 1 << 20

    private let descriptor: Int32

    init(_ text: String) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw TestSupportError("could not make a pipe") }
        descriptor = ends[0]
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[1]) }
        // Nobody reads yet, so the pipe must hold all of it.
        let setSize: Int32 = 1_031
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.mostBytes, fcntl(ends[1], setSize, Self.mostBytes) >= bytes.count,
            write(ends[1], bytes, bytes.count) == bytes.count
        else {
            throw TestSupportError(
                "could not put \(bytes.count) bytes into a pipe: spawn the program instead")
        }
    }

    deinit { close(descriptor) }

    /// A name under which the rest of the text can be opened.
    var path: String { "/dev/fd/\(descriptor)" }

    func readLine() -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        var isEnd = true
        while read(descriptor, &byte, 1) == 1 {
            isEnd = false
            if byte == 0x0A { break }
            line.append(byte)
        }
        return isEnd ? nil : String(decoding: line, as: UTF8.self)
    }
}
