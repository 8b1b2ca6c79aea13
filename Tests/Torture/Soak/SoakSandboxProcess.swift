import Foundation
import Posts
import TestSupport

/// The sandbox of a soak, in a process of its own that ends with this one.
final class SoakSandboxProcess: Sendable {
    /// What it said once it served.
    let opening: SoakOpening
    private let process: pid_t
    /// Held open; the child ends when it closes.
    private let orders: FileHandle
    private let answers: FileHandle

    /// Starts the child and waits until it serves.
    ///
    /// - Parameters:
    ///   - plan: What is lived through.
    ///   - program: The executable that knows `soak-sandbox`; nil for this one.
    ///   - home: The folder of the mirror.
    ///   - clock: The file with the instant.
    ///   - store: Where the data is.
    /// - Throws: ``TestSupportError`` if the child ends before that; what went wrong is on standard
    ///   error.
    init(_ plan: SoakPlan, program: String?, home: String, clock: String, store: [String: String])
        async throws
    {
        let words = [
            program ?? "/proc/self/exe", "soak-sandbox", "--network", plan.network.rawValue,
            "--days", "\(plan.days)",
            "--seed", "\(plan.seed)", "--home", home, "--clock", clock,
        ]
        let environment = ProcessInfo.processInfo.environment.merging(store) { $1 }
        let input = try Self.pipe()
        let output = try Self.pipe()
        process = try ProcessSpawn.start(words, environment: environment) { actions in
            posix_spawn_file_actions_adddup2(&actions, input.reading.fileDescriptor, 0)
            posix_spawn_file_actions_adddup2(&actions, output.writing.fileDescriptor, 1)
        }
        try input.reading.close()
        try output.writing.close()
        orders = input.writing
        answers = output.reading
        opening = try await Self.answer(SoakOpening.self, from: output.reading)
    }

    /// Ends the child and waits for its end.
    func stop() {
        try? orders.close()
        try? answers.close()
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    }

    /// What the network received so far.
    func ledger() async throws -> SoakLedger {
        try orders.write(contentsOf: Data("ledger\n".utf8))
        return try await Self.answer(SoakLedger.self, from: answers)
    }

    private static func pipe() throws -> (reading: FileHandle, writing: FileHandle) {
        var ends: [Int32] = [-1, -1]
        guard Foundation.pipe(&ends) == 0 else { throw TestSupportError("could not make a pipe") }
        return (FileHandle(fileDescriptor: ends[0]), FileHandle(fileDescriptor: ends[1]))
    }

    /// The next line of the child, read on a thread of its own.
    private static func answer<Value: Decodable & Sendable>(
        _ type: Value.Type, from handle: FileHandle
    ) async throws -> Value {
        let descriptor = handle.fileDescriptor
        let line = await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: Self.line(from: descriptor)) }.start()
        }
        guard let line else { throw TestSupportError("the sandbox of the soak has ended") }
        return try JSONDecoder().decode(type, from: line)
    }

    private static func line(from descriptor: Int32) -> Data? {
        var line = Data()
        var byte: UInt8 = 0
        while true {
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return nil }
            if byte == UInt8(ascii: "\n") { return line }
            line.append(byte)
        }
    }
}
