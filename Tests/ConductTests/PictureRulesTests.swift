import Conduct
import Foundation
import NetworkNames
import Posts
import Testing

@Suite struct PictureRulesTests {
    private static let hill = Picture(url: "https://pictures.example/1.jpg", alt: "a hill")

    private func post(
        _ pictures: [Picture], text: String = "a walk in the hills", isSensitive: Bool = false,
        isReply: Bool = false
    ) -> Post {
        Post(
            id: PostID(network: .mastodon, value: "1"),
            author: AccountID(network: .mastodon, value: "human"),
            text: text, createdAt: .distantPast,
            replyTo: isReply
                ? ReplyTarget(author: AccountID(network: .mastodon, value: "friend")) : nil,
            hasMedia: true, isSensitive: isSensitive, pictures: pictures)
    }

    private func code(_ result: Result<String, Refusal>) -> String? {
        if case .failure(let refusal) = result { refusal.code } else { nil }
    }

    @Test(
        arguments: [
            (PictureRule.leftOut, [hill], "has-media"), (.described, [hill], nil),
            (.described, [], "has-media"),
            (.described, [hill, Picture(alt: "")], "no-alt-text"),
            (.all, [hill, Picture(alt: "")], nil),
            (.all, [Picture(alt: String(repeating: "x", count: 1_501))], "long-alt-text"),
        ] as [(PictureRule, [Picture], String?)])
    func aPostIsSentWithAllItsPicturesOrNotAtAll(
        _ rule: PictureRule, _ pictures: [Picture], _ reason: String?
    ) {
        let rules = TextRules(pictures: rule)
        #expect(code(rules.text(for: post(pictures))) == reason)
        #expect(rules.preparation(of: post(pictures)).unfit?.rawValue == reason)
        if reason == nil { #expect(rules.pictures(of: post(pictures)) == pictures) }
    }

    @Test func aPictureWithoutATextIsNotSent() {
        #expect(
            code(TextRules(pictures: .all).text(for: post([Self.hill], text: ""))) == "no-words")
    }

    @Test func aReplyWithPicturesStaysUnsaid() {
        let reply = post([Self.hill], text: "@friend look", isReply: true)
        #expect(
            code(TextRules(pictures: .all).replyText(for: reply, to: "friend@home.example"))
                == "has-media")
    }

    @Test func whatIsSensitiveForItsPicturesAloneIsSentAsSuchWhereThatCanBeSaid() {
        let sensitive = post([Self.hill], isSensitive: true)
        #expect(code(TextRules(pictures: .described).text(for: sensitive)) == "sensitive")
        let carries = TextRules(carriesWarnings: true, pictures: .described)
        #expect(code(carries.text(for: sensitive)) == nil)
        #expect(carries.pictures(of: sensitive).map(\.isSensitive) == [true])
        #expect(carries.pictures(of: post([Self.hill])).map(\.isSensitive) == [nil])
        for network in [NetworkName.x, .bluesky] {
            let rules = TextRules(network: network, carriesWarnings: true, pictures: .described)
            #expect(code(rules.text(for: sensitive)) == "sensitive")
        }
    }

    @Test func otherRulesAboutPicturesJudgeAnew() {
        let versions = PictureRule.allCases.map { TextRules(pictures: $0).version }
        #expect(Set(versions).count == 3 && versions[0] == TextRules().version)
    }
}
