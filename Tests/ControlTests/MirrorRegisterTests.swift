import Expectations
import Favorites
import Fixtures
import Foundation
import Networks
import Posts
import Schedule
import Settings
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Mirroring

/// Adding, importing and exporting mirrors.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct MirrorRegisterTests {
    private static let key = ["SECRET_KEY": "planted-key-planted-key-planted-key"]

    private func data(_ lines: String...) -> Data { Data(lines.map { $0 + "\n" }.joined().utf8) }

    /// A mirror with both logins and some settings.
    private static func line(_ name: String, limit: Int = 900) -> String {
        #"{"name":"\#(name)","settings":{"TIME_ZONE":"Europe/Berlin","ARCHIVE_LIMIT":\#(limit)},"credentials":{"#
            + #""human":{"network":"bluesky","handle":"\#(name).example"},"bot":{"network":"mastodon","#
            + #""server":"https://social.example","access_token":"planted-token-\#(name)"}}}"#
    }

    /// Everything that is stored but seals, which differ each time, and times.
    private func stored(_ mirror: HumanMirror) async throws -> [String] {
        let rows = try await mirror.storage.lenient.query(
            """
            SELECT mirror, 'mirror' AS kind, '' AS name, '' AS value FROM mirrors
            UNION ALL SELECT mirror, 'setting', name, value FROM settings
            UNION ALL SELECT mirror, 'login', role, '' FROM credentials ORDER BY 1, 2, 3
            """)
        return try rows.map { row in
            try ["mirror", "kind", "name", "value"].map { try row.text($0) }.joined(separator: " ")
        }
    }

    private func expectReport(
        _ report: ImportReport, added: [String], changed: [String], unchanged: Int
    ) {
        #expect(report.added == added)
        #expect(report.changed == changed)
        #expect(report.unchanged == unchanged)
    }

    // MARK: What is stored

    @Test(arguments: Engine.allCases) func whatALineSaysIsStoredAndUsed(_ engine: Engine)
        async throws
    {
        let bare = try await BareMirror(engine, variables: Self.key)
        let mirror = try await bare.open()
        let report = try await MirrorRegister(mirror.installation).importMirrors(
            data(Self.line("ann"), "", Self.line("ben") + "\r"))
        expectReport(report, added: ["ann", "ben"], changed: [], unchanged: 0)
        #expect(report.problems.isEmpty && report.mirrors == 2)
        let ann = try await mirror.installation.mirror(named: "ann")
        #expect(ann.configuration.archiveLimit == 900)
        #expect(ann.configuration.timeZoneName == "Europe/Berlin")
        let login = try #require(try await ann.vault.login(of: .bot))
        #expect(login.credentials[.accessToken]?.reveal() == "planted-token-ann")
        #expect(login.credentials[.server]?.reveal() == "https://social.example")
        try await expect(
            ann.vault.login(of: .human)?.credentials[.handle]?.reveal(), equals: "ann.example")
        #expect(
            ann.configuration.humanNetwork == .bluesky && ann.configuration.botNetwork == .mastodon)
        try await expect(ann.table.record().past) { $0 == nil }
    }

    @Test(arguments: Engine.allCases) func theSameFileTwiceChangesNothing(_ engine: Engine)
        async throws
    {
        let mirror = try await BareMirror(engine, variables: Self.key).open()
        let register = MirrorRegister(mirror.installation)
        let lines = data(Self.line("ann"), Self.line("ben"))
        _ = try await register.importMirrors(lines)
        let before = try await TableContents(of: mirror.storage)
        for isDryRun in [false, true] {
            let report = try await register.importMirrors(lines, isDryRun: isDryRun)
            expectReport(report, added: [], changed: [], unchanged: 2)
            try await expect(TableContents(of: mirror.storage), equals: before)
        }
        // What differs is changed, and only that.
        let report = try await register.importMirrors(
            data(Self.line("ann", limit: 901), Self.line("ben")))
        expectReport(report, added: [], changed: ["ann"], unchanged: 1)
        try await expect(
            mirror.installation.mirror(named: "ann").configuration.archiveLimit, equals: 901)
    }

    @Test func aDryRunStoresNothing() async throws {
        let mirror = try await BareMirror(variables: Self.key).open()
        let before = try await TableContents(of: mirror.storage)
        let report = try await MirrorRegister(mirror.installation).importMirrors(
            data(Self.line("ann")), isDryRun: true)
        #expect(report.added == ["ann"] && report.isDryRun)
        try await expect(TableContents(of: mirror.storage), equals: before)
    }

    /// What a line does not name stays; a new login ends the session of the old one, and no other.
    @Test func whatALineDoesNotNameStays() async throws {
        let mirror = try await BareMirror(variables: Self.key).open()
        let register = MirrorRegister(mirror.installation)
        _ = try await register.importMirrors(data(Self.line("ann"), Self.line("ben")))
        for name in ["ann", "ben"] {
            let vault = try await mirror.installation.mirror(named: name).vault
            try await vault.sessions(of: .bot, now: { BareMirror.now }).save(
                Secret("planted-session"))
        }
        let change =
            #"{"name":"ann","settings":{"MAX_PER_DAY":3},"credentials":{"bot":{"network":"mastodon","server":"social.example","access_token":"planted-new"}}}"#
        _ = try await register.importMirrors(data(change))
        let ann = try await mirror.installation.mirror(named: "ann")
        #expect(ann.configuration.archiveLimit == 900)
        #expect(ann.configuration.schedule.maximumPerDay == 3)
        try await expect(ann.vault.login(of: .human)) { $0 != nil }
        try await expect(ann.vault.session(of: .bot)) { $0 == nil }
        try await expect(mirror.installation.mirror(named: "ben").vault.session(of: .bot)) {
            $0 != nil
        }
    }

    /// Quotas and budgets are settings of each mirror.
    @Test func quotasAndBudgetsAreThoseOfAMirror() async throws {
        let mirror = try await BareMirror(variables: Self.key).open()
        for (index, name) in ["ann", "ben"].enumerated() {
            let settings = [
                "ARCHIVE_LIMIT": "\(1_000 + index)", "EXAMPLE_LIMIT": "\(2_000 + index)",
                "X_BUDGET_USD_PER_MONTH": "\(3 + index)", "FAVORITES_PER_DAY": "\(4 + index)",
            ]
            _ = try await MirrorRegister(mirror.installation).add(
                MirrorEntry(name: name, settings: settings))
        }
        for (index, name) in ["ann", "ben"].enumerated() {
            let configuration = try await mirror.installation.mirror(named: name).configuration
            #expect(configuration.archiveLimit == 1_000 + index)
            #expect(configuration.favorites.exampleLimit == 2_000 + index)
            #expect(configuration.x.monthlyBudget.microdollars == (3 + index) * 1_000_000)
            #expect(configuration.favoritesPerDay == 4 + index)
        }
    }

    @Test func aMirrorIsAddedOnce() async throws {
        let mirror = try await BareMirror(variables: Self.key).open()
        let register = MirrorRegister(mirror.installation)
        let added = try await register.add(MirrorEntry(name: "ann", settings: ["MAX_PER_DAY": "3"]))
        #expect(added.wayBack?.command == "mirror-bot mirrors remove ann")
        let before = try await TableContents(of: mirror.storage)
        let refusal = await #expect(throws: ChangeRefusal.self) {
            try await register.add(MirrorEntry(name: "ann", settings: ["MAX_PER_DAY": "4"]))
        }
        #expect(refusal?.code == .over)
        await #expect(throws: EntryProblem.self) {
            try await register.add(MirrorEntry(name: "ben", settings: ["MAX_PER_DAY": "many"]))
        }
        try await expect(TableContents(of: mirror.storage), equals: before)
    }

    /// Two processes that import the same file at once store it once.
    @Test(arguments: Engine.allCases) func twoImportsAtOnceStoreOneFileOnce(_ engine: Engine)
        async throws
    {
        let bare = try await BareMirror(engine, variables: Self.key)
        let first = try await bare.open()
        let second = try await bare.open()
        let names = (0..<450).map { "m\($0)" }
        let lines = Data(names.map { Self.line($0) + "\n" }.joined().utf8)
        async let one = MirrorRegister(first.installation).importMirrors(lines)
        async let other = MirrorRegister(second.installation).importMirrors(lines)
        let reports = try await [one, other]
        #expect(reports.flatMap(\.added).sorted() == names.sorted())
        #expect(reports.flatMap(\.changed).isEmpty)
        for name in ["m0", "m449"] {
            try await expect(first.installation.mirror(named: name).vault.login(of: .bot)) {
                $0 != nil
            }
        }
        try await expect(MirrorTable.names(in: first.storage).count, equals: 450)
    }

    @Test func tenThousandLinesAreImported() async throws {
        let mirror = try await BareMirror(variables: Self.key).open()
        let names = (0..<10_000).map { "m\($0)" }
        let lines = Data(names.map { Self.line($0) + "\n" }.joined().utf8)
        let report = try await MirrorRegister(mirror.installation).importMirrors(lines)
        #expect(report.added.count == 10_000)
        let again = try await MirrorRegister(mirror.installation).importMirrors(lines)
        #expect(again.unchanged == 10_000)
    }

    /// Logins are never stored with another key than those that are there.
    @Test func anotherKeyIsRefused() async throws {
        let bare = try await BareMirror(variables: Self.key)
        _ = try await MirrorRegister(try await bare.open().installation).importMirrors(
            data(Self.line("ann")))
        let other = try await bare.open(["SECRET_KEY": "another-key-another-key-another-key"])
        let before = try await TableContents(of: other.storage)
        await #expect(throws: ConfigurationError.self) {
            try await MirrorRegister(other.installation).importMirrors(data(Self.line("ann")))
        }
        try await expect(TableContents(of: other.storage), equals: before)
        let bareServer = try await BareMirror(.postgres)
        let unsealed = try await bareServer.open()
        await #expect(throws: ConfigurationError.self) {
            try await MirrorRegister(unsealed.installation).importMirrors(data(Self.line("ann")))
        }
        try await expect(stored(unsealed), equals: [])
    }

    // MARK: What is refused

    private static let hostile: [(line: String, field: String?, words: String)] = [
        ("planted", nil, "not valid JSON"),
        ("[]", nil, "no JSON object"),
        ("\"planted\"", nil, "no JSON object"),
        (#"{"name":"ann""#, nil, "not valid JSON"),
        (#"{"name":"ann"} {"name":"ben"}"#, nil, "not valid JSON"),
        (#"{}"#, "name", "is missing"),
        (#"{"name":""}"#, "name", "1 to 40"),
        (#"{"name":"Ann"}"#, "name", "1 to 40"),
        (#"{"name":"ann/../planted"}"#, "name", "1 to 40"),
        (#"{"name":"ann\u0000"}"#, "name", "1 to 40"),
        (#"{"name":7}"#, "name", "1 to 40"),
        (#"{"name":null}"#, "name", "1 to 40"),
        (#"{"name":"ann","token":"planted"}"#, "token", "no field"),
        (#"{"name":"ann","planted-Token-9":1}"#, "(a name that is not shown)", "no field"),
        (#"{"name":"ann","settings":[]}"#, "settings", "no object"),
        (#"{"name":"ann","settings":{"MAX_PER_DAY":true}}"#, "settings.MAX_PER_DAY", "neither"),
        (
            #"{"name":"ann","settings":{"MAX_PER_DAY":{"planted":1}}}"#, "settings.MAX_PER_DAY",
            "neither"
        ),
        (#"{"name":"ann","settings":{"MAX_PER_DAY":""}}"#, "settings.MAX_PER_DAY", "empty"),
        (
            #"{"name":"ann","settings":{"MAX_PER_DAY":"planted"}}"#, "settings.MAX_PER_DAY",
            "expected 0–"
        ),
        (
            #"{"name":"ann","settings":{"TIME_ZONE":"planted"}}"#, "settings.TIME_ZONE",
            "cannot be used"
        ),
        (#"{"name":"ann","settings":{"LINKS":"planted"}}"#, "settings.LINKS", "cannot be used"),
        (
            #"{"name":"ann","settings":{"OPERATOR_CONTACT":"a\nplanted"}}"#,
            "settings.OPERATOR_CONTACT", "control"
        ),
        (#"{"name":"ann","settings":{"PLANTED":"1"}}"#, "settings.PLANTED", "no setting"),
        (
            #"{"name":"ann","settings":{"BURSTS":"planted"}}"#, "settings.BURSTS",
            "no longer used: OLD_BOT=yes"
        ),
        (
            #"{"name":"ann","settings":{"planted-secret":"1"}}"#,
            "settings.(a name that is not shown)", "no setting"
        ),
        (
            #"{"name":"ann","settings":{"BOT_ACCESS_TOKEN":"planted"}}"#,
            "settings.BOT_ACCESS_TOKEN", "secret"
        ),
        (#"{"name":"ann","settings":{"SECRET_KEY":"planted"}}"#, "settings.SECRET_KEY", "secret"),
        (#"{"name":"ann","settings":{"BOT_SERVER":"planted"}}"#, "settings.BOT_SERVER", "belongs"),
        (
            #"{"name":"ann","settings":{"DATABASE_CONNECTIONS":"planted"}}"#,
            "settings.DATABASE_CONNECTIONS", "belongs"
        ),
        (#"{"name":"ann","credentials":"planted"}"#, "credentials", "no object"),
        (#"{"name":"ann","credentials":{"robot":{}}}"#, "credentials.robot", "no role"),
        (#"{"name":"ann","credentials":{"bot":"planted"}}"#, "credentials.bot", "no object"),
        (#"{"name":"ann","credentials":{"bot":{}}}"#, "credentials.bot.network", "missing"),
        (
            #"{"name":"ann","credentials":{"bot":{"network":"planted"}}}"#,
            "credentials.bot.network", "expected one of"
        ),
        (
            #"{"name":"ann","credentials":{"bot":{"network":"mastodon","server":"planted secret","access_token":"planted"}}}"#,
            "credentials.bot.server", "cannot be used"
        ),
        (
            #"{"name":"ann","credentials":{"bot":{"network":"mastodon","server":"https://a.example"}}}"#,
            "credentials.bot.access_token", "is missing"
        ),
        (
            #"{"name":"ann","credentials":{"bot":{"network":"mastodon","app_password":"planted"}}}"#,
            "credentials.bot.app_password", "no credential of Mastodon"
        ),
        (
            #"{"name":"ann","credentials":{"bot":{"network":"bluesky","handle":"planted handle","app_password":"planted"}}}"#,
            "credentials.bot.handle", "cannot be used"
        ),
        (
            #"{"name":"ann","credentials":{"bot":{"network":"mastodon","server":"https://a.example","access_token":"plan\tted"}}}"#,
            "credentials.bot.access_token", "control"
        ),
        (
            #"{"name":"ann","credentials":{"bot":{"network":"mastodon","expires_ms":"planted"}}}"#,
            "credentials.bot.expires_ms", "no number"
        ),
        (
            #"{"name":"ann","credentials":{"bot":{"network":"mastodon","server":"https://a.example","access_token":"planted-same-token"},"human":{"network":"mastodon","server":"https://b.example","access_token":"planted-same-token"}}}"#,
            "credentials.bot", "human's own account"
        ),
    ]

    /// Each is refused by line and field, no value is repeated, and no line of the file is stored.
    @Test(arguments: hostile.indices) func aHostileLineIsRefusedByLineAndField(_ index: Int)
        async throws
    {
        let (line, field, words) = Self.hostile[index]
        let mirror = try await BareMirror(variables: Self.key).open()
        let before = try await TableContents(of: mirror.storage)
        let report = try await MirrorRegister(mirror.installation).importMirrors(
            data(Self.line("first"), line, Self.line("last")))
        #expect(report.problems.count == 1)
        let problem = try #require(report.problems.first)
        #expect(problem.line == 2, "\(problem)")
        if let field { #expect(problem.field == field, "\(problem)") }
        #expect(problem.description.contains(words), "\(problem)")
        let text = "\(report)" + String(decoding: try JSONEncoder().encode(report), as: UTF8.self)
        #expect(!text.lowercased().contains("planted") || field == "settings.PLANTED", "\(text)")
        try await expect(TableContents(of: mirror.storage), equals: before)
    }

    @Test func hostileBytesAreRefused() async throws {
        let mirror = try await BareMirror(variables: Self.key).open()
        func problems(_ bytes: [UInt8]) async throws -> [String] {
            try await MirrorRegister(mirror.installation).importMirrors(Data(bytes)).problems.map(
                \.description)
        }
        let good = Array(Self.line("ann").utf8) + [0x0A]
        try await expect(problems(good + [0xFF, 0xFE, 0x0A] + Array(Self.line("ben").utf8))) {
            $0.isOne(2, "UTF-8")
        }
        let torn = Array(#"{"name":"a"#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8)
        try await expect(problems(torn)) { $0.isOne(1, "UTF-8") }
        let deep = Array(repeating: UInt8(ascii: "["), count: 60_000)
        try await expect(problems(deep)) { $0.isOne(1, "JSON") }
        let nested = #"{"name":"ann","settings":"# + String(repeating: #"{"a":"#, count: 5_000)
        try await expect(problems(Array(nested.utf8))) { $0.isOne(1, "JSON") }
        let huge =
            Array(#"{"name":"ann","settings":{"TIME_ZONE":""#.utf8)
            + Array(repeating: UInt8(ascii: "x"), count: 5_000_000) + Array(#""}}"#.utf8)
        try await expect(problems(huge + [0x0A] + good)) { $0.isOne(1, "longer") }
        let long =
            #"{"name":"ann","settings":{"TIME_ZONE":"\#(String(repeating: "x", count: 5_000))"}}"#
        try await expect(problems(Array(long.utf8))) { $0.isOne(1, "longer than 4096") }
        try await expect(stored(mirror), equals: [])
        try await expect(problems([])) { $0.isEmpty }
    }

    @Test func whatTwoLinesShareIsRefused() async throws {
        let mirror = try await BareMirror(variables: Self.key).open()
        let sameBot = Self.line("ben").replacing("planted-token-ben", with: "planted-token-ann")
        let report = try await MirrorRegister(mirror.installation)
            .importMirrors(data(Self.line("ann"), Self.line("ann"), sameBot))
        #expect(
            report.problems.map(\.description) == [
                "line 2: name is that of line 1 too",
                "line 3: credentials.bot is the bot of line 1 too",
            ])
        try await expect(stored(mirror), equals: [])
    }

    @Test func manyProblemsAreCounted() async throws {
        let mirror = try await BareMirror(variables: Self.key).open()
        let lines = Data(String(repeating: "planted\n", count: 1_000).utf8)
        let report = try await MirrorRegister(mirror.installation).importMirrors(lines)
        #expect(report.problems.count == MirrorRegister.listedProblems)
        #expect(report.problems.count + report.moreProblems == 1_000)
    }

    @Test func aMirrorThatLivesElsewhereIsRefused() async throws {
        let mirror = try await BareMirror(variables: Self.key).open()
        _ = try await MirrorRegister(mirror.installation).importMirrors(data(Self.line("ann")))
        try await mirror.storage.execute(
            "UPDATE mirrors SET move_id = '1', move_state = 'left', move_place = 'there' WHERE mirror = 'ann'"
        )
        let report = try await MirrorRegister(mirror.installation).importMirrors(
            data(Self.line("ann", limit: 5)))
        #expect(report.problems.map(\.field) == ["name"])
    }

    @Test func anEntryShowsNoSecret() throws {
        let entry = try MirrorEntry(line: Data(Self.line("ann").utf8))
        var dumped = ""
        dump(entry, to: &dumped)
        for text in ["\(entry)", String(reflecting: entry), dumped] {
            #expect(!text.contains("planted"), "\(text)")
        }
    }

    // MARK: Exports

    @Test func anExportIsImportedAgain() async throws {
        let mirror = try await BareMirror(variables: Self.key).open()
        let oauth =
            #"{"credentials":{"bot":{"access_token":"planted-a","api_base_url":"http://127.0.0.1:9","client_id":"planted-b","client_secret":"planted-c","expires_ms":1795000123456,"network":"mastodon","refresh_token":"planted-d","server":"https://social.example"}},"name":"oauth"}"#
        _ = try await MirrorRegister(mirror.installation).importMirrors(
            data(Self.line("ann"), oauth, #"{"name":"empty"}"#))
        var text = ""
        let report = try await MirrorRegister(mirror.installation).export(withSecrets: true) {
            text += $0
        }
        #expect(report.mirrors == 3 && report.lacking.isEmpty)
        #expect(text.contains(oauth))
        let other = try await BareMirror(.postgres, variables: Self.key).open()
        let imported = try await MirrorRegister(other.installation).importMirrors(Data(text.utf8))
        #expect(imported.added == ["ann", "empty", "oauth"])
        var again = ""
        _ = try await MirrorRegister(other.installation).export(withSecrets: true) { again += $0 }
        #expect(again == text)
        let unchanged = try await MirrorRegister(mirror.installation).importMirrors(Data(text.utf8))
        #expect(unchanged.unchanged == 3)
    }

    /// As of a mirror that was set up before an update.
    @Test func anExportLeavesOutWhatIsNoLongerUsed() async throws {
        let mirror = try await BareMirror(variables: Self.key).open()
        _ = try await MirrorRegister(mirror.installation).importMirrors(
            data(#"{"name":"ann","settings":{"MAX_PER_DAY":"5"}}"#))
        _ = try await mirror.storage.execute(
            """
            INSERT INTO settings (mirror, name, value, updated_ms)
            VALUES ('ann', 'BURSTS', 'off', 0)
            """)
        var text = ""
        _ = try await MirrorRegister(mirror.installation).export(withSecrets: true) { text += $0 }
        #expect(text.contains("MAX_PER_DAY") && !text.contains("BURSTS"))
        let again = try await MirrorRegister(mirror.installation).importMirrors(Data(text.utf8))
        #expect(again.unchanged == 1)
    }

    @Test func anExportWithoutSecretsNamesThem() async throws {
        let mirror = try await BareMirror(variables: Self.key).open()
        _ = try await MirrorRegister(mirror.installation).importMirrors(
            data(Self.line("ann"), #"{"name":"empty"}"#))
        var text = ""
        let report = try await MirrorRegister(mirror.installation).export(withSecrets: false) {
            text += $0
        }
        #expect(report.lacking == ["ann"])
        #expect(!text.contains("planted"))
        #expect(text.contains(#""missing":["credentials.bot.access_token"]"#))
        #expect(text.contains("https://social.example") && text.contains("Europe/Berlin"))
        let refused = try await MirrorRegister(mirror.installation).importMirrors(Data(text.utf8))
        #expect(refused.problems.map(\.field) == ["credentials.bot.access_token"])
    }
}

extension [String] {
    /// Whether these are one problem, in a line and with words.
    fileprivate func isOne(_ line: Int, _ words: String) -> Bool {
        count == 1 && self[0].hasPrefix("line \(line): ") && self[0].contains(words)
    }
}
