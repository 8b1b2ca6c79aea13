import Conduct
import Expectations
import Foundation
import Posts
import Testing

@Suite struct ReplyFilterTests {
    private static let ann = AccountID(network: .mastodon, value: "ann@social.example")
    private static let bob = AccountID(network: .mastodon, value: "bob@social.example")
    private static let filter = ReplyFilter(
        answering: [ann], called: ["ann@social.example", "Anna Prima"],
        known: ReplyFilter.KnownNames([
            "ann@social.example", "Bob@social.example", "carol.bsky.social", "zed_x", "ok",
        ]))

    private func reply(_ text: String, mentions: [AccountID] = []) -> Post {
        Post(
            id: PostID(network: .mastodon, value: "1"),
            author: AccountID(network: .mastodon, value: "human@home.example"),
            text: text, createdAt: Date(timeIntervalSince1970: 0),
            replyTo: ReplyTarget(author: Self.ann),
            mentions: mentions)
    }

    @Test(arguments: [
        "@ann That sounds perfect.", "@ann@social.example Me too!", "That sounds perfect.",
        "@oldname Sure, why not",
        "いいですね。", "@ann ありがとう、助かりました！", "たしかに一緒に行きたい", "沢山ありますよ", "お母さんによろしく", "たくさん、買いました",
        "皆さんによろしく", "本屋さんで見ました", "行くんだ、いいね", "お疲れ様です", "仕様ですね", "有難うございます",
        "Thanks, Anna!", "annさん、どうぞ", "Oh ann, never", "Wait ... what", "well...yes", "Hi there!",
        "Thanks, everyone!",
        "ok then", "#train again", "nice :cat_2:", "😀👨‍👩‍👧‍👦 yes", "Yes, of course", "e\u{301}te\u{301}",
    ])
    func aPlainReplyPasses(_ text: String) {
        #expect(Self.filter.passes(reply(text)))
    }

    @Test(arguments: [
        // Links, with and without a scheme.
        "See https://a.example/b", "see HTTP://a.example", "look at a.example",
        "これ https://a.example を見て",
        // Digits of any script.
        "at 7 then", "７時に", "٣ times", "५ बार", "round ① it is", "it was ½ full", "1️⃣ first",
        "x² it is", "Ⅳ it is",
        // Questions of any script.
        "Really?", "本当？", "حقا؟", "¿De verdad", "Իսկապես՞", "what⁈", "‽", "❓", "﹖",
        "ἀλήθεια\u{37E}", "なに︖",
        // Mentions and handles.
        "@ann @bob see you there", "@bob @ann see you there", "ask @bob", "cc ＠bob", "bob said so",
        "BOB was there",
        "that is carol's", "zed_x knows", "@ann thanks, @carol@social.example", ".@bob is right",
        // Forms of address.
        "Hey Mira, good to see you", "thanks Tom!", "Thanks, Tom.", "That was great, Tom!",
        "Dr. Mabuse knows it",
        "Ask Mr Smith", "Herr Schmidt kommt", "みらさん、ありがとう", "田中さんに聞いて", "ケンちゃんかわいい", "山田先生の本",
        "Tomくんだね", "佐藤様です",
    ])
    func whatLinksCountsAsksOrNamesDoesNotPass(_ text: String) {
        #expect(!Self.filter.passes(reply(text)))
    }

    @Test func lengthIsCountedAsReadersDo() {
        let accented = String(repeating: "e\u{301}", count: 60)
        #expect(accented.unicodeScalars.count == 120)
        #expect(Self.filter.passes(reply(accented)))
        #expect(!Self.filter.passes(reply(accented + "e")))
        #expect(Self.filter.passes(reply(String(repeating: "あ", count: 60))))
        // Who is answered is no part of the text.
        #expect(
            Self.filter.passes(reply("@ann@social.example \(String(repeating: "a", count: 60))  ")))
        #expect(Self.filter.passes(reply(String(repeating: "👨‍👩‍👧‍👦", count: 60))))
    }

    @Test func whoIsMentionedIsToldByTheNetworkToo() {
        // X leaves names out of the text and tells of whom they are.
        #expect(Self.filter.passes(reply("see you there", mentions: [Self.ann])))
        #expect(!Self.filter.passes(reply("see you there", mentions: [Self.ann, Self.bob])))
        #expect(Self.filter.passes(reply("@former see you there", mentions: [Self.ann])))
        let own = AccountID(network: .mastodon, value: "human@home.example")
        #expect(Self.filter.passes(reply("@ann @human see you there", mentions: [Self.ann, own])))
    }

    @Test func handlesWithDotsAreNamesAsAWholeAndByTheirBeginning() {
        let ann = AccountID(network: .bluesky, value: "did:plc:ann")
        let filter = ReplyFilter(
            answering: [ann], called: ["ann.bsky.social", "Ann 🌿"],
            known: ReplyFilter.KnownNames([
                "ann.bsky.social", "social.example.com", "tom.bsky.social",
            ]))
        #expect(filter.passes(reply("@ann.bsky.social is right")))
        #expect(filter.passes(reply("Ann is right")))
        #expect(!filter.passes(reply("@tom.bsky.social is right")))
        #expect(!filter.passes(reply("how social")))
        #expect(!filter.passes(reply("tom is right")))
    }

    @Test func aPersonsOwnNamesAreNotSomebodyElses() {
        let filter = ReplyFilter(
            answering: [Self.bob], called: ["bob@social.example", "Tom Bobson"],
            known: ReplyFilter.KnownNames(["bob@social.example", "tom@elsewhere.example"]))
        #expect(filter.passes(reply("@bob Thanks, Tom!")))
        #expect(filter.passes(reply("bob is right")))
        #expect(!Self.filter.passes(reply("Thanks, Tom!")))
    }
}
