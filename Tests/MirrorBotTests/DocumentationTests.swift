import Control
import Expectations
import Foundation
import Mirroring
import Settings
import Storage
import TestSupport
import Testing

/// What README, docs/ and the other texts for people say, compared with the program.
@Suite(.timeLimit(.minutes(30))) struct DocumentationTests {
    /// The texts, by their paths below the root.
    private static let pages =
        ["README.md", "README.ja.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
        + [
            "architecture", "archives", "audience", "html", "control", "deploy", "measures",
            "promises", "run",
            "servers", "settings",
        ].map {
            "docs/\($0).md"
        }

    private func lines(of page: String) throws -> [String] {
        try Repository.text(of: page)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// A copy is changed or deleted; nothing takes its place.
    @Test func theTextsAgreeOnWhatBecomesOfACopyOfAChangedPost() throws {
        try expect(Repository.text(of: "docs/promises.md")) {
            $0.contains("a copy is deleted and not changed")
        }
        try expect(Repository.text(of: "docs/control.md")) {
            $0.contains("another post does not take its place")
        }
        try expect(Repository.text(of: "docs/settings.md")) {
            $0.contains("else deleted, deleted, or left as it is")
        }
    }

    // MARK: README.md

    @Test func theReadmeIsShort() throws { try expect(lines(of: "README.md").count) { $0 <= 150 } }

    /// Its sample is lines of what the command above it prints, in their order; `…` stands for what
    /// is left out.
    @Test func theSampleIsWhatTheDemoPrints() async throws {
        let lines = try lines(of: "README.md")
        let mark = try #require(lines.firstIndex { $0.hasPrefix("<!-- Lines of: ") })
        #expect(lines[mark] == "<!-- Lines of: COLUMNS=80 mirror-bot demo --days 1 -->")
        let sample = lines[(mark + 2)...].prefix { $0 != "```" }.filter { $0.trimmed != "…" }
        #expect(sample.count >= 5)
        let stage = try Stage(["COLUMNS": "80"])
        let ending = try await stage.run("demo", "--days", "1")
        #expect(ending.status == 0, "\(ending.error)")
        var printed = ending.output.split(separator: "\n").map { String($0).trimmed }[...]
        for line in sample {
            let place = try #require(
                printed.firstIndex(of: line.trimmed), "not printed, or not here: \(line)")
            printed = printed[(place + 1)...]
        }
    }

    @Test(arguments: ["README.md", "README.ja.md"]) func thePicturesAreThereAndSmall(page: String)
        throws
    {
        let images = try Repository.text(of: page).matches(
            of: #/<img src="([^"]+)" width="[0-9]+%" alt="([^"]+)">/#)
        #expect(
            images.map { String($0.output.1) } == [
                "docs/pictures/demo-desk.png", "docs/pictures/demo-phone.png",
            ])
        for image in images {
            let data = try Data(
                contentsOf: Repository.root.appendingPathComponent(String(image.output.1)))
            #expect(data.starts(with: [0x89, 0x50, 0x4E, 0x47]))
            #expect(data.count < 150_000)
        }
    }

    // MARK: docs/settings.md

    /// A row of one of its tables.
    private struct Row {
        let name: String
        let type: String
        let fallback: String
        let isSecret: Bool

        /// Nil for a line that is no row about a variable.
        init?(_ line: String) {
            let cells = line.split(separator: "|").map { String($0).trimmed }
            guard cells.count == 6, cells[0].hasPrefix("`") else { return nil }
            name = String(cells[0].dropFirst().dropLast())
            type = cells[1]
            fallback = cells[2]
            isSecret = cells[3] == "yes"
        }
    }

    @Test func everySettingIsDocumentedAndNoOther() throws {
        let rows = try lines(of: "docs/settings.md").compactMap(Row.init)
        #expect(rows.map(\.name).sorted() == AnySetting.all.map(\.name).sorted())
    }

    @Test func defaultsFormsAndSecretsAreThoseOfTheProgram() throws {
        let rows = try lines(of: "docs/settings.md").compactMap(Row.init)
        for setting in AnySetting.all {
            let row = try #require(rows.first { $0.name == setting.name }, "\(setting.name)")
            #expect(row.isSecret == setting.isSecret, "\(setting.name)")
            // What other settings decide is said in words.
            if let fallback = setting.fallback, !row.fallback.hasPrefix("as `") {
                #expect(row.fallback.contains("`\(fallback)`"), "\(setting.name)")
            }
            switch setting.form {
            case .choice(let choices):
                #expect(row.type == choices.map { "`\($0)`" }.joined(separator: ", "))
            case .integer(let range): #expect(row.type == "\(range.lowerBound)–\(range.upperBound)")
            case .integerOrNone(let range):
                #expect(row.type == "\(range.lowerBound)–\(range.upperBound), `none`")
            case .text, .positive, .dollars: break
            }
        }
    }

    /// Its name stands in the table, and code asks the table; `NETWORK` is also what a person puts
    /// a network in place of.
    @Test func noCodeOutsideTheTableNamesASetting() throws {
        let sources = Repository.root.appendingPathComponent("Sources")
        let files = try #require(
            FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        )
        .compactMap { $0 as? URL }
        .filter { $0.pathExtension == "swift" && $0.lastPathComponent != "Setting+All.swift" }
        // It knows nothing of the program that is run against it, and writes its variables as
        // people do.
        .filter { !$0.path.contains("/Sources/Sandbox/") }
        for file in files {
            let text = try String(contentsOf: file, encoding: .utf8)
            let named = text.matches(of: /"([A-Z][A-Z_]+)"/).map { String($0.1) }.filter {
                $0 != Setting.network.name && AnySetting.named($0) != nil
            }
            #expect(named.isEmpty, "\(file.lastPathComponent)")
        }
    }

    // MARK: JSON

    /// The name of a document's form is said in one place: one name is one shape.
    @Test func everySchemaNameMeansOneShape() throws {
        let sources = Repository.root.appendingPathComponent("Sources")
        let files = try #require(
            FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        )
        .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        var places: [String: Int] = [:]
        for file in files {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: /schema[^\n]{0,20}"(mirror-bot\/[a-z-]+\/[0-9]+)"/) {
                places[String(match.1), default: 0] += 1
            }
        }
        #expect(places.count > 25)
        #expect(places.filter { $0.value > 1 }.isEmpty)
    }

    // MARK: docs/architecture.md

    /// A link `Type.name` leads to the file that declares the name.
    @Test func everyNameOfTheMapIsInItsFile() throws {
        let text = try lines(of: "docs/architecture.md").joined(separator: "\n")
        let places = text.matches(of: /\[`(?<type>\w+)\.(?<name>\w+)`\]\(\.\.\/(?<path>[^)]+)\)/)
        #expect(places.count >= 20)
        for place in places.map(\.output) {
            let file = Repository.root.appendingPathComponent(String(place.path))
            guard let source = try? String(contentsOf: file, encoding: .utf8) else { continue }
            let isThere = ["func", "let", "var", "enum", "struct"].contains {
                source.contains("\($0) \(place.name)")
            }
            #expect(isThere, "\(place.path): \(place.name)")
        }
    }

    @Test func theListOfTablesIsThatOfTheDatabase() async throws {
        let lines = try lines(of: "docs/architecture.md")
        let start = try #require(lines.firstIndex(of: "## The tables"))
        let section = lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }
        let listed = section.compactMap { $0.firstMatch(of: /^\| `(\w+)` \|/).map { String($0.1) } }
        let folder = try TemporaryDirectory()
        let engine = try await MigratedDatabase.openCopy(at: folder.path("tables.sqlite"))
        let stored = try await engine.closing { engine in
            try await engine.query(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
            ).map { try $0.text("name") }
        }
        #expect(listed.sorted() == stored.sorted())
    }

    // MARK: Links

    /// The anchor that GitHub and others make of a heading.
    private static func anchor(of heading: String) -> String {
        let kept = heading.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
            .filter {
                $0.isLetter || $0.isNumber || [" ", "-", "_"].contains($0)
            }
        return kept.replacingOccurrences(of: " ", with: "-")
    }

    @Test(arguments: pages) func everyLinkLeadsSomewhere(page: String) throws {
        let folder = Repository.root.appendingPathComponent(page).deletingLastPathComponent()
        for match in try lines(of: page).joined(separator: "\n").matches(
            of: /\]\((?<target>[^)\s]+)\)/)
        {
            let target = String(match.output.target)
            guard !target.contains("://") else { continue }
            let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                .map(String.init)
            let path = parts[0].isEmpty ? URL(fileURLWithPath: page).lastPathComponent : parts[0]
            let file = folder.appendingPathComponent(path)
            #expect(FileManager.default.fileExists(atPath: file.path), "\(page): \(target)")
            guard parts.count == 2, let text = try? String(contentsOf: file, encoding: .utf8) else {
                continue
            }
            let anchors = text.split(separator: "\n").filter { $0.hasPrefix("#") }.map {
                Self.anchor(of: String($0))
            }
            #expect(anchors.contains(parts[1]), "\(page): \(target)")
        }
    }
}

extension String {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespaces) }
}
