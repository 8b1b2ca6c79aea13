import Conduct
import NetworkNames
import Posts
import Testing

@Suite struct OptOutTests {
    @Test(arguments: [
        "#nobot", "I like trains. #NoBots", "#NOBOT please", "＃ｎｏｂｏｔ", "＃nobot です", "﹟nobot",
        "ねこ#nobotいぬ",
        "hello#nobot", "#nobot!", "#nobotsHello, next line", "#<span>nobot</span>",
        "<p>hi</p><p><a class=\"mention hashtag\" rel=\"tag\">#<span>NoBot</span></a></p>",
        "#no\u{200B}bot",
        "a < b #nobot > c", "<#nobot", "#nobot\u{301}", "nobot", "NoBots", "no bots please",
        "No Bots!", "no bot",
        "no-bot",
        "no_bots", "#no bot", "# nobot", "I like trains. no bots, thanks", "Bots: no",
        "x\nBots: No!\ny", "NoBot: yes",
        "no robots", "keine Bots", "pas de bots svp", "sin bots", "без ботов", "ボットお断り", "BOT禁止です",
        "봇 사절",
        "机器人勿扰", "<p>no<br>bots</p> no <b>bots</b>", "ｎｏ　ｂｏｔｓ", "no b\u{200B}ots",
    ])
    func profileOptsOut(bio: String) { #expect(OptOut.isOptedOut(bio: bio)) }

    @Test(arguments: [
        "", "#nobottles", "#robot", "#nob", "#nobot_fan", "#nobot2", "no bottles", "I'm no bot",
        "I am no bot, I promise",
        "I make bots", "no. Bots are fine", "no, bots", "nobody", "not a robot", "bots welcome",
        "Bots: yes",
        "@nobot@example.org", "https://nobot.example/", "ich bin kein Bot", "botではない",
    ])
    func otherProfilesDoNot(bio: String) { #expect(!OptOut.isOptedOut(bio: bio)) }

    @Test func theDisplayNameCountsToo() {
        let id = AccountID(network: .mastodon, value: "ann@example.org")
        #expect(OptOut.isOptedOut(Account(id: id, handle: "ann", displayName: "Ann #nobot")))
        #expect(
            OptOut.isOptedOut(
                Account(id: id, handle: "ann", displayName: "Ann", bio: "tea\nBots: no")))
        #expect(
            !OptOut.isOptedOut(Account(id: id, handle: "nobot", displayName: "Ann", bio: "tea")))
    }

    @Test(arguments: [
        "@bot@example.org stop", "@bot STOP!!!", "stop", "@bot Please stop.", "@bot stop it",
        "stop stop stop",
        "@bot unsubscribe", "@bot #stop", "@bot opt-out", "@bot やめて", "@bot やめてください。", "もうやめて！！",
        "@bot 停止", "配信停止をお願いします", "@bot 🛑 stop 🛑", "ＳＴＯＰ", "@bot やめて @other", "arrêtez svp", "그만",
        "@bot st\u{200B}op", "leave me alone", "Please stop replying to me.", "stop messaging me",
        "@bot stop tagging me", "stop bothering me", "@bot STOP❗️", "@bot stop ❤️", "@bot ⛔️ stop",
        "@bot stop‼️",
        "@bot 停止してください", "解除してください", "やめてほしいです", "bot止めて", "停止してくださいね", "Stop. Leave me alone.",
        "stop, unsubscribe", "Please, stop!",
    ])
    func mentionAsksToStop(text: String) { #expect(OptOut.asksToStop(text: text)) }

    @Test(arguments: [
        "", "@bot", "@bot don't stop", "don’t stop", "never stop", "stop by tomorrow",
        "the bus stop", "停止線", "nonstop",
        "やめてよかった", "仕事をやめて旅に出た", "can't stop laughing", "stop https://example.org", "please",
        "stopped",
        "stop me if you heard this", "Stop! In the name of love", "stop, I want to get off",
        "設定してください", "botです",
        "stop replying to emails",
        String(repeating: "stop ", count: 1_000),
    ])
    func otherMentionsDoNot(text: String) { #expect(!OptOut.asksToStop(text: text)) }
}
