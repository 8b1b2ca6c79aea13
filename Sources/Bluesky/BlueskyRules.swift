import Foundation
import Networks
import Posts

/// Reads the terms of the account's server.
extension BlueskyNetwork {
    /// - Returns: The addresses of its terms and of its privacy policy, which are web pages.
    package func serverStatements() async throws -> [String] {
        let answer = try await answer(
            to: NetworkCall(.readRules, "com.atproto.server.describeServer"))
        return try answer.value(BlueskyServerDescription.self).links
    }
}

private struct BlueskyServerDescription: Decodable {
    let links: [String]

    init(from decoder: any Decoder) throws {
        let links = try WireObject(from: decoder).object("links")
        self.links = [links?.text("termsOfService"), links?.text("privacyPolicy")].compactMap(
            \.self
        )
        .filter { PlainText.isWebAddress($0) }
    }
}
