import ArgumentParser
import Control
import Foundation
import Mirroring
import Settings

/// `mirror-bot mirrors`.
struct MirrorsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mirrors",
        abstract: "List, add, import, pause and remove the mirrors of the database.",
        discussion: """
            The other commands use the one that --mirror or the variable \(Setting.mirror.name) names.

              mirror-bot mirrors
              mirror-bot mirrors add ann \(Setting.timeZone.name)=Europe/Berlin --credentials ann.json
              mirror-bot mirrors import mirrors.jsonl --dry-run
              mirror-bot mirrors pause ann ben
              mirror-bot mirrors remove ann
              mirror-bot mirrors export --with-secrets mirrors.jsonl

            mirror-bot status --all shows how they are.
            """,
        subcommands: [
            MirrorsListCommand.self, MirrorsAddCommand.self, MirrorsImportCommand.self,
            MirrorsExportCommand.self,
            MirrorsPauseCommand.self, MirrorsResumeCommand.self, MirrorsRemoveCommand.self,
        ],
        defaultSubcommand: MirrorsListCommand.self)
}

/// `mirror-bot mirrors list`.
struct MirrorsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the mirrors; the word list can be left out.")

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.withInstallation(readsAccounts: false) { installation in
            let list = try await MirrorList(in: installation.storage, now: installation.clock.now)
            if json { return try JSONOutput.print(list) }
            guard !list.mirrors.isEmpty else {
                return print(
                    "there are no mirrors yet; mirror-bot login, train, set and mirrors add make one"
                )
            }
            let width = list.mirrors.map(\.name.count).max() ?? 0
            for mirror in list.mirrors { print(mirror.line(nameWidth: width)) }
        }
    }
}

extension MirrorList.Mirror {
    fileprivate func line(nameWidth: Int) -> String {
        let accounts =
            "\(human.map { "@" + $0 } ?? "unknown") → \(bot.map { "@" + $0 } ?? "unknown")"
        let waitingSuggestions = suggestions > 0 ? ", \(suggestions) suggestions waiting" : ""
        return Printable.padded(name, to: nameWidth) + "  "
            + Printable.padded(state.rawValue, to: 8) + "  "
            + Printable.line(accounts + waitingSuggestions)
    }
}

/// `mirror-bot mirrors add`.
struct MirrorsAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a mirror with its settings and logins.",
        discussion: """
            Settings are those of mirror-bot set, quotas such as \(Setting.archiveLimit.name) and \(Setting.xBudget.name) included. \
            Secrets are read from a file or from standard input, never from an argument: one JSON object, as in a line \
            of mirror-bot mirrors import:

              {"bot": {"network": "mastodon", "server": "https://social.example", "access_token": "..."}}

            No network is asked: logins are verified when the mirror first runs. Exit codes: 65 if there is a mirror of \
            that name, or a value cannot be used; 78 without \(Setting.secretKey.name) on a database server.
            """)

    @Argument(help: ArgumentHelp("\(MirrorSettings.nameForm).", valueName: "mirror"))
    var name: String

    @Argument(
        help: ArgumentHelp(
            "Such as \(Setting.maxPerDay.name)=5; several are allowed.", valueName: "name=value"))
    var words: [String] = []

    @Option(
        help: ArgumentHelp(
            "A file with the logins, as a JSON object; - is standard input.", valueName: "file"))
    var credentials: String?

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var options: MirrorOptions

    func validate() throws { try MirrorArgument.check([name], options) }

    func run() async throws {
        var entry = MirrorEntry(name: name, settings: try SettingWords.values(words))
        if let credentials {
            let data = try InputFile.contents(of: credentials, atMost: MirrorEntry.maximumBytes)
            do {
                entry.logins = try MirrorEntry.logins(data)
            } catch {
                throw CommandError(
                    .badData, "--credentials \(Printable.line(credentials)): \(error)")
            }
        }
        try await options.withInstallation(ifMissing: .create, readsAccounts: false) {
            installation in
            let added = try await MirrorRegister(installation).add(entry)
            if json { return try JSONOutput.print(added) }
            let logins =
                added.logins.isEmpty
                ? "no logins" : "logins of \(added.logins.joined(separator: " and "))"
            let count = added.settings.count
            print(
                "added mirror \(added.mirror) with \(count) \(count == 1 ? "setting" : "settings") and \(logins)"
            )
            for line in added.wayBackLines { print(line) }
        }
    }
}

