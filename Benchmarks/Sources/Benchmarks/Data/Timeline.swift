import Foundation
import Sandbox

/// A timeline as a person might read it: posts in Japanese and English with everything that posts
/// have in them.
///
/// The sentences are the sandbox's, whose words are few. Each post therefore also speaks of
/// something that has a name, drawn from many thousands so that a few names come often and most
/// hardly ever, as words do. Everything follows from the seed.
struct Timeline: Sendable {
    struct Post: Sendable {
        let author: String
        let text: String
        let isFavorite: Bool
    }

    let posts: [Post]

    private static let japaneseShare = 0.7
    private static let nameCount = 30_000
    private static let authorCount = 600

    init(count: Int, seed: UInt64 = 5) {
        var generator = SampleGenerator(seed: seed)
        let names = Names(count: Self.nameCount, generator: &generator)
        posts = (0..<count).map { _ in Self.post(names, &generator) }
    }

    private static func post(_ names: Names, _ generator: inout SampleGenerator) -> Post {
        let language: SampleLanguage = generator.chance(japaneseShare) ? .japanese : .english
        let author = generator.element(of: SamplePeople.everyone) ?? SamplePeople.human
        let topic = generator.element(of: SampleTopic.allCases) ?? .cats
        let isFavorite = topic.wouldBeFavorited(by: author, generator: &generator)
        var text = (0..<(1 + generator.number(below: 3))).map { _ in
            SampleTexts.post(topic: topic, language: language, generator: &generator)
        }.joined(separator: language == .japanese ? "" : " ")
        text += aside(names.draw(&generator), language, &generator)
        text = decorated(text, names, &generator)
        // Most of a timeline is by few people.
        let number = Int(pow(generator.uniform(), 2) * Double(authorCount))
        return Post(author: "\(author.userName)\(number)", text: text, isFavorite: isFavorite)
    }

    private static func aside(
        _ name: String, _ language: SampleLanguage, _ generator: inout SampleGenerator
    ) -> String {
        let frames =
            language == .japanese
            ? ["\(name)の話。", "そういえば\(name)はどうなった？", "\(name)が好き。", "また\(name)か……"]
            : [
                " It is all about \(name).", " Who is \(name)?", " \(name) again!",
                " Thanks, \(name).",
            ]
        return generator.element(of: frames) ?? ""
    }

    /// Mentions, links, hashtags, faces and wide letters, about as often as on a real timeline.
    private static func decorated(
        _ text: String, _ names: Names, _ generator: inout SampleGenerator
    ) -> String {
        var text = text
        if generator.chance(0.25) { text = "@\(names.latin(&generator))@sandbox.example " + text }
        if generator.chance(0.2) {
            text += " https://example.com/\(generator.number(below: 1 << 30))"
        }
        if generator.chance(0.15) { text += " #" + names.draw(&generator) }
        if generator.chance(0.1) { text += generator.element(of: ["😀", "☕", "🐈🐈", "❤️"]) ?? "" }
        if generator.chance(0.08) {
            text += generator.element(of: ["ｗｗｗ", "！！！", "ＯＫ", "ﾈｺ", "①"]) ?? ""
        }
        return text
    }
}

/// Names of persons, places and things, as a dictionary has them and has them not.
private struct Names: Sendable {
    private let all: [String]

    private static let kanji = Array("山川田中村上下本木林森石井野原高橋松竹梅小大島崎岡谷沢水金銀東西南北新古花月星")
    private static let syllables = Array("アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモラリルレロ")
    private static let letters = Array("abcdefghijklmnopqrstuvwxyz")

    init(count: Int, generator: inout SampleGenerator) {
        var names: [String] = []
        for _ in 0..<count {
            switch generator.number(below: 3) {
            case 0: names.append(Self.word(of: Self.kanji, 2...3, &generator))
            case 1: names.append(Self.word(of: Self.syllables, 2...5, &generator) + "ン")
            default: names.append(Self.word(of: Self.letters, 4...9, &generator).capitalized)
            }
        }
        all = names
    }

    /// The name at place n about as often as 1 / n.
    func draw(_ generator: inout SampleGenerator) -> String {
        let place = Int(pow(Double(all.count), generator.uniform())) - 1
        return all[min(max(0, place), all.count - 1)]
    }

    func latin(_ generator: inout SampleGenerator) -> String {
        Self.word(of: Self.letters, 4...9, &generator)
    }

    private static func word(
        of characters: [Character], _ lengths: ClosedRange<Int>, _ generator: inout SampleGenerator
    ) -> String {
        let length = lengths.lowerBound + generator.number(below: lengths.count)
        return String((0..<length).compactMap { _ in generator.element(of: characters) })
    }
}
