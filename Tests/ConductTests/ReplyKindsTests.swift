import Posts
import Testing

@testable import Conduct

/// What sort of remark a mention is, and what sort of answer a reply is.
@Suite struct ReplyKindsTests {
    private let kinds = ReplyKinds.standard

    @Test(
        arguments: [
            ("Thanks a lot!", .thanks), ("@bot thank you so much", .thanks),
            ("ok, thanks", .thanks),
            ("Good morning", .greeting), ("hi there, long time no see", .greeting),
            ("How are you?", .greeting),
            ("Sorry, I was asleep", .sorry), ("I'm sorry", .sorry), ("I’m sorry", .sorry),
            ("Are you coming tonight?", .yesNoQuestion), ("do you have a cat", .yesNoQuestion),
            ("Tea with milk?", .yesNoQuestion), ("sorry, is it open?", .yesNoQuestion),
            ("What is that?", .whQuestion), ("and why not?", .whQuestion),
            ("how do i bake this", .whQuestion),
            ("Where did you buy it? 🍞", .whQuestion), ("Yes, exactly", .acknowledgement),
            ("lol", .acknowledgement),
            ("Please tell me more", .request), ("could you show me?", .request),
            ("My train is late", .statement),
            ("thankless work", .statement), ("", .statement), ("🍞", .statement),
        ] as [(String, ReplyKinds.Mention)])
    func anEnglishMentionHasAKind(text: String, kind: ReplyKinds.Mention) {
        #expect(kinds.mention(text, in: .english) == kind)
    }

    @Test(
        arguments: [
            ("ありがとうございます！", .thanks), ("教えてくれてありがとう", .thanks), ("あ、ありがとう", .thanks),
            ("おはよう〜", .greeting),
            ("今年もよろしくお願いします", .greeting), ("ごめん、寝てた", .sorry), ("遅れてすみません。", .sorry),
            ("明日は休みですか", .yesNoQuestion), ("猫は好き？", .yesNoQuestion), ("これは何ですか？", .whQuestion),
            ("次の電車はどれ？", .whQuestion), ("なるほど", .acknowledgement), ("そうですね", .acknowledgement),
            ("写真を見せてください", .request), ("電車が遅れてる", .statement),
        ] as [(String, ReplyKinds.Mention)])
    func aJapaneseMentionHasAKind(text: String, kind: ReplyKinds.Mention) {
        #expect(kinds.mention(text, in: .japanese) == kind)
    }

    @Test(
        arguments: [
            ("You're welcome!", .english, .welcome), ("np", .english, .welcome),
            ("no problem at all", .english, .welcome), ("Thanks!", .english, .thanks),
            ("Good night", .english, .greeting), ("Yep, it is", .english, .yes),
            ("Nope", .english, .no), ("not yet", .english, .no),
            ("Oh wow", .english, .acknowledgement),
            ("oh no, sorry", .english, .no), ("so sorry", .english, .sorry),
            ("Tea with milk", .english, .other),
            ("どういたしまして", .japanese, .welcome), ("いえいえ", .japanese, .welcome),
            ("ありがとう！", .japanese, .thanks),
            ("こんばんは", .japanese, .greeting), ("はい、そうです", .japanese, .yes), ("いいえ", .japanese, .no),
            ("なるほど！", .japanese, .acknowledgement), ("ごめんなさい", .japanese, .sorry),
            ("猫はかわいい", .japanese, .other),
        ] as [(String, ReplyKinds.Language, ReplyKinds.Reply)])
    func aReplyHasAKind(text: String, language: ReplyKinds.Language, kind: ReplyKinds.Reply) {
        #expect(kinds.reply(text, in: language) == kind)
    }

    @Test(
        arguments: [
            ("Thanks", "en-GB", .english), ("Thanks", nil, .english), ("ありがとう", "en", .japanese),
            ("感謝", "ja", .japanese), ("Danke", "de", nil), ("Très bien", nil, nil),
            ("感謝", nil, nil), ("!!", nil, nil),
        ] as [(String, String?, ReplyKinds.Language?)])
    func aTextOfAnotherLanguageHasNoKind(text: String, tag: String?, language: ReplyKinds.Language?)
    {
        #expect(ReplyKinds.Language(of: text, tag: tag) == language)
    }

    /// A text as long as a network takes costs no more than one of some lines.
    @Test func aLongTextHasAKindByItsEnds() {
        let long = String(repeating: "bread and butter ", count: 20_000)
        #expect(kinds.mention("Thanks! " + long, in: .english) == .thanks)
        #expect(kinds.mention(long + "do you bake?", in: .english) == .yesNoQuestion)
    }

    @Test func theTableHasHalfACountMore() {
        var table = KindTable()
        table.add(.thanks, .welcome, times: 6)
        table.add(.thanks, .other, times: 2)
        table.add(.statement, .other, times: 10)
        table.add(.statement, .yes, times: 4)
        #expect(table.total == 22)
        // ln ((6.5 / 12) / (10 / 54)) and ln ((0.5 / 18) / (4 / 54))
        #expect(abs(table.logOdds(of: .welcome, after: .thanks) - 1.073_294_480_7) < 1e-9)
        #expect(abs(table.logOdds(of: .no, after: .statement) + 0.980_829_253) < 1e-9)
        #expect(KindTable().logOdds(of: .yes, after: .sorry) == 0)
    }

    @Test(arguments: ReplyKinds.Language.allCases) func theShippedTablesSayWhatAnswersWhat(
        language: ReplyKinds.Language
    ) {
        let table = kinds.answers(in: language)
        #expect(table.total > 40_000)
        for (mention, reply) in [
            (.thanks, .welcome), (.greeting, .greeting), (.yesNoQuestion, .yes),
            (.yesNoQuestion, .no),
            (.sorry, .welcome), (.acknowledgement, .acknowledgement),
        ] as [(ReplyKinds.Mention, ReplyKinds.Reply)] {
            #expect(table.logOdds(of: reply, after: mention) > 0, "\(mention) \(reply)")
        }
        #expect(table.logOdds(of: .welcome, after: .whQuestion) < -0.7)
        #expect(table.logOdds(of: .greeting, after: .statement) < 0)
    }
}
