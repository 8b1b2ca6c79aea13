import Archive
import Configuration
import Foundation
import HTTPTypes
import Mirroring
import NetworkNames
import Posts
import Settings
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Web

/// A mirror in a database of its own, and requests to its pages without a server.
struct PageStage {
    /// 2026-05-28, 20:26 UTC: a Thursday.
    static let now = SampleReport.now
    static let human = AccountID(network: .mastodon, value: "ann@home.example")

    let mirror: HumanMirror
    private let folder: TemporaryDirectory

    /// - Parameter variables: Settings besides those of a mirror with a clock in UTC; empty ones
    ///   count as not set.
    static func open(_ variables: [String: String] = [:]) async throws -> PageStage {
        let folder = try TemporaryDirectory()
        try await MigratedDatabase.copy(to: folder.path("mirror-bot.sqlite"))
        let all = ["MIRROR": "test", "MIRROR_BOT_HOME": folder.path, "TIME_ZONE": "UTC"].merging(
            variables
        ) { $1 }
        let values = try SettingValues(
            environment: EnvironmentVariablesProvider(environmentVariables: all))
        let mirror = try await HumanMirror.open(
            try MirrorConfiguration(values, environment: [:]), clock: VirtualClock(startingAt: now))
        return PageStage(mirror: mirror, folder: folder)
    }

    func close() async { await mirror.close() }

    /// Archives posts, one an hour back from a month ago, and lets the rules judge them.
    func archive(_ texts: [String], language: String? = "en") async throws {
        let posts = texts.enumerated().map { index, text in
            Post(
                id: PostID(network: .mastodon, value: "https://home.example/@ann/\(1_000 + index)"),
                author: Self.human, text: text,
                createdAt: Self.now - 40 * 86_400 - Double(index) * 3_600,
                visibility: .public, language: language)
        }
        _ = try await mirror.archive.store(posts, timeZone: .gmt, limit: 10_000)
        try await mirror.archive.prepare(by: mirror.textJudge(zone: .gmt))
    }

    func request(
        _ path: String, _ parameters: [String: String] = [:], query: [(String, String)] = [],
        form: [(String, String)] = [], isReadOnly: Bool = false
    ) async throws -> MirrorRequest {
        let record = try await mirror.table.record()
        return MirrorRequest(
            mirror: mirror, record: record, zone: mirror.knownTimeZone(record), now: Self.now,
            path: path,
            parameters: parameters, query: WebFields(query), form: WebFields(form),
            access: Access(
                csrf: "the-token", isReadOnly: isReadOnly, theme: nil, hasLogin: true,
                hasIndex: false, isUnencrypted: false, canNameFiles: true))
    }

    /// What a route answers.
    func answer(
        _ page: any MirrorPage.Type, _ method: HTTPRequest.Method, _ pattern: String,
        _ parameters: [String: String] = [:], query: [(String, String)] = [],
        form: [(String, String)] = [],
        isReadOnly: Bool = false
    ) async throws -> WebReply {
        let route = try #require(page.routes.first { $0.method == method && $0.pattern == pattern })
        return try await route.answer(
            try await request(pattern, parameters, query: query, form: form, isReadOnly: isReadOnly)
        )
    }

    /// The page that a route shows.
    func content(
        _ page: any MirrorPage.Type, _ pattern: String, query: [(String, String)] = [],
        isReadOnly: Bool = false
    ) async throws -> PageContent {
        let reply = try await answer(page, .get, pattern, query: query, isReadOnly: isReadOnly)
        guard case .page(let content) = reply else {
            throw TestSupportError("\(pattern) is no page")
        }
        return content
    }
}

extension WebReply {
    /// The question, if it is one.
    var question: Web.Confirmation? {
        if case .confirm(let confirmation) = self { confirmation } else { nil }
    }

    /// The page, if it is one.
    var content: PageContent? { if case .page(let content) = self { content } else { nil } }

    /// Where it leads, and what is said there.
    var way: (path: String, said: Said?)? {
        if case .seeOther(let path, let said) = self { (path, said) } else { nil }
    }
}

/// A page as it stands in the frame, checked for what every page must be.
struct RenderedPage {
    let html: String

    /// Bytes of the frame around a page, at most.
    static let frame = 7_000
    /// Bytes that a page may have: what is left of 60,000 beside the frame, the style, the script
    /// and the icon.
    static let limit = 60_000 - frame - WebAsset.ofEveryPage.reduce(0) { $0 + $1.size }

    /// - Parameter page: Whose templates are used.
    init(
        _ content: PageContent, of page: any MirrorPage.Type,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        html = try TemplateLibrary(page.templates).render(content.template, content.context).text
        let missing = TemplateKeys(content.template, content.context, page.templates).missing
        #expect(missing.isEmpty, "\(page)", sourceLocation: sourceLocation)
        #expect(
            html.utf8.count <= Self.limit, "\(page): \(html.utf8.count)",
            sourceLocation: sourceLocation)
        // What a hostile text brings stays text, and turns nothing around.
        for sign in ["<script", "<img", "\u{202E}", "\u{0}"] {
            let found = html.contains(sign)
            #expect(!found, "\(page): \(sign)", sourceLocation: sourceLocation)
        }
        // Those of drawings.
        let titles = ["<title", "</title"].map { html.components(separatedBy: $0).count - 1 }
        #expect(
            titles[0] == titles[1], "\(page): a title is broken", sourceLocation: sourceLocation)
        // An attribute that is none of the template's would stand outside of quotes.
        let tags = html.matches(of: #/<[a-z][a-zA-Z0-9]*((?: +[^ "=>]+(?:="[^"]*")?)*) *\/?>/#)
        let opened = html.matches(of: #/<[a-z]/#)
        #expect(
            tags.count == opened.count, "\(page): a tag is broken", sourceLocation: sourceLocation)
        for tag in tags {
            let names = tag.output.1.matches(of: #/ +([^ "=>]+)(?:="[^"]*")?/#).map {
                String($0.output.1)
            }
            let strange = names.filter { $0.hasPrefix("on") || $0 == "style" }
            #expect(strange.isEmpty, "\(page)", sourceLocation: sourceLocation)
            #expect(
                Set(names).count == names.count, "\(page): \(names)", sourceLocation: sourceLocation
            )
        }
        let ids = html.matches(of: #/ id="([^"]*)"/#).map { String($0.output.1) }
        #expect(Set(ids).count == ids.count, "\(page)", sourceLocation: sourceLocation)
        for label in html.matches(of: #/ (?:for|aria-labelledby)="([^"]*)"/#) {
            for id in label.output.1.split(separator: " ") {
                #expect(ids.contains(String(id)), "\(page): \(id)", sourceLocation: sourceLocation)
            }
        }
    }

    /// How often a text stands in it.
    func count(_ text: String) -> Int { html.components(separatedBy: text).count - 1 }
}
