import Expectations
import Foundation
import Settings
import TestSupport
import Testing

/// The committed documents, compared with what the table of settings makes of them.
@Suite struct SettingDocumentsTests {
    /// `make settings` writes them anew.
    private static let writes =
        ProcessInfo.processInfo.environment["MIRROR_BOT_WRITE_SETTINGS"] != nil

    @Test(arguments: SettingDocuments.all)
    func theDocumentIsMadeFromTheTable(document: SettingDocuments.Document) throws {
        let committed = try Repository.text(of: document.path)
        let rendered = try document.render(committed)
        if Self.writes {
            let file = Repository.root.appendingPathComponent(document.path)
            return try rendered.write(to: file, atomically: true, encoding: .utf8)
        }
        let old = committed.split(separator: "\n")
        let new = rendered.split(separator: "\n")
        let lines = new.filter { !old.contains($0) } + old.filter { !new.contains($0) }
        #expect(
            committed == rendered,
            "\(document.path) is not as the table; run make settings: \(lines.prefix(6))")
    }

    /// A declared setting that is missing in the table is never read, and always has its default.
    @Test func theTableHasEveryDeclaredSetting() throws {
        let source = try Repository.text(of: "Sources/Settings/Setting+All.swift")
        let declared = source.matches(of: /Setting(?:<[^>]+>)?\(\s*"([A-Z][A-Z0-9_]*)"/).map {
            String($0.1)
        }
        #expect(declared.count > 50)
        let listed = Set(AnySetting.all.map(\.name))
        for name in declared {
            #expect(listed.contains(name), "\(name) is declared, but not in AnySetting.all")
        }
    }

    @Test func everyGroupHasItsTable() throws {
        let text = try Repository.text(of: "docs/settings.md")
        for group in AnySetting.Group.allCases {
            #expect(text.contains("\n## \(group.title)\n"), "\(group)")
            #expect(
                text.contains("\n<!-- settings: \(group.rawValue) -->\n| variable |"), "\(group)")
        }
    }

    /// Markdown and JSON would take them for something else.
    @Test func theTextsOfTheTableHoldNoMarkup() {
        for setting in AnySetting.all {
            for text in [
                setting.meaning, setting.details, setting.defaultInWords, setting.effectText,
            ]
            .compactMap(\.self) {
                #expect(
                    !text.contains("|") && !text.contains("\"") && !text.contains("\n"),
                    "\(setting.name)")
                #expect(text.count { $0 == "`" }.isMultiple(of: 2), "\(setting.name)")
            }
            #expect(
                !setting.meaning.hasSuffix(".") && !setting.meaning.contains("]("),
                "\(setting.name)")
            if let effect = setting.effect {
                #expect(effect.hasSuffix(".") && !effect.contains("]("))
            }
        }
    }

    /// Where a person looks for the names.
    @Test func theHelpOfSetNamesWhatCanBeStoredAndNothingElse() async throws {
        let help = try await Stage().run("set", "--help").output
        let words = Set(help.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init))
        for setting in AnySetting.all where setting.canBeStored {
            #expect(words.contains(setting.name))
        }
        let others = Set(AnySetting.all.filter { !$0.canBeStored }.map(\.name))
        #expect(
            words.intersection(others).subtracting([
                "MIRROR", "TIME_ZONE", "MIRROR_BOT_HOME", "DATABASE_URL",
            ]).isEmpty)
    }

    /// What can be stored is what `set` accepts.
    @Test func whatSetRefusesCannotBeStored() async throws {
        let stage = try Stage()
        for setting in AnySetting.all where !setting.canBeStored {
            let ending = try await stage.run("set", "\(setting.name)=default")
            #expect(ending.status == 78, "\(setting.name): \(ending.error)")
        }
    }
}
