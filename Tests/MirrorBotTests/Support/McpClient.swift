import Foundation
import Synchronization
import TestSupport

@testable import MirrorBot

/// A program that has started `mirror-bot mcp` in the process of the tests, and talks to it over a
/// pipe as a client does.
final class McpClient: Sendable {
    /// Its revision with `initialize`.
    static let revision = "2025-11-25"
    /// What each request of the newest revision has.
    static let meta = """
        "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",\
        "io.modelcontextprotocol/clientCapabilities":{}}
        """

    private let ends: PipeEnds
    private let lines = LineQueue()
    private let errors = ErrorText()
    private let server: Task<Int32, Never>
    private let lastID = Mutex(0)

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - stage: Its machine.
    ///   - allowsChanges: Whether the operator allows changes.
    ///   - environment: Changes to the environment.
    /// - Throws: ``TestSupportError``.
    init(on stage: Stage, allowsChanges: Bool = false, environment: [String: String] = [:]) throws {
        let ends = try PipeEnds()
        let lines = lines
        let errors = errors
        let variables = stage.environment.merging(environment) { _, given in given }
        let terminal = Terminal(descriptor: -1, environment: variables)
        let console = Console(
            environment: variables, folder: stage.workingFolder,
            input: .init(isInteractive: false, path: ends.path, readLine: { nil }),
            output: .init(terminal: terminal, write: { lines.append($0) }),
            error: .init(terminal: terminal, write: { errors.append($0) }))
        self.ends = ends
        server = Task {
            let words = ["mcp"] + (allowsChanges ? ["--allow-changes"] : [])
            let status = await MirrorBot.status(of: words, in: console)
            lines.finish()
            return status
        }
    }

