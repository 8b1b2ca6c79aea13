import Conduct
import Testing

@Suite struct OptOutTests {
    @Test(arguments: [
        "#nobot", "I like trains. #NoBots", "#NOBOT please", "＃ｎｏｂｏｔ", "＃nobot です", "﹟nobot", "ねこ#nobotいぬ",
        "hello#nobot", "#nobot!", "#nobotsHello, next line", "#<span>nobot</span>",
        "<p>hi</p><p><a class=\"mention hashtag\" rel=\"tag\">#<span>NoBot</span></a></p>", "#no\u{200B}bot",
        "a < b #nobot > c", "<#nobot", "#nobot\u{301}",
    ])
    func profileOptsOut(bio: String) { #expect(OptOut.isOptedOut(bio: bio)) }

    @Test(arguments: [
        "", "nobot", "no bots please", "#nobottles", "#robot", "# nobot", "#no bot", "#nob", "#nobot_fan", "#nobot2",
    ])
    func otherProfilesDoNot(bio: String) { #expect(!OptOut.isOptedOut(bio: bio)) }

    @Test(arguments: [
        "@bot@example.org stop", "@bot STOP!!!", "stop", "@bot Please stop.", "@bot stop it", "stop stop stop",
        "@bot unsubscribe", "@bot #stop", "@bot opt-out", "@bot やめて", "@bot やめてください。", "もうやめて！！",
        "@bot 停止", "配信停止をお願いします", "@bot 🛑 stop 🛑", "ＳＴＯＰ", "@bot やめて @other", "arrêtez svp", "그만",
        "@bot st\u{200B}op", "leave me alone", "Please stop replying to me.", "stop messaging me",
        "@bot stop tagging me", "stop bothering me", "@bot STOP❗️", "@bot stop ❤️", "@bot ⛔️ stop", "@bot stop‼️",
        "@bot 停止してください", "解除してください", "やめてほしいです", "bot止めて", "停止してくださいね", "Stop. Leave me alone.",
        "stop, unsubscribe", "Please, stop!",
    ])
    func mentionAsksToStop(text: String) { #expect(OptOut.asksToStop(text: text)) }

    @Test(arguments: [
        "", "@bot", "@bot don't stop", "don’t stop", "never stop", "stop by tomorrow", "the bus stop", "停止線", "nonstop",
        "やめてよかった", "仕事をやめて旅に出た", "can't stop laughing", "stop https://example.org", "please", "stopped",
        "stop me if you heard this", "Stop! In the name of love", "stop, I want to get off", "設定してください", "botです",
        "stop replying to emails",
        String(repeating: "stop ", count: 1_000),
    ])
    func otherMentionsDoNot(text: String) { #expect(!OptOut.asksToStop(text: text)) }
}
