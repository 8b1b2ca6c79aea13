import Foundation
import TestSupport
import Testing

/// Reads the log of a worker as it is written, and waits for what must come.
///
/// Nothing is waited for by time: what never comes ends with the suite's limit.
final class SecretWatch: @unchecked Sendable {
    // Sendable because everything that changes is only touched under `lock`.
    let program: RunningProgram
    private let lock = NSLock()
    private var offset: UInt64 = 0
    private var rest = Data()
    /// Lines that nobody has waited for yet.
    private var unread: [String] = []

    init(_ program: RunningProgram) { self.program = program }

    /// Waits for a line with all of these words, after the line that was waited for last.
    @discardableResult
    func line(_ words: String...) async throws -> String {
        try await line("\(words)") { line in words.allSatisfy { line.contains($0) } }
    }

    /// Waits for a line of which something is so, after the line that was waited for last.
    @discardableResult
    func line(_ what: String, where isWanted: @escaping @Sendable (String) -> Bool) async throws
        -> String
    {
        try await wait(what) { self.next(isWanted) }
    }

    /// Waits until something is so.
    func until(_ what: String, _ isSo: @escaping @Sendable () -> Bool) async throws {
        _ = try await wait(what) { isSo() ? true : nil }
    }

    /// Forgets the lines up to now, so that what is waited for next is new.
    func forget() {
        _ = next { _ in false }
    }

    /// The first new line that is wanted; those before it are gone.
    private func next(_ isWanted: (String) -> Bool) -> String? {
        lock.withLock {
            readOn()
            guard let index = unread.firstIndex(where: isWanted) else {
                unread = []
                return nil
            }
            let line = unread[index]
            unread.removeFirst(index + 1)
            return line
        }
    }

    private func readOn() {
        guard let file = FileHandle(forReadingAtPath: program.errorPath) else { return }
        defer { try? file.close() }
        guard (try? file.seek(toOffset: offset)) != nil, let new = try? file.readToEnd(),
            !new.isEmpty
        else { return }
        offset += UInt64(new.count)
        let lines = (rest + new).split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        unread += lines.dropLast().map { String(decoding: $0, as: UTF8.self) }
        rest = Data(lines.last ?? Data())
    }

    private func wait<Value: Sendable>(_ what: String, _ look: @escaping @Sendable () -> Value?)
        async throws -> Value
    {
        let result = Promise<Value?>()
        let program = program
        Thread {
            while true {
                let hasEnded = program.hasEnded
                if let value = look() { return result.fulfill(value) }
                if hasEnded { return result.fulfill(nil) }
                _ = poll(nil, 0, 20)
            }
        }.start()
        let value = await withTaskCancellationHandler {
            await result.value
        } onCancel: {
            program.send(SIGKILL)
        }
        guard let value else {
            throw TestSupportError(
                "waited for \(what); the worker ended with: \(program.errorSoFar.suffix(4_000))")
        }
        return value
    }
}
