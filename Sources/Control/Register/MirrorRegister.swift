package import Foundation
import Localization
package import Mirroring
import Posts
import Settings
import Storage

/// The register of all mirrors of a database: adds, imports and exports them.
///
/// Nothing here contacts a network: a login is verified when the mirror first runs. All writes are
/// upserts in transactions of a bounded number of mirrors, so that an interrupted call can be
/// repeated.
package struct MirrorRegister: Sendable {
    /// The longest input of an import, in bytes; it is kept in memory.
    package static let maximumBytes = 64 * 1_024 * 1_024
    /// The number of mirrors that are read, checked or written at a time.
    static let batchSize = 200
    /// The most problems in a report; further ones are counted.
    static let listedProblems = 20

    private let installation: Installation

    /// - Parameter installation: The database of the mirrors.
    package init(_ installation: Installation) { self.installation = installation }

    private var storage: any StorageEngine { installation.storage }
    private var now: Date { installation.clock.now }

    /// The vault from which the vault of each mirror is derived; see `CredentialVault.of(_:)`.
    private var vault: CredentialVault { installation.vault(of: MirrorSettings.defaultMirror) }

    /// Returns the desks of mirrors.
    ///
    /// - Throws: `ConfigurationError` for the first name that is no mirror of this database, or
    ///   whose mirror has an invalid stored setting; the store's error.
    package func desks(of names: [String]) async throws -> [Desk] {
        var desks: [Desk] = []
        for name in names {
            let mirror = try await installation.mirror(named: name)
            let record = try await mirror.table.requireHere()
            desks.append(Desk(mirror, zone: mirror.knownTimeZone(record)))
        }
        return desks
    }

    // MARK: Adding

    /// Adds a mirror.
    ///
    /// - Throws: `ChangeRefusal` with `.over` if a mirror of that name exists; ``EntryProblem`` for
    ///   an invalid setting; `ConfigurationError` without a key for the logins; the store's error.
    package func add(_ entry: MirrorEntry) async throws -> MirrorAddition {
        // Line 0 stands for an entry that comes from no file.
        let problems = try await problems(in: [(line: 0, entry: entry)])
        if let first = problems.first { throw first }
        guard try await write([(line: 0, entry: entry)], onlyNew: true).added == [entry.name] else {
            throw ChangeRefusal(
                .over,
                localized(
                    "there is a mirror \(entry.name) already; mirror-bot set, login and mirrors import change it"
                )
            )
        }
        return MirrorAddition(
            mirror: entry.name, settings: entry.settings.keys.sorted(),
            logins: entry.logins.keys.map(\.rawValue).sorted())
    }

    // MARK: Importing

    /// Imports mirrors from JSON lines, see ``MirrorEntry``.
    ///
    /// Stored settings and logins of a mirror stay unchanged if its line does not contain them.
    /// All lines are checked before the first is stored; if there is a problem, nothing is stored.
    /// Importing the same input again changes nothing.
    ///
    /// - Parameters:
    ///   - lines: The text, at most ``maximumBytes`` long.
    ///   - isDryRun: Whether the lines are only checked and compared.
    /// - Throws: `ChangeRefusal` with `.changed` if a mirror was moved away meanwhile;
    ///   `ConfigurationError` for a key that is missing or does not open a stored login; the
    ///   store's error.
    package func importMirrors(_ lines: Data, isDryRun: Bool = false) async throws -> ImportReport {
        var report = ImportReport(isDryRun: isDryRun)
        var problems: [EntryProblem] = []
        var names: [String: Int] = [:]
        var bots: [String: Int] = [:]
        for batch in EntryLines(lines) {
            var entries: [(line: Int, entry: MirrorEntry)] = []
            for (line, content) in batch {
                do throws(EntryProblem) {
                    let entry = try content.get()
                    if let first = names.updateValue(line, forKey: entry.name) {
                        throw EntryProblem("name", localized("is that of line \(first) too"))
                    }
                    if let bot = entry.logins[.bot]?.credentials.fingerprint,
                        let first = bots.updateValue(line, forKey: bot)
                    {
                        throw EntryProblem(
                            "credentials.bot", localized("is the bot of line \(first) too"))
                    }
                    entries.append((line, entry))
                } catch {
                    problems.append(error.at(line))
                }
            }
            problems += try await self.problems(in: entries)
            report.mirrors += batch.count
        }
        report.problems = Array(
            problems.sorted { ($0.line ?? 0) < ($1.line ?? 0) }.prefix(Self.listedProblems))
        report.moreProblems = problems.count - report.problems.count
        guard problems.isEmpty else { return report }
        for batch in EntryLines(lines) {
            let entries = batch.compactMap { line, content -> (line: Int, entry: MirrorEntry)? in
                // All lines were checked above, and none has a problem.
                (try? content.get()).map { (line: line, entry: $0) }
            }
            let written = try await write(entries, isDryRun: isDryRun)
            report.added += written.added
            report.changed += written.changed
            report.unchanged += written.unchanged
        }
        return report
    }

    /// Checks entries against the settings, together with the stored settings of their mirrors.
    private func problems(in entries: [(line: Int, entry: MirrorEntry)]) async throws
        -> [EntryProblem]
    {
        guard !entries.isEmpty else { return [] }
        let names = entries.map(\.entry.name)
        let stored = try await storage.read { try RegisterRows(of: names, on: $0) }
        var checker = EntryChecker(installation)
        return entries.compactMap { line, entry -> EntryProblem? in
            do throws(EntryProblem) {
                try checker.check(entry, stored[entry.name])
                return nil
            } catch {
                return line > 0 ? error.at(line) : error
            }
        }
    }

    private struct Written: Sendable {
        var added: [String] = []
        var changed: [String] = []
        var unchanged = 0
    }

    /// Stores the settings and logins that differ from the stored ones, in one transaction.
    ///
    /// - Parameter onlyNew: Whether to leave existing mirrors unchanged.
    private func write(
        _ entries: [(line: Int, entry: MirrorEntry)], onlyNew: Bool = false, isDryRun: Bool = false
    ) async throws -> Written {
        var vault = vault
        if !isDryRun, entries.contains(where: { !$0.entry.logins.isEmpty }) {
            try vault.requireKey()
        }
        vault = try vault.keyed()
        let entries = entries.map(\.entry)
        let now = now
        let body: @Sendable (any StorageConnection) throws -> Written = { [vault] connection in
            let stored = try RegisterRows(of: entries.map(\.name), on: connection)
            var written = Written()
            var batch = RegisterBatch(now: now)
            for entry in entries {
                let existing = stored[entry.name]
                if let problem = existing?.problem {
                    throw ChangeRefusal(.changed, localized("mirror \(entry.name) \(problem)"))
                }
                if onlyNew, existing != nil { continue }
                let settings = entry.settings.filter { existing?.settings[$0.key] != $0.value }
                let vault = vault.of(entry.name)
                let logins = try entry.logins.filter { role, login in
                    guard let sealed = existing?.logins[role] else { return true }
                    return try !vault.opened(sealed, of: role).isSame(as: login)
                }
                if existing != nil, settings.isEmpty, logins.isEmpty {
                    written.unchanged += 1
                    continue
                }
                if existing == nil {
                    written.added.append(entry.name)
                } else {
                    written.changed.append(entry.name)
                }
                guard !isDryRun else { continue }
                let sealed = try logins.map { ($0.key, try vault.sealed($0.value, of: $0.key)) }
                batch.add(entry.name, settings: settings, sealedLogins: sealed)
            }
            if !isDryRun { try batch.store(on: connection) }
            return written
        }
        return isDryRun ? try await storage.read(body) : try await storage.transaction(body)
    }

    // MARK: Exporting

    /// Passes the lines of all mirrors to `body`, in the order of their names, each with its line
    /// break.
    ///
    /// - Parameter withSecrets: Whether the lines contain the secrets of the logins.
    /// - Returns: The number of mirrors, and the names of those whose secrets were left out.
    /// - Throws: `ConfigurationError` for a login that the key does not open; what `body` throws;
    ///   the store's error.
    package func export(withSecrets: Bool, _ body: (String) throws -> Void) async throws
        -> ExportReport
    {
        var report = ExportReport(withSecrets: withSecrets)
        let vault = try vault.keyed()
        let names = try await MirrorTable.names(in: storage)
        for part in names.portions(of: Self.batchSize) {
            let stored = try await storage.read { try RegisterRows(of: part, on: $0) }
            for name in part {
                guard let row = stored[name], row.problem == nil else { continue }
                let vault = vault.of(name)
                var logins: [AccountRole: StoredLogin] = [:]
                for (role, sealed) in row.logins {
                    logins[role] = try vault.opened(sealed, of: role)
                }
                let entry = MirrorEntry(
                    name: name,
                    settings: row.settings.filter { RetiredSetting.named($0.key) == nil },
                    logins: logins)
                try body(try entry.line(withSecrets: withSecrets) + "\n")
                report.mirrors += 1
                if !withSecrets, !logins.isEmpty { report.lacking.append(name) }
            }
        }
        return report
    }
}

