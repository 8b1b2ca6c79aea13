import Conduct
import Expectations
import Foundation
import Posts
import Testing

@Suite struct ThreadRulesTests {
    private func post(_ text: String, answersItself: Bool = true) -> Post {
        let human = AccountID(network: .mastodon, value: "human")
        return Post(
            id: PostID(network: .mastodon, value: text), author: human, text: text,
            createdAt: .distantPast,
            replyTo: answersItself ? ReplyTarget(author: human) : nil)
    }

    private var head: Post { post("the first of three", answersItself: false) }
    private var parts: [Post] { [post("and the second one"), post("and this is the end")] }

    private func reason(_ rules: TextRules, _ thread: [Post], isChain: Bool = true) -> String? {
        let prepared = rules.preparation(of: head, thread: thread, isChain: isChain).unfit?.rawValue
        // What may be planned may be said, and the other way round.
        if case .failure(let refusal) = rules.texts(of: thread, isChain: isChain) {
            #expect(refusal.code == prepared)
        } else {
            #expect(prepared == nil)
        }
        return prepared
    }

    @Test func aThreadIsSentWholeOrNotAtAll() throws {
        #expect(reason(TextRules(), parts) == "thread-head")
        #expect(reason(TextRules(), []) == nil)
        let whole = TextRules(threads: .whole)
        #expect(reason(whole, parts) == nil)
        try expect(whole.texts(of: parts).get().map(\.text), equals: parts.map(\.text))
        #expect(reason(whole, parts, isChain: false) == "thread-head")
        #expect(reason(whole, parts + [post("@friend look")]) == "mentions-others")
        #expect(reason(whole, parts + [post("!!!")]) == "no-words")
        #expect(reason(TextRules(network: .x, threads: .whole), parts) == "thread-head")
    }

    @Test func theLongestPartIsTheLengthOfAThread() {
        var rules = TextRules(threads: .whole)
        #expect(rules.preparation(of: head, thread: parts).length == parts[1].text.count)
        rules.limits.maximumCharacters = parts[1].text.count - 1
        expect((try? rules.texts(of: parts).get().count), equals: nil)
    }

    @Test func otherRulesAboutThreadsJudgeAnew() {
        #expect(TextRules().version != TextRules(threads: .whole).version)
    }
}
