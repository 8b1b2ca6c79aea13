import Testing

@testable import Import

@Suite struct MemberNameTests {
    @Test(arguments: [
        ("data/tweets.js", "data/tweets.js"), ("a\u{1B}[31mb\r\n", "a[31mb"),
        ("a\u{9B}31mb\u{7F}\u{85}", "a31mb"),
        ("a\u{202E}b\u{200B}", "ab"),
        (String(repeating: "x", count: 100), String(repeating: "x", count: 80)),
    ])
    func isShownWithoutWhatATerminalObeys(name: String, shown: String) {
        #expect(MemberName.shown(name) == shown)
    }

    @Test(arguments: ["/etc/passwd", "../a", "a/../b", "..", "a\\..\\b", "C:/a", "\\a", ""])
    func isUnsafeWhereItLeadsOut(name: String) {
        #expect(MemberName.isUnsafe(name))
    }

    @Test(arguments: [
        ("data/tweets.js", "data/tweets.js"), ("a/data/tweets.js", "data/tweets.js"),
        ("a/b/data/js/x.js", "data/js/x.js"),
        ("data/a/data/tweets.js", "data/tweets.js"), ("outbox.json", "outbox.json"),
        ("a/b/outbox.json", "outbox.json"),
        ("a/media_attachments/1.png", "media_attachments/1.png"), ("./a/tweets.csv", "tweets.csv"),
        ("data", "data"),
    ])
    func isFoundInTheFoldersAroundAnArchive(name: String, unwrapped: String) {
        #expect(MemberName.unwrapped(name) == unwrapped)
    }

    @Test(arguments: [
        "__MACOSX/data/tweets.js", "a/__MACOSX/data/tweets.js", "data/._tweets.js",
        "a/._outbox.json",
    ])
    func isNoneOfTheArchiveWhereMacOSPutIt(name: String) {
        #expect(MemberName.unwrapped(name) == nil)
    }

    @Test(arguments: ["a", "data/tweets.js", "a..b/c", ".../a", "a/."])
    func isSafeWhereItDoesNot(name: String) {
        #expect(!MemberName.isUnsafe(name))
    }
}
