import Expectations
import Foundation
import Testing

@testable import MirrorBot

@Suite struct TerminalTests {
    private func terminal(_ environment: [String: String] = [:]) -> Terminal {
        Terminal(descriptor: -1, environment: environment)
    }

    @Test func whatIsNoTerminalIsPlain() {
        let terminal = terminal(["TERM": "xterm-256color"])
        #expect(!terminal.isInteractive)
        #expect(!terminal.hasColor)
        #expect(terminal.columns == 100)
        #expect(terminal.bold("x") == "x")
    }

    @Test(arguments: [
        ("80", 80), ("20", 20), ("1000", 1_000), ("19", 100), ("1001", 100), ("-5", 100),
        ("wide", 100), ("", 100),
        ("99999999999999999999", 100),
    ])
    func columnsAreTakenOnlyIfSensible(_ value: String, _ columns: Int) {
        #expect(terminal(["COLUMNS": value]).columns == columns)
    }

    @Test func theSizeOfATerminalIsAsked() throws {
        let pseudo = try PseudoTerminal()
        var size = winsize(ws_row: 24, ws_col: 132, ws_xpixel: 0, ws_ypixel: 0)
        #expect(ioctl(pseudo.inner, UInt(TIOCSWINSZ), &size) == 0)
        let terminal = Terminal(descriptor: pseudo.inner, environment: ["TERM": "xterm"])
        #expect(terminal.isInteractive)
        #expect(terminal.hasColor)
        #expect(terminal.columns == 132)
        expect(Terminal(descriptor: pseudo.inner, environment: ["TERM": "dumb"])) {
            $0.hasColor == false
        }
        expect(Terminal(descriptor: pseudo.inner, environment: ["NO_COLOR": "1"])) {
            $0.hasColor == false
        }
    }

    @Test func stylesEndWhereTheyBegan() {
        let terminal = terminal(["FORCE_COLOR": "1"])
        for text in [
            terminal.bold("x"), terminal.dim("x"), terminal.green("x"), terminal.yellow("x"),
        ] {
            #expect(text.wholeMatch(of: /\x1B\[\d+mx\x1B\[0m/) != nil)
        }
    }
}