/// The outcome of adding a mirror.
package struct MirrorAddition: PersonOutcome {
    package private(set) var schema = "mirror-bot/mirror-addition/1"
    package let mirror: String
    /// The names of the settings that were stored.
    package let settings: [String]
    /// The roles whose logins were stored.
    package let logins: [String]

    package var wayBack: WayBack? { WayBack(RemoveMirror(), "mirrors", "remove", mirror) }
}

/// The outcome of an import, or its forecast in a dry run.
package struct ImportReport: PersonOutcome {
    package private(set) var schema = "mirror-bot/import/1"
    package let isDryRun: Bool
    /// The number of lines with a mirror.
    package fileprivate(set) var mirrors = 0
    /// The names of new mirrors.
    package fileprivate(set) var added: [String] = []
    /// The names of mirrors of which a setting or a login differs.
    package fileprivate(set) var changed: [String] = []
    package fileprivate(set) var unchanged = 0
    /// The first problems, by line; if there is any problem, nothing is stored.
    package fileprivate(set) var problems: [EntryProblem] = []
    /// The number of problems that are not listed.
    package fileprivate(set) var moreProblems = 0

    init(isDryRun: Bool) { self.isDryRun = isDryRun }
}

/// The result of an export.
package struct ExportReport: PersonOutcome {
    package private(set) var schema = "mirror-bot/export/1"
    package let withSecrets: Bool
    package fileprivate(set) var mirrors = 0
    /// The names of the mirrors whose secrets were left out.
    package fileprivate(set) var lacking: [String] = []

    init(withSecrets: Bool) { self.withSecrets = withSecrets }
}

