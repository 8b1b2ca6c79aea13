import Control
import Foundation
import Mirroring
import TestSupport
import Testing

@testable import Web

/// The page for somebody who asks what is known of them.
@Suite struct PersonPageTests {
    /// A report in which every text tries to be more than one.
    private func report(_ text: String) throws -> PersonReport {
        let quoted = String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
        let json = """
            {"schema": "mirror-bot/person/1", "mirror": \(quoted), "made": 0, "timeZone": "Asia/Tokyo",
            "accounts": [{"account": \(quoted), "handle": \(quoted), "stance": "deny", "reason": \(quoted),
                "lastContact": 86400, "isForgotten": false},
                {"account": "x:1", "isForgotten": true}],
            "deeds": [{"id": "0123456789ab", "kind": "reply", "at": 0, "state": "done", "about": \(quoted),
                "text": \(quoted), "why": \(quoted)}],
            "mentions": [{"post": \(quoted), "written": 0, "isReply": true, "text": \(quoted)}],
            "learned": [{"post": \(quoted), "text": \(quoted), "state": "seen", "noted": 0}]}
            """
        return try JSONDecoder().decode(PersonReport.self, from: Data(json.utf8))
    }

    @Test(arguments: [
        "hello", "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "&amp; ]]> <!--",
        "\u{202E}a\u{0}b",
    ])
    func whateverIsSaidIsText(text: String) throws {
        let html = PersonPage(try report(text)).html
        let page = try MarkupDocument(html)
        #expect(page.all("script").isEmpty)
        #expect(page.all("img").isEmpty)
        #expect(page.all("h2").count == 4)
        #expect(page.all("table").count == 4)
        let shown = page.all("body").first?.text ?? ""
        #expect(shown.contains("forgotten: only a digest is kept"))
        if text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value < 0x7F }) {
            #expect(shown.contains(text))
        }
        #expect(!html.contains("http-equiv=\"refresh\""))
        #expect(html.contains("default-src 'none'"))
        #expect(!html.unicodeScalars.contains("\u{202E}"))
    }

    @Test func saysAllThatIsStored() throws {
        let report = try report("hello")
        #expect(
            TemplateKeys(.personFile, PersonPage(report).context, PageTemplate.ofFiles)
                .missing.isEmpty)
        let page = try MarkupDocument(PersonPage(report).html)
        #expect(page.all("h1").map(\.text) == ["What the mirror hello knows of hello, x:1"])
        #expect(
            page.all("tr").map(\.text) == [
                "accountnamewhat was said of themlast answered",
                "hello@hellodeny, by hello2001-01-02 09:00",
                "x:1–forgotten: only a digest is kept–",
                "whattext, to which post, and why",
                "reply, done2001-01-01 09:00 0123456helloto hello; hello", "whattext",
                "answer2001-01-01 09:00hellohello", "howtext", "seen2001-01-01 09:00hellohello",
            ])
    }

    @Test func saysThatThereIsNothing() throws {
        var report = try report("hello")
        report.deeds = []
        report.mentions = []
        report.learned = []
        #expect(
            TemplateKeys(.personFile, PersonPage(report).context, PageTemplate.ofFiles)
                .missing.isEmpty)
        let page = try MarkupDocument(PersonPage(report).html)
        #expect(page.all("table").count == 1)
        #expect(page.all("p").filter { $0.text == "None." }.count == 2)
    }
}