/// `mirror-bot mirrors import`.
struct MirrorsImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add and change mirrors from a file with one JSON object on each line.",
        discussion: """
            A line holds a name, settings and credentials, the last two if wanted:

              {"name": "ann", "settings": {"\(Setting.timeZone.name)": "Europe/Berlin"}, "credentials": {"bot": {"network": "bluesky", \
            "handle": "ann-bot.example", "app_password": "..."}}}

            A credential has the name of its variable without the role, in small letters. Settings and logins that a \
            line does not name stay as they are, and so does a mirror without a line. All lines are checked before \
            anything is stored; importing the same file again changes nothing. Messages name line and field, and never \
            repeat a value. Exit codes: 65 if a line cannot be used; 75 if a mirror was moved away meanwhile; 78 for a \
            missing or wrong \(Setting.secretKey.name).
            """)

    @Argument(help: "A file of at most 64 MiB; - is standard input.")
    var file: String

    @Flag(help: "Check and compare only; store nothing.")
    var dryRun = false

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var options: MirrorOptions

    func validate() throws {
        guard !file.isEmpty else { throw ValidationError("the file's name is empty") }
        try MirrorArgument.check([], options)
    }

    func run() async throws {
        let data = try InputFile.contents(of: file, atMost: MirrorRegister.maximumBytes)
        try await options.withInstallation(
            ifMissing: dryRun ? .useEmpty : .create, readsAccounts: false
        ) { installation in
            let report = try await MirrorRegister(installation).importMirrors(
                data, isDryRun: dryRun)
            if json {
                try JSONOutput.print(report)
            } else {
                for line in report.lines { print(line) }
            }
            guard !report.problems.isEmpty else { return }
            try Console.current.output.flush()
            throw CommandError(.badData, report.refusal(isListed: !json))
        }
    }
}

extension ImportReport {
    /// The most names that a line lists.
    private static let mostNames = 20

    fileprivate var lines: [String] {
        guard problems.isEmpty else { return [] }
        func nameLine(_ title: String, _ names: [String]) -> String? {
            guard !names.isEmpty else { return nil }
            let furtherNames =
                names.count > Self.mostNames ? " and \(names.count - Self.mostNames) more" : ""
            return
                "\(title): \(names.prefix(Self.mostNames).joined(separator: ", "))\(furtherNames)"
        }
        let counts = "\(added.count) new, \(changed.count) changed, \(unchanged) as they were"
        let summary =
            isDryRun
            ? "nothing was stored; of \(mirrors) mirrors: \(counts)"
            : "imported \(mirrors) mirrors: \(counts)"
        return [summary, nameLine("new", added), nameLine("changed", changed)].compactMap(\.self)
    }

    fileprivate func refusal(isListed: Bool) -> String {
        let count = problems.count + moreProblems
        let title =
            "nothing was imported, because of \(count) \(count == 1 ? "problem" : "problems")"
        guard isListed else { return title }
        let furtherProblems = moreProblems > 0 ? ["and \(moreProblems) more"] : []
        return ([title + ":"] + problems.map(\.description) + furtherProblems).joined(
            separator: "\n  ")
    }
}

/// `mirror-bot mirrors export`.
struct MirrorsExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the mirrors as lines that mirrors import reads.",
        discussion: """
            Settings and logins that are stored are written; those of the environment, archives and histories are not \
            (see mirror-bot backup and move). Without --with-secrets the field missing of a line lists the secrets that \
            are left out, and an import asks for them. Mirrors that live in another database are left out.
            """)

    @Argument(help: "The file to write, readable for you alone; without it, standard output.")
    var file: String?

    @Flag(help: "Include the secrets of the logins; needs a file.")
    var withSecrets = false

    @Flag(help: "Replace a file that is there.")
    var force = false

    @OptionGroup var options: MirrorOptions

    func validate() throws {
        if withSecrets, file == nil || file == OutputFile.standardOutput {
            throw ValidationError("--with-secrets needs a file")
        }
        if file?.isEmpty == true { throw ValidationError("the file's name is empty") }
        try MirrorArgument.check([], options)
    }

    func run() async throws {
        let name = file ?? OutputFile.standardOutput
        let output = OutputFile(name, isForced: force)
        try output.check()
        try await options.withInstallation(readsAccounts: false) { installation in
            var text = ""
            let isPrinted = name == OutputFile.standardOutput
            let report = try await MirrorRegister(installation).export(withSecrets: withSecrets) {
                line in
                if isPrinted {
                    Console.current.output.write(JSONOutput.escaped(line))
                } else {
                    text += line
                }
            }
            if !isPrinted {
                try output.write(text)
                print("exported \(report.mirrors) mirrors to \(Printable.line(name))")
            }
            guard !report.lacking.isEmpty else { return }
            StandardError.write(
                "note: the secrets of \(report.lacking.count) mirrors are left out\n")
        }
    }
}
