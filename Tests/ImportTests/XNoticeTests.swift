import Expectations
import Import
import TestSupport
import Testing

@Suite struct XNoticeTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func learned(_ texts: [String]) throws -> (texts: [String], summary: ImportSummary) {
        let likes = texts.enumerated().map { number, text in
            #"{"like":{"tweetId":"\#(100 + number)","fullText":"\#(text)","expandedUrl":"u"}}"#
        }
        let reading = try Reading(
            try Fixture.folder(["data/like.js": Fixture.likes(likes)], in: directory),
            for: .classifier)
        let learned = reading.items.compactMap { item in
            if case .favorite(let example) = item { example.text } else { nil }
        }
        return (learned, reading.summary)
    }

    /// As they stand in archives, where X forgot to fill in the link, and as its pages show them.
    @Test(arguments: [
        "You’re unable to view this Post because this account owner limits who can view their Posts. {learnmore}",
        "You're unable to view this Tweet because this account owner limits who can view their Tweets. Learn more",
        "This Post is from a suspended account. {learnmore}",
        "This Tweet is from a suspended account. Learn more",
        "This Post is from a private account. {learnmore}", "This Post is unavailable. Learn more",
        "This Post is from an account that no longer exists. {learnmore}",
        "This Post violated the X Rules. Learn more",
        "This Tweet was deleted by the Tweet author. Learn more", "This Tweet is unavailable.",
        "このポストはアカウントの所有者が閲覧できるユーザーを制限しているため、表示できません。{learnmore}",
        "Dieser Post ist von einem gesperrten Account. {learnmore}",
        "Ce post provient d’un compte suspendu. {learnmore}",
        "هذا المنشور من حساب موقوف. {learnmore}", "{learnMore} 이 게시물은 정지된 계정의 게시물입니다.",
        "Este post es de una cuenta suspendida. { learn_more }",
        "Dieser Post ist nicht verfügbar. Mehr erfahren",
    ])
    func anXNoticeIsNoText(notice: String) throws {
        let (texts, summary) = try learned(["A real text about rivers", notice])
        #expect(texts == ["A real text about rivers"])
        #expect(summary.withoutText == 1)
        #expect(summary.problems == [])
    }

    @Test(arguments: [
        "This Post is from the heart", "I want to learn more",
        "Never stop. Learn more, and more often",
        "This Tweet is unavailable. Just kidding, here is a cat",
        "Our new lamp. Learn more https://t.co/abc",
        "Templates write {name} and {more}", "learnmore", "You’re unable to view this",
    ])
    func aTextThatSoundsLikeANoticeIsLearned(text: String) throws {
        try expect(learned([text]).texts, equals: [text])
    }
}
