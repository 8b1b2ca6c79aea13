import Expectations
import Foundation
import Testing

/// README.ja.md says what README.md says, with the same headings, commands and links.
@Suite struct TranslationTests {
    @Test func theJapaneseReadmeIsTheEnglishOne() throws {
        let english = Skeleton(try Repository.text(of: "README.md"))
        let japanese = Skeleton(try Repository.text(of: "README.ja.md"))
        #expect(japanese.headings == english.headings)
        #expect(japanese.blocks == english.blocks)
        #expect(japanese.code == english.code)
        #expect(japanese.links == english.links)
        #expect(japanese.items == english.items)
        #expect(japanese.rows == english.rows)
    }

    @Test func eachReadmeLeadsToTheOther() throws {
        try expect(Repository.text(of: "README.md")) { $0.contains("](README.ja.md)") }
        try expect(Repository.text(of: "README.ja.md")) { $0.contains("](README.md)") }
    }

    @Test func theJapaneseReadmeIsJapanese() throws {
        for line in try Repository.text(of: "README.ja.md").split(separator: "\n")
        where line.hasPrefix("## ") {
            expect(line) { $0.contains { ("\u{3041}"..."\u{9FFF}").contains($0) } }
        }
    }

    /// A forge shows a line break within a paragraph as a blank, which no Japanese sentence has.
    @Test func noJapaneseSentenceIsBrokenOverLines() throws {
        let text = try Repository.text(of: "README.ja.md")
        #expect(BrokenLines(text).lines == [])
    }

    @Test func aBrokenSentenceIsFound() {
        let text = """
            # Heading
            A paragraph
            that goes on.

            | a | b |
            | --- | --- |

            - an item
              that goes on
            - another item

            <img src="a.png">
            ```sh
            make all
            make more
            ```
            The end.<br>
            <img src="b.png">
            """
        #expect(BrokenLines(text).lines == ["that goes on.", "  that goes on"])
    }

    /// An edit of one side, after which the two differ.
    @Test(arguments: [
        ("## Install\n", "### Install\n"), ("## A tour\n", ""),
        ("mirror-bot run --once ", "mirror-bot run "),
        ("make demo   ", "make show   "),
        ("`mirror-bot undo everything`", "`mirror-bot undo last`"),
        ("](docs/run.md)", "](docs/control.md)"),
        ("(https://www.heroku.com/deploy)", "(https://example.com)"),
        ("/deploy/button.svg)", "/button.svg)"), ("| longest text |", "| longest | text |"),
        ("| 300 characters |", "| 301 characters |"),
        ("- **Replies**", "**Replies**"),
    ])
    func anEditOfOneSideIsSeen(_ words: String, _ others: String) throws {
        let text = try Repository.text(of: "README.md")
        let edited = text.replacing(words, with: others)
        try #require(edited != text)
        #expect(Skeleton(edited) != Skeleton(text))
    }

    @Test func commentsAndTheOrderOfASentenceMayDiffer() {
        let english = "[a](x) and [b](y) of `c` and `d`\n```sh\nmake all  # everything\n```\n"
        let japanese = "`d`と`c`の[b](y)と[a](x)\n```sh\nmake all  # すべて\n```\n"
        #expect(Skeleton(english) == Skeleton(japanese))
    }
}

/// The lines of a document that continue a sentence of the line before them.
private struct BrokenLines {
    private(set) var lines: [String] = []

    init(_ text: String) {
        var isCode = false
        var isText = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let isFence = line.hasPrefix("```")
            if isFence { isCode.toggle() }
            guard !isFence, !isCode, Self.isText(line) else {
                isText = false
                continue
            }
            if isText, !line.hasPrefix("- ") { lines.append(String(line)) }
            isText = true
        }
    }

    /// Whether the line is one of a paragraph or of an item of a list.
    private static func isText(_ line: Substring) -> Bool {
        guard line.contains(where: { !$0.isWhitespace }) else { return false }
        return !["#", "|", "<"].contains { line.hasPrefix($0) }
    }
}

/// What a translation of a document keeps.
private struct Skeleton: Equatable {
    /// The levels of the headings.
    private(set) var headings: [Int] = []
    /// The lines of each block of code, without comments.
    private(set) var blocks: [[String]] = []
    /// The code within sentences, sorted, for each language has its word order.
    private(set) var code: [String] = []
    /// Where links lead, sorted, but for those between the translations.
    private(set) var links: [String] = []
    /// The number of items of lists.
    private(set) var items = 0
    /// The rows of tables.
    private(set) var rows: [Row] = []

    /// A row of a table: how many cells it has, and the numbers in it, sorted.
    struct Row: Equatable {
        let cells: Int
        let numbers: [String]

        init(_ line: Substring) {
            cells = line.split(separator: "|").count
            numbers = line.matches(of: /[0-9]+(?:[.,][0-9]+)*/).map { String($0.output) }.sorted()
        }
    }

    init(_ text: String) {
        var block: [String]?
        var prose = ""
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if let lines = block {
                block =
                    line == "```"
                    ? nil : lines + [String(line.prefix(upTo: Self.comment(in: line)))]
                if block == nil { blocks.append(lines) }
            } else if line.hasPrefix("```") {
                block = [String(line)]
            } else {
                if let level = line.prefixMatch(of: /#+/)?.output.count { headings.append(level) }
                if line.hasPrefix("- ") { items += 1 }
                if line.hasPrefix("|") { rows.append(Row(line)) }
                prose += line + "\n"
            }
        }
        code = prose.matches(of: /`([^`]+)`/).map { $0.1.replacing("\n", with: " ") }.map {
            String($0)
        }.sorted()
        links = prose.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }
            .filter { !["README.md", "README.ja.md"].contains($0) }.sorted()
    }

    /// Where the comment of a shell's line begins, with the spaces before it.
    private static func comment(in line: Substring) -> Substring.Index {
        line.firstRange(of: /(^|\s+)#\s/)?.lowerBound ?? line.endIndex
    }
}
