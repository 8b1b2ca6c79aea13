import Formats
import Foundation
import Posts
import Testing

/// The value of a field about an audience.
enum AudienceField: Equatable, Sendable {
    case text(String)
    case flag(Bool)
    /// A list or an object.
    case other
}

/// Who a post is for, from every field in which a program says so; docs/audience.md lists them.
@Suite struct PostAudienceTests {
    /// A status as it is after its JSON was read.
    private struct Fields: WireFields, ExpressibleByDictionaryLiteral {
        var values: [String: AudienceField]
        var objects: [String: Fields] = [:]

        init(_ values: [String: AudienceField]) { self.values = values }

        init(dictionaryLiteral elements: (String, AudienceField)...) {
            values = Dictionary(elements) { $1 }
        }

        func text(_ name: StaticString) -> String? {
            if case .text(let text) = values[name.description] { text } else { nil }
        }

        func string(_ name: StaticString) -> String? { text(name) }

        func truth(_ name: StaticString) -> Bool? {
            if case .flag(let flag) = values[name.description] { flag } else { nil }
        }

        func child(_ name: StaticString) -> Fields? { objects[name.description] }
        func children(_ name: StaticString) -> [Fields] { [] }
        func texts(_ name: StaticString) -> [String]? { nil }

        func isPresent(_ name: StaticString) -> Bool {
            values[name.description] != nil || objects[name.description] != nil
        }
    }

    private static func status(_ more: [String: AudienceField]) -> PostAudience {
        PostAudience(status: Fields(["visibility": .text("public")].merging(more) { $1 }))
    }

    @Test(
        arguments: [
            // Mastodon.
            ("public", .public), ("unlisted", .unlisted), ("private", .private),
            ("direct", .direct),
            // Misskey and its descendants.
            ("home", .unlisted), ("followers", .private), ("specified", .direct),
            ("hidden", .direct),
            // Pleroma and Akkoma.
            ("local", .local), ("list", .direct),
            // kmyblue and Fedibird.
            ("public_unlisted", .unlisted), ("login", .private), ("limited", .direct),
            ("mutual", .direct),
            ("personal", .direct),
            // GoToSocial, Mitra, Pixelfed.
            ("mutuals_only", .direct), ("subscribers", .direct), ("draft", .direct),
            ("archived", .direct),
            // Nobody's.
            ("", .direct), ("PUBLIC", .direct), ("everybody", .direct),
        ] as [(String, Visibility)])
    func aWordMeansAnAudience(word: String, expected: Visibility) {
        #expect(PostAudience(status: ["visibility": .text(word)] as Fields).visibility == expected)
        // The same word in the second field narrows what the first one says.
        #expect(Self.status(["visibility_ex": .text(word)]).visibility == expected)
    }

