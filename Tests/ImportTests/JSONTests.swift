import Expectations
import Formats
import Foundation
import TestSupport
import Testing

@testable import Import

@Suite struct JSONTests {
    private static let whole = #"""
        {
          "tweet" : {
            "edit_info" : { "initial" : { "editTweetIds" : [ "162" ], "isEditEligible" : true, "left" : -5 } },
            "retweeted" : false, "half" : 1.5, "large" : 1e3,
            "source" : "<a href=\"https:\/\/example.org\" rel=\"nofollow\">Web</a>",
            "entities" : {
              "hashtags" : [ ], "": {},
              "user_mentions" : [ { "name" : "Aoi", "indices" : [ "0", 5 ], "id_str" : "91" }, { "id" : "92" } ]
            },
            "place" : null, "more" : "\u3042\ud83d\ude83",
            "full_text" : "@aoi \"今日は\"\t雪 🚃 \\ &amp; https://t.co/a"
          }
        }
        """#

    private static let withoutEscapes = whole.replacing(#"\u3042\ud83d\ude83"#, with: "あ")

    private func json(_ text: String) throws -> JSON { try JSON(Array(text.utf8)) }

    @Test func givesWhatIsAskedFor() throws {
        let post = try json(Self.whole).object("tweet")
        #expect(post["full_text"]?.text == "@aoi \"今日は\"\t雪 🚃 \\ &amp; https://t.co/a")
        #expect(post["more"]?.text == "あ🚃")
        expect(post["retweeted"]) { $0?.truth == false }
        expect(post["place"]) { $0?.isNull == true }
        #expect(post["large"]?.integer == 1_000)
        #expect(post["half"]?.integer == nil)
        let mentions = post["entities"]?["user_mentions"]?.list ?? []
        #expect(mentions.map { $0["id_str"]?.text } == ["91", nil])
        #expect(mentions.first?["indices"]?.list.map(\.text) == ["0", nil])
        #expect(post["entities"]?.members.map(\.key) == ["hashtags", "", "user_mentions"])
        #expect(post["nothing"] == nil)
        #expect(post["place"]?["x"] == nil)
        expect(post["retweeted"]?.list) { $0?.isEmpty == true }
        #expect(post["retweeted"]?.text == nil)
        #expect(post["full_text"]?.truth == nil)
        #expect(post["full_text"]?.integer == nil)
    }

    @Test(arguments: [
        "", " ", "{", #"{"a":"#, #"{"a":tru}"#, #"{"a" 1}"#, #"{"a":[1 2]}"#, #"{"a":"b}"#, "{}}",
        "{} x", "{,}", "[,]",
        #"{"a":+1}"#, #"{"a":.5}"#, #"{a:1}"#, #"{"a":1x}"#, "{}\0", #"{"a"}"#, #"{1:2}"#,
        String(repeating: "[", count: 513) + String(repeating: "]", count: 513),
    ])
    func refusesWhatIsNoJSON(text: String) {
        let fault = #expect(throws: ItemFault.self) { try json(text) }
        #expect(fault?.reason == "not valid JSON")
    }

    @Test func refusesWhatIsNoUTF8() {
        let fault = #expect(throws: ItemFault.self) {
            try JSON(Array(#"{"a":""#.utf8) + [0xFF] + Array("\"}".utf8))
        }
        #expect(fault?.reason == "not valid UTF-8")
    }

    @Test func takesTheFirstOfEqualKeys() throws {
        let value = try json(#"{"a":1,"\u0061":2,"b":3,"a":4}"#)
        #expect(value["a"]?.integer == 1)
        #expect(value.members.map(\.key) == ["a", "a", "b", "a"])
    }

    /// Half of a pair that stands alone, as of an emoji that was cut in two, costs nothing but
    /// itself.
    @Test(arguments: [
        (#"\ud83d"#, "\u{FFFD}"), (#"a\ud83d\u2026"#, "a\u{FFFD}…"), (#"\ud83dA"#, "\u{FFFD}A"),
        (#"\ud83d\u0041"#, "\u{FFFD}A"), (#"\ude83"#, "\u{FFFD}"),
        (#"\ude83\ud83d"#, "\u{FFFD}\u{FFFD}"),
        (#"\ud83d\ud83d\ude83"#, "\u{FFFD}🚃"), (#"\ud83d\n"#, "\u{FFFD}\n"),
        (#"\\ud83d"#, #"\ud83d"#),
    ])
    func halfAPairIsAReplacementCharacter(escaped: String, text: String) throws {
        try expect(json(#"{"a":"\#(escaped)"}"#)["a"]?.text, equals: text)
    }

    @Test(arguments: [#"\q"#, #"\u12"#, #"\u00zz"#, #"\u+123"#, #"\ud83d\q"#, #"\ud83d\u00zz"#])
    func hasNoTextForEscapesThatMeanNothing(escape: String) throws {
        let value = try json(#"{"a":"\#(escape)","b":"c"}"#)
        #expect(value["a"]?.text == nil)
        #expect(value["b"]?.text == "c")
    }

    @Test func saysWhatIsMissingOnAPath() throws {
        func fault(_ text: String) -> String? {
            #expect(throws: ItemFault.self) { try json(text).object("a", "b") }?.reason
        }
        #expect(fault("7") == "not a JSON object")
        #expect(fault("{}") == "a is missing")
        #expect(fault(#"{"a":7}"#) == "a has the wrong type")
        #expect(fault(#"{"a":{"b":[]}}"#) == "a.b has the wrong type")
    }

    @Test func neverDisagreesWithTheDecoder() {
        let words = [
            "\"id\":", "null", "[", "]", "{", "}", ",", "\\", "\"", "0", "true", "\"tweet\":{", "雪",
            " ", "-1",
        ]
        .map { Array($0.utf8) }
        var generator = SeededGenerator(seed: 20)
        var understood = 0
        for _ in 0..<10_000 {
            var bytes = Array(
                (Bool.random(using: &generator) ? Self.whole : Self.withoutEscapes).utf8)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: 0x20...0x7E, using: &generator)
                case 1:
                    bytes.insert(
                        contentsOf: words.randomElement(using: &generator) ?? [], at: place)
                case 2:
                    bytes.removeSubrange(
                        place..<min(bytes.count, place + Int.random(in: 1...9, using: &generator)))
                default:
                    bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 30)], at: place)
                }
            }
            guard let text = String(validating: bytes, as: UTF8.self) else { continue }
            let decoded = try? JSONDecoder().decode(Value.self, from: Data(bytes))
            let value = (try? JSON(bytes)).map(Value.init)
            // What the decoder finds wrong only once it is asked for a string or a number is
            // nothing here, and it takes four bytes behind a `\u` even past the end of the string.
            guard decoded?.isWhole ?? !text.contains(#"\u"#) else { continue }
            understood += value == nil ? 0 : 1
            guard value == decoded else {
                Issue.record("\(value as Any), not the decoder's \(decoded as Any), of \(text)")
                return
            }
        }
        #expect(understood > 1_000)
    }
}

/// A value of JSON in a form that can be compared.
private indirect enum Value: Decodable, Equatable {
    case null, truth(Bool), integer(Int?), text(String), list([Value]), object([String: Value])
    /// What the decoder refuses to make anything of.
    case broken

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: Key.self) {
            var members: [String: Value] = [:]
            for key in container.allKeys {
                members[key.stringValue] = try container.decode(Value.self, forKey: key)
            }
            self = .object(members)
        } else if var entries = try? decoder.unkeyedContainer() {
            var list: [Value] = []
            while !entries.isAtEnd { list.append(try entries.decode(Value.self)) }
            self = .list(list)
        } else {
            let value = try decoder.singleValueContainer()
            if value.decodeNil() {
                self = .null
            } else if let truth = try? value.decode(Bool.self) {
                self = .truth(truth)
            } else if let text = try? value.decode(String.self) {
                self = .text(text)
            } else if let number = try? value.decode(Double.self) {
                self = .integer((try? value.decode(Int.self)) ?? Int(exactly: number))
            } else {
                self = .broken
            }
        }
    }

    init(_ json: JSON) {
        if json.isNull {
            self = .null
        } else if let truth = json.truth {
            self = .truth(truth)
        } else if json.isObject {
            self = .object(
                Dictionary(json.members.map { ($0.key, Value($0.value)) }) { first, _ in first })
        } else if json.isList {
            self = .list(json.list.map(Value.init))
        } else if let text = json.text {
            self = .text(text)
        } else {
            self = .integer(json.integer)
        }
    }

    var isWhole: Bool {
        switch self {
        case .broken: false
        case .list(let list): list.allSatisfy(\.isWhole)
        case .object(let members): members.values.allSatisfy(\.isWhole)
        default: true
        }
    }
}
