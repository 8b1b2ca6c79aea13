import Foundation
import Localization
import Storage
import Synchronization

/// The resources that a command uses: streams, environment, working folder and log.
///
/// A command uses ``current`` instead of the process, so that several commands can run in one
/// process at the same time. The program's own console is ``process``; ``MirrorBot/status(of:in:)``
/// runs a command with another one.
///
/// `current` is a task-local value: child tasks inherit it, but other threads do not. An object
/// that other threads call keeps the console of its creation.
struct Console: Sendable {
    /// The console of the current task's command.
    @TaskLocal static var current = process

    /// The environment variables.
    var environment: [String: String]
    /// The base of relative paths, as an absolute path; nil for the working folder of the process.
    var folder: String?
    var input: Input
    var output: Output
    var error: Output
    /// Whether the process runs only this command, which then handles the signals and may end the
    /// process.
    var ownsProcess = false
    /// The output of loggers that are created while this console is current.
    let log: LogOutput

    init(
        environment: [String: String], folder: String?, input: Input, output: Output, error: Output
    ) {
        self.environment = environment
        self.folder = folder
        self.input = input
        self.output = output
        self.error = error
        log = LogOutput(on: error)
    }

    /// Standard input.
    struct Input: Sendable {
        /// Whether the input is the terminal of the process.
        var isInteractive: Bool
        /// The path that is opened for the input file `-`.
        var path: String
        /// Returns the next line without its line break; nil at the end.
        var readLine: @Sendable () -> String?
        /// Shows a prompt and returns the next line, without echo; nil at the end.
        ///
        /// If there is no such function, the keys are read from the terminal of the process.
        var readSecret: (@Sendable (_ prompt: String) throws -> String?)?
    }

    /// Standard output or standard error.
    struct Output: Sendable {
        var terminal: Terminal
        /// Writes a text unchanged.
        ///
        /// It reports no failure; a later call of `flush` may report it.
        var write: @Sendable (String) -> Void
        /// Writes the buffered text, and throws ``CommandError`` if any text could not be written.
        var flush: @Sendable () throws -> Void = {}

        /// Writes a text for people, with signs that the terminal supports.
        func show(_ text: String) { write(terminal.shown(text)) }

        /// Writes a line.
        func writeLine(_ text: String, terminator: String = "\n") {
            write(text)
            write(terminator)
        }
    }

    /// The path to open for a name in a command; `-` is standard input.
    func path(_ name: String) -> String {
        if name == "-" { return input.path }
        guard let folder, !name.hasPrefix("/") else { return name }
        return folder + "/" + name
    }
}

extension Console {
    /// The program's console: the streams, the variables and the working folder of its process.
    static let process = {
        let environment = ProcessInfo.processInfo.environment
        let output = StandardOutput()
        var console = Console(
            environment: environment, folder: nil,
            input: Input(
                isInteractive: isatty(STDIN_FILENO) == 1, path: "-",
                readLine: { Swift.readLine(strippingNewline: true) }),
            output: Output(
                terminal: Terminal(descriptor: STDOUT_FILENO, environment: environment),
                write: output.write,
                flush: {
                    guard let code = output.writeBuffer() else { return }
                    throw CommandError(
                        .unavailable,
                        localized("could not write the output: \(FileFault(code, at: nil))"))
                }),
            error: Output(
                terminal: Terminal(descriptor: STDERR_FILENO, environment: environment),
                write: { text in
                    output.writeBuffer()
                    // A closed pipe or a full disk behind the log must not end the worker.
                    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
                }))
        console.ownsProcess = true
        return console
    }()
}

/// The buffered standard output of the process.
///
/// The buffer is flushed before anything is written to the standard error. So the order of both is
/// kept if they go to one pipe or file.
private final class StandardOutput: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        /// The first failure; later output is lost.
        var failure: Int32?
    }

    private static let bufferBytes = 1 << 16

    private let state = Mutex(State())
    /// On a terminal, each line is written at once.
    private let isInteractive = isatty(STDOUT_FILENO) == 1

    func write(_ text: String) {
        state.withLock { state in
            state.bytes.append(contentsOf: text.utf8)
            let isDue =
                state.bytes.count >= Self.bufferBytes || isInteractive && text.hasSuffix("\n")
            if isDue { Self.writeBuffer(&state) }
        }
    }

    /// Writes the buffered bytes.
    ///
    /// - Returns: The error number of the first failed write; nil if no write failed, or if the
    ///   reader has closed the pipe.
    @discardableResult
    func writeBuffer() -> Int32? {
        state.withLock { state in
            Self.writeBuffer(&state)
            return state.failure.flatMap { $0 == EPIPE ? nil : $0 }
        }
    }

    private static func writeBuffer(_ state: inout State) {
        // The memory of an unusually long text is freed.
        defer { state.bytes.removeAll(keepingCapacity: state.bytes.count <= 2 * bufferBytes) }
        var unwritten = state.bytes[...]
        while state.failure == nil, !unwritten.isEmpty {
            let count = unwritten.withUnsafeBytes {
                Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count)
            }
            if count >= 0 {
                unwritten = unwritten.dropFirst(count)
            } else if errno == EAGAIN {
                // Another program has made the pipe nonblocking.
                var descriptor = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                _ = poll(&descriptor, 1, -1)
            } else if errno != EINTR {
                state.failure = errno
            }
        }
    }
}

/// Prints on the standard output of ``Console/current``: within this module it replaces the
/// standard library's function, which always prints on that of the process.
///
/// A type with a method named `print` calls `Console.current.output.writeLine`.
func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
    let text = items.map { "\($0)" }.joined(separator: separator)
    let output = Console.current.output
    output.writeLine(output.terminal.shown(text), terminator: terminator)
}

/// The standard error of ``Console/current``, for all output that is not the result.
enum StandardError {
    /// Writes a text, with signs that the terminal supports; a failure is ignored.
    static func write(_ text: String) { Console.current.error.show(text) }
}
