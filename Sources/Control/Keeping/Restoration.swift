import Archive
import Conduct
package import Foundation
import Localization
import Logging
import MeCab
package import Mirroring
package import Outbox
import Posts
package import Settings
import Storage

/// The outcome of a restore.
package struct RestoreReport: Codable, Equatable, Sendable {
    /// The state of one mirror after the restore.
    package struct Mirror: Codable, Equatable, Sendable {
        package let name: String
        package let posts: Int
        package let actions: Int
        package let people: Int
        /// When the mirror of the backup was last active; nil if it never was.
        package let knownUntil: Date?
        /// Whether the present database knew its actions since then.
        ///
        /// If false, the bot's own posts are read from its network at the next start, and later
        /// denials and forgotten people are unknown.
        package let knowsRest: Bool
        /// Waiting actions that were skipped.
        package let leftOut: Int
        /// Roles with a stored login that no present key opens.
        package let sealedLogins: [AccountRole]
    }

    /// The part of the replaced database that was used.
    package enum Before: String, Codable, Sendable {
        /// There was no database.
        case none
        /// All actions, readings and decisions.
        case read
        /// The database is damaged or of a newer program; only people's decisions could be read.
        case partly
        /// Nothing: the database was unreadable.
        case unread
    }

    package private(set) var schema = "mirror-bot/restore/1"
    /// The backup.
    package let file: String
    /// The database.
    package let database: String
    /// The path of the previous database; nil if there was none.
    package let before: String?
    package let takenOver: Before
    package let mirrors: [Mirror]
    /// `SECRET_KEY`, or the file that must contain the key of the stored logins.
    package let key: String
    /// Whether that key exists.
    package let hasKey: Bool
}