    @Test func aPostWithoutAWordIsForNobodyElse() {
        #expect(PostAudience(status: [:] as Fields).visibility == .direct)
        #expect(PostAudience(status: ["visibility": .flag(true)] as Fields).visibility == .direct)
        #expect(
            PostAudience(status: ["visibility_ex": .text("public")] as Fields).visibility == .direct
        )
    }

    @Test func noFieldWidens() {
        let followersOnly = PostAudience(
            status: [
                "visibility": .text("private"), "visibility_ex": .text("public"),
                "local_only": .flag(false),
            ]
                as Fields)
        #expect(followersOnly.visibility == .private)
        var audience = followersOnly
        audience.narrow(to: .public)
        #expect(audience.visibility == .private)
    }

    @Test(
        arguments: [
            ("local_only", .flag(true), .local), ("local_only", .flag(false), .public),
            ("local_only", .text("1"), .local), ("local_only", .text("0"), .public),
            ("local_only", .text("yes"), .local), ("local_only", .other, .local),
            ("localOnly", .flag(true), .local),
            ("federated", .flag(false), .local), ("federated", .flag(true), .public),
            ("federated", .text("here"), .local), ("limited_scope", .text("circle"), .direct),
            ("limited_scope", .text("none"), .public), ("limitedScope", .text("Mutual"), .direct),
            ("circle_id", .text("7"), .direct), ("directMessage", .flag(true), .direct),
            ("directMessage", .flag(false), .public), ("searchability", .text("direct"), .public),
        ] as [(String, AudienceField, Visibility)])
    func aSecondFieldNarrows(name: String, field: AudienceField, expected: Visibility) {
        let audience = Self.status([name: field])
        #expect(audience.visibility == expected)
        #expect(audience.isOpen == expected.isOpen)
    }

    @Test func aPostForFollowersAtHomeIsForNobodyElsewhere() {
        let audience = PostAudience(
            status: ["visibility": .text("private"), "local_only": .flag(true)] as Fields)
        #expect(audience.visibility == .local)
    }

    @Test(arguments: ["expires_at", "expires_in", "expiry", "deleteAt"])
    func aPostWithAnEndIsNotOpen(name: String) {
        let audience = Self.status([name: .text("2026-12-01T00:00:00Z")])
        #expect(audience.isTimeLimited)
        #expect(!audience.isOpen)
        #expect(audience.visibility == .public)
        for place in ["pleroma", "akkoma"] {
            var fields: Fields = ["visibility": .text("public")]
            // Where a post was made says nothing of whom it is for.
            fields.objects[place] = ["local": .flag(true)]
            #expect(PostAudience(status: fields).isOpen)
            fields.objects[place] = [name: .text("2026-12-01T00:00:00Z")]
            #expect(!PostAudience(status: fields).isOpen)
        }
    }

    @Test(
        arguments: [
            (["https://www.w3.org/ns/activitystreams#Public"], [], .public),
            (["as:Public"], ["x"], .public),
            (["https://a.example/users/ann/followers"], ["as:Public"], .unlisted),
            (["https://a.example/users/ann/followers"], [], .private),
            (["https://a.example/#Public"], [], .local),
            (["https://b.example/users/bob"], [], .direct),
            (["kmyblue:LoginOnly"], ["https://a.example/users/ann/followers"], .private),
            ([], [], .direct),
        ] as [([String], [String], Visibility)])
    func addressesAreRead(to: [String], cc: [String], expected: Visibility) {
        var audience = PostAudience()
        audience.narrow(to: to, cc: cc, followers: nil)
        #expect(audience.visibility == expected)
    }

    @Test(
        arguments: [
            ([], .public), (["porn", "!warn"], .public), (["!no-unauthenticated"], .private),
            (["bot", "!hide"], .direct), (["!what-will-come"], .direct),
        ] as [([String], Visibility)])
    func labelsAreRead(labels: [String], expected: Visibility) {
        var audience = PostAudience()
        audience.narrow(to: .public)
        audience.narrow(byLabels: labels)
        #expect(audience.visibility == expected)
    }

    @Test(
        arguments: [
            ("good morning", .public), ("the neighbours meet at nine 👁", .local),
            ("the neighbours meet at nine \u{1F441}\u{FE0F}", .local),
            ("an eye 👁 in between", .public),
            ("👁 \n", .local),
        ] as [(String, Visibility)])
    func anEyeAtTheEndKeepsAPostAtItsServer(text: String, expected: Visibility) {
        var audience = Self.status([:])
        audience.narrow(byEndOf: text)
        #expect(audience.visibility == expected)
    }
}

/// The page about audiences, compared with the program.
@Suite struct AudienceDocumentTests {
    private func page() throws -> [[String]] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/audience.md"), encoding: .utf8)
        return text.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    private func words(in cell: String) -> [String] {
        cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }

    @Test func everyWordMeansWhatThePageSays() throws {
        let rows = try page().filter { $0.count == 3 && Visibility(rawValue: $0[1]) != nil }
        #expect(rows.count > 10)
        for row in rows {
            for word in words(in: row[0]) {
                var audience = PostAudience()
                audience.narrow(byWord: word)
                #expect(audience.visibility.rawValue == row[1], "\(word)")
            }
        }
    }

    @Test func everyFieldThatIsReadStandsOnThePage() throws {
        let fields = try page().filter { $0.count == 4 }.flatMap { words(in: $0[0]) }
        for name in PostAudience.fieldNames {
            #expect(
                fields.contains { $0 == name || $0.hasSuffix(".\(name)") }, "\(name) is missing")
        }
    }
}
