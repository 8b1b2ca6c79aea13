import Formats
import Foundation
import Networks
import Posts

/// Reads the rules of the server, its description and its about page.
extension MastodonNetwork {
    package func serverStatements() async throws -> [String] {
        let instance = try await MastodonInstance.selfDescription { call in
            try await session.value(MastodonStatement.self, call)
        }
        let listedRules = try await unlessAbsent([LenientElement<MastodonRule>].self, "rules")?
            .compactMap(\.value?.text)
        let about = try await unlessAbsent(MastodonAboutPage.self, "extended_description")?.text
        let rules = listedRules ?? instance.rules
        let statements = rules + [instance.description, about].compactMap(\.self)
        return statements.filter { !$0.isEmpty }
    }

    /// Reads a part of `/api/v1/instance`; nil if the server does not have it.
    private func unlessAbsent<Value: Decodable>(_ type: Value.Type, _ part: String) async throws
        -> Value?
    {
        do {
            return try await session.value(
                type, NetworkCall(operation: .readRules, path: ["api", "v1", "instance", part]))
        } catch let error as NetworkError where error.lacksAnswer {
            return nil
        }
    }
}

/// A server's description and rules, in version 1 or 2 of the answer.
struct MastodonStatement: Decodable {
    let description: String?
    let rules: [String]

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        let descriptions = ["description", "short_description"].compactMap { wire.text($0) }
        description = descriptions.first { !$0.isEmpty }.map { PlainText.fromHTML($0) }
        rules = wire.list(of: MastodonRule.self, "rules").map(\.text)
    }
}

extension MastodonInstance {
    /// Reads the server's description of itself, in version 2 or else 1 of the answer.
    ///
    /// - Throws: The error of `request` for version 1.
    fileprivate static func selfDescription(
        _ request: (NetworkCall) async throws -> MastodonStatement
    ) async throws -> MastodonStatement {
        func description(version: String) async throws -> MastodonStatement {
            try await request(
                NetworkCall(operation: .readRules, path: ["api", version, "instance"]))
        }
        do {
            return try await description(version: "v2")
        } catch let error as NetworkError where error.lacksAnswer {
            return try await description(version: "v1")
        }
    }
}

extension NetworkError {
    /// Whether the server answered, but lacks this part of the interface.
    fileprivate var lacksAnswer: Bool {
        status == 405 || [.notFound, .rejected, .forbidden, .malformedResponse].contains(code)
    }
}

/// A rule, with the explanation (`hint`) that newer versions of Mastodon show below it.
private struct MastodonRule: Decodable {
    let text: String

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        let lines = [wire.text("text"), wire.text("hint")].compactMap(\.self).filter { !$0.isEmpty }
        text = lines.map { PlainText.fromHTML($0) }.joined(separator: "\n")
    }
}

/// The about page, as HTML.
private struct MastodonAboutPage: Decodable {
    let text: String

    init(from decoder: any Decoder) throws {
        text = PlainText.fromHTML(try WireObject(from: decoder).text("content") ?? "")
    }
}
