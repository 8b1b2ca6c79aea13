import ArgumentParser
import Foundation
import Mirroring
import Control
import Outbox

/// `mirror-bot mirrors`.
struct MirrorsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mirrors",
        abstract: "List the mirrors of the database.",
        discussion: "--mirror NAME, or the variable MIRROR, says which one the other commands mean.")

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.withMirror(
            readsAccounts: false, looksOnly: true, opening: MirrorOptions.openWhicheverThereAre
        ) { mirror in
            let now = mirror.clock.now
            var found: [FoundMirror] = []
            for (name, record) in try await MirrorTable.all(in: mirror.storage) {
                let lease = try await LeaseTable(storage: mirror.storage, mirror: name).record()
                found.append(FoundMirror(name, record, lease, now: now))
            }
            if json { return try JSONOutput.print(MirrorList(mirrors: found)) }
            guard !found.isEmpty else {
                return print("there is none yet; mirror-bot login, train and set make one")
            }
            let width = found.map(\.name.count).max() ?? 0
            for mirror in found { print(mirror.line(nameWidth: width)) }
        }
    }
}

private struct MirrorList: Encodable {
    let schema = "mirror-bot/mirrors/1"
    let mirrors: [FoundMirror]
}

/// One mirror in the list.
private struct FoundMirror: Encodable {
    enum State: String, Encodable {
        case running
        case stopped
        case paused
        /// It lives in another database now.
        case left
        case arriving
    }

    let name: String
    let human: String?
    let bot: String?
    let state: State

    init(_ name: String, _ record: MirrorRecord, _ lease: LeaseRecord?, now: Date) {
        (self.name, human, bot) = (name, record.humanHandle, record.botHandle)
        let isHeld = lease?.silence(at: now).map { $0 < HumanMirror.usualSilence } ?? false
        state =
            switch record.move?.state {
            case .left: .left
            case .arriving: .arriving
            case nil: record.pause?.holds(at: now) == true ? .paused : isHeld ? .running : .stopped
            }
    }

    func line(nameWidth: Int) -> String {
        let accounts = "\(human.map { "@" + $0 } ?? "unknown") → \(bot.map { "@" + $0 } ?? "unknown")"
        return
            "\(Printable.padded(name, to: nameWidth))  \(Printable.padded(state.rawValue, to: 8))  \(Printable.line(accounts))"
    }
}
