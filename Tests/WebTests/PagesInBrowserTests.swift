import Expectations
import Foundation
import TestSupport
import Testing

@testable import Web

/// The pages in a real browser; `make check-pages` asks for it.
@Suite(.enabled(if: Browser.program != nil), .timeLimit(.minutes(30)), .serialized)
struct PagesInBrowserTests {
    /// Measures the contrast of every text with what lies behind it, as WCAG 2 defines it, and
    /// tells of those below 4.5.
    private static let faintTexts = """
        (() => {
            const numbers = color => (color.match(/[0-9.]+/g) || []).map(Number);
            const light = color => {
                const parts = numbers(color).slice(0, 3)
                    .map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
                return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
            };
            const behind = element => {
                for (; element; element = element.parentElement) {
                    const color = numbers(getComputedStyle(element).backgroundColor);
                    if (color.length && color[3] !== 0) return getComputedStyle(element).backgroundColor;
                }
                return "rgb(255, 255, 255)";
            };
            const faint = [];
            for (const element of document.querySelectorAll("body *")) {
                const hasText = [...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
                if (!hasText || ["title", "desc"].includes(element.localName)) continue;
                const style = getComputedStyle(element);
                const [a, b] = [light(element.localName === "text" ? style.fill : style.color), light(behind(element))];
                if ((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5) faint.push(element.outerHTML.slice(0, 80));
            }
            return faint;
        })()
        """

    private func written(_ text: String, _ name: String) throws -> (
        folder: TemporaryDirectory, path: String
    ) {
        let folder = try TemporaryDirectory()
        return (folder, try folder.write(Data(text.utf8), to: name))
    }

    /// Keeps a picture for a person, if somebody said where.
    private static func keep(_ picture: Data, _ name: String) throws {
        guard let folder = ProcessInfo.processInfo.environment["MIRROR_BOT_SCREENSHOTS"] else {
            return
        }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try picture.write(to: URL(fileURLWithPath: "\(folder)/\(name).png"))
    }

    @Test func thePageAsksNobodyAndRunsNothing() async throws {
        let page = try written(ReportPage(SampleReport.hostileReport()).html, "page.html")
        let (asked, told, scripts) = try await Browser.run { browser in
            try browser.open(page.path)
            let asked = browser.events.filter { $0.name == "Network.requestWillBeSent" }.compactMap
            {
                ($0.parameters["request"] as? Browser.Message)?["url"] as? String
            }
            let told = browser.events.map(\.name).filter {
                [
                    "Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown",
                    "Page.javascriptDialogOpening",
                ]
                .contains($0)
            }
            return (asked, told, try browser.evaluate("document.scripts.length") as? Int)
        }
        #expect(asked == ["file://\(page.path)"])
        #expect(told.isEmpty)
        #expect(scripts == 0)
    }

    @Test(arguments: ["light", "dark"]) func everyTextCanBeRead(scheme: String) async throws {
        let page = try written(ReportPage(SampleReport.report()).html, "page.html")
        let (faint, background) = try await Browser.run { browser in
            try browser.open(page.path)
            try browser.show(width: 1_000, scheme: scheme)
            try Self.keep(try browser.picture(), "page-\(scheme)")
            return (
                try browser.evaluate(Self.faintTexts) as? [String],
                try browser.evaluate("getComputedStyle(document.body).backgroundColor") as? String
            )
        }
        #expect(faint == [])
        #expect(background == (scheme == "light" ? "rgb(243, 241, 234)" : "rgb(17, 22, 26)"))
    }

    /// Also where somebody's texts are long words, and all tables are open.
    @Test func nothingIsWiderThanTheScreen() async throws {
        for (name, report) in [
            ("page", SampleReport.report()), ("hostile", SampleReport.hostileReport()),
        ] {
            let page = try written(ReportPage(report).html, "page.html")
            let widths = try await Browser.run { browser in
                try browser.open(page.path)
                _ = try browser.evaluate(
                    "document.querySelectorAll('details').forEach(d => { d.open = true })")
                return try [320, 400, 800, 1_400].map { width in
                    try browser.show(width: width, scheme: "light")
                    if width == 400 { try Self.keep(try browser.picture(), "\(name)-narrow") }
                    return (
                        width, try browser.evaluate("document.documentElement.scrollWidth") as? Int
                    )
                }
            }
            for (width, needed) in widths {
                try expect(#require(needed), "\(name)") { $0 <= width }
            }
        }
    }

    @Test func aScreenReaderIsToldWhatIsDrawn() async throws {
        let page = try written(ReportPage(SampleReport.report()).html, "page.html")
        let told = try await Browser.run { browser in
            try browser.open(page.path)
            _ = try browser.evaluate(
                "document.querySelectorAll('details').forEach(d => { d.open = true })")
            return try browser.accessible()
        }
        let images = told.filter { ["image", "img"].contains($0.role) }
        #expect(images.count == 3)
        expect(images) { $0.allSatisfy { $0.name.lowercased().contains("posts") } }
        let tables = told.filter { $0.role == "table" }
        #expect(tables.count >= 10)
        expect(tables) { $0.allSatisfy { !$0.name.isEmpty } }
        expect(told) { $0.contains { $0.role == "heading" && $0.name == "What is stored" } }
        // The nine parts, and the three tables that can be scrolled.
        #expect(told.count { $0.role == "region" } == 12)
    }

    /// Headings and tables are there without the styles, and of a sensible size.
    @Test func readsWellWithoutItsStyles() async throws {
        let page = try written(ReportPage(SampleReport.report()).html, "page.html")
        let table = try await Browser.run { browser in
            try browser.open(page.path)
            try browser.show(width: 1_000, scheme: "light")
            _ = try browser.evaluate("document.querySelector('style').remove()")
            try Self.keep(try browser.picture(), "page-without-styles")
            let selector = "[aria-labelledby=plan] table"
            return try browser.evaluate(
                "document.querySelector('\(selector)').getBoundingClientRect().width")
                as? Double
        }
        try expect(#require(table)) { $0 > 200 }
    }

    @Test(arguments: ["light", "dark"]) func theDrawingStandsAlone(scheme: String) async throws {
        let drawing = try written(
            HoursPicture(SampleReport.stats(SampleReport.hostile)).svg, "all.svg")
        let colors = try await Browser.run { browser in
            try browser.open(drawing.path)
            try browser.show(width: 800, scheme: scheme)
            try Self.keep(try browser.picture(), "drawing-\(scheme)")
            return try browser.evaluate(
                "['.ground', 'text', '.h', '.b'].map(s => getComputedStyle(document.querySelector(s)).fill)"
            )
                as? [String]
        }
        #expect(
            colors
                == (scheme == "light"
                    ? [
                        "rgb(243, 241, 234)", "rgb(27, 33, 36)", "rgb(20, 86, 138)",
                        "rgb(157, 63, 12)",
                    ]
                    : [
                        "rgb(17, 22, 26)", "rgb(229, 227, 218)", "rgb(131, 189, 234)",
                        "rgb(240, 161, 113)",
                    ]))
    }
}