    /// Starts the server, and agrees on a revision with it.
    static func begun(
        on stage: Stage, allowsChanges: Bool = false, environment: [String: String] = [:]
    ) async throws -> McpClient {
        let client = try McpClient(
            on: stage, allowsChanges: allowsChanges, environment: environment)
        _ = try await client.initialize(revision)
        client.send(#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
        return client
    }

    // MARK: Messages

    /// Sends a line.
    func send(_ line: String) { ends.write(Array((line + "\n").utf8)) }

    func send(bytes: [UInt8]) { ends.write(bytes + [0x0A]) }

    /// The next message of the server; nil after the last.
    func next() async throws -> JSONNode? {
        guard let line = await lines.next() else { return nil }
        do {
            return try JSONDecoder().decode(JSONNode.self, from: Data(line.utf8))
        } catch {
            throw TestSupportError("this line is no JSON: \(line)")
        }
    }

    /// Sends a request and returns the answer, which must be the next message.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - parameters: A JSON object; nil for none.
    /// - Throws: ``TestSupportError`` for another message.
    func ask(_ method: String, _ parameters: String? = nil) async throws -> JSONNode {
        let id = lastID.withLock { id in
            id += 1
            return id
        }
        let members = parameters.map { ",\"params\":\($0)" } ?? ""
        send("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"\(method)\"\(members)}")
        guard let answer = try await next() else {
            throw TestSupportError("the server has ended: \(errors.text)")
        }
        guard answer["id"] == .number(Double(id)), answer["jsonrpc"].text == "2.0" else {
            throw TestSupportError("this is no answer to \(id): \(answer)")
        }
        return answer
    }

    func initialize(_ revision: String) async throws -> JSONNode {
        try await ask(
            "initialize",
            #"{"protocolVersion":"\#(revision)","capabilities":{},"clientInfo":{"name":"a test","version":"1"}}"#
        )["result"]
    }

    /// The text of a resource.
    ///
    /// - Throws: ``TestSupportError`` for an error.
    func document(_ address: String) async throws -> String {
        let answer = try await ask("resources/read", #"{"uri":"\#(address)"}"#)
        let content = answer["result"]["contents"][0]
        guard let text = content["text"].text, content["uri"].text == address else {
            throw TestSupportError("no resource, but \(answer)")
        }
        return text
    }

    /// A resource, read as JSON.
    func read(_ address: String) async throws -> JSONNode {
        try JSONDecoder().decode(
            JSONNode.self, from: Data(try await document(address).utf8))
    }

    /// The result of a tool.
    func call(_ tool: String, _ arguments: String = "{}") async throws -> JSONNode {
        let answer = try await ask(
            "tools/call", #"{"name":"\#(tool)","arguments":\#(arguments)}"#)
        guard answer["result"] != .null else { throw TestSupportError("no result, but \(answer)") }
        return answer["result"]
    }

    /// The document of a tool that did what it was asked for.
    func perform(_ tool: String, _ arguments: String) async throws -> JSONNode {
        let result = try await call(tool, arguments)
        guard result["isError"] == .truth(false) else { throw TestSupportError("\(result)") }
        let text = Data((result["content"][0]["text"].text ?? "").utf8)
        let document = result["structuredContent"]
        guard try JSONDecoder().decode(JSONNode.self, from: text) == document else {
            throw TestSupportError("the text differs from the document: \(result)")
        }
        return document
    }

    /// The sentence of a tool that did nothing.
    func refusal(_ tool: String, _ arguments: String) async throws -> String {
        let result = try await call(tool, arguments)
        guard result["isError"] == .truth(true), let text = result["content"][0]["text"].text
        else { throw TestSupportError("not refused: \(result)") }
        return text
    }

    /// Closes the input, and waits for the end.
    ///
    /// - Returns: The exit code, and the messages that were left.
    func end() async throws -> (status: Int32, rest: [JSONNode]) {
        ends.closeWriter()
        var rest: [JSONNode] = []
        while let message = try await next() { rest.append(message) }
        return (await server.value, rest)
    }

    /// What the server wrote to its error output so far.
    var errorText: String { errors.text }
}

/// A JSON value.
enum JSONNode: Decodable, Equatable, Sendable {
    case null
    case truth(Bool)
    case number(Double)
    case text(String)
    case list([JSONNode])
    case object([String: JSONNode])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        // Each attempt fails for values of other types.
        if value.decodeNil() {
            self = .null
        } else if let truth = try? value.decode(Bool.self) {
            self = .truth(truth)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let list = try? value.decode([JSONNode].self) {
            self = .list(list)
        } else {
            self = .object(try value.decode([String: JSONNode].self))
        }
    }

    /// A member; null if there is none.
    subscript(name: String) -> JSONNode {
        guard case .object(let members) = self else { return .null }
        return members[name] ?? .null
    }

    /// An entry; null if there is none.
    subscript(place: Int) -> JSONNode { list.indices.contains(place) ? list[place] : .null }

    var text: String? { if case .text(let text) = self { text } else { nil } }
    var number: Double? { if case .number(let number) = self { number } else { nil } }
    /// The entries; empty for any other value.
    var list: [JSONNode] { if case .list(let list) = self { list } else { [] } }
    /// The names of the members.
    var names: [String] {
        if case .object(let members) = self { members.keys.sorted() } else { [] }
    }
}

/// A pipe whose writing end stays open until it is closed.
private final class PipeEnds: Sendable {
    private let reader: Int32
    private let writer: Mutex<Int32>
    /// Waits for room in the pipe, so that no thread of a task does.
    private let writing = DispatchQueue(label: "mcp-client")

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw TestSupportError("could not make a pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        reader = ends[0]
        writer = Mutex(ends[1])
    }

    deinit {
        closeAtOnce()
        close(reader)
    }

    /// A name under which it can be opened for reading.
    var path: String { "/dev/fd/\(reader)" }

    /// Writes after what was given before, without waiting for it.
    func write(_ bytes: [UInt8]) {
        writing.async {
            self.writer.withLock { writer in
                var rest = bytes[...]
                while !rest.isEmpty, writer >= 0 {
                    let count = rest.withUnsafeBytes {
                        Foundation.write(writer, $0.baseAddress, $0.count)
                    }
                    if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return }
                }
            }
        }
    }

    /// Closes the writing end after everything was written.
    func closeWriter() { writing.async { self.closeAtOnce() } }

    private func closeAtOnce() {
        writer.withLock { writer in
            if writer >= 0 { close(writer) }
            writer = -1
        }
    }
}

/// The lines of a stream, for who waits for each.
private final class LineQueue: Sendable {
    private struct State {
        var partial = ""
        var lines: [String] = []
        var waiting: [CheckedContinuation<String?, Never>] = []
        var isOver = false
    }

    private let state = Mutex(State())

    func append(_ text: String) {
        change { state in
            state.partial += text
            var parts = state.partial.components(separatedBy: "\n")
            state.partial = parts.removeLast()
            state.lines += parts
        }
    }

    func finish() {
        change { state in
            // A line without its end is a mistake, and seen by the test.
            if !state.partial.isEmpty { state.lines.append(state.partial) }
            state.partial = ""
            state.isOver = true
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let ready = state.withLock { state in
            body(&state)
            var ready: [(CheckedContinuation<String?, Never>, String?)] = []
            while !state.waiting.isEmpty, !state.lines.isEmpty || state.isOver {
                let line = state.lines.isEmpty ? nil : state.lines.removeFirst()
                ready.append((state.waiting.removeFirst(), line))
            }
            return ready
        }
        for (waiter, line) in ready { waiter.resume(returning: line) }
    }

    func next() async -> String? {
        await withCheckedContinuation { continuation in
            change { $0.waiting.append(continuation) }
        }
    }
}

/// A text that grows.
private final class ErrorText: Sendable {
    private let state = Mutex("")

    var text: String { state.withLock { $0 } }

    func append(_ text: String) { state.withLock { $0 += text } }
}
