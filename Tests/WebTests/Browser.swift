import Foundation
import TestSupport

/// A browser without a window, told what to do through its debugging pipe.
///
/// Its calls block; use it inside ``run(_:)``, which gives them a thread. It does not outlive the
/// value.
final class Browser {
    /// The program, if somebody asks for the tests that need it.
    static let program = ProcessInfo.processInfo.environment["MIRROR_BOT_BROWSER"]
    /// How long an answer may take, in milliseconds.
    private static let patience: Int32 = 1_800_000

    /// A message of the browser.
    typealias Message = [String: Any]

    private let profile: TemporaryDirectory
    private let process: pid_t
    private let commands: FileHandle
    private let answers: Int32
    private var unread = Data()
    private var number = 0
    private var session: String?
    /// What it told unasked, by name.
    private(set) var events: [(name: String, parameters: Message)] = []

    /// Runs blocking work with a browser on a thread of its own.
    static func run<Value: Sendable>(_ body: @escaping @Sendable (Browser) throws -> Value)
        async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result { try body(try Browser()) }) }.start()
        }
    }

    private init() throws {
        profile = try TemporaryDirectory()
        var input: [Int32] = [0, 0]
        var output: [Int32] = [0, 0]
        guard pipe(&input) == 0, pipe(&output) == 0 else {
            throw TestSupportError("could not make a pipe")
        }
        // Above the places where the browser looks for them.
        let reading = fcntl(input[0], F_DUPFD_CLOEXEC, 20)
        let writing = fcntl(output[1], F_DUPFD_CLOEXEC, 20)
        let words = [
            Self.program ?? "chromium", "--headless", "--no-sandbox", "--disable-gpu",
            "--hide-scrollbars",
            "--user-data-dir=\(profile.path)", "--remote-debugging-pipe", "about:blank",
        ]
        var environment = ProcessInfo.processInfo.environment
        environment["HOME"] = profile.path
        process = try ProcessSpawn.start(words, environment: environment) { actions in
            posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
            posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
            posix_spawn_file_actions_adddup2(&actions, reading, 3)
            posix_spawn_file_actions_adddup2(&actions, writing, 4)
        }
        for descriptor in [input[0], output[1], reading, writing] { close(descriptor) }
        commands = FileHandle(fileDescriptor: input[1], closeOnDealloc: true)
        answers = output[0]
        let target = try call("Target.createTarget", ["url": "about:blank"])
        let attached = try call(
            "Target.attachToTarget", ["targetId": target["targetId"] ?? "", "flatten": true])
        session = attached["sessionId"] as? String
        for domain in ["Page", "Network", "Log", "Runtime", "Accessibility"] {
            _ = try call("\(domain).enable")
        }
    }

    deinit {
        close(answers)
        kill(-process, SIGKILL)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    }

    /// Asks for something and waits for the answer.
    ///
    /// - Throws: ``TestSupportError`` with what the browser says against it.
    @discardableResult
    func call(_ method: String, _ parameters: Message = [:]) throws -> Message {
        number += 1
        var message: Message = ["id": number, "method": method, "params": parameters]
        if let session { message["sessionId"] = session }
        try commands.write(contentsOf: try JSONSerialization.data(withJSONObject: message) + [0])
        while true {
            let answer = try next()
            if let name = answer["method"] as? String {
                events.append((name, answer["params"] as? Message ?? [:]))
            }
            guard answer["id"] as? Int == number else { continue }
            if let error = answer["error"] { throw TestSupportError("\(method): \(error)") }
            return answer["result"] as? Message ?? [:]
        }
    }

    private func next() throws -> Message {
        while true {
            if let end = unread.firstIndex(of: 0) {
                let message = unread[..<end]
                unread = unread[(end + 1)...]
                return try JSONSerialization.jsonObject(with: message) as? Message ?? [:]
            }
            var ready = pollfd(fd: answers, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, Self.patience) > 0 else {
                throw TestSupportError("the browser does not answer")
            }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = read(answers, &buffer, buffer.count)
            guard count > 0 else {
                throw TestSupportError("the browser has ended; is it installed?")
            }
            unread += buffer[..<count]
        }
    }

    // MARK: Pages

    /// Opens a file and waits until it is shown.
    func open(_ path: String) throws {
        try call("Page.navigate", ["url": "file://\(path)"])
        while try evaluate("document.readyState + location.href") as? String
            != "completefile://\(path)"
        {}
    }

    /// The value of an expression in the page, as JSON has it.
    func evaluate(_ expression: String) throws -> Any {
        let answer = try call(
            "Runtime.evaluate", ["expression": expression, "returnByValue": true])
        if let problem = answer["exceptionDetails"] { throw TestSupportError("\(problem)") }
        return (answer["result"] as? Message)?["value"] ?? NSNull()
    }

    /// Shows the page on a screen of a width, light or dark.
    func show(width: Int, scheme: String) throws {
        try call(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false])
        try call(
            "Emulation.setEmulatedMedia",
            ["features": [["name": "prefers-color-scheme", "value": scheme]]])
    }

    /// A picture of the whole page.
    func picture() throws -> Data {
        let answer = try call(
            "Page.captureScreenshot", ["format": "png", "captureBeyondViewport": true])
        guard let data = (answer["data"] as? String).flatMap({ Data(base64Encoded: $0) }) else {
            throw TestSupportError("there is no picture")
        }
        return data
    }

    /// What a screen reader is told, an entry for each thing: its role and its name.
    func accessible() throws -> [(role: String, name: String)] {
        let nodes = try call("Accessibility.getFullAXTree")["nodes"] as? [Message] ?? []
        return nodes.filter { $0["ignored"] as? Bool != true }.map { node in
            func value(_ key: String) -> String {
                ((node[key] as? Message)?["value"] as? String) ?? ""
            }
            return (value("role"), value("name"))
        }
    }
}