// MARK: - Lines

/// The entries of a text, in batches; empty lines are skipped.
private struct EntryLines: Sequence, IteratorProtocol {
    typealias Line = (number: Int, content: Result<MirrorEntry, EntryProblem>)

    private let text: Data
    private var position: Data.Index
    private var number = 0

    init(_ text: Data) {
        self.text = text
        position = text.startIndex
    }

    mutating func next() -> [Line]? {
        var batch: [Line] = []
        while batch.count < MirrorRegister.batchSize, position < text.endIndex {
            let end = text[position...].firstIndex(of: UInt8(ascii: "\n")) ?? text.endIndex
            var line = text[position..<end]
            position = end < text.endIndex ? text.index(after: end) : end
            number += 1
            if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
            guard line.contains(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") })
            else { continue }
            let bytes = Data(line)
            batch.append(
                (number, Result { () throws(EntryProblem) in try MirrorEntry(line: bytes) }))
        }
        return batch.isEmpty ? nil : batch
    }
}

extension EntryProblem {
    fileprivate func at(_ line: Int) -> EntryProblem { EntryProblem(field, problem, line: line) }
}

// MARK: - Checking

/// Checks the settings of entries; the results for equal settings are cached.
private struct EntryChecker {
    private struct Key: Hashable {
        let settings: [String: String]
        let networks: [AccountRole: NetworkName]
        /// Whether the settings of the process name the mirror.
        let isNamed: Bool
    }

    /// The most cached results.
    private static let mostCached = 1_000

    private let installation: Installation
    private var usable: Set<Key> = []

    init(_ installation: Installation) { self.installation = installation }

    mutating func check(_ entry: MirrorEntry, _ stored: RegisterRows.Row?) throws(EntryProblem) {
        if let problem = stored?.problem {
            throw EntryProblem("name", localized("is that of a mirror that \(problem)"))
        }
        for name in entry.settings.keys.sorted() {
            let field = "settings.\(MirrorEntry.shown(name))"
            guard let setting = AnySetting.named(name) else {
                let problem = RetiredSetting.named(name)?.problem
                throw EntryProblem(
                    field, problem ?? localized("is no setting; mirror-bot set --help lists them"))
            }
            guard !setting.isSecret else {
                throw EntryProblem(field, localized("is a secret, which belongs into credentials"))
            }
            guard setting.canBeStored else {
                throw EntryProblem(
                    field,
                    localized("belongs to the process or to a login, and is not set for a mirror"))
            }
        }
        let logins = entry.logins
        if let human = logins[.human], let bot = logins[.bot],
            bot.credentials.openSameAccount(as: human.credentials)
        {
            throw EntryProblem(
                "credentials.bot", localized("opens the human's own account; the bot needs another")
            )
        }
        let settings = (stored?.settings ?? [:]).merging(entry.settings) { _, new in new }
        let key = Key(
            settings: settings, networks: logins.mapValues(\.network),
            isNamed: installation.isNamed(entry.name))
        guard !usable.contains(key) else { return }
        do {
            var effective = try installation.settings(of: entry.name).with(stored: settings)
            try effective.adopt(key.networks)
        } catch {
            throw problem(of: entry, error)
        }
        if usable.count >= Self.mostCached { usable.removeAll(keepingCapacity: true) }
        usable.insert(key)
    }

    /// The problem without any value, because a misplaced value may be a secret.
    private func problem(of entry: MirrorEntry, _ error: any Error) -> EntryProblem {
        guard let error = error as? ConfigurationError else {
            return EntryProblem("settings", localized("cannot be used"))
        }
        guard let setting = AnySetting.named(error.setting),
            let value = entry.settings[setting.name]
        else {
            return EntryProblem(
                "settings",
                localized(
                    "do not go together with \(error.setting), which is set for the mirror or the process"
                )
            )
        }
        if setting.form.choices?.contains(value) == true {
            return EntryProblem(
                "settings.\(setting.name)",
                localized("does not go together with the mirror's networks"))
        }
        return EntryProblem(
            "settings.\(setting.name)",
            localized("cannot be used; expected \(setting.form.words.replacing("`", with: ""))"))
    }
}
