import Control
import Expectations
import Foundation
import Mirroring
import Outbox
import Posts
import TestSupport
import Testing

@testable import Web

/// Where things stand on the pages, in a real browser; `make check-pages` asks for it.
///
/// `DesignMarksTests` reads what the same pages say.
@Suite(.enabled(if: Browser.program != nil), .timeLimit(.minutes(30)), .serialized)
struct LayoutInBrowserTests {
    /// A page with its style in it, as a file that a browser opens.
    private struct SavedPage {
        let folder: TemporaryDirectory
        let path: String

        init(_ address: String, from stand: WebStand) async throws {
            let page = try await stand.client.send(address)
            try #require(page.status == 200, "\(address)")
            let style = try await stand.client.send("/style.css").body
            let html = page.body.replacing(
                #/<link rel="stylesheet"[^>]*>/#, with: "<style>\(style)</style>")
            folder = try TemporaryDirectory()
            path = try folder.write(Data(html.utf8), to: "page.html")
        }
    }

    /// Shows a page in several widths, and measures it in each.
    private func measure(
        _ page: SavedPage, at widths: [Int], _ expression: String
    ) async throws -> [[Double]] {
        let path = page.path
        return try await Browser.run { browser in
            try browser.open(path)
            return try widths.map { width in
                try browser.show(width: width, scheme: "light")
                return try browser.evaluate(expression) as? [Double] ?? []
            }
        }
    }

    /// What a cell holds, and not the cell, which is as high as its row.
    private static let middle = """
        const middle = cell => {
            const range = document.createRange();
            range.selectNodeContents(cell);
            const box = range.getBoundingClientRect();
            return (box.top + box.bottom) / 2;
        };
        """

    // MARK: Tables

    /// The bar of a row stands in the middle of its line, with the words and the number.
    @Test(arguments: ["/favorites", "/texts", "/health", "favorite"])
    func barsStandInTheMiddleOfTheLine(_ path: String) async throws {
        try await WebStand.with(variables: ["FITNESS": "strict"], text: Self.text) { stand in
            _ = try await PageState.fill(stand)
            let address =
                path == "favorite"
                ? try await Self.action(.favorite, stand) : "/m/mika\(path)"
            let page = try await SavedPage(address, from: stand)
            let distances = try await measure(
                page, at: [800, 1_280],
                """
                (() => { \(Self.middle)
                    return [...document.querySelectorAll('table.line tbody tr')].flatMap(row => {
                        const bar = middle(row.querySelector('.barcell'));
                        return [...row.cells].filter(cell => cell.textContent.trim())
                            .map(cell => Math.abs(middle(cell) - bar));
                    });
                })()
                """)
            for width in distances {
                #expect(!width.isEmpty, "\(path)")
                expect(width.max() ?? .infinity, "\(path)") { $0 <= 3 }
            }
        }
    }

    private static let text: @Sendable (Int) -> String = {
        $0 % 2 == 0
            ? "The bread of the old bakery smells of rosemary, loaf \($0)."
            : "The train does not run today, so we walk home, part \($0)."
    }

    /// The page of an action of a kind.
    private static func action(_ kind: ActionKind, _ stand: WebStand) async throws -> String {
        var search = ActionList.Search(limit: 1)
        search.kinds = [kind]
        search.states = [.done]
        let found = try await ActionList(of: try await stand.mirror(), search).actions.first
        return "/m/mika/actions/\(try #require(found).id)"
    }

    /// The sections of Health stand one below the other, and the numbers of its limits end in one
    /// line.
    @Test func healthIsOneColumnWithAlignedNumbers() async throws {
        try await WebStand.with { stand in
            _ = try await PageState.fill(stand)
            let page = try await SavedPage("/m/mika/health", from: stand)
            for selector in ["#limits td.n", ".counts dt"] {
                let ends = try await measure(
                    page, at: [800, 1_280],
                    """
                    [...document.querySelectorAll('\(selector)')].map(cell => cell.getBoundingClientRect().right)
                    """)
                for width in ends {
                    expect(Set(width.map { $0.rounded() }), "\(selector)") { $0.count <= 1 }
                }
            }
            let lefts = try await measure(
                page, at: [360, 1_280],
                """
                [...document.querySelectorAll('main section')].map(part => part.getBoundingClientRect().left)
                """)
            for width in lefts {
                expect(width) { $0.count > 4 && Set($0.map { $0.rounded() }).count == 1 }
            }
        }
    }

    // MARK: Facts

    /// The facts of an action have room, beside the table of a favorite and without one.
    @Test(arguments: [ActionKind.favorite, .reply, .post])
    func factsAreNotSqueezed(_ kind: ActionKind) async throws {
        try await WebStand.with { stand in
            _ = try await PageState.fill(stand)
            let page = try await SavedPage(try await Self.action(kind, stand), from: stand)
            let widths = try await measure(
                page, at: [360, 768, 1_152, 1_280],
                """
                [...document.querySelectorAll('#why dl.of dd')].map(fact => fact.getBoundingClientRect().width)
                """)
            for width in widths {
                #expect(!width.isEmpty, "\(kind)")
                expect(width.min() ?? 0, "\(kind)") { $0 >= 240 }
            }
        }
    }

    // MARK: The page for everybody

    /// Its lists stack where there is little room, and it stands in the middle where there is more.
    @Test func thePublicPageStacksAndIsCentered() async throws {
        try await WebStand.with(variables: ["PUBLIC_PAGE": "yes"]) { stand in
            let page = try await SavedPage("/public/mika", from: stand)
            let lists = """
                [...document.querySelectorAll('dl.of dd')].map(fact => {
                    const name = fact.previousElementSibling.getBoundingClientRect();
                    const box = fact.getBoundingClientRect();
                    return box.left === name.left && box.top >= name.bottom - 1 ? 1 : 0;
                })
                """
            let stacked = try await measure(page, at: [360, 479, 481, 1_280], lists)
            for (expected, isStacked) in zip([1.0, 1, 0, 0], stacked) {
                #expect(!isStacked.isEmpty)
                #expect(Set(isStacked) == [expected])
            }
            let margins = try await measure(
                page, at: [800, 1_280, 1_900],
                """
                (() => {
                    const box = document.querySelector('main').getBoundingClientRect();
                    return [box.left, document.documentElement.clientWidth - box.right];
                })()
                """)
            for margin in margins {
                try #require(margin.count == 2)
                #expect(abs(margin[0] - margin[1]) <= 1)
            }
        }
    }

    // MARK: The week ahead

    /// The strip has a lane for each day, as wide as the page, and nothing leaves the window.
    @Test(arguments: ["/week", "/week/review"]) func theWeekFitsEveryScreen(_ path: String)
        async throws
    {
        try await WebStand.with(text: { MirrorLife.hostile(400, $0) }) { stand in
            let page = try await SavedPage("/m/mika" + path, from: stand)
            let widths = [320, 360, 768, 1_280]
            let needed = try await measure(
                page, at: widths, "[document.documentElement.scrollWidth]")
            for (width, needed) in zip(widths, needed) {
                try expect(Int(#require(needed.first))) { $0 <= width }
            }
        }
    }
}
