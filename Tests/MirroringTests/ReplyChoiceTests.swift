import Archive
import Expectations
import Favorites
import Fixtures
import Foundation
import Outbox
import Posts
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// Which of the old replies to a person answers a mention.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct ReplyChoiceTests {
    private static let friend = AccountID(network: .mastodon, value: "friend")

    /// A mirror that has replied to the friend before, with these texts by their ids and, of some,
    /// what they answered.
    private func mirror(
        _ texts: [String: String], answering answered: [String: String] = [:],
        on engine: Engine = .sqlite,
        variables: [String: String] = [:]
    ) async throws -> (PaperMirror, WorkerParts) {
        let limits = ["REPLIES_PER_PERSON": "100", "REPLIES_PER_THREAD": "100"]
        let paper = try await PaperMirror(
            engine, bot: .mastodon, variables: limits.merging(variables) { $1 })
        try await paper.archive(
            texts.map { id, text in
                var reply = pastReply(id, to: Self.friend, text)
                reply.replyTo?.post = answered[id].map { PostID(network: .mastodon, value: $0) }
                return reply
            })
        let parts = try await paper.parts()
        try await paper.wait(10)
        return (paper, parts)
    }

    private func answer(
        _ text: String, as id: String = "mention", by author: String = "friend",
        _ paper: PaperMirror,
        _ parts: WorkerParts
    ) async throws -> Action {
        let mention = paperPost(
            id, by: author, on: .mastodon, "@bot \(text)", at: paper.clock.now - 1,
            mentions: ["bot"])
        let decided = try await parts.mentionDecider.decide(
            [mention], now: paper.clock.now, tries: 0
        ).decided
        return try #require(decided.first).action
    }

    private func source(_ action: Action) -> String? { action.wording?.source.value }

    private static let english = [
        "train": "My train is late again", "tea": "Tea with milk, always",
        "book": "I love that book",
    ]
    private static let japanese = ["電車": "電車が遅れてるなら仕方ない", "茶": "お茶が好きです", "猫": "猫はかわいい"]

    @Test(
        arguments: [
            (english, "ugh, the train was late this morning", "train", ["late", "train"]),
            (english, "more tea for everyone", "tea", ["tea"]),
            (japanese, "今日も電車が遅れてる", "電車", ["遅れる", "電車"]), (japanese, "うちの猫を見て", "猫", ["猫"]),
        ] as [([String: String], String, String, [String])])
    func theNearestReplyAnswers(texts: [String: String], text: String, id: String, words: [String])
        async throws
    {
        let (paper, parts) = try await mirror(texts)
        let action = try await answer(text, paper, parts)
        #expect(source(action) == id)
        let reply = try #require(action.explanation?.oldReply)
        #expect(reply.words.map { Set($0).isSuperset(of: words) } == true, "\(reply.words ?? [])")
        #expect(!reply.isByAnswered)
        #expect(reply.replies == 3)
        #expect(reply.plain == 3)
        #expect(reply.nearest == 1)
        #expect(reply.likeness > 0 && reply.likeness <= 1)
        expect(action.explanation?.summary) {
            $0?.hasPrefix(
                "all 3 old replies to this person are short, ask nothing and name nobody; this one shares '"
            )
                == true
        }
    }

    /// A sign that both texts have says nothing of what they are about.
    @Test(arguments: ["Oh wow!", "Thank you 🙏", "Well…", "そうだね〜"]) func aSignInCommonChoosesNoReply(
        sign: String
    )
        async throws
    {
        let (paper, parts) = try await mirror([
            "sign": sign, "tea": "Tea with milk, always", "猫": "猫はかわいい",
        ])
        let action = try await answer("stormy weather! 🙏 … 〜", paper, parts)
        let reply = try #require(action.explanation?.oldReply)
        #expect(reply.words == [])
        #expect(reply.likeness == 0)
        #expect(reply.score?.largest != "words")
    }

    /// Where each reply asks something, its question mark does not choose it.
    @Test func aQuestionMarkInCommonChoosesNoReply() async throws {
        let (paper, parts) = try await mirror([
            "a": "Tea with milk?", "b": "Is your train late?", "c": "What a book?",
        ])
        let action = try await answer("really?", paper, parts)
        #expect(action.explanation?.oldReply?.nearest == 3)
        #expect(action.explanation?.oldReply?.words == [])
    }

    @Test func aPlainReplyComesBeforeANearerOne() async throws {
        let (paper, parts) = try await mirror([
            "digit": "The train at 7 is late", "question": "Is the train late?",
            "link": "train late https://a.example",
            "name": "@friend @bob the train is late", "plain": "Oh no, late again",
            "other": "Sounds good to me",
        ])
        let action = try await answer("the train is late", paper, parts)
        #expect(source(action) == "plain")
        let reply = try #require(action.explanation?.oldReply)
        #expect(reply.replies == 6)
        #expect(reply.plain == 2)
        expect(action.explanation?.summary) {
            $0?.hasPrefix(
                "of 6 old replies to this person, 2 are short, ask nothing and name nobody; this one shares 'late'"
            )
                == true
        }
    }

    @Test func whereNoReplyIsPlainTheNearestOfAllAnswers() async throws {
        let (paper, parts) = try await mirror([
            "a": "Tea at 5?", "b": "The train at 7 is late", "c": "Is it so?",
        ])
        let action = try await answer("my train", paper, parts)
        #expect(source(action) == "b")
        #expect(action.explanation?.oldReply?.plain == 0)
    }

    /// The seed chooses among replies of the same kind, which share no word with the mention.
    @Test func amongEqualsTheSeedChooses() async throws {
        let texts = Dictionary(
            uniqueKeysWithValues: "abcdefgh".map { (String($0), "\($0)\($0)\($0)\($0) indeed") })
        var answers: [[String?]] = []
        for _ in 0..<2 {
            let (paper, parts) = try await mirror(texts)
            var chosen: [String?] = []
            for number in 0..<6 {
                chosen.append(
                    source(try await answer("何もない", as: "mention-\(number)", paper, parts)))
            }
            answers.append(chosen)
            let summary = try await paper.actions(.reply).first?.explanation?.summary
            expect(summary) {
                $0?.hasSuffix("none shares a word with the mention, so one was drawn") == true
            }
        }
        // The same mentions and archive lead to the same replies in another process.
        #expect(answers[0] == answers[1])
        #expect(Set(answers[0]).count > 2)
    }

    @Test(arguments: Engine.allCases) func whatWasOnceAnsweredCountsInstead(_ engine: Engine)
        async throws
    {
        let (paper, parts) = try await mirror(
            ["cute": "So cute", "cat": "My cat sleeps too", "cake": "Delicious"],
            answering: ["cute": "parent-1", "cat": "parent-2", "cake": "unknown"], on: engine)
        let favorites = try paper.mirror.favorites()
        let posts = ["parent-1": "the cat sleeps on my keyboard", "parent-2": "look at this bread"]
        let events = posts.map { id, text in
            FavoriteEvent.seen(
                Example(
                    id: PostID(network: .mastodon, value: id), author: "friend",
                    authorID: Self.friend, text: text))
        }
        _ = try await favorites.learn(events, at: paper.clock.now)
        let action = try await answer("a cat sleeps on keyboards", paper, parts)
        #expect(source(action) == "cute")
        #expect(action.explanation?.oldReply?.isByAnswered == true)
        expect(action.explanation?.summary) {
            $0?.contains("this one once answered a post that shares '") == true
        }

        // What was learned of a person goes when they do not want that, and with it what was
        // answered.
        try await paper.mirror.forgetLearning(of: Self.friend, now: paper.clock.now)
        let texts = try await Favorites.texts(
            of: posts.keys.map { PostID(network: .mastodon, value: $0) }, learnedBy: "test",
            in: paper.mirror.storage)
        #expect(texts.isEmpty)
        let later = try await answer("a cat sleeps on keyboards", as: "another", paper, parts)
        #expect(source(later) == "cat")
        #expect(later.explanation?.oldReply?.isByAnswered == false)
    }

    @Test func aDecisionStaysWhateverIsLearnedLater() async throws {
        let (paper, parts) = try await mirror(["tea": "Tea with milk, always"])
        let action = try await answer("late train", paper, parts)
        try await paper.archive([pastReply("train", to: Self.friend, "Late train indeed")])
        let mention = paperPost(
            "mention", on: .mastodon, "@bot late train", at: paper.clock.now - 1, mentions: ["bot"])
        let again = try await paper.parts().mentionDecider.decide(
            [mention], now: paper.clock.now, tries: 0)
        #expect(again.decided.isEmpty)
        try await expect(paper.actions(.reply).map(\.wording), equals: [action.wording])
        #expect(source(action) == "tea")
    }

    @Test func withoutADictionaryTheSeedChoosesAPlainReply() async throws {
        let (paper, parts) = try await mirror(
            ["plain": "Late train indeed", "digit": "Late train at 7"],
            variables: ["MECAB_DICTIONARY": "/nowhere/at/all"])
        let action = try await answer("late train", paper, parts)
        #expect(source(action) == "plain")
        #expect(action.explanation?.oldReply?.words == nil)
    }

    // MARK: Kind, centre and doubt

    @Test(
        arguments: [
            (
                "thank you so much!", "welcome",
                "the mention says thanks, and \"you are welcome\" is a usual answer to that"
            ),
            (
                "good morning", "greeting",
                "the mention is a greeting, and a greeting is a usual answer to that"
            ),
            (
                "are you awake?", "yes",
                "the mention asks a yes-or-no question, and a yes is a usual answer to that"
            ),
        ])
    func whereNoTellingWordMeetsTheKindDecides(text: String, id: String, reason: String)
        async throws
    {
        let (paper, parts) = try await mirror([
            "welcome": "You're welcome!", "greeting": "Hello hello", "yes": "Yep",
            "other": "Tea with milk, always",
        ])
        let action = try await answer(text, paper, parts)
        #expect(source(action) == id)
        #expect(action.explanation?.oldReply?.score?.largest == "kind")
        expect(action.explanation?.summary) { $0?.hasSuffix("; \(reason)") == true }
    }

    @Test func inJapaneseTheKindDecidesToo() async throws {
        let (paper, parts) = try await mirror(["礼": "どういたしまして", "猫": "猫はかわいい", "挨拶": "こんばんは"])
        let action = try await answer("教えてくれてありがとう！", paper, parts)
        #expect(source(action) == "礼")
    }

    @Test func inAnotherLanguageTheCentreDecides() async throws {
        let texts = [
            "common": "sehr schön gemacht", "rare": "Kartoffeln im Keller",
            "near": "schön gemacht wieder",
            "also": "sehr schön heute",
        ]
        let (paper, parts) = try await mirror(texts)
        let mention = paperPost(
            "mention", by: "friend", on: .mastodon, "@bot Fahrrad über Äcker",
            at: paper.clock.now - 1,
            mentions: ["bot"])
        let decided = try await parts.mentionDecider.decide(
            [mention], now: paper.clock.now, tries: 0
        ).decided
        let action = try #require(decided.first).action
        let reply = try #require(action.explanation?.oldReply)
        #expect(source(action) == "common")
        #expect(reply.score?.largest == "centre")
        #expect(reply.score?.mention == nil)
        expect(action.explanation?.summary) {
            $0?.hasSuffix("this one is most like what the human usually answers") == true
        }
    }

    @Test(
        arguments: [
            ([:], .skipped), (["REPLIES": "likely"], .skipped), (["REPLIES": "review"], .suggested),
            (["REPLIES": "all"], .planned),
            (["REPLIES": "all", "REVIEW": "replies"], .suggested),
            (["REPLIES": "likely", "REVIEW": "replies"], .skipped),
        ] as [([String: String], ActionState)])
    func aReplyThatHardlyFitsIsNotSentUnasked(variables: [String: String], state: ActionState)
        async throws
    {
        let texts = ["welcome": "You're welcome!", "problem": "No problem"]
        let (paper, parts) = try await mirror(texts, variables: variables)
        try await paper.mirror.keep(Self.measure)
        let action = try await answer("what is that in your garden?", paper, parts)
        #expect(action.state == state)
        let isSilent = state == .skipped
        #expect(action.reason == (isSilent ? "unlikely-reply" : nil))
        #expect((source(action) == nil) == isSilent)
        if isSilent {
            #expect(
                action.explanation?.summary
                    == "the best of 2 old replies to this person hardly fits: the mention asks an open question, and "
                    + "\"you are welcome\" is no usual answer to that")
        }
        // What fits is sent as before.
        let thanked = try await answer("thank you!", as: "another", paper, parts)
        #expect(thanked.state == (variables["REVIEW"] == nil ? .planned : .suggested))
    }

    private static let measure = ReplyMeasure(
        measured: PaperMirror.now, answers: 60, same: 6, sameByChance: 3, kindKnown: 60,
        sameKind: 40,
        sameKindByChance: 25, threshold: 0, held: 20)

    @Test func nothingIsHeldBackBeforeItWasMeasured() async throws {
        let (paper, parts) = try await mirror(["welcome": "You're welcome!"])
        let action = try await answer("what is that in your garden?", paper, parts)
        #expect(source(action) == "welcome")
    }

    /// A person who is not answered for another reason is not answered by a setting.
    @Test(arguments: ["likely", "review", "all"]) func aStrangerIsNeverAnswered(replies: String)
        async throws
    {
        let (paper, parts) = try await mirror(
            ["welcome": "You're welcome!"], variables: ["REPLIES": replies])
        let action = try await answer("thank you!", by: "stranger", paper, parts)
        #expect(action.state == .skipped)
        #expect(action.reason == "no-past-reply")
    }

    @Test(arguments: Engine.allCases) func theThresholdIsTheMeasuredOne(_ engine: Engine)
        async throws
    {
        let (paper, parts) = try await mirror(["welcome": "You're welcome!"], on: engine)
        var measure = Self.measure
        measure.threshold = 5
        try await paper.mirror.keep(measure)
        let silent = try await answer("thank you!", paper, parts)
        #expect(silent.reason == "unlikely-reply")
        expect(silent.explanation?.summary) {
            $0?.hasSuffix("that may be sent now hardly fits") == true
        }
        measure.threshold = 0.1
        try await paper.mirror.keep(measure)
        try await expect(paper.mirror.replyMeasure(), equals: measure)
        #expect(try await paper.mirror.classifierMeasure() == nil)
        let answered = try await answer("thank you!", as: "another", paper, parts)
        #expect(source(answered) == "welcome")
    }

    @Test func aReplyWasAlwaysToThatSamePerson() async throws {
        let people = ["ann", "bob", "cid", "dee"].map { AccountID(network: .mastodon, value: $0) }
        let words = ["train", "tea", "book", "rain", "music", "bread", "garden", "river"]
        let paper = try await PaperMirror(bot: .mastodon, variables: ["REPLIES_PER_PERSON": "100"])
        for (index, person) in people.enumerated() {
            // Nobody has replies with all words, so that others' are often nearer.
            try await paper.archive(
                words.indices.filter { $0 % people.count != index }.map { place in
                    pastReply(
                        "\(person.value)-\(place)", to: person,
                        "oh \(words[place]) \(place % 3 == 0 ? "7" : "yes")")
                })
        }
        let parts = try await paper.parts()
        try await paper.wait(10)
        for (index, word) in words.enumerated() {
            for person in people + [AccountID(network: .mastodon, value: "stranger")] {
                let action = try await answer(
                    "oh \(word) yes", as: "\(person.value) \(index)", by: person.value, paper, parts
                )
                guard let id = action.wording?.source else {
                    #expect(action.state == .skipped)
                    #expect(action.reason == "no-past-reply")
                    continue
                }
                let reply = try #require(try await paper.mirror.archive.post(id))
                #expect(reply.replyTo?.author == person)
            }
        }
    }

    @Test(
        arguments: [
            (
                Explanation.OldReply(replies: 1, plain: 1),
                "the only old reply to this person that may be sent now; it shares no word with the mention"
            ),
            (
                Explanation.OldReply(replies: 1, plain: 0, likeness: 0.3, words: ["tea"]),
                "the only old reply to this person that may be sent now; it shares 'tea' with the mention"
            ),
            (
                Explanation.OldReply(
                    replies: 42, plain: 13, likeness: 0.5, words: ["train", "late"]),
                "of 42 old replies to this person, 13 are short, ask nothing and name nobody; this one shares 'train', 'late' with the mention"
            ),
            (
                Explanation.OldReply(replies: 9, plain: 0, nearest: 9),
                "of 9 old replies to this person, none is short without asking something or naming somebody; none shares a word with the mention, so one was drawn"
            ),
            (
                Explanation.OldReply(
                    replies: 9, plain: 9, nearest: 2, likeness: 0.5, words: ["tea"],
                    isByAnswered: true),
                "all 9 old replies to this person are short, ask nothing and name nobody; this one once answered a post that shares 'tea' with the mention and was drawn among 2 that are as near"
            ),
            (
                Explanation.OldReply(replies: 2, plain: 1, words: nil),
                "of 2 old replies to this person, one is short, asks nothing and names nobody; nothing was compared"
            ),
        ])
    func theReasonIsASentence(reply: Explanation.OldReply, sentence: String) {
        #expect(reply.sentence == sentence)
    }
}