/// Restores a backup of the embedded database: completely or not at all, even after a crash.
///
/// If the present database is readable, the rows of the backup are merged into it in one
/// transaction, after a copy of it was made; see `MirrorRestore`. If there is none, or an
/// unreadable one, the backup takes its place.
package struct Restoration: Sendable {
    /// The state of the present database, before anything is changed.
    private enum PresentDatabase {
        /// There is no database.
        case free
        case readable
        /// Damaged, or of a newer program.
        case unreadable
    }

    private let configuration: MirrorConfiguration
    private let path: String
    private let clock: any WallClock
    private let timing: LeaseTiming

    /// - Parameters:
    ///   - configuration: Names the database, and the mirror whose settings apply.
    ///   - clock: The clock.
    ///   - timing: Determines how long a silent worker is waited for.
    /// - Throws: `ConfigurationError` for a database on a server.
    package init(
        _ configuration: MirrorConfiguration, clock: any WallClock = SystemClock(),
        timing: LeaseTiming = LeaseTiming()
    ) throws {
        guard case .sqlite(let path) = configuration.process.storage else {
            throw ConfigurationError(
                Setting.databaseURL.name,
                localized(
                    "names a server, whose data is put back with pg_restore or psql and not with this"
                ))
        }
        try configuration.process.requireLastingStorage()
        self.configuration = configuration
        self.path = path
        self.clock = clock
        self.timing = timing
    }

    /// Restores a backup.
    ///
    /// - Parameter file: The path of the backup, which is only read.
    /// - Throws: `StorageError` for a file that is damaged, foreign, or of a newer or earlier
    ///   program, and for a full disk; `ChangeRefusal` with code `.busy` for a mirror that a worker
    ///   holds; `ConfigurationError` for mirrors that have been moved away or have other accounts,
    ///   and for a present database of an earlier program. Then nothing was changed.
    package func restore(_ file: String) async throws -> RestoreReport {
        let now = Date(milliseconds: clock.now.milliseconds)
        var preparedNames: [String] = []
        let draft = try await DatabaseCopy.draft(of: file, for: path) { copy in
            preparedNames = try await MirrorRestore.prepare(copy, now: now)
            guard !preparedNames.isEmpty else {
                throw DatabaseCopy.unusable(file, because: "it holds no mirror")
            }
        }
        defer { DatabaseCopy.remove(draft) }
        let mirrors = preparedNames
        let formerCopy = formerCopyPath(at: now)
        switch try await presentDatabase() {
        case .readable:
            let receipts = try await Storage.open(path, beside: draft).closing { engine in
                try await TablesUpdate.migrate(engine)
                return try await holding(mirrors[...], in: engine) {
                    try await engine.backup(to: formerCopy)
                    do {
                        return try await MirrorRestore(into: engine, now: now).run(mirrors)
                    } catch {
                        // Nothing was changed, so the copy is not needed.
                        DatabaseCopy.remove(formerCopy)
                        throw error
                    }
                }
            }
            return try await report(file, before: formerCopy, takenOver: .read, receipts, now: now)
        case .free:
            let (receipts, _) = try await replace(by: draft, mirrors, keeping: nil, now: now)
            return try await report(file, before: nil, takenOver: .none, receipts, now: now)
        case .unreadable:
            guard !DatabaseCopy.isInUse(path) else {
                throw ChangeRefusal(
                    .busy,
                    localized(
                        "another process uses the database at \(path); stop the worker and call this again"
                    ))
            }
            let (receipts, isSalvaged) = try await replace(
                by: draft, mirrors, keeping: formerCopy, now: now)
            return try await report(
                file, before: formerCopy, takenOver: isSalvaged ? .partly : .unread, receipts,
                now: now)
        }
    }

    /// The path for the copy of the previous database.
    private func formerCopyPath(at now: Date) -> String {
        ScheduledBackup.timed("\(path).before-", at: now) {
            FileManager.default.fileExists(atPath: $0)
        }
    }

    /// Determines the state of the present database.
    ///
    /// - Throws: `ConfigurationError` for a database that only an earlier program can bring up to
    ///   date, so that it is neither merged nor replaced.
    private func presentDatabase() async throws -> PresentDatabase {
        guard FileManager.default.fileExists(atPath: path) else { return .free }
        do {
            try await Storage.open(.sqlite(path: path)).closing { engine in
                try await engine.requireUndamaged("read the database at \(path)")
                guard try await !Migrations.isOfEarlierProgram(engine) else {
                    throw ConfigurationError(
                        localized("the database at \(path)"),
                        localized(
                            "has the tables of an earlier mirror-bot; bring it up to date with that program first, as docs/deploy.md says under Upgrade, or move the file away. Nothing was changed"
                        ))
                }
                _ = try await Migrations.pending(in: engine)
            }
            return .readable
        } catch let error as StorageError where [.corrupt, .outOfDate].contains(error.code) {
            return .unreadable
        } catch let error as ConfigurationError {
            throw error
        } catch {
            // The next step opens the database again, and reports why that fails.
            return .readable
        }
    }

    /// Puts a new database with the mirrors of the draft in the place of an unusable or missing
    /// one.
    ///
    /// - Returns: The receipts, and whether people's decisions were read from the previous
    ///   database.
    private func replace(
        by draft: String, _ mirrors: [String], keeping formerCopy: String?, now: Date
    ) async throws -> ([MirrorRestore.Receipt], isSalvaged: Bool) {
        let newPath = "\(draft).new"
        defer { DatabaseCopy.remove(newPath) }
        try await Storage.open(.sqlite(path: newPath)).closing {
            _ = try await TablesUpdate.migrate($0)
        }
        var isSalvaged = false
        if formerCopy != nil {
            do {
                isSalvaged = try await Storage.open(newPath, beside: path).closing {
                    await MirrorRestore(into: $0, now: now).salvage()
                }
            } catch let error as StorageError where [.corrupt, .outOfDate].contains(error.code) {
                // A damaged database that cannot be opened contributes nothing.
            }
        }
        let receipts = try await Storage.open(newPath, beside: draft).closing { engine in
            try await MirrorRestore(into: engine, now: now).run(mirrors, knowsPeople: isSalvaged)
        }
        // A database that was created meanwhile is not overwritten.
        guard formerCopy != nil || !FileManager.default.fileExists(atPath: path) else {
            throw ChangeRefusal(
                .busy, localized("a database was made at \(path) meanwhile; call this again"))
        }
        try DatabaseCopy.publish(newPath, as: path, keeping: formerCopy)
        return (receipts, isSalvaged)
    }

    /// Runs `work` while no worker can hold any of the mirrors.
    private func holding<Value: Sendable>(
        _ mirrors: ArraySlice<String>, in engine: any StorageEngine,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let mirror = mirrors.first else { return try await work() }
        let keeper = LeaseKeeper(
            table: LeaseTable(storage: engine, mirror: mirror), clock: clock, timing: timing,
            logger: Logger(label: "mirror-bot") { _ in SwiftLogNoOpLogHandler() })
        let value = try await keeper.holdingNow { _ in
            try await holding(mirrors.dropFirst(), in: engine, work)
        }
        guard let value else {
            throw ChangeRefusal(
                .busy,
                localized(
                    "a worker holds mirror \(mirror); stop it first, as with systemctl stop mirror-bot. Nothing was changed"
                ))
        }
        return value
    }

    // MARK: Afterwards

    /// Forgets again everything that was forgotten since the backup, and reports the result.
    private func report(
        _ file: String, before: String?, takenOver: RestoreReport.Before,
        _ receipts: [MirrorRestore.Receipt], now: Date
    ) async throws -> RestoreReport {
        var configuration = configuration
        if let first = receipts.first { configuration.mirror.mirror = first.mirror }
        return try await HumanMirror.open(configuration, clock: clock).closing { opened in
            var mirrors: [RestoreReport.Mirror] = []
            for receipt in receipts {
                let mirror =
                    receipt.mirror == opened.name ? opened : try await opened.other(receipt.mirror)
                try await forgetAgain(receipt, in: mirror, now: now)
                mirrors.append(
                    RestoreReport.Mirror(
                        name: receipt.mirror, posts: receipt.rows["posts"] ?? 0,
                        actions: receipt.rows["actions"] ?? 0, people: receipt.rows["people"] ?? 0,
                        knownUntil: receipt.knownUntil, knowsRest: receipt.knowsRest,
                        leftOut: receipt.leftOut,
                        sealedLogins: try await mirror.vault.unopenableRoles()))
            }
            return RestoreReport(
                file: file, database: path, before: before, takenOver: takenOver, mirrors: mirrors,
                key: opened.vault.expectedKeyPlace, hasKey: opened.vault.keyPlace != nil)
        }
    }

    /// Removes posts with muted words, and unlearns people who were denied since the backup.
    ///
    /// Without a dictionary, the worker completes this.
    private func forgetAgain(_ receipt: MirrorRestore.Receipt, in mirror: HumanMirror, now: Date)
        async throws
    {
        let mutedWords = try await mirror.archive.muted().filter { $0.kind == "word" }
        if !mutedWords.isEmpty {
            let muted = Muted(mutedWords.compactMap { Muted.Entry(kind: $0.kind, value: $0.value) })
            try await mirror.archive.forget(
                try await mirror.archive.ids { text, _ in muted.hasWord(text) })
        }
        do {
            for person in receipt.denied { try await mirror.forgetLearning(of: person, now: now) }
            try await mirror.continueForgetting(now: now)
        } catch is MeCabError {
            // The worker, which has a dictionary, does it later.
        }
    }
}
