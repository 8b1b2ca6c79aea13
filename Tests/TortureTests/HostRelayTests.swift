import Expectations
import Foundation
import TestSupport
import Testing

@testable import Torture

@Suite struct HostRelayTests {
    @Test func aNameIsReplacedWhereverItIsCut() {
        let text = Data("host: sandbox.example\r\nsand, sandbox.example, sandsandbox.exampl".utf8)
        let wanted = "host: m000001.example\r\nsand, m000001.example, sandsandbox.exampl"
        for cut in 0...text.count {
            var renaming = HostRenaming(
                from: Data("sandbox.example".utf8), to: Data("m000001.example".utf8))
            let passed = renaming.pass(text.prefix(cut)) + renaming.pass(text.dropFirst(cut))
            #expect(renaming.isHolding)
            let whole = passed + renaming.letGo()
            #expect(String(decoding: whole, as: UTF8.self) == wanted)
            #expect(!renaming.isHolding)
        }
    }

    @Test func namesOfDifferentLengthsAreRefused() {
        #expect(throws: TestSupportError.self) {
            _ = try HostRelay(
                on: "127.1.0.1", to: 1, replacing: "sandbox.example", with: "m.example")
        }
    }

    @Test func aServerHasAnotherNameBehindIt() async throws {
        let server = try LoopbackServer { request, connection in
            let body = "\(request.target) \(request.header("about") ?? "") of sandbox.example"
            try connection.respond(
                status: 200, headers: [("About", "sandbox.example")], body: Array(body.utf8))
            throw TestSupportError("the client waits for the end")
        }
        let relay = try HostRelay(
            on: "127.1.7.9", to: Int(server.port), replacing: "sandbox.example",
            with: "m000001.example")
        defer { relay.stop() }
        let path = "/api/v1/notifications?limit=1"
        for target in [path, "/other"] {
            let answer = try await ask(
                relay, "GET \(target) HTTP/1.1\r\nabout: user@m000001.example\r\n\r\n")
            #expect(answer.contains("\(target) user@m000001.example of m000001.example"))
            #expect(!answer.contains("sandbox"))
        }
        #expect(relay.looks.count == 1)
    }

    /// A process without network is refused, and its connections are no looks; others pass.
    @Test func theConnectionsOfOneProcessAreRefused() async throws {
        let server = try LoopbackServer { _, connection in
            try connection.respond(status: 200, headers: [], body: Array("yes".utf8))
            throw TestSupportError("the client waits for the end")
        }
        let cut = try NetworkCut()
        let relay = try HostRelay(
            on: "127.1.7.10", to: Int(server.port), replacing: "sandbox.example",
            with: "m000001.example", cut: cut)
        defer { relay.stop() }
        let request = "GET /api/v1/notifications HTTP/1.1\r\n\r\n"
        // This process reaches no network, and the shell that it starts does.
        cut.cut(getpid())
        try await expect(ask(relay, request)) { $0.hasSuffix("yes") }
        #expect(cut.refusals == 0)
        #expect(relay.looks.count == 1)
        // A shell that waits until it is cut off.
        let folder = try TemporaryDirectory()
        let waiting = "until [ -e \(folder.path("go")) ]; do sleep 0.01; done; "
        let shell = try WorkerProcess(
            name: "shell", words: ["/bin/bash", "-c", waiting + Self.asking(relay), request],
            environment: ["PATH": "/usr/bin:/bin"], logPath: folder.path("log"))
        cut.cut(shell.process)
        try folder.write(Data(), to: "go")
        let state = await shell.wait(seconds: 60, until: \.hasEnded)
        #expect(state.hasEnded)
        #expect(!shell.output.contains("yes"))
        #expect(cut.refusals == 1)
        #expect(relay.looks.count == 1)
    }

    /// With a shell, which knows nothing of names.
    private func ask(_ relay: HostRelay, _ request: String) async throws -> String {
        try await ChildProcess.run(["bash", "-c", Self.asking(relay), request])
    }

    /// The words of a shell that sends its first argument and shows the answer.
    private static func asking(_ relay: HostRelay) -> String {
        let place = relay.url.dropFirst("http://".count).replacing(":", with: "/")
        return "exec 3<>/dev/tcp/\(place) && printf '%s' \"$0\" >&3 && cat <&3"
    }
}
