import Foundation
import TestSupport

/// Tests/Pages/pages.py, which does a task in a browser and tells what is wrong.
///
/// `make check-pages` makes the environment with its Python, and names both.
struct BrowserVisit {
    /// The Python that has what the program needs, if somebody asks for the tests that need it.
    static let python = ProcessInfo.processInfo.environment["MIRROR_BOT_PAGES_PYTHON"]

    /// What the program is to do, as its first line of input.
    struct Task: Encodable {
        let what: String
        let state: String
        let port: Int
        var password: String?
        var isDeep = false
        var pages: [PageState.Page] = []
        var names: [String: String] = [:]

        enum CodingKeys: String, CodingKey {
            case what = "do"
            case pages = "paths"
            case state, origin, folder, password, isDeep, names
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(what, forKey: .what)
            try container.encode(state, forKey: .state)
            try container.encode("http://127.0.0.1:\(port)", forKey: .origin)
            try container.encodeIfPresent(
                ProcessInfo.processInfo.environment["MIRROR_BOT_SCREENSHOTS"], forKey: .folder)
            try container.encodeIfPresent(password, forKey: .password)
            try container.encode(isDeep, forKey: .isDeep)
            try container.encode(pages, forKey: .pages)
            try container.encode(names, forKey: .names)
        }
    }

    /// A line of the program's output.
    private struct Line: Decodable {
        var violation: String?
        var step: String?
        var values: [String: String]?
        var done: Bool?
    }

    private static let program = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().appendingPathComponent("../Pages/pages.py").standardizedFileURL
        .path

    /// Does a task.
    ///
    /// - Parameters:
    ///   - task: What to do.
    ///   - check: Called after each step with its name and values, while the browser waits.
    /// - Returns: What is wrong, a sentence each.
    /// - Throws: ``TestSupportError`` if the program does not come to its end; what `check` throws.
    static func run(
        _ task: Task, check: (String, [String: String]) async throws -> Void = { _, _ in }
    ) async throws -> [String] {
        var input: [Int32] = [0, 0]
        var output: [Int32] = [0, 0]
        guard pipe(&input) == 0, pipe(&output) == 0 else {
            throw TestSupportError("could not make a pipe")
        }
        for end in input + output { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let theirInput = input[0]
        let theirOutput = output[1]
        let process = try ProcessSpawn.start([python ?? "python3", program]) { actions in
            posix_spawn_file_actions_adddup2(&actions, theirInput, 0)
            posix_spawn_file_actions_adddup2(&actions, theirOutput, 1)
        }
        close(theirInput)
        close(theirOutput)
        let commands = FileHandle(fileDescriptor: input[1], closeOnDealloc: true)
        let answers = output[0]
        defer {
            close(answers)
            // A group of its own: the browser ends with the program.
            kill(-process, SIGKILL)
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        }
        try commands.write(contentsOf: try JSONEncoder().encode(task) + [UInt8(ascii: "\n")])
        var violations: [String] = []
        var isDone: Bool = false
        for await text in lines(of: answers) {
            guard let line = try? JSONDecoder().decode(Line.self, from: Data(text.utf8)) else {
                throw TestSupportError("pages.py printed \(text)")
            }
            if let violation = line.violation { violations.append(violation) }
            if let step = line.step {
                try await check(step, line.values ?? [:])
                try commands.write(contentsOf: [UInt8(ascii: "\n")])
            }
            if line.done == true { isDone = true }
        }
        guard isDone else { throw TestSupportError("pages.py ended early; found: \(violations)") }
        return violations
    }

    /// The lines that are written to a pipe, read on a thread of their own.
    private static func lines(of descriptor: Int32) -> AsyncStream<String> {
        AsyncStream { continuation in
            Thread {
                var unread = Data()
                var buffer = [UInt8](repeating: 0, count: 65_536)
                while true {
                    let count = read(descriptor, &buffer, buffer.count)
                    guard count > 0 else { break }
                    unread += buffer[..<count]
                    while let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                        continuation.yield(String(decoding: unread[..<end], as: UTF8.self))
                        unread = Data(unread[(end + 1)...])
                    }
                }
                continuation.finish()
            }.start()
        }
    }
}
