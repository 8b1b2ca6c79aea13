import Expectations
import Foundation
import TestSupport
import Testing

@testable import Web

/// Every page in every state is in Japanese for a browser that prefers it, and no sentence of it
/// stays in English; with style, script and icon such a page has at most 60 kB, as an English one.
@Suite(.timeLimit(.minutes(30))) struct JapanesePagesTests {
    private static let states = PageState.all.filter { !$0.isHostile && $0.name != "many" }

    private static let limit = 60_000 - WebAsset.ofEveryPage.reduce(0) { $0 + $1.size }

    @Test(arguments: states) func noSentenceIsEnglish(_ state: PageState) async throws {
        let (stand, pages) = try await state.start()
        do {
            if let password = state.password {
                _ = try await stand.client.send("/login", form: [("password", password)])
            }
            for page in pages {
                let answer = try await stand.client.send(
                    page.path, headers: ["Accept-Language": "ja"])
                #expect(answer.status == page.status, "\(page.path)")
                guard answer.body.contains("<html") else { continue }
                #expect(answer.body.contains("<html lang=\"ja\""), "\(page.path)")
                #expect(EnglishWords(html: answer.body).found == [], "\(page.path)")
                expect(answer.body.utf8.count, "\(page.path)") { $0 <= Self.limit }
            }
        } catch {
            await stand.stop()
            throw error
        }
        await stand.stop()
    }

    /// A page in one language is never served in place of the other.
    @Test func theLanguageIsTheRequests() async throws {
        try await WebStand.with { stand in
            for (field, tag) in [
                ("ja", "ja"), ("en", "en"), ("ja-JP", "ja"), ("de", "en"), ("", "en"),
            ] {
                let answer = try await stand.client.send(
                    "/m/mika", headers: ["Accept-Language": field])
                #expect(answer.body.contains("<html lang=\"\(tag)\""), "\(field)")
                #expect(answer["Content-Language"] == tag, "\(field)")
                #expect(answer.all("Vary").contains("Accept-Language"), "\(field)")
            }
        }
    }

    @Test func englishIsFound() {
        let words = EnglishWords(
            html: """
                <p title="Move it">今日は3件posted、<b>Mastodon</b>の<bdi>any text</bdi></p>
                <p>mirror-bot <code>mirror-bot run</code> a.example @ann TIME_ZONE 12:30 X kB</p>
                <p><span lang="en">some words</span> 公開</p><input placeholder="例: 20:15">
                <p>新しい値：yes、no</p><p>「any」は plain text です</p>
                """)
        #expect(
            words.found.map { $0.split(separator: " ").first }
                == ["posted", "plain", "text", "Move", "it"])
    }
}
