import Foundation
import Testing

@testable import Web

/// What stands in a template's context stays text, however the template writes it.
@Suite struct PageValueTests {
    private static let hostile = [
        "<script>alert(1)</script>", "\" onload=\"alert(1)", "' onload='alert(1)", "&lt;b&gt;",
        "{{secret}}",
        "{{{secret}}}",
        // A combining mark makes another character of a quotation mark, and still leaves it one for
        // a browser.
        "\"\u{338} onload=x", "<\u{338}img src=x onerror=alert(1)>", ">\u{20D2}", "'\u{301}",
        "&\u{FE0F}lt;",
        "\u{202E}gnp.exe", "\u{0}\u{1B}[2J",
    ]

    private func rendered(_ source: String, _ context: PageContext) throws -> String {
        let template = PageTemplate(name: "test", source: source)
        return try TemplateLibrary([template]).render(template, context).text
    }

    @Test(
        arguments: hostile,
        ["{{x}}", "{{{x}}}", "{{&x}}", "{{#x}}{{.}}{{/x}}", "{{#x}}{{{.}}}{{/x}}"])
    func aTextStaysText(_ text: String, _ source: String) throws {
        let html = try rendered("<p title=\"\(source)\">", ["x": .text(text), "secret": "told"])
        let inner = html.dropFirst("<p title=\"".count).dropLast("\">".count)
        #expect(inner == Markup.escaped(text))
        expectNoByte(inner, of: "<>\"'")
        #expect(!html.contains("told"))
        #expect(!html.unicodeScalars.contains { ["\u{202E}", "\u{0}", "\u{1B}"].contains($0) })
    }

    private func expectNoByte(_ text: Substring, of bytes: String) {
        #expect(!text.utf8.contains { bytes.utf8.contains($0) }, "\(text)")
    }

    /// Fields and lists that a template writes as if they were texts show nothing of what is in
    /// them unescaped.
    @Test(arguments: ["{{x}}", "{{{x}}}"]) func whatIsNoTextShowsNothing(_ source: String) throws {
        let html =
            try rendered(source, ["x": ["a": "<b>"]])
            + rendered(source, ["x": .list([.text("<b>")])])
        expectNoByte(html[...], of: "<>")
    }

    @Test func sectionsFollowTheValue() throws {
        let source = "{{#x}}a{{/x}}{{^x}}b{{/x}}"
        #expect(try rendered(source, ["x": true]) == "a")
        #expect(try rendered(source, ["x": false]) == "b")
        #expect(try rendered(source, ["x": .none]) == "b")
        #expect(try rendered(source, ["x": .text(nil)]) == "b")
        #expect(try rendered(source, ["x": []]) == "b")
        #expect(try rendered(source, ["x": ["1", "2"]]) == "aa")
        // A part that has no such field does not get that of the whole.
        #expect(
            try rendered(
                "{{#parts}}{{#x}}{{.}}{{/x}};{{/parts}}",
                ["x": "whole", "parts": [["x": .none], ["x": "own"]]])
                == ";own;")
    }

    /// Every template is parsed, and every partial that one names is there.
    @Test func allTemplatesAreRegistered() throws {
        let pages = MirrorPages.all.flatMap { $0.templates }
        let shared = [
            PageTemplate.head, .frame, .band, .symbols, .emblem, .plain, .login, .problem, .confirm,
            .index, .everybody, .once,
        ]
        let all = shared + pages
        _ = TemplateLibrary.standard
        // Two pages may share one.
        for (name, same) in Dictionary(grouping: all, by: \.name) {
            #expect(Set(same.map(\.source)).count == 1, "\(name)")
        }
        for template in all {
            for found in template.source.matches(of: #/{{>\s*([a-z-]+)\s*}}/#) {
                #expect(
                    all.contains { $0.name == found.output.1 },
                    "\(template.name): \(found.output.1)")
            }
            expectNothingInline(template)
        }
    }

    private func expectNothingInline(_ template: PageTemplate) {
        #expect(
            template.source.firstMatch(of: #/\sstyle=|<style|\son[a-z]+=|https?:\/\//#) == nil,
            "\(template.name)")
    }
}
