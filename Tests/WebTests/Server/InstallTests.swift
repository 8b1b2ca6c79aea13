import Expectations
import Foundation
import Testing

@testable import Web

/// The page as an app that a browser installs (W3C Web Application Manifest).
@Suite(.timeLimit(.minutes(30))) struct InstallTests {
    private struct Manifest: Decodable {
        struct Icon: Decodable {
            let src: String
            let sizes: String
            let type: String
            let purpose: String?
        }

        let id: String
        let name: String
        let shortName: String
        let startUrl: String
        let scope: String
        let display: String
        let themeColor: String
        let backgroundColor: String
        let icons: [Icon]
    }

    /// The width and height in the head of a PNG.
    private func size(of png: [UInt8]) -> String? {
        guard png.count > 24, png.starts(with: [0x89, 0x50, 0x4E, 0x47]) else { return nil }
        let numbers = [16, 20].map { start in
            png[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        return "\(numbers[0])x\(numbers[1])"
    }

    /// A browser asks for these without the cookie.
    @Test func theManifestNamesWhatIsServed() async throws {
        try await WebStand.with(variables: ["WEB_PASSWORD": WebStand.password]) { stand in
            let answer = try await stand.client.send("/app.webmanifest")
            #expect(answer["Content-Type"] == "application/manifest+json")
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            let manifest = try decoder.decode(Manifest.self, from: Data(answer.bytes))
            #expect(manifest.name == "mirror-bot")
            #expect(manifest.shortName.count <= 12)
            #expect(manifest.startUrl.hasPrefix(manifest.scope))
            #expect(manifest.id == manifest.startUrl)
            #expect(manifest.display == "standalone")
            for color in [manifest.themeColor, manifest.backgroundColor] {
                expect(color) { $0.wholeMatch(of: #/#[0-9a-f]{6}/#) != nil }
            }
            for icon in manifest.icons {
                let file = try await stand.client.send(icon.src)
                #expect(file.status == 200, "\(icon.src)")
                #expect(file["Content-Type"] == icon.type, "\(icon.src)")
                expect(file.bytes.count, "\(icon.src)") { $0 < 5_000 }
                guard icon.type == "image/png" else { continue }
                #expect(size(of: file.bytes) == icon.sizes, "\(icon.src)")
            }
            let sizes = manifest.icons.filter { $0.purpose == nil }.map(\.sizes)
            #expect(sizes.contains("192x192") && sizes.contains("512x512"))
            expect(manifest.icons) { $0.contains { $0.purpose == "maskable" } }
        }
    }

    @Test func everyPageNamesTheManifestAndTheIcons() async throws {
        try await WebStand.with { stand in
            let page = try await stand.client.send("/m/mika").body
            #expect(page.contains(#"<link rel="manifest" href="/app.webmanifest""#))
            #expect(page.contains(#"<link rel="apple-touch-icon" href="/apple-touch-icon.png">"#))
            let icon = try await stand.client.send("/apple-touch-icon.png")
            #expect(icon["Content-Type"] == "image/png")
            #expect(size(of: icon.bytes) == "180x180")
        }
    }
}
