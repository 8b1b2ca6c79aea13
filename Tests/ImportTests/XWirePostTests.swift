import Foundation
import TestSupport
import Testing

@testable import Import

@Suite struct XWirePostTests {
    private static let whole = #"""
        {
          "tweet" : {
            "edit_info" : { "initial" : { "editTweetIds" : [ "162" ], "isEditEligible" : true, "left" : -5 } },
            "retweeted" : false,
            "source" : "<a href=\"https:\/\/example.org\" rel=\"nofollow\">Web</a>",
            "entities" : {
              "hashtags" : [ ],
              "user_mentions" : [
                { "name" : "Aoi", "indices" : [ "0", "5" ], "id_str" : "91", "id" : "91" },
                { "id" : "92" }
              ],
              "urls" : [ { "url" : "https://t.co/a", "expanded_url" : "https://example.org/a\nb" } ],
              "media" : [ { "url" : "https://t.co/p", "sizes" : { "w" : 150 } } ]
            },
            "in_reply_to_status_id_str" : "161", "in_reply_to_user_id_str" : "91", "in_reply_to_screen_name" : "aoi",
            "id_str" : "162", "id" : "162", "possibly_sensitive" : true, "place" : null,
            "created_at" : "Sat Feb 18 12:33:11 +0000 2023",
            "full_text" : "@aoi \"今日は\"\t雪 🚃 \\ &amp; https://t.co/a",
            "lang" : "ja",
            "extended_entities" : { "media" : [ { "url" : "https://t.co/q", "id" : 7 } ] }
          }
        }
        """#

    private func decoded(_ text: String) -> XWirePost? {
        try? JSONDecoder().decode(XWirePost.self, from: Data(text.utf8))
    }

    private func plain(_ text: String) -> XWirePost? { XWirePost(plain: Array(text.utf8)) }

    @Test func readsAWholePostAsTheDecoderDoes() throws {
        let post = try #require(plain(Self.whole))
        #expect(post == decoded(Self.whole))
        #expect(post.text == "@aoi \"今日は\"\t雪 🚃 \\ &amp; https://t.co/a")
        #expect(post.links.map(\.expanded) == ["https://example.org/a\nb"])
        #expect(post.media.map(\.short) == ["https://t.co/p", "https://t.co/q"])
        #expect(post.mentions.map(\.id) == ["91", "92"])
        #expect(post.mentions.map(\.start) == ["0", nil])
        #expect(post.isSensitive && !post.isRepost)
    }

    @Test(arguments: [
        #"{"tweet":{}}"#, #"{"tweet":{"id":"1","text":"a","more":[1,{"b":null}]}}"#,
        #"{"tweet":{"id_str":"","id":"1","full_text":null,"text":""}}"#, #"{"tweet":{"retweeted_status":null}}"#,
        #"{"tweet":{"id":5,"lang":["ja"],"possibly_sensitive":"yes","full_text":"a"}}"#,
        #" {"tweet" : {"entities":{"urls":[{"shortUrl":"s","expandedUrl":"e"}],"user_mentions":[{"indices":[]}]}}} "#,
    ])
    func readsWhatIsUnusualAsTheDecoderDoes(text: String) {
        let post = plain(text)
        #expect(post != nil)
        #expect(post == decoded(text))
    }

    @Test(arguments: [
        #"{"id_str":"1"}"#, #"{"tweet":1}"#, #"{"tweet":{},"more":1}"#, #"{"tweet":{"id":"1","id":"2"}}"#,
        #"{"tweet":{},"tweet":{}}"#,
        #"{"tweet":{"text":"\u3042"}}"#, #"{"tweet":{"te\u0078t":"a"}}"#, #"{"tweet":{"entities":null}}"#,
        #"{"tweet":{"entities":{"urls":[5]}}}"#, #"{"tweet":{"entities":{"user_mentions":[{"indices":[0]}]}}}"#,
        #"{"tweet":{"x":1.5}}"#, #"{"tweet":{"x":1e5}}"#, "{\"tweet\":{\"x\":\"\u{1}\"}}",
        // And what nobody understands.
        "", "{", #"{"tweet":{"#, #"{"tweet":{"x":01}}"#, #"{"tweet":{"x":-}}"#, #"{"tweet":{"x":"\q"}}"#,
        #"{"tweet":{"x":"#, #"{"tweet":{"x":tru}}"#, #"{"tweet":{"x" 1}}"#, #"{"tweet":{"x":1,}}"#,
        #"{"tweet":{"x":[1 2]}}"#, #"{"tweet":{"x":"a}}"#, #"{"tweet":{}}}"#, #"{"tweet":{}} x"#,
        #"{"tweet":{"x":"# + String(repeating: "[", count: 70) + String(repeating: "]", count: 70) + "}}",
    ])
    func leavesTheRestToTheDecoder(text: String) {
        #expect(plain(text) == nil)
    }

    @Test func neverDisagreesWithTheDecoder() {
        let words = ["\"id\":", "null", "[", "]", "{", "}", ",", "\\", "\"", "0", "true", "\"tweet\":{", "雪", " "]
            .map { Array($0.utf8) }
        var generator = SeededGenerator(seed: 20)
        var understood = 0
        for _ in 0..<20_000 {
            var bytes = Array(Self.whole.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: 0x20...0x7E, using: &generator)
                case 1: bytes.insert(contentsOf: words.randomElement(using: &generator) ?? [], at: place)
                case 2:
                    bytes.removeSubrange(
                        place..<min(bytes.count, place + Int.random(in: 1...9, using: &generator)))
                default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 30)], at: place)
                }
            }
            guard let text = String(validating: bytes, as: UTF8.self), let post = plain(text) else { continue }
            understood += 1
            guard post == decoded(text) else {
                Issue.record("another post than the decoder's of \(text)")
                return
            }
        }
        #expect(understood > 1_000)
    }
}
