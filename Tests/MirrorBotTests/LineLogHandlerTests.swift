import Expectations
import Foundation
import Logging
import Settings
import Testing

@testable import MirrorBot

@Suite struct LineLogHandlerTests {
    private static let date = Date(timeIntervalSince1970: 1_780_000_000.25)

    private func line(
        _ format: LogOutput.Format, _ message: String, _ fields: [(String, String)] = []
    ) -> String {
        LineLogHandler(label: "mirror-bot", format: format, level: .trace).line(
            .info, message, fields, at: Self.date)
    }

    /// Reads a line of logfmt by its bytes, as a collector does.
    private func parse(_ line: String) -> [(key: String, value: String)] {
        var pairs: [(String, String)] = []
        var rest = Array(line.unicodeScalars)[...]
        func text(_ scalars: [Unicode.Scalar]) -> String {
            String(String.UnicodeScalarView(scalars))
        }
        while !rest.isEmpty {
            let key = Array(rest.prefix { $0 != "=" && $0 != " " })
            rest = rest.dropFirst(key.count)
            var value: [Unicode.Scalar] = []
            if rest.first == "=" {
                rest = rest.dropFirst()
                if rest.first == "\"" {
                    rest = rest.dropFirst()
                    while let next = rest.popFirst(), next != "\"" {
                        if next == "\\", let escaped = rest.popFirst() {
                            value.append(escaped)
                        } else {
                            value.append(next)
                        }
                    }
                } else {
                    value = Array(rest.prefix { $0 != " " })
                    rest = rest.dropFirst(value.count)
                }
            }
            pairs.append((text(key), text(value)))
            if rest.first == " " { rest = rest.dropFirst() }
        }
        return pairs
    }

    private static let hostile = [
        "two\nlines", "carriage\rreturn", "a \"quoted\" word", "back\\slash", "trailing\\",
        "x level=critical", "a=b",
        "",
        "\u{1B}[31mred", "quote\"\u{301} level=critical", "space \u{301}level=\u{301}critical",
        "\"", "\u{2028}ts=1",
        "ends with quote\"", "\\\"", "日本語 の 値", "null\u{0}byte",
    ]

    @Test(arguments: [
        ("Asia/Tokyo", "05:26:40+09:00"), ("America/St_Johns", "17:56:40-02:30"),
        ("Europe/Berlin", "22:26:40+02:00"),
    ])
    func aPersonReadsTheTimeOfTheirOwnClock(_ name: String, _ time: String) throws {
        let zone = try #require(TimeZone(identifier: name))
        func line(_ format: LogOutput.Format) -> String {
            LineLogHandler(label: "mirror-bot", format: format, level: .trace, zone: zone)
                .line(.info, "Post published", [], at: Self.date)
        }
        #expect(line(.pretty).hasPrefix(time + " info Post published"))
        #expect(line(.logfmt).hasPrefix("ts=2026-05-28T20:26:40.250Z "))
    }

    @Test func aPlainEvent() {
        #expect(
            line(.logfmt, "Post published", [("post.id", "a1")])
                == #"ts=2026-05-28T20:26:40.250Z level=info msg="Post published" post.id=a1"#)
        #expect(
            line(.json, "Post published", [("post.id", "a1")])
                == #"{"ts":"2026-05-28T20:26:40.250Z","level":"info","msg":"Post published","post.id":"a1"}"#
        )
        #expect(
            line(.pretty, "Post published", [("post.id", "a1")])
                == "20:26:40+00:00 info Post published post.id=a1")
    }

    @Test(arguments: hostile)
    func nothingLeavesItsFieldInLogfmt(_ text: String) {
        for (message, value) in [(text, "v"), ("m", text), (text, text)] {
            let line = line(.logfmt, message, [("key", value)])
            expect(line.unicodeScalars) {
                !$0.contains { $0.properties.generalCategory == .control || $0 == "\u{2028}" }
            }
            let pairs = parse(line)
            #expect(pairs.map(\.key) == ["ts", "level", "msg", "key"], "\(line)")
            #expect(
                pairs.dropFirst(2).map(\.value) == [Printable.line(message), Printable.line(value)])
        }
    }

    @Test(arguments: hostile)
    func nothingLeavesItsFieldInJSON(_ text: String) throws {
        let line = line(.json, text, [("key", text)])
        expect(line.unicodeScalars) { !$0.contains { $0.properties.generalCategory == .control } }
        let event = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
        #expect(event.keys.sorted() == ["key", "level", "msg", "ts"])
        #expect(event["msg"] == text)
        #expect(event["key"] == text)
    }

    @Test(arguments: hostile)
    func aPersonSeesOneLine(_ text: String) {
        let line = line(.pretty, text, [("key", text)])
        expect(line.unicodeScalars) {
            !$0.contains { $0.properties.generalCategory == .control || $0 == "\u{2028}" }
        }
    }

    @Test func theNewerMetadataWins() {
        var handler = LineLogHandler(label: "mirror-bot", format: .json, level: .info)
        handler[metadataKey: "mirror"] = "default"
        #expect(handler[metadataKey: "mirror"] == "default")
        #expect(handler.logLevel == .info)
    }
}
