import Conduct
import Posts
import Testing

@Suite struct ReplyTextTests {
    @Test(arguments: [
        ("@aoi@example.org thank you!", "@ren@remote.example thank you!"),
        ("@aoi @ren, @someone@else.example thank you", "@ren@remote.example thank you"),
        ("@aoi thank you and @someone too", "@ren@remote.example thank you and someone too"),
        ("＠aoi ありがとう", "@ren@remote.example ありがとう"),
        // A name that the sentence goes on from is a part of it.
        ("@aoi @kaiさんに聞いてみて", "@ren@remote.example kaiさんに聞いてみて"),
        ("@aoiさん、ありがとう", "@ren@remote.example aoiさん、ありがとう"),
        ("@aoi @bob's idea was better", "@ren@remote.example bob's idea was better"),
        ("@aoi: thanks a lot", "@ren@remote.example thanks a lot"),
        ("@aoi、ありがとう", "@ren@remote.example ありがとう"),
        ("thank you", "@ren@remote.example thank you"),
        ("@ren@remote.example thank you @ren@remote.example", "@ren@remote.example thank you ren"),
    ])
    func replyMentionsExactlyThePersonAnswered(source: String, expected: String) {
        #expect(
            TextRules().replyText(for: reply(source), to: "ren@remote.example").value == expected)
    }

    @Test(arguments: [
        ("@aoi", "no-words"), ("@aoi ok", "no-words"), ("@aoi @ren", "no-words"),
        ("@aoi RT @ren: hello", "is-repost"),
        ("@aoi and then…", "truncated"),
    ])
    func senselessRepliesAreRefused(source: String, code: String) {
        #expect(TextRules().replyText(for: reply(source), to: "ren").code == code)
    }

    @Test func onlyOpenRepliesAreReused() {
        #expect(
            TextRules().replyText(for: reply("thank you", visibility: .direct), to: "ren").code
                == "not-open")
        #expect(TextRules().replyText(for: post("thank you"), to: "ren").code == "not-a-reply")
    }

    @Test func mentionCountsWithoutItsHost() {
        let limits = PublishingLimits(maximumCharacters: 14, charactersPerURL: 23)
        let rules = TextRules(limits: limits)
        #expect(
            rules.replyText(for: reply("thank you"), to: "ren@a.very.long.host.example").code == nil
        )
        #expect(
            rules.replyText(for: reply("thank you!"), to: "ren@a.very.long.host.example").code
                == "too-long")
    }

    @Test(arguments: [
        "", "@", "@ren", "ren ", " ren", "ren now", "ren\n@all", "ren@", "@ren@host",
        "ren@host@other", "ren@ho st",
        "ren@-host", "ren@host-", "ren@host..example", "ren@.host", "re\u{200B}n",
        "ren@ho\u{200B}st", "ren＠host",
        "ren.", ".ren", "ren-", "れん", "ren/x", "ren:x", "ren@host/x", "ren@host:", "ren@host:x",
        "ren@host:80:80",
        "ren@host:123456",
        "ren@host:８０", "ren:80", "ren@:80", "ren@host#x", "ren<b>",
        String(repeating: "r", count: 400),
    ])
    func hostileHandlesAreRefused(handle: String) {
        #expect(Handle(handle) == nil)
        #expect(TextRules().replyText(for: reply("thank you"), to: handle).code == "bad-handle")
    }

    @Test(arguments: [
        "ren", "Ren_1", "_ren_", "ren.dot", "re-n", "ren@host", "ren@remote.example",
        "ren@xn--r8jz45g.example",
        "ren@例え.example", "ren.bsky.social", "r", "ren@host:8443", "ren@remote.example:80",
    ])
    func ordinaryHandlesAreAccepted(handle: String) {
        #expect(Handle(handle)?.text == handle)
        #expect(
            TextRules().replyText(for: reply("thank you"), to: handle).value
                == "@\(handle) thank you")
    }
}
