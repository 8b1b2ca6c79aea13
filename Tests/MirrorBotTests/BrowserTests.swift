import Expectations
import Foundation
import Sandbox
import TestSupport
import Testing

@testable import MirrorBot

/// Login pages in the browser of the person at the terminal.
@Suite(.timeLimit(.minutes(30))) struct BrowserTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    /// A program that writes its arguments into a pipe that waits for a reader.
    private func browser(_ name: String = "browser") throws -> (program: String, pipe: String) {
        let pipe = stage.folder.path("\(name).pipe")
        guard mkfifo(pipe, 0o600) == 0 else { throw TestSupportError("could not make a pipe") }
        let script = "#!/bin/sh\nprintf '%s\\n' \"$#\" \"$@\" > '\(pipe)'\n"
        let program = try stage.folder.write(Data(script.utf8), to: name)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
        return (program, pipe)
    }

    /// What the program was called with, once it was.
    private func call(through pipe: String) async -> [String] {
        let text = Promise<String>()
        Thread {
            text.fulfill(
                String(
                    decoding: FileHandle(forReadingAtPath: pipe)?.readDataToEndOfFile() ?? Data(),
                    as: UTF8.self))
        }
        .start()
        return await text.value.split(separator: "\n").map(String.init)
    }

    private func console(_ environment: [String: String], isInteractive: Bool = true) throws
        -> Console
    {
        let variables = stage.environment.merging(environment) { $1 }
        if isInteractive {
            return RecordedConsole(environment: variables, folder: stage.workingFolder, answers: [])
                .console
        }
        return try RecordedConsole(environment: variables, folder: stage.workingFolder, input: "")
            .console
    }

    @Test(arguments: ["login", "setup"]) func theLoginPageIsOpenedAndPrinted(_ command: String)
        async throws
    {
        let sandbox = try await Sandbox.live()
        let browser = try browser()
        async let called = call(through: browser.pipe)
        let words =
            command == "login"
            ? ["login", "mastodon", "--as", "human", "--server", sandbox.url]
            : ["setup", "--network", "mastodon", "--server", sandbox.url]
        let ending = try await stage.type(
            words, [("Code: ", "wrong-code")],
            environment: ["DISPLAY": ":7", "BROWSER": browser.program])
        #expect(ending.status != 0)
        let arguments = await called
        let address = try #require(arguments.last)
        #expect(arguments == ["1", address])
        #expect(address.hasPrefix("\(sandbox.url)/oauth/authorize?"))
        #expect(ending.error.contains("Your browser opens this address."))
        #expect(ending.error.contains("\n  \(address)\n"))
        await sandbox.stop()
    }

    @Test func whereThereIsNoScreenTheAddressIsPrinted() async throws {
        let sandbox = try await Sandbox.live()
        let browser = try browser()
        let ending = try await stage.type(
            ["login", "mastodon", "--as", "bot", "--server", sandbox.url], [],
            environment: ["BROWSER": browser.program, "SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"])
        #expect(
            ending.error.hasPrefix(
                "Open this address in a browser that is logged in as the bot, allow"))
        #expect(ending.error.contains("\n  \(sandbox.url)/oauth/authorize?"))
        await sandbox.stop()
    }

    @Test func aBrowserNeedsAPersonAndAScreenAndAProgram() throws {
        let program = try browser().program
        let screen = ["DISPLAY": ":7", "BROWSER": program]
        #expect(try Browser(console(screen)) != nil)
        #expect(
            try Browser(
                console(["WAYLAND_DISPLAY": "wayland-7", "BROWSER": "/nowhere:\(program) --new"]))
                != nil)
        #expect(try Browser(console(screen, isInteractive: false)) == nil)
        #expect(try Browser(console(["BROWSER": program])) == nil)
        #expect(try Browser(console(["DISPLAY": "", "BROWSER": program])) == nil)
        #expect(
            try Browser(
                console(["DISPLAY": ":7", "BROWSER": "/nowhere/firefox", "PATH": "/nowhere"]))
                == nil)
        #expect(
            try Browser(console(["DISPLAY": ":7", "BROWSER": stage.folder.path, "PATH": "bin:."]))
                == nil)
    }

    @Test func theAddressIsOneArgumentWhereBrowserSaysSo() async throws {
        let browser = try browser()
        let opener = try #require(
            try Browser(
                console(["DISPLAY": ":7", "BROWSER": "\(browser.program) --page=%s --new"])))
        async let called = call(through: browser.pipe)
        #expect(opener.open("https://social.example/a?b=c&d=%20e"))
        let arguments = await called
        #expect(arguments == ["2", "--page=https://social.example/a?b=c&d=%20e", "--new"])
    }

    @Test(arguments: [
        "https://social.example/$(touch x)", "https://social.example/`id`",
        "https://social.example/a;b",
        "https://social.example/a b", "https://social.example/a\nb", "https://social.example/'",
        "https://a\"b",
        "https://social.example/a|b", "https://social.example/<x>", "https://söcial.example/",
        "file:///etc/passwd",
        "javascript:alert(1)", "--version", "", "https://", "ftp://social.example/",
        "https://social.example/\\",
        "https://social.example/" + String(repeating: "a", count: 5_000),
    ])
    func whatIsNoPlainAddressIsNotOpened(_ address: String) throws {
        let opener = try #require(
            try Browser(console(["DISPLAY": ":7", "BROWSER": try browser().program])))
        #expect(!opener.open(address))
    }
}
