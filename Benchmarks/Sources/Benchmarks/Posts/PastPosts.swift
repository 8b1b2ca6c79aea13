import Foundation
import NetworkNames
import Posts
import Sandbox

/// The posts of somebody who has written a lot on X: newest first, as in an archive, a third of
/// them answers.
enum PastPosts {
    static func make(count: Int, seed: UInt64 = 3) -> [Post] {
        var generator = SampleGenerator(seed: seed)
        let human = AccountID(network: .x, value: "2244994945")
        let people = (0..<800).map { _ in
            AccountID(network: .x, value: "\(1_000_000 + generator.number(below: 1 << 40))")
        }
        // 2025-06-01, with some four minutes between two posts.
        var milliseconds: Int64 = 1_748_736_000_000
        return (0..<count).map { _ in
            milliseconds -= 1_000 + Int64(generator.number(below: 500_000))
            let id = XID(milliseconds: milliseconds, noise: generator.number(below: 1 << 22))
            let person = generator.chance(0.33) ? generator.element(of: people) : nil
            let answered = person.map { person in
                ReplyTarget(
                    author: person,
                    post: PostID(
                        network: .x, value: id.text(minus: generator.number(below: 1 << 36))))
            }
            let language: SampleLanguage = generator.chance(0.6) ? .japanese : .english
            let topic = generator.element(of: SampleTopic.allCases) ?? .cats
            var text = SampleTexts.post(topic: topic, language: language, generator: &generator)
            if generator.chance(0.1) {
                text += " https://example.com/\(generator.number(below: 1 << 30))"
            }
            return Post(
                id: PostID(network: .x, value: id.text()), author: human, text: text,
                createdAt: Date(milliseconds: milliseconds), replyTo: answered,
                language: language.rawValue,
                hasMedia: generator.chance(0.1), mentions: person.map { [$0] } ?? [],
                address: id.text())
        }
    }

    /// An id as X makes them: the time since its epoch above 22 other bits.
    private struct XID {
        private static let epoch: Int64 = 1_288_834_974_657
        private let number: Int64

        init(milliseconds: Int64, noise: Int) {
            number = (milliseconds - Self.epoch) << 22 | Int64(noise)
        }

        func text(minus difference: Int = 0) -> String { String(number - Int64(difference)) }
    }
}
