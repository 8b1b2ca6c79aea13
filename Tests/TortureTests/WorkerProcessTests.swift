import Foundation
import TestSupport
import Testing

@testable import Torture

/// With a shell in the place of the worker.
@Suite struct WorkerProcessTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func shell(_ script: String) throws -> WorkerProcess {
        try WorkerProcess(
            name: "shell", words: ["/bin/sh", "-c", script], environment: ["PATH": "/usr/bin:/bin"],
            logPath: folder.path("log"))
    }

    @Test func tellsHowAProcessEnded() async throws {
        let one = try shell("exit 75")
        let exited = await one.wait(seconds: 20) { $0.hasEnded }
        #expect(exited == .exited(75))
        let other = try shell("kill -KILL $$")
        let killed = await other.wait(seconds: 20) { $0.hasEnded }
        #expect(killed == .killed(signal: SIGKILL))
    }

    @Test func seesAProcessStopAndGoOn() async throws {
        let process = try shell("kill -STOP $$; exit 3")
        let stopped = await process.wait(seconds: 20) { $0 != .running }
        #expect(stopped == .stopped)
        process.send(SIGCONT)
        let ended = await process.wait(seconds: 20) { $0.hasEnded }
        #expect(ended == .exited(3))
    }

    @Test func countsTheBeginningsInItsLog() async throws {
        let process = try shell(
            "echo 'level=info message=\"Worker started\"'; echo other; printf 'Worker started'")
        _ = await process.wait(seconds: 20) { $0.hasEnded }
        // The last line is not complete.
        #expect(process.beginnings == 1)
        #expect(process.output.contains("other"))
    }

    @Test func givesUpWaitingInTime() async throws {
        let process = try shell("sleep 60")
        let state = await process.wait(seconds: 0.05) { $0.hasEnded }
        #expect(state == .running)
    }
}
