import ArgumentParser
import Control
import Foundation
import Mirroring
import Outbox

/// `mirror-bot mirrors`.
struct MirrorsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mirrors",
        abstract: "List the mirrors of the database.",
        discussion: "The other commands use the one that --mirror or the variable MIRROR names.")

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.withMirror(
            readsAccounts: false, looksOnly: true, opening: MirrorOptions.openWhicheverThereAre
        ) { mirror in
            let list = try await MirrorList(in: mirror.storage, now: mirror.clock.now)
            if json { return try JSONOutput.print(list) }
            guard !list.mirrors.isEmpty else {
                return print("there are no mirrors yet; mirror-bot login, train and set make one")
            }
            let width = list.mirrors.map(\.name.count).max() ?? 0
            for mirror in list.mirrors { print(mirror.line(nameWidth: width)) }
        }
    }
}

extension MirrorList.Mirror {
    fileprivate func line(nameWidth: Int) -> String {
        let accounts = "\(human.map { "@" + $0 } ?? "unknown") → \(bot.map { "@" + $0 } ?? "unknown")"
        let waits = suggestions > 0 ? ", \(suggestions) suggestions waiting" : ""
        return Printable.padded(name, to: nameWidth) + "  " + Printable.padded(state.rawValue, to: 8) + "  "
            + Printable.line(accounts + waits)
    }
}
